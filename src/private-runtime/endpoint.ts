import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {isRunning, type ProcessIdentity} from './process-identity.js';

/** Where `kcri runtime up` writes down what it started, below kcri's root directory. */
export function recordPath(rootDir: string): string {
  return join(rootDir, 'runtime', 'record.json');
}

/**
 * The CRI endpoint of kcri's private runtime when its containerd runs, else undefined. Costs three small
 * file reads and loads next to nothing: every command's start-up may ask.
 */
export function findPrivateEndpoint(rootDir: string): string | undefined {
  const record = readJson(recordPath(rootDir)) as {endpoint?: string; process?: ProcessIdentity} | undefined;
  if (record?.endpoint === undefined || record.process === undefined) return undefined;
  return isRunning(record.process) ? record.endpoint : undefined;
}

/** The file's content; undefined when it isn't there, can't be read or is no JSON: then nothing is up for us. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
