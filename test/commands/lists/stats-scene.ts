import {runKcri, type RunOptions} from '../../cli/run-kcri.js';
import {
  FakeRuntime,
  aContainer,
  aSandbox,
  anImage,
  type FakeRuntimeOptions,
} from '../../fakes/fake-runtime.js';
import {FAST_CLOCK} from '../interrupt-watch.js';

/** A table's rows, cell by cell; the columns are at least three spaces apart. */
export const cells = (table: string): string[][] =>
  table
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {3,}/));

/** What must not get into a pipe. */
export const ESCAPES = /\u001B/;

const TOOL = 'localhost:5000/tool:1';

/** Two pods: one with two containers that run, one with one that runs and one that has ended. */
export async function started(options: FakeRuntimeOptions = {}) {
  const [web, api] = [
    aSandbox({name: 'web', labels: {app: 'web'}}),
    aSandbox({name: 'api', namespace: 'prod', labels: {app: 'api'}}),
  ];
  return await FakeRuntime.start({
    sandboxes: [web, api],
    containers: [
      aContainer({id: 'c'.repeat(64), sandbox: web, name: 'main', labels: {tier: 'front'}}),
      aContainer({id: 'a'.repeat(64), sandbox: web, name: 'sidecar', image: TOOL}),
      aContainer({id: 'b'.repeat(64), sandbox: api, name: 'main'}),
      aContainer({id: 'd'.repeat(64), sandbox: api, name: 'done', state: 'CONTAINER_EXITED'}),
    ],
    images: [anImage(), anImage({name: TOOL})],
    ...options,
  });
}

/** Runs kcri against the runtime, and nobody waits for samples. */
export async function run(runtime: FakeRuntime, args: readonly string[], options: RunOptions = {}) {
  return await runKcri(args, {endpoint: runtime.endpoint, clock: FAST_CLOCK, ...options});
}

/** The second column, header included. */
export const names = (table: string): (string | undefined)[] => cells(table).map((row) => row[1]);
