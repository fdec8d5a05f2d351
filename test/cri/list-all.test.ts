import {describe, expect, test} from 'vitest';
import {connect} from '../../src/cri/index.js';
import {listAllContainers, listAllImages, listAllSandboxes} from '../../src/cri/list-all.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';

const signal = new AbortController().signal;
const TOO_LARGE = {
  code: 'RESOURCE_EXHAUSTED',
  message: 'grpc: trying to send message larger than max (17000000 vs. 16777216)',
} as const;

const LISTS = [
  ['ListContainers', 'StreamContainers', listAllContainers, 2500],
  ['ListPodSandbox', 'StreamPodSandboxes', listAllSandboxes, 1250],
] as const;

async function started(): Promise<FakeRuntime> {
  const runtime = await FakeRuntime.start({images: []});
  runtime.fill({containers: 2500, images: 1500});
  return runtime;
}

describe('a list', () => {
  test.each(LISTS)(
    '%s that is too large for one message is read with %s',
    async (rpc, stream, list, count) => {
      await using runtime = await started();
      runtime.injectError(rpc, TOO_LARGE);
      using cri = connect(runtime.endpoint);
      const items = await list(cri.runtime, {}, signal);
      expect(new Set(items.map(({id}) => id)).size).toBe(count);
      expect(runtime.calls.map(({method}) => method)).toEqual([rpc, stream]);
    },
  );

  test('of images that is too large for one message is read in pages', async () => {
    await using runtime = await started();
    runtime.injectError('ListImages', TOO_LARGE);
    using cri = connect(runtime.endpoint);
    expect(await listAllImages(cri.images, signal)).toHaveLength(1500);
  });

  test('is filtered in pages too', async () => {
    await using runtime = await started();
    runtime.injectError('ListContainers', TOO_LARGE);
    using cri = connect(runtime.endpoint);
    const labelSelector = {'io.kubernetes.pod.name': 'pod-00007'};
    expect(await listAllContainers(cri.runtime, {labelSelector}, signal)).toHaveLength(2);
  });

  test('that fits into one message takes one call', async () => {
    await using runtime = await started();
    using cri = connect(runtime.endpoint);
    await listAllContainers(cri.runtime, {}, signal);
    expect(runtime.calls).toHaveLength(1);
  });

  test('is rejected with a hint if the runtime has no paged lists', async () => {
    await using runtime = await FakeRuntime.start({unimplemented: ['StreamContainers']});
    runtime.injectError('ListContainers', TOO_LARGE);
    using cri = connect(runtime.endpoint);
    const listing = listAllContainers(cri.runtime, {}, signal);
    await expect(listing).rejects.toMatchObject({
      code: 'LIST_TOO_LONG',
      message: expect.stringContaining('larger than max (17000000 vs. 16777216)') as string,
      hint: expect.stringContaining('--label') as string,
    });
  });

  test('is not read again after another error', async () => {
    await using runtime = await started();
    runtime.injectError('ListContainers', {code: 'INTERNAL', message: 'broken'});
    using cri = connect(runtime.endpoint);
    await expect(listAllContainers(cri.runtime, {}, signal)).rejects.toThrow('broken');
    expect(runtime.calls).toHaveLength(1);
  });

  test('rejects with the reason when aborted between pages', async () => {
    await using runtime = await started();
    runtime.injectError('ListContainers', TOO_LARGE);
    runtime.injectDelay('StreamContainers', 60_000);
    using cri = connect(runtime.endpoint);
    const controller = new AbortController();
    const listing = listAllContainers(cri.runtime, {}, controller.signal);
    controller.abort(new Error('enough'));
    await expect(listing).rejects.toThrow('enough');
  });
});
