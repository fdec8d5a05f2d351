import {join} from 'node:path';
import type {PlannedFile} from '../../../contract/pod-filesystem.js';
import {isUpToDate, writeAtomically, type Payload} from '../atomic-writer.js';
import {setUpEmptyDir} from './empty-dir.js';
import {makeNestedMountPoints} from '../nested-mount-points.js';
import {groupMode} from '../fs-group-ownership.js';
import {setOwnership} from './set-ownership.js';
import {podVolumeDir, type PodVolume, type VolumeHost, type VolumePlugin} from './volume-plugin.js';

/** Options of createAtomicWriterPlugin. */
export interface AtomicWriterPluginOptions<Source> {
  /** Directory name of the plugin, such as `kubernetes.io~secret`. */
  readonly directory: string;
  /** Medium of the emptyDir that contains the files; Memory for data that must not be stored on disk. */
  readonly medium: '' | 'Memory';
  /** Returns the files of a volume. Throws KcriError with the kubelet's message if an object or key is missing. */
  readonly payload: (host: VolumeHost, volume: PodVolume<Source>) => Payload;
}

/**
 * Creates a plugin for read-only volumes of files that follow their sources: an emptyDir written by the atomic writer
 * and owned by the pod's fsGroup (SetUpAt of configmap, secret, downwardapi and projected).
 */
export function createAtomicWriterPlugin<Source>(
  options: AtomicWriterPluginOptions<Source>,
): VolumePlugin<Source> {
  const {directory, medium, payload} = options;
  const plugin = directory.replace('~', '/');
  return {
    name: plugin,
    readOnly: true,
    requiresRemount: true,
    path: (node, volume) => podVolumeDir(node, directory, volume),
    setUp: async (host, volume) => {
      const files = payload(host, volume);
      const path = podVolumeDir(host.node, directory, volume);
      const {pod, name} = volume;
      // The kubelet's name of the wrapped emptyDir.
      await setUpEmptyDir(host, {pod, name: `wrapped_${name}`, source: {medium}}, path);
      await makeNestedMountPoints(pod, name, path);
      await writeAtomically(path, files, {
        now: host.clock.now(),
        setOwnership: async () => {
          await setOwnership(host, {plugin, path, fsGroup: fsGroupOf(volume), readOnly: true});
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

/** Returns the planned files without their content, which may be secret. */
function plannedFiles(path: string, files: Payload, fsGroup: number | undefined): readonly PlannedFile[] {
  return [...files].map(([name, {mode}]) => ({
    path: join(path, name),
    mode: fsGroup === undefined ? mode : groupMode(mode, false, true),
  }));
}
