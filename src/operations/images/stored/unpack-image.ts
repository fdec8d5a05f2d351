import {SystemError} from '../../../base/errors.js';
import type {ContainerdServices} from '../../../containerd/connect-containerd.js';
import {CriError, isNotFound} from '../../../cri/index.js';
import {chainIds} from '../chain-ids.js';
import {toStored, type OciDescriptor, type StoredManifest} from './oci-content.js';

/** Where and how an image is unpacked. */
export interface UnpackOptions {
  readonly snapshotter: string;
  /** Prefix of the keys of snapshots that are being unpacked. */
  readonly keyPrefix: string;
  readonly signal: AbortSignal;
}

/**
 * Unpacks the layers of an image into snapshots, except those that exist. Returns the name of the topmost snapshot. A
 * layer that does not match its diff ID leaves no snapshot. Rejects with SystemError and CriError.
 */
export async function unpackImage(
  containerd: ContainerdServices,
  {layers, diffIds, descriptor}: StoredManifest,
  options: UnpackOptions,
): Promise<string> {
  if (layers.length !== diffIds.length)
    throw new SystemError(
      `the image ${descriptor.digest} has ${layers.length} layers, but its config lists ${diffIds.length}`,
    );
  const names = chainIds(diffIds);
  for (const [index, layer] of layers.entries()) {
    const [name = '', diffId = ''] = [names[index], diffIds[index]];
    if (await exists(containerd, name, options)) continue;
    await unpackLayer(containerd, {layer, name, diffId, parent: names[index - 1] ?? ''}, options);
  }
  return names.at(-1) ?? '';
}

async function exists(
  {snapshots}: ContainerdServices,
  key: string,
  {snapshotter, signal}: UnpackOptions,
): Promise<boolean> {
  try {
    await snapshots.stat({snapshotter, key}, {signal});
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

interface LayerToUnpack {
  readonly layer: OciDescriptor;
  /** Name of the snapshot. */
  readonly name: string;
  readonly diffId: string;
  readonly parent: string;
}

async function unpackLayer(
  {snapshots, diff}: ContainerdServices,
  {layer, name, diffId, parent}: LayerToUnpack,
  {snapshotter, keyPrefix, signal}: UnpackOptions,
): Promise<void> {
  const key = `${keyPrefix} ${name}`;
  const labels = {'containerd.io/snapshot.ref': name};
  const prepared = await unlessExists(snapshots.prepare({snapshotter, key, parent, labels}, {signal}));
  // A snapshotter that shares layers, such as one for remote layers, may have it already.
  if (prepared === undefined) return;
  try {
    const {applied} = await diff.apply(
      {diff: toStored(layer), mounts: prepared.mounts},
      {signal, timeoutMs: Infinity},
    );
    if (applied?.digest !== diffId)
      throw new SystemError(`the layer ${layer.digest} is damaged: it does not match its diff ID ${diffId}`, {
        hint: 'copy or create the archive again',
      });
    await unlessExists(snapshots.commit({snapshotter, name, key, labels}, {signal}));
  } catch (error) {
    await snapshots.remove({snapshotter, key}).catch(() => undefined);
    throw error;
  }
}

/** Returns the result of a call; undefined if the object exists. */
async function unlessExists<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof CriError && error.grpcCode === 'ALREADY_EXISTS') return undefined;
    throw error;
  }
}
