import {join} from 'node:path';
import {KcriError, messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {pathExists} from '../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {CsiDriverSpec} from '../../../contract/volumes/csi-cluster.js';
import type {CsiVolume} from '../../../contract/volumes/csi-volumes.js';
import {setVolumeOwnership} from '../fs-group-ownership.js';
import {CsiCallError} from './csi-driver-client.js';
import {attachmentName, publishDir, stagingPath, VOLUME_DATA} from './csi-paths.js';
import {PUBLISH_STEP} from './driver-not-registered.js';
import {csiPluginOf} from './csi-metrics.js';
import type {CsiServices} from './csi-services.js';
import {removeMountDirectory, requireDirectory} from './mount-directory.js';
import {readSecret} from './read-secret.js';
import {fsGroupOf, ignoreSystemError} from './stage-volume.js';
import {
  changesGroup,
  fsGroupPolicyOf,
  lifecycleProblem,
  podInfo,
  volumeCapability,
} from './volume-capability.js';
import {writeVolumeData} from './volume-data.js';

type Texts = Readonly<Record<string, string>>;

/**
 * Publishes a volume for its pod, and sets the group of its files (csi_mounter.go SetUpAt). A volume that was published before
 * stays so if this fails. Rejects with SystemError and the signal's reason.
 */
export async function publishVolume(
  volume: CsiVolume,
  publishContext: Texts,
  services: CsiServices,
  signal: AbortSignal,
): Promise<void> {
  const {node, drivers, cluster, metrics, mounter} = services;
  const {driver: name, handle, readOnly, isEphemeral} = volume;
  const client = drivers.client(name, PUBLISH_STEP, volume.isMigrated);
  const driver = cluster?.driver(name);
  const problem = lifecycleProblem(volume, driver);
  if (problem !== undefined)
    throw new SystemError(
      `kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: ${problem}`,
      {hint: `add the mode to spec.volumeLifecycleModes of the CSIDriver "${name}"`},
    );
  const capabilities = await client.capabilities(signal);
  const directory = publishDir(node, podRef(volume.pod).uid, volume.name);
  const path = join(directory, 'mount');
  await makeDirectoryPath(directory, 0o750);
  const wasPublished = await pathExists(join(directory, VOLUME_DATA));
  const {volumeContext, secrets, hidden} = await podTexts(volume, driver, services, signal);
  // From now on the volume is unpublished, also if this process is killed.
  await writeVolumeData(directory, {
    ...{driverName: name, volumeHandle: handle, nodeName: node.nodeName, specVolID: volume.name},
    attachmentID: attachmentName(volume, node.nodeName),
    ...(volume.seLinuxLabel !== undefined && {seLinuxMountContext: volume.seLinuxLabel}),
    volumeLifecycleMode: isEphemeral ? 'Ephemeral' : 'Persistent',
  });
  const isStaged = !isEphemeral && capabilities.has('STAGE_UNSTAGE_VOLUME');
  const request = {
    ...{volumeId: handle, targetPath: path, readonly: readOnly, publishContext, volumeContext, secrets},
    stagingTargetPath: isStaged ? stagingPath(node, volume) : '',
    volumeCapability: volumeCapability(volume, capabilities, fsGroupOf(volume)),
  };
  try {
    await client.publish(request, signal, hidden);
  } catch (error) {
    if (error instanceof CsiCallError && error.isFinal && !wasPublished)
      await removeMountDirectory(path, mounter).catch(ignoreSystemError);
    throw error;
  }
  await requireDirectory(path);
  if (changesGroup(volume, fsGroupPolicyOf(driver), capabilities))
    await metrics.timeOf('volume_apply_access_control', csiPluginOf(name), () => setGroup(volume, path));
}

/** Returns the volume's attributes and secrets with what the driver is told of the pod, and all that must not be shown. */
async function podTexts(
  volume: CsiVolume,
  driver: CsiDriverSpec | undefined,
  {cluster}: CsiServices,
  signal: AbortSignal,
): Promise<{readonly volumeContext: Texts; readonly secrets: Texts; readonly hidden: Texts}> {
  const secrets = await readSecret(cluster, 'NodePublishSecretRef', volume.publishSecret, signal);
  const context = {...volume.attributes, ...(driver?.podInfoOnMount === true && podInfo(volume))};
  const requests = driver?.tokenRequests ?? [];
  if (cluster === undefined || requests.length === 0)
    return {volumeContext: context, secrets, hidden: secrets};
  const text = await cluster.tokens(volume.pod, requests, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    rethrowUnexpected(cause);
    throw new SystemError(
      `kubernetes.io/csi: mounter.SetUpAt failed to get service accoount token attributes: ${messageOf(cause)}`,
      {cause, hint: cause instanceof KcriError ? cause.hint : undefined},
    );
  });
  const tokens = {'csi.storage.k8s.io/serviceAccount.tokens': text};
  const hidden = {...secrets, ...tokens, ...tokenValues(text)};
  return driver?.serviceAccountTokenInSecrets === true
    ? {volumeContext: context, secrets: {...secrets, ...tokens}, hidden}
    : {volumeContext: {...context, ...tokens}, secrets, hidden};
}

/** Returns the tokens in the text for a driver, by audience. */
function tokenValues(text: string): Texts {
  const parsed = JSON.parse(text) as Readonly<Record<string, {readonly token: string}>>;
  return Object.fromEntries(
    Object.entries(parsed).map(([audience, {token}]) => [`token ${audience}`, token]),
  );
}

async function setGroup(volume: CsiVolume, path: string): Promise<void> {
  const {fsGroupChangePolicy} = volume.pod.spec.securityContext ?? {};
  const onlyOnRootMismatch = fsGroupChangePolicy === 'OnRootMismatch';
  await setVolumeOwnership(path, {fsGroup: fsGroupOf(volume), readOnly: false, onlyOnRootMismatch});
}
