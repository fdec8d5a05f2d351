import {rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import type {Init} from '../../../../cri/index.js';
import {connectCsiController, connectCsiNode} from '../../../../plugin-api/connect-plugin.js';
import type {MessageTypes} from '../../../../plugin-api/gen/csi/types.js';
import type {
  CreatedCsiVolume,
  CsiVolumeToDelete,
  CsiVolumeToExpand,
  CsiVolumeToModify,
  ExpandedCsiVolume,
  NewCsiVolume,
} from '../../../contract/volumes/csi-volumes.js';
import {CsiCallError, TIMEOUT_MS, toCallError} from './csi-driver-client.js';
import {volumeCapability} from './volume-capability.js';

type Secrets = Readonly<Record<string, string>>;

/**
 * Has the driver at a socket create a volume that can be used on this node (external-provisioner). Rejects with CsiCallError and
 * the signal's reason.
 */
export async function createVolume(
  endpoint: string,
  volume: NewCsiVolume,
  secrets: Secrets,
  signal: AbortSignal,
): Promise<CreatedCsiVolume> {
  const {name, requiredBytes, limitBytes, parameters, mutableParameters, accessModes} = volume;
  const modes = accessModes.length === 0 ? (['ReadWriteOnce'] as const) : accessModes;
  const volumeCapabilities = modes.map((mode) =>
    volumeCapability({...volume, accessModes: [mode]}, new Set(), undefined),
  );
  const capacityRange = {requiredBytes, limitBytes};
  const topology = await nodeTopology(endpoint, signal);
  const request: Init<MessageTypes['CreateVolumeRequest']> = {
    ...{name, capacityRange, volumeCapabilities, parameters, mutableParameters, secrets},
    ...(topology !== undefined && {
      accessibilityRequirements: {requisite: [topology], preferred: [topology]},
    }),
  };
  const options = {signal, timeoutMs: TIMEOUT_MS};
  const controller = connectCsiController(endpoint);
  try {
    if (mutableParameters !== undefined) await requireModification(controller, options);
    const {volume: created} = await controller.createVolume(request, options);
    if (created === undefined || created.volumeId === '')
      throw new SystemError('the CSI driver has created a volume without an ID', {
        hint: "look into the driver's log",
      });
    return {handle: created.volumeId, bytes: created.capacityBytes, attributes: {...created.volumeContext}};
  } catch (error) {
    throw failureOf(error, secrets, signal);
  } finally {
    controller.close();
  }
}

/** Has the driver at a socket delete a volume. Rejects with CsiCallError and the signal's reason. */
export async function deleteVolume(
  endpoint: string,
  {handle}: CsiVolumeToDelete,
  secrets: Secrets,
  signal: AbortSignal,
): Promise<void> {
  const controller = connectCsiController(endpoint);
  try {
    await controller.deleteVolume({volumeId: handle, secrets}, {signal, timeoutMs: TIMEOUT_MS});
  } catch (error) {
    throw failureOf(error, secrets, signal);
  } finally {
    controller.close();
  }
}

/**
 * Has the driver at a socket enlarge a volume (external-resizer). A driver without a part of a controller leaves all to the node.
 * Rejects with CsiCallError, with SystemError if it can enlarge no volumes, and with the signal's reason.
 */
export async function expandVolume(
  endpoint: string,
  volume: CsiVolumeToExpand,
  secrets: Secrets,
  signal: AbortSignal,
): Promise<ExpandedCsiVolume> {
  const {handle, requiredBytes, driver} = volume;
  const options = {signal, timeoutMs: TIMEOUT_MS};
  const controller = connectCsiController(endpoint);
  const node = connectCsiNode(endpoint);
  try {
    if ((await findExpander({controller, node}, driver, options)) === 'node')
      return {bytes: requiredBytes, needsNode: true};
    const expanded = await controller.controllerExpandVolume(
      {
        ...{volumeId: handle, capacityRange: {requiredBytes}, secrets},
        volumeCapability: volumeCapability(volume, new Set(), undefined),
      },
      options,
    );
    return {bytes: expanded.capacityBytes, needsNode: expanded.nodeExpansionRequired};
  } catch (error) {
    throw failureOf(error, secrets, signal);
  } finally {
    controller.close();
    node.close();
  }
}

/**
 * Has the driver at a socket change attributes of a volume (external-resizer). Rejects with CsiCallError, also if it can change none,
 * and with the signal's reason.
 */
export async function modifyVolume(
  endpoint: string,
  {handle, mutableParameters}: CsiVolumeToModify,
  signal: AbortSignal,
): Promise<void> {
  const options = {signal, timeoutMs: TIMEOUT_MS};
  const controller = connectCsiController(endpoint);
  try {
    await requireModification(controller, options);
    await controller.controllerModifyVolume({volumeId: handle, mutableParameters}, options);
  } catch (error) {
    throw failureOf(error, {}, signal);
  } finally {
    controller.close();
  }
}

/** Rejects with CsiCallError if a driver cannot change attributes of volumes, before which it has done nothing. */
async function requireModification(
  controller: Pick<ReturnType<typeof connectCsiController>, 'controllerGetCapabilities'>,
  options: {readonly signal: AbortSignal; readonly timeoutMs: number},
): Promise<void> {
  const {capabilities} = await controller.controllerGetCapabilities({}, options);
  if (capabilities.some(({rpc}) => rpc?.type === 'MODIFY_VOLUME')) return;
  const message =
    'CSI driver does not support VolumeAttributesClass: controller MODIFY_VOLUME capability is not reported';
  const hint =
    'remove volumeAttributesClassName from the claim, or use a driver that can change attributes of volumes';
  throw new CsiCallError(message, true, 'UNIMPLEMENTED', hint);
}

/** Resolves if the driver at a socket can enlarge volumes; otherwise rejects like expandVolume. */
export async function requireExpansion(endpoint: string, driver: string, signal: AbortSignal): Promise<void> {
  const controller = connectCsiController(endpoint);
  const node = connectCsiNode(endpoint);
  try {
    await findExpander({controller, node}, driver, {signal, timeoutMs: TIMEOUT_MS});
  } catch (error) {
    throw failureOf(error, {}, signal);
  } finally {
    controller.close();
    node.close();
  }
}

/** Returns the part of a driver that enlarges volumes. Rejects with SystemError if none does. */
async function findExpander(
  {
    controller,
    node,
  }: {
    readonly controller: Pick<ReturnType<typeof connectCsiController>, 'controllerGetCapabilities'>;
    readonly node: Pick<ReturnType<typeof connectCsiNode>, 'nodeGetCapabilities'>;
  },
  driver: string,
  options: {readonly signal: AbortSignal; readonly timeoutMs: number},
): Promise<'controller' | 'node'> {
  const {capabilities} = await controller.controllerGetCapabilities({}, options);
  if (capabilities.some(({rpc}) => rpc?.type === 'EXPAND_VOLUME')) return 'controller';
  const ofNode = await node.nodeGetCapabilities({}, options);
  if (ofNode.capabilities.some(({rpc}) => rpc?.type === 'EXPAND_VOLUME')) return 'node';
  throw new SystemError(`the CSI driver ${JSON.stringify(driver)} cannot enlarge volumes`);
}

/** Returns where the node is for the driver; undefined if it does not distinguish. */
async function nodeTopology(endpoint: string, signal: AbortSignal) {
  const node = connectCsiNode(endpoint);
  try {
    const {accessibleTopology} = await node.nodeGetInfo({}, {signal, timeoutMs: TIMEOUT_MS});
    const segments = accessibleTopology?.segments ?? {};
    return Object.keys(segments).length === 0 ? undefined : {segments};
  } catch (error) {
    throw failureOf(error, {}, signal);
  } finally {
    node.close();
  }
}

/** Returns the error of calls of a driver, without the values of secrets. Throws the signal's reason, and errors of this program. */
function failureOf(error: unknown, secrets: Secrets, signal: AbortSignal): SystemError {
  signal.throwIfAborted();
  rethrowUnexpected(error);
  return error instanceof SystemError ? error : toCallError(error, Object.values(secrets));
}
