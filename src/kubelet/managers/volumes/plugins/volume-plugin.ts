import {join} from 'node:path';
import type {PersistentVolumeAccessMode} from '../../../../api/types/v1-attached-volumes.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import type {ResourceFieldSelector} from '../../../../api/types/v1-selectors.js';
import type {Clock} from '../../../../base/clock.js';
import {validatePathSegment} from '../../../../base/fs/files.js';
import type {ApiObjects} from '../../../contract/api-objects.js';
import {podDir, type NodeFacts} from '../../../contract/node-facts.js';
import type {AllocatableFacts} from '../../../resources/node-allocatable.js';
import type {VolumeOperation} from '../../../contract/kubelet-metrics.js';
import type {EventSink} from '../../../contract/pod-event.js';
import type {PlannedFile} from '../../../contract/pod-filesystem.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {CsiVolumes, ExpandOptions, VolumeExpansion} from '../../../contract/volumes/csi-volumes.js';
import type {VolumeStepSink} from '../../../contract/volumes/volume-history.js';
import type {LoopDevices} from '../block/loop-devices.js';
import type {RunTool} from '../devices/disk-tools.js';
import type {Mounter} from '../mounter.js';
import type {DiskRoots} from './disks/disk-roots.js';
import type {FlexDrivers} from './flex/flex-drivers.js';
import type {VolumeOperations} from '../volume-operations.js';

/** Node facts that volumes depend on. */
export type VolumeFacts = Pick<NodeFacts, 'rootDir' | 'volumePluginDir'> & AllocatableFacts;

/** Resolves fields of the downward API. Methods throw KcriError with the kubelet's message. */
export interface DownwardApi {
  field(pod: Pod, fieldPath: string): string;
  resource(pod: Pod, selector: ResourceFieldSelector): string;
}

/** Environment of volume plugins (volume.VolumeHost). */
export interface VolumeHost {
  readonly node: VolumeFacts & Pick<NodeFacts, 'nodeName'>;
  readonly objects: ApiObjects;
  readonly downwardApi: DownwardApi;
  readonly mounter: Mounter;
  readonly runTool: RunTool;
  readonly loops: LoopDevices;
  /** Drivers of FlexVolumes. */
  readonly flex: FlexDrivers;
  /** Where disks appear on the node. */
  readonly roots: DiskRoots;
  readonly clock: Clock;
  /** Volumes of CSI drivers; undefined in a process that drivers cannot register with. */
  readonly csi?: CsiVolumes | undefined;
  /** Operations on the volumes of the pod, which can outlast a sync; by default new ones. */
  readonly operations?: VolumeOperations;
  /** Receives failures to mount volumes and other warnings about them; they are dropped by default. */
  readonly events?: EventSink;
  /** Receives what happens to the volumes; it is dropped by default. */
  readonly onVolume?: VolumeStepSink | undefined;
  /** Receives the operations of the volumes; they are dropped by default. */
  readonly operated?: (operation: VolumeOperation) => void;
  /** Called after each successful mount of a volume; by default nothing is. */
  readonly mounted?: (volume: MountedOperation) => void;
}

/** A volume of a pod that was mounted or mapped. */
export interface MountedOperation {
  /** Name of the volume in the pod. */
  readonly name: string;
  /** Name of the plugin in metrics. */
  readonly plugin: string;
  /** Name of its CSI driver; undefined for other volumes. */
  readonly driver: string | undefined;
  readonly isBlock: boolean;
  /** Time since the pod needed the volume, with failed attempts and their delays. */
  readonly durationMs: number;
}

/** Node and FlexVolume drivers, on which it depends whether a volume is measured. */
export interface MeasuringHost extends Pick<VolumeHost, 'flex'> {
  readonly node: Pick<NodeFacts, 'rootDir' | 'volumePluginDir'>;
}

