import {join} from 'node:path';
import type {Pod} from '../../api/v1.js';
import type {ResourceFieldSelector} from '../../api/v1-selectors.js';
import type {Clock} from '../../base/clock.js';
import {pathSegment} from '../../base/files.js';
import type {ApiObjects} from '../container/api-objects.js';
import {podDir, type NodeFacts} from '../container/node.js';
import type {PlannedFile} from '../container/pod-filesystem.js';
import {podRef} from '../container/pod-ref.js';
import type {Mounter} from './mounts.js';

/** What volumes take from the node. */
export type VolumeFacts = Pick<NodeFacts, 'rootDir' | 'cpuMilli' | 'memoryBytes' | 'ephemeralStorageBytes'>;

/** What the Pod API tells a pod of itself. Both throw a KcriError in the kubelet's words. */
export interface DownwardApi {
  field(pod: Pod, fieldPath: string): string;
  resource(pod: Pod, selector: ResourceFieldSelector): string;
}

/** What volumes are made from (volume.VolumeHost). */
export interface VolumeHost {
  readonly node: VolumeFacts;
  readonly objects: ApiObjects;
  readonly downwardApi: DownwardApi;
  readonly mounter: Mounter;
  readonly clock: Pick<Clock, 'now'>;
}

/** One volume of a pod. */
export interface PodVolume<Source> {
  readonly pod: Pod;
  readonly name: string;
  readonly source: Source;
}

/** A kind of volume (volume.VolumePlugin). Methods throw or reject with KcriError in the kubelet's words. */
export interface VolumePlugin<Source> {
  /** Containers can only read it, whatever their mounts say. */
  readonly readOnly: boolean;
  /** Where the volume is once it is set up. */
  path(node: Pick<NodeFacts, 'rootDir'>, volume: PodVolume<Source>): string;
  /** Makes the volume, or brings what it holds up to date; what a killed process began is finished. */
  setUp(host: VolumeHost, volume: PodVolume<Source>): Promise<void>;
  /** The files that setUp would write now. */
  plan?(host: VolumeHost, volume: PodVolume<Source>): Promise<readonly PlannedFile[]>;
}

/** `<rootDir>/pods/<uid>/volumes/<plugin>/<name>`. Throws SystemError for a name that is no file name. */
export function podVolumeDir(
  node: Pick<NodeFacts, 'rootDir'>,
  plugin: string,
  {pod, name}: Pick<PodVolume<unknown>, 'pod' | 'name'>,
): string {
  return join(podDirOf(node, pod), 'volumes', plugin, pathSegment('volume name', name));
}

/** `<rootDir>/pods/<uid>/plugins/<plugin>/<name>`, for what is to be known of a volume. */
export function podPluginDir(
  node: Pick<NodeFacts, 'rootDir'>,
  plugin: string,
  {pod, name}: Pick<PodVolume<unknown>, 'pod' | 'name'>,
): string {
  return join(podDirOf(node, pod), 'plugins', plugin, pathSegment('volume name', name));
}

function podDirOf(node: Pick<NodeFacts, 'rootDir'>, pod: Pod): string {
  return podDir(node, pathSegment('pod UID', podRef(pod).uid));
}
