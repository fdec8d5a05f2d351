import {expect, test} from 'vitest';
import {aContainer, aSandbox} from '../fakes/fake-runtime.js';
import {createTestbed} from './command-testbed.js';
import {runKcri} from '../cli/run-kcri.js';

/** Returns the sandbox of `kcri run`. */
function runPod(name: string): ReturnType<typeof aSandbox> {
  const sandbox = aSandbox({name});
  return {...sandbox, config: {...sandbox.config, labels: {}, annotations: {'kcri/run': 'true'}}};
}

test('system prune removes the pods of kcri run whose container has exited', async () => {
  const [done, busy, fresh] = [runPod('done'), runPod('busy'), runPod('fresh')];
  const {runtime, rootDir} = await createTestbed({
    images: [],
    sandboxes: [done, busy, fresh],
    containers: [
      aContainer({sandbox: done, name: 'done', state: 'CONTAINER_EXITED'}),
      aContainer({sandbox: busy, name: 'busy'}),
      aContainer({sandbox: busy, name: 'old', state: 'CONTAINER_EXITED'}),
    ],
  });
  const args = ['--root-dir', rootDir, 'system', 'prune', '-y'];
  expect(await runKcri(args, {endpoint: runtime.endpoint})).toMatchObject({stderr: '', exitCode: 0});
  expect(runtime.sandboxes.map(({config}) => config.metadata?.name)).toEqual(['busy', 'fresh']);
  expect(runtime.containers.map(({config}) => config.metadata?.name)).toEqual(['busy']);
});
