import {realpath} from 'node:fs/promises';
import {join} from 'node:path';
import {quantityValue} from '../../../../../api/quantity.js';
import type {Quantity} from '../../../../../api/types/v1-meta.js';
import {KcriError, messageOf, rethrowUnexpected, SystemError} from '../../../../../base/errors.js';
import {withFileErrors} from '../../../../../base/fs/files.js';
import type {GrpcCode} from '../../../../../cri/index.js';
import {podRef} from '../../../../contract/pod-ref.js';
import type {CsiVolume} from '../../../../contract/volumes/csi-volumes.js';
import {CsiCallError} from '../csi-driver-client.js';
import {blockPaths, publishDir, stagingPath} from '../csi-paths.js';
import type {CsiServices} from '../csi-services.js';
import {readSecret} from '../read-secret.js';
import {volumeCapability} from '../volume-capability.js';

/** Kinds of failures of an expansion: the driver cannot do it, not while the volume is used, or never to this size. */
export type ExpandFailure = 'unsupported' | 'inUse' | 'infeasible' | 'failed' | 'noDriver';

/** Failure to enlarge a volume on the node, with the kubelet's message. */
export class ExpandError extends SystemError {
  readonly kind: ExpandFailure;

  constructor(kind: ExpandFailure, message: string, hint?: string) {
    super(message, {hint});
    this.kind = kind;
  }
}

/** Services for NodeExpandVolume. */
export interface ExpandServices extends Pick<CsiServices, 'node' | 'cluster'> {
  readonly drivers: Pick<CsiServices['drivers'], 'client'>;
}

/** Codes that make the size infeasible (isInfeasibleError). */
const INFEASIBLE: ReadonlySet<GrpcCode | undefined> = new Set<GrpcCode | undefined>([
  'INVALID_ARGUMENT',
  'OUT_OF_RANGE',
  'NOT_FOUND',
]);

/** Has a published volume enlarged by its driver (csi expander.go NodeExpand). Rejects with ExpandError and the signal's reason. */
export async function nodeExpand(
  volume: CsiVolume,
  newSize: Quantity,
  services: ExpandServices,
  signal: AbortSignal,
): Promise<void> {
  try {
    await callDriver(volume, newSize, services, signal);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof ExpandError) throw cause;
    rethrowUnexpected(cause);
    throw toExpandError(cause);
  }
}

async function callDriver(
  volume: CsiVolume,
  newSize: Quantity,
  {node, drivers, cluster}: ExpandServices,
  signal: AbortSignal,
): Promise<void> {
  const {driver, handle} = volume;
  const client = findClient(drivers, volume);
  const capabilities = await client.capabilities(signal);
  if (!capabilities.has('EXPAND_VOLUME'))
    throw new ExpandError('unsupported', `NodeExpand is not supported by the CSI driver ${driver}`);
  const secrets = await readSecret(cluster, 'NodeExpandSecretRef', volume.expandSecret, signal);
  const request = {
    ...{volumeId: handle, volumePath: await volumePath(volume, node), secrets},
    stagingTargetPath: stagingPath(node, volume),
    capacityRange: {requiredBytes: quantityValue(newSize)},
    volumeCapability: volumeCapability(volume, capabilities, undefined),
  };
  await client.expand(request, signal);
}

function findClient(
  drivers: ExpandServices['drivers'],
  {driver, isMigrated}: CsiVolume,
): ReturnType<typeof drivers.client> {
  try {
    return drivers.client(driver, 'Expander.NodeExpand failed to create newCsiDriverClient', isMigrated);
  } catch (cause) {
    rethrowUnexpected(cause);
    throw new ExpandError('noDriver', messageOf(cause), cause instanceof KcriError ? cause.hint : undefined);
  }
}

/** Returns the path at which containers have the volume; of a block volume that of its device. */
async function volumePath({pod, name, blockName}: CsiVolume, node: CsiServices['node']): Promise<string> {
  const {uid} = podRef(pod);
  if (blockName === undefined) return join(publishDir(node, uid, name), 'mount');
  const target = join(blockPaths(node, blockName).publish, uid);
  return await withFileErrors('reading', target, () => realpath(target));
}

function toExpandError(cause: unknown): ExpandError {
  const hint = cause instanceof KcriError ? cause.hint : undefined;
  const failure = 'Expander.NodeExpand failed to expand the volume';
  const code = cause instanceof CsiCallError ? cause.grpcCode : undefined;
  if (code === 'FAILED_PRECONDITION')
    return new ExpandError('inUse', `${failure} : ${messageOf(cause)}`, hint);
  if (INFEASIBLE.has(code)) return new ExpandError('infeasible', `${failure} ${messageOf(cause)}`, hint);
  return new ExpandError('failed', `${failure} : ${messageOf(cause)}`, hint);
}