/** A volume of a pod. */
export interface PodVolume<Source> {
  readonly pod: Pod;
  /** Name of the volume in the pod, or that of its PersistentVolume. */
  readonly name: string;
  readonly source: Source;
  /** Name of the volume in the pod, if `name` is that of a PersistentVolume. */
  readonly specName?: string;
  /** True if the volume is to be mounted read-only; false by default. */
  readonly readOnly?: boolean;
  /** Mount options of a PersistentVolume; none by default. */
  readonly mountOptions?: readonly string[];
  /** Sizes of a PersistentVolume that may be enlarged; undefined for other volumes. */
  readonly expansion?: VolumeExpansion | undefined;
  /** Access modes of a PersistentVolume; none by default. */
  readonly accessModes?: readonly PersistentVolumeAccessMode[];
  /** True for a volume of an in-tree kind that a CSI driver replaced; false by default. */
  readonly isMigrated?: boolean | undefined;
}

/**
 * Implementation of a volume type (volume.VolumePlugin). Methods throw or reject with KcriError with the kubelet's
 * message.
 */
export interface VolumePlugin<Source> {
  /** Name in metrics, such as `kubernetes.io/nfs` (GetPluginName). */
  readonly name: string;
  /** Returns the name in metrics, if it depends on the source. */
  nameOf?(source: Source): string;
  /** Returns the driver of a CSI volume, which is then a part of the name (GetFullQualifiedPluginNameForVolume). */
  driver?(source: Source): string;
  /** True if a server can hold up setUp; false by default, except for volumes with a driver. */
  readonly canHang?: boolean;
  /** True if the volume is always mounted read-only. */
  readonly readOnly: boolean;
  /** True if containers get the volume as a block device (BlockVolumePlugin); false by default. */
  readonly isBlock?: boolean;
  /** True if setUp is repeated so that the content follows its sources (RequiresRemount); false by default. */
  readonly requiresRemount?: boolean;
  /** Reports whether a driver wants setUp to be repeated (RequiresRemount); by default it does not. */
  isRepublished?(host: VolumeHost, source: Source): boolean;
  /** Reports whether the SELinux labels of the files must not change (Attributes); by default they may. */
  keepsLabels?(volume: PodVolume<Source>, host: VolumeHost): boolean;
  /** Returns the path of the volume on the node; empty if it has none. */
  path(node: Pick<NodeFacts, 'rootDir'>, volume: PodVolume<Source>): string;
  /** Checks the source before setUp (NewMounter). */
  check?(volume: PodVolume<Source>): Promise<void>;
  /**
   * Sets the volume up or updates its content; completes the work of a killed process. Rejects with the signal's reason
   * while it waits.
   */
  setUp(host: VolumeHost, volume: PodVolume<Source>, signal: AbortSignal): Promise<void>;
  /**
   * Enlarges a volume with its PersistentVolume, after setUp and at each sync. Resolves with false if it must be tried again.
   */
  expand?(host: VolumeHost, volume: PodVolume<Source>, options: ExpandOptions): Promise<boolean>;
  /** Reports whether a driver has filesystems whose usage is that of their volumes; by default that follows from the kind. */
  isMeasured?(source: Source, host: MeasuringHost): boolean;
  /** Returns the files that setUp would write. */
  plan?(host: VolumeHost, volume: PodVolume<Source>): Promise<readonly PlannedFile[]>;
}

/**
 * Returns `<rootDir>/pods/<uid>/volumes/<plugin>/<name>`. Throws SystemError for a name that is not a valid file name.
 */
export function podVolumeDir(
  node: Pick<NodeFacts, 'rootDir'>,
  plugin: string,
  {pod, name}: Pick<PodVolume<unknown>, 'pod' | 'name'>,
): string {
  return join(podDir(node, podRef(pod).uid), 'volumes', plugin, validatePathSegment('volume name', name));
}

/**
 * Returns `<rootDir>/pods/<uid>/plugins/<plugin>/<name>`, the directory for metadata of a volume. Throws like
 * podVolumeDir.
 */
export function podPluginDir(
  node: Pick<NodeFacts, 'rootDir'>,
  plugin: string,
  {pod, name}: Pick<PodVolume<unknown>, 'pod' | 'name'>,
): string {
  return join(podDir(node, podRef(pod).uid), 'plugins', plugin, validatePathSegment('volume name', name));
}
