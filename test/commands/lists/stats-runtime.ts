import {tableCells} from '../../cli/output/table-cells.js';
import {runKcri, type RunOptions} from '../../cli/run-kcri.js';
import {
  FakeRuntime,
  aContainer,
  aSandbox,
  anImage,
  type FakeRuntimeOptions,
} from '../../fakes/fake-runtime.js';
import {FAST_CLOCK} from '../interrupt-watch.js';

/** Escape codes, which must not be written to a pipe. */
export const ESCAPES = /\u001B/;

const TOOL = 'localhost:5000/tool:1';

/** Starts a runtime with two pods: one with two running containers, one with a running and an exited one. */
export async function startRuntime(options: FakeRuntimeOptions = {}) {
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

/** Runs kcri against the runtime on a clock without delays between samples. */
export async function run(runtime: FakeRuntime, args: readonly string[], options: RunOptions = {}) {
  return await runKcri(args, {endpoint: runtime.endpoint, clock: FAST_CLOCK, ...options});
}

/** Returns the second column, with its header. */
export const names = (table: string): (string | undefined)[] => tableCells(table).map((row) => row[1]);
