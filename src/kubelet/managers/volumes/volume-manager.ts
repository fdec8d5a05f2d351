import {allContainersOf} from '../../../api/pod-containers.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {Volume} from '../../../api/types/v1-volumes.js';
import {KcriError, messageOf, SystemError} from '../../../base/errors.js';
import {MountError} from '../../contract/mount-error.js';
import type {MountedVolumes, PlannedFile} from '../../contract/pod-filesystem.js';
import {resolveVolume, type ResolvedVolume} from './plugins/resolve-volume.js';
import type {VolumeHost} from './plugins/volume-plugin.js';
import {VolumeStepError} from './plugins/volume-step-error.js';

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
  const resolved = usedVolumes(pod).map((volume): [string, ResolvedVolume] => [
    volume.name,
    resolveVolume(pod, volume, host.objects),
  ]);
  const files: PlannedFile[] = [];
  for (const [, volume] of resolved)
    try {
      files.push(...(await volume.plan(host)));
    } catch (cause) {
      throw mountError(volume, cause);
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
  const resolved: [string, ResolvedVolume][] = [];
  const unresolved: [string, SystemError][] = [];
  for (const volume of usedVolumes(pod))
    try {
      resolved.push([volume.name, resolveVolume(pod, volume, host.objects)]);
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      unresolved.push([volume.name, error]);
    }
  const failed: [string, SystemError][] = [];
  for (const [name, volume] of resolved) {
    signal.throwIfAborted();
    try {
      await volume.check();
      await volume.setUp(host);
    } catch (cause) {
      failed.push([name, mountError(volume, cause)]);
    }
  }
  const failures = failed.map(([, error]) => error);
  if (unresolved.length > 0) failures.push(unprocessedError(unresolved, failed));
  const [first, ...others] = failures;
  if (first !== undefined) throw new MountError([first, ...others]);
  return mountedVolumes(resolved, host);
}

/** Volumes by name, in the order of the pod spec. */
type ResolvedVolumes = readonly (readonly [name: string, volume: ResolvedVolume])[];

function mountedVolumes(resolved: ResolvedVolumes, {node}: VolumeHost): MountedVolumes {
  return new Map(
    resolved.map(([name, volume]) => [name, {hostPath: volume.path(node), readOnly: volume.readOnly}]),
  );
}

function mountError({name}: ResolvedVolume, cause: unknown): SystemError {
  const step = cause instanceof VolumeStepError ? cause.step : 'MountVolume.SetUp failed';
  return new SystemError(`${step} for volume "${name}" : ${messageOf(cause)}`, {
    cause,
    hint: cause instanceof KcriError ? cause.hint : undefined,
  });
}

/** Returns the error of volumes without a usable source; the kubelet reports them together, with all that are missing. */
function unprocessedError(
  unresolved: readonly (readonly [name: string, error: SystemError])[],
  failed: readonly (readonly [name: string, error: SystemError])[],
): SystemError {
  const names = (of: typeof unresolved): string =>
    `[${of
      .map(([name]) => name)
      .toSorted()
      .join(' ')}]`;
  const reasons = unresolved.map(([, {message}]) => message).join('; ');
  const [first] = unresolved;
  return new SystemError(
    `Unable to attach or mount volumes: unmounted volumes=${names([...unresolved, ...failed])}, unattached volumes=[], failed to process volumes=${names(unresolved)}: ${reasons}`,
    {cause: first?.[1], hint: first?.[1].hint},
  );
}

function usedVolumes(pod: Pod): readonly Volume[] {
  const mounts = allContainersOf(pod).flatMap(({volumeMounts = []}) => volumeMounts);
  const used = new Set(mounts.map(({name}) => name));
  return (pod.spec.volumes ?? []).filter(({name}) => used.has(name));
}
