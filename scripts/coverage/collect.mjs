/**
 * Runs in each test process of `npm run coverage`, before each test file: collects which bytes of src are executed, and
 * stores them in the directory KCRI_COVERAGE after each file, since the runner kills its processes.
 */
import {writeFileSync} from 'node:fs';
import {Session} from 'node:inspector';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll} from 'vitest';
import {markCovered} from './covered-bytes.mjs';

const SOURCES = new URL('../../src/', import.meta.url).href;
const KEY = Symbol.for('kcri.coverage');

/** Returns the collection of this process, which all its test files share. */
function collection() {
  globalThis[KEY] ??= startCollection();
  return globalThis[KEY];
}

function startCollection() {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', {callCount: true, detailed: true});
  return {session, byUrl: new Map()};
}

const {session, byUrl} = collection();

afterAll(() => {
  // The answer is synchronous.
  session.post('Profiler.takePreciseCoverage', (error, answer) => {
    if (error !== null) throw new Error(error.message);
    for (const {url, functions} of answer.result) if (url.startsWith(SOURCES)) mark(url, functions);
  });
  const stored = [...byUrl].map(([url, covered]) => [
    `src/${fileURLToPath(url).slice(fileURLToPath(SOURCES).length)}`,
    Buffer.from(covered).toString('latin1'),
  ]);
  writeFileSync(join(process.env.KCRI_COVERAGE, `${process.pid}.json`), JSON.stringify(stored));
});

/** Marks what has run since the last time. The first function of a script is the whole module. */
function mark(url, functions) {
  const known = byUrl.get(url) ?? new Uint8Array();
  const length = Math.max(...functions.flatMap(({ranges}) => ranges.map(({endOffset}) => endOffset)));
  const covered = known.length >= length ? known : new Uint8Array(length);
  if (covered !== known) covered.set(known);
  markCovered(covered, functions);
  byUrl.set(url, covered);
}
