import {describe, test} from 'vitest';
import {connectContainerd} from '../../src/containerd/connect-containerd.js';
import {withContainerd} from '../../src/containerd/containerd-only.js';
import {isNotFound, isUnimplemented} from '../../src/cri/index.js';
import {buildOciImage, type OciImage} from '../../src/private-runtime/image/oci-image.js';
import {until} from '../base/until.js';
import {digestOf, FakeContainerd} from '../fakes/containerd/fake-containerd.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';

const NAME = 'localhost:5000/app:1';

function anOciImage(): OciImage {
  const files = [{type: 'file', path: 'data', data: Buffer.alloc(5000, 'x')}] as const;
  return buildOciImage({names: [NAME], architecture: 'amd64', files});
}

async function startContainerd() {
  const fake = new FakeContainerd();
  const runtime = await FakeRuntime.start({images: [], containerd: fake});
  const containerd = connectContainerd(runtime.endpoint);
  const image = anOciImage();
  fake.addImage(NAME, image);
  return {
    fake,
    image,
    containerd,
    [Symbol.asyncDispose]: async () => {
      containerd.close();
      await runtime.stop();
    },
  };
}

describe('a connection to containerd', () => {
  test('uses the namespace of the CRI plugin', async ({expect}) => {
    await using started = await startContainerd();
    const {image} = await started.containerd.images.get({name: NAME});
    expect(image?.target?.digest).toBe(started.image.manifest.digest);
    await using runtime = await FakeRuntime.start({containerd: new FakeContainerd()});
    using other = connectContainerd(runtime.endpoint, {namespace: 'moby'});
    await expect(other.images.list()).rejects.toThrow('namespace is required');
  });

  test('reads a blob as a stream', async ({expect}) => {
    await using started = await startContainerd();
    const layer = started.image.blobs.at(-1);
    const chunks: Uint8Array[] = [];
    for await (const {data} of started.containerd.content.read({digest: layer?.digest ?? ''}))
      chunks.push(data);
    expect(chunks.length).toBeGreaterThan(1);
    expect(digestOf(Buffer.concat(chunks))).toBe(layer?.digest);
  });

  test('writes a blob with a stream of requests, each of which has a response', async ({expect}) => {
    await using started = await startContainerd();
    const data = Buffer.alloc(300_000, 'y');
    async function* requests() {
      for (let at = 0; at < data.length; at += 100_000)
        yield {action: 'WRITE', ref: 'r', offset: BigInt(at), data: data.subarray(at, at + 100_000)} as const;
      yield {action: 'COMMIT', ref: 'r', expected: digestOf(data), offset: 300_000n} as const;
    }
    const offsets: bigint[] = [];
    for await (const {offset} of started.containerd.content.write(requests())) offsets.push(offset);
    expect(offsets).toEqual([100_000n, 200_000n, 300_000n, 300_000n]);
    expect(started.fake.blobs.get(digestOf(data))?.data.equals(data)).toBe(true);
  });

  test('ends a stream with the error of its requests', async ({expect}) => {
    await using started = await startContainerd();
    async function* requests(): AsyncGenerator<{ref: string}> {
      yield {ref: 'r'};
      throw new Error('the archive is truncated');
    }
    const read = async (): Promise<void> => {
      for await (const response of started.containerd.content.write(requests())) void response;
    };
    await expect(read()).rejects.toThrow('the archive is truncated');
  });

  test('ends the requests of a stream when its reader stops or aborts', async ({expect}) => {
    await using started = await startContainerd();
    const reason = new Error('interrupted');
    for (const how of ['leaves', 'aborts'] as const) {
      const controller = new AbortController();
      const ended: boolean[] = [];
      async function* requests() {
        try {
          for (let offset = 0n; ; offset += 1n)
            yield {action: 'WRITE', ref: 'r', offset, data: Buffer.from('x')} as const;
        } finally {
          ended.push(true);
        }
      }
      const read = async (): Promise<void> => {
        for await (const response of started.containerd.content.write(requests(), {
          signal: controller.signal,
        })) {
          expect(response.action).toBe('WRITE');
          if (how === 'leaves') break;
          controller.abort(reason);
        }
      };
      if (how === 'leaves') await read();
      else await expect(read()).rejects.toBe(reason);
      await until(() => ended.length === 1);
    }
  });

  test('sends a lease with the calls that it protects', async ({expect}) => {
    await using started = await startContainerd();
    await started.containerd.withLease('lease-1').snapshots.prepare({snapshotter: 'overlayfs', key: 'k'});
    await started.containerd.snapshots.mounts({snapshotter: 'overlayfs', key: 'k'});
    expect(started.fake.calls.map(({rpc, lease}) => [rpc, lease])).toEqual([
      ['Snapshots.Prepare', 'lease-1'],
      ['Snapshots.Mounts', undefined],
    ]);
  });

  test('rejects with a CriError', async ({expect}) => {
    await using started = await startContainerd();
    const error: unknown = await started.containerd.images.get({name: 'none'}).catch((each: unknown) => each);
    expect(isNotFound(error)).toBe(true);
  });
});

test('an error on another runtime names the command, the runtime and what works instead', async ({
  expect,
}) => {
  await using runtime = await FakeRuntime.start({profile: 'cri-o'});
  using containerd = connectContainerd(runtime.endpoint);
  const listing = containerd.images.list();
  expect(isUnimplemented(await listing.catch((error: unknown) => error))).toBe(true);
  const use = {command: 'image tag', runtime: 'cri-o 1.30.0', instead: 'use "podman tag"'};
  await expect(withContainerd(use, () => containerd.images.list())).rejects.toMatchObject({
    message: `"kcri image tag" needs containerd's API, which cri-o 1.30.0 does not have`,
    hint: 'use "podman tag"',
  });
});
