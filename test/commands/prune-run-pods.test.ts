import {expect, test} from 'vitest';
import {aContainer, anImage, aSandbox} from '../fakes/fake-runtime.js';
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

test.each([
  ['before', 'pod "default/done" was kept: one of its containers was created or started in the meantime'],
  ['after', 'container "default/done/done" was kept: it was started in the meantime'],
])('a pod that is used since the plan, %s its containers are listed, is kept', async (when, message) => {
  const done = runPod('done');
  const {runtime, rootDir} = await createTestbed({
    images: [],
    sandboxes: [done],
    containers: [aContainer({sandbox: done, name: 'done', state: 'CONTAINER_EXITED'})],
  });
  const isRemoving = () =>
    runtime
      .callsTo('ListContainers')
      .some(({request}) => JSON.stringify(request).includes('"pod_sandbox_id":"' + done.id));
  const start = (): void => {
    if (isRemoving()) Object.assign(runtime.containers[0]!, {state: 'CONTAINER_RUNNING'});
  };
  runtime.injectAction(when === 'before' ? 'ListContainers' : 'ContainerStatus', start, {times: 99});
  const args = ['--root-dir', rootDir, 'system', 'prune', '-y'];
  expect(await runKcri(args, {endpoint: runtime.endpoint})).toMatchObject({
    stderr: `kcri: warning: ${message}; prune again when it has ended\n`,
    exitCode: 0,
  });
  expect(runtime.containers).toHaveLength(1);
});

test('an image that another program removes in the meantime is no error', async () => {
  const images = ['a', 'b'].map((name) => ({...anImage({name: `localhost:5000/${name}:1`}), repoTags: []}));
  const {runtime, rootDir} = await createTestbed({images});
  runtime.injectAction('RemoveImage', () => {
    runtime.state.images.clear();
  });
  const args = ['--root-dir', rootDir, 'image', 'prune', '-y'];
  const {stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
  expect(stderr).toMatch(/^kcri: warning: image ".*" was removed by another program in the meantime$/m);
  expect(exitCode).toBe(0);
});
