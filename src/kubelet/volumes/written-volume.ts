import {join} from 'node:path';
import type {PlannedFile} from '../container/pod-filesystem.js';
import {isUpToDate, writeAtomically, type Payload} from './atomic-writer.js';
import {setUpEmptyDir} from './empty-dir.js';
import {makeNestedMountPoints} from './nested-mount-points.js';
import {groupMode, setVolumeOwnership} from './ownership.js';
import {podVolumeDir, type PodVolume, type VolumeHost, type VolumePlugin} from './volume-plugin.js';

/** A kind of volume that the kubelet writes. */
export interface WrittenVolume<Source> {
  /** The plugin's name as a directory, such as `kubernetes.io~secret`. */
  readonly directory: string;
  /** Of the emptyDir that the files are in; Memory for what no disk is to keep. */
  readonly medium: '' | 'Memory';
  /** What the volume is to hold. Throws a KcriError in the kubelet's words when something for it is missing. */
  readonly payload: (host: VolumeHost, volume: PodVolume<Source>) => Payload;
}

/**
 * A volume of files that follow what they are made from: an emptyDir, filled by the atomic writer and given to the pod's
 * fsGroup (SetUpAt of configmap, secret, downwardapi and projected). Containers can't write to it.
 */
export function writtenVolume<Source>(kind: WrittenVolume<Source>): VolumePlugin<Source> {
  const {directory, medium, payload} = kind;
  return {
    readOnly: true,
    path: (node, volume) => podVolumeDir(node, directory, volume),
    setUp: async (host, volume) => {
      const files = payload(host, volume);
      const path = podVolumeDir(host.node, directory, volume);
      const {pod, name} = volume;
      // The name under which the kubelet keeps the emptyDir in the volume.
      await setUpEmptyDir(host, {pod, name: `wrapped_${name}`, source: {medium}}, path);
      await makeNestedMountPoints(pod, name, path);
      await writeAtomically(path, files, {
        now: host.clock.now(),
        setOwnership: async () => {
          await setVolumeOwnership(path, {fsGroup: fsGroupOf(volume), readOnly: true});
        },
      });
    },
    plan: async (host, volume) => {
      const files = payload(host, volume);
      const path = podVolumeDir(host.node, directory, volume);
      return (await isUpToDate(path, files)) ? [] : plannedFiles(path, files, fsGroupOf(volume));
    },
  };
}

function fsGroupOf({pod}: PodVolume<unknown>): number | undefined {
  return pod.spec.securityContext?.fsGroup;
}

/** Their content stays out of it: it may be a secret. */
function plannedFiles(path: string, files: Payload, fsGroup: number | undefined): readonly PlannedFile[] {
  return [...files].map(([name, {mode}]) => ({
    path: join(path, name),
    mode: fsGroup === undefined ? mode : groupMode(mode, false, true),
  }));
}
