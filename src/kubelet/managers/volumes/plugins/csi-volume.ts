import {join} from 'node:path';
import type {CSIVolumeSource} from '../../../../api/types/v1-attached-volumes.js';
import type {CSIPersistentVolumeSource} from '../../../../api/types/v1-persistent-volumes.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {CsiVolume} from '../../../contract/volumes/csi-volumes.js';
import {reportMapped} from '../block/report-mapped.js';
import {csiDeviceMap, ephemeralHandle, publishDir} from '../csi/csi-paths.js';
import {
  driverNotRegistered,
  PUBLISH_STEP,
  STAGE_BLOCK_STEP,
  STAGE_STEP,
} from '../csi/driver-not-registered.js';
import {type PodVolume, type VolumeHost, type VolumePlugin} from './volume-plugin.js';
import {VolumeStepError} from '../volume-step-error.js';

const COMMON = {
  name: 'kubernetes.io/csi',
  readOnly: false,
  keepsLabels: ({pod, name, specName = name}, {csi}) =>
    csi?.hasMountLabel(podRef(pod).uid, specName) === true,
  path: (node, volume) => join(publishDir(node, podRef(volume.pod).uid, volume.name), 'mount'),
} as const satisfies Pick<VolumePlugin<unknown>, 'name' | 'readOnly' | 'keepsLabels' | 'path'>;

/** Plugin for PersistentVolumes of CSI drivers, which stage them on the node and publish them for each pod (csi). */
export const csiVolume: VolumePlugin<CSIPersistentVolumeSource> = {
  ...COMMON,
  driver: ({driver}) => driver,
  isRepublished: ({csi}, {driver}) => csi?.isRepublished(driver) === true,
  setUp: async (host, volume, signal) => {
    const {driver} = volume.source;
    if (host.csi === undefined) {
      const {message, hint} = driverNotRegistered(driver, STAGE_STEP);
      throw new VolumeStepError('MountVolume.MountDevice failed', message, {hint});
    }
    await host.csi.mount(persistentCsiVolume(volume), signal, stagedSink(host, volume, csiVolume));
  },
  expand: async ({csi}, volume, options) => (await csi?.expand(persistentCsiVolume(volume), options)) ?? true,
};

/** Plugin for PersistentVolumes of CSI drivers that containers get as devices (csi_block.go). */
export const csiBlockVolume: VolumePlugin<CSIPersistentVolumeSource> = {
  ...COMMON,
  isBlock: true,
  driver: ({driver}) => driver,
  isRepublished: ({csi}, {driver}) => csi?.isRepublished(driver) === true,
  path: (node, {pod, name}) => csiDeviceMap(node, podRef(pod).uid, name).linkPath,
  setUp: async (host, volume, signal) => {
    const {driver} = volume.source;
    if (host.csi === undefined) {
      const {message, hint} = driverNotRegistered(driver, STAGE_BLOCK_STEP);
      throw new VolumeStepError('MapVolume.SetUpDevice failed', message, {hint});
    }
    await host.csi.mount(persistentBlockVolume(volume), signal, stagedSink(host, volume, csiBlockVolume));
    reportMapped(host, volume, csiDeviceMap(host.node, podRef(volume.pod).uid, volume.name));
  },
  expand: async ({csi}, volume, options) =>
    (await csi?.expand(persistentBlockVolume(volume), options)) ?? true,
};

/** Returns what records that a volume is staged. */
function stagedSink(
  {node, onVolume}: VolumeHost,
  volume: PodVolume<CSIPersistentVolumeSource>,
  {path}: Pick<VolumePlugin<CSIPersistentVolumeSource>, 'path'>,
): () => void {
  const {name, specName = name, source} = volume;
  const plugin = `${COMMON.name}:${source.driver}`;
  const recorded = {name: specName, volume: name, plugin, path: path(node, volume)};
  return () => onVolume?.({step: 'Staged', volume: recorded});
}

function persistentBlockVolume(volume: PodVolume<CSIPersistentVolumeSource>): CsiVolume {
  return {...persistentCsiVolume(volume), blockName: volume.name};
}

/** Plugin for CSI volumes in the spec of a pod, which their drivers create and remove with the pod. */
export const inlineCsiVolume: VolumePlugin<CSIVolumeSource> = {
  ...COMMON,
  driver: ({driver}) => driver,
  isRepublished: ({csi}, {driver}) => csi?.isRepublished(driver) === true,
  setUp: async ({csi}, volume, signal) => {
    if (csi === undefined) throw driverNotRegistered(volume.source.driver, PUBLISH_STEP);
    await csi.mount(ephemeralCsiVolume(volume), signal);
  },
};

function persistentCsiVolume(volume: PodVolume<CSIPersistentVolumeSource>): CsiVolume {
  const {
    pod,
    name,
    specName = name,
    readOnly = false,
    mountOptions = [],
    accessModes = [],
    isMigrated,
  } = volume;
  const {driver, volumeHandle = '', fsType = '', volumeAttributes = {}, ...secrets} = volume.source;
  return {
    ...{pod, name, specName, driver, fsType, readOnly, mountOptions, accessModes},
    handle: volumeHandle,
    ...{isEphemeral: false, isMigrated},
    attributes: volumeAttributes,
    stageSecret: secrets.nodeStageSecretRef,
    publishSecret: secrets.nodePublishSecretRef,
    expandSecret: secrets.nodeExpandSecretRef,
    expansion: volume.expansion,
  };
}

function ephemeralCsiVolume(volume: PodVolume<CSIVolumeSource>): CsiVolume {
  const {pod, name, source, readOnly = false} = volume;
  const {driver, fsType = '', volumeAttributes = {}, nodePublishSecretRef: secret} = source;
  const {uid, namespace} = podRef(pod);
  return {
    ...{pod, name, specName: name, driver, fsType, readOnly, mountOptions: [], accessModes: []},
    handle: ephemeralHandle(uid, name),
    isEphemeral: true,
    attributes: volumeAttributes,
    publishSecret: secret?.name === undefined ? undefined : {name: secret.name, namespace},
  };
}
