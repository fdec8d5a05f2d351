/**
 * Keeps the executables of earlier builds outside the checkout, since they take a minute to build. A cached executable
 * is used only for a checkout with the same inputs.
 */
import {cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, utimesSync} from 'node:fs';
import {join} from 'node:path';
import {CACHE} from '../test-runtimes/second-containerd.mjs';
import {ROOT} from './run.mjs';

const EXECUTABLES = join(ROOT, 'dist/binary');
const FOLDER = join(CACHE, 'executables');
const KEPT = 4;

/** Copies the executables that were built from the same inputs to dist/binary; false if there are none. */
export function restoreExecutables(digest) {
  const cached = join(FOLDER, digest);
  if (statSync(cached, {throwIfNoEntry: false}) === undefined) return false;
  rmSync(EXECUTABLES, {recursive: true, force: true});
  cpSync(cached, EXECUTABLES, {recursive: true});
  const now = new Date();
  utimesSync(cached, now, now);
  return true;
}

/** Keeps a copy of dist/binary, and the copies that were used last. */
export function storeExecutables(digest) {
  mkdirSync(FOLDER, {recursive: true});
  const copy = mkdtempSync(join(FOLDER, '.copy-'));
  cpSync(EXECUTABLES, copy, {recursive: true});
  rmSync(join(FOLDER, digest), {recursive: true, force: true});
  renameSync(copy, join(FOLDER, digest));
  for (const name of leastRecentlyUsed().slice(KEPT))
    rmSync(join(FOLDER, name), {recursive: true, force: true});
}

/** The newest first. */
function leastRecentlyUsed() {
  const used = new Map(readdirSync(FOLDER).map((name) => [name, statSync(join(FOLDER, name)).mtimeMs]));
  return [...used.keys()].sort((a, b) => used.get(b) - used.get(a));
}
