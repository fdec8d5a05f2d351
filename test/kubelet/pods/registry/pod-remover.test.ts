import {expect, test} from 'vitest';
import {messageOf, SystemError} from '../../../../src/base/errors.js';
import {PodRemover, type PodRemoverOptions} from '../../../../src/kubelet/pods/registry/pod-remover.js';
import type {PodRecord} from '../../../../src/kubelet/pods/registry/pod-store.js';

/** Removes a pod from the node, and returns what was recorded of its volumes. */
async function remove(failing: 'volumes' | 'claims' | undefined): Promise<readonly string[]> {
  const recorded: string[] = [];
  const failIf = (what: typeof failing): void => {
    if (failing === what) throw new SystemError(`${what} failed`);
  };
  const options: Partial<PodRemoverOptions> = {
    node: {} as PodRemoverOptions['node'],
    files: () =>
      ({
        removePod: async () => {
          failIf('volumes');
        },
      }) as unknown as ReturnType<PodRemoverOptions['files']>,
    provisioner: {
      reclaimOf: async () => {
        failIf('claims');
      },
    },
  };
  const remover = new PodRemover(options as PodRemoverOptions);
  const syncer = {
    recordUnmount: (error?: unknown) =>
      void recorded.push(error === undefined ? 'unmounted' : messageOf(error)),
    flush: async () => undefined,
  };
  await remover.removeFromNode({uid: 'u1', place: {}} as PodRecord, syncer).catch((error: unknown) => {
    expect(error).toMatchObject({message: `${failing} failed`});
  });
  return recorded;
}

test('a failure after the unmount of the volumes is not one of their unmount', async () => {
  expect(await remove(undefined)).toEqual(['unmounted']);
  expect(await remove('claims')).toEqual(['unmounted']);
  expect(await remove('volumes')).toEqual(['volumes failed']);
});
