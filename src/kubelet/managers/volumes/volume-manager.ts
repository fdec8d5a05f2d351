import {allContainersOf} from '../../../api/pod-containers.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {Volume} from '../../../api/types/v1-volumes.js';
import {KcriError, messageOf, SystemError} from '../../../base/errors.js';
import {MountError} from '../../contract/mount-error.js';
import type {MountedVolumes, PlannedFile} from '../../contract/pod-filesystem.js';
import {resolveVolume, type ResolvedVolume} from './plugins/resolve-volume.js';
import type {VolumeHost} from './plugins/volume-plugin.js';

/** Result of planVolumes. */
export interface PlannedVolumes {
  readonly volumes: MountedVolumes;
  /** Files of volumes whose content on the node is not up to date. */
  readonly files: readonly PlannedFile[];
}

/**
 * Returns the paths of the volumes that a pod's containers mount, and the files that mountVolumes would write, without
 * changing anything. Rejects with SystemError if a volume cannot be set up from its source.
 */
export async function planVolumes(pod: Pod, host: VolumeHost): Promise<PlannedVolumes> {
  const resolved = resolveVolumes(pod);
  const files: PlannedFile[] = [];
  for (const [name, volume] of resolved)
    try {
      files.push(...(await volume.plan(host)));
    } catch (cause) {
      throw mountError(name, cause);
    }
  return {volumes: mountedVolumes(resolved, host), files};
}

/**
 * Mounts the volumes that a pod's containers use, in the order of the pod spec, and updates the files that kcri writes
 * (VolumeManager.WaitForAttachAndMount). Idempotent, also after a crash. A failed volume does not prevent others from
 * being mounted. Rejects with MountError, whose failures have the messages of the kubelet's FailedMount events, or with
 * the signal's reason between two volumes.
 */
export async function mountVolumes(pod: Pod, host: VolumeHost, signal: AbortSignal): Promise<MountedVolumes> {
  const resolved = resolveVolumes(pod);
  const mounted = mountedVolumes(resolved, host);
  const failures: SystemError[] = [];
  for (const [name, volume] of resolved) {
    signal.throwIfAborted();
    try {
      await volume.setUp(host);
    } catch (cause) {
      failures.push(mountError(name, cause));
    }
  }
  const [first, ...others] = failures;
  if (first !== undefined) throw new MountError([first, ...others]);
  return mounted;
}

/** Volumes by name, in the order of the pod spec. */
type ResolvedVolumes = readonly (readonly [name: string, volume: ResolvedVolume])[];

function resolveVolumes(pod: Pod): ResolvedVolumes {
  return usedVolumes(pod).map((volume) => [volume.name, resolveVolume(pod, volume)]);
}

function mountedVolumes(resolved: ResolvedVolumes, {node}: VolumeHost): MountedVolumes {
  return new Map(
    resolved.map(([name, volume]) => [name, {hostPath: volume.path(node), readOnly: volume.readOnly}]),
  );
}

function mountError(name: string, cause: unknown): SystemError {
  return new SystemError(`MountVolume.SetUp failed for volume "${name}" : ${messageOf(cause)}`, {
    cause,
    hint: cause instanceof KcriError ? cause.hint : undefined,
  });
}

function usedVolumes(pod: Pod): readonly Volume[] {
  const mounts = allContainersOf(pod).flatMap(({volumeMounts = []}) => volumeMounts);
  const used = new Set(mounts.map(({name}) => name));
  return (pod.spec.volumes ?? []).filter(({name}) => used.has(name));
}
