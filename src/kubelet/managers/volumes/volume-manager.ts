import type {Pod} from '../../../api/types/v1-pod.js';
import type {Volume} from '../../../api/types/v1-volumes.js';
import {usedVolumes} from '../../../api/used-volumes.js';
import {KcriError, messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import {MapError, MountError, ResizeError} from '../../contract/volumes/mount-error.js';
import type {MountedVolume, MountedVolumes, MountResult, PlannedFile} from '../../contract/pod-filesystem.js';
import type {ExpandOptions} from '../../contract/volumes/csi-volumes.js';
import {AttachTimeoutError} from './csi/attach-timeout-error.js';
import {resolveVolume, type ResolvedVolume} from './plugins/resolve-volume.js';
import type {VolumeHost} from './plugins/volume-plugin.js';
import {VolumeStepError} from './volume-step-error.js';

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
  const volumes = new Map(resolved.map(([name, volume]) => [name, mountedVolume(volume, host)]));
  return {volumes, files};
}

/**
 * Mounts the volumes that a pod's containers use, in the order of the pod spec, and updates the files that kcri writes
 * (VolumeManager.WaitForAttachAndMount). Idempotent, also after a crash. `mounted` are the volumes that this process has
 * mounted, to which new ones are added: only those whose files follow their sources are set up again, and they remain
 * mounted if that fails. A failed volume does not prevent others from being mounted. Rejects with MountError unless all
 * volumes are mounted, whose failures have the messages of the kubelet's FailedMount events, or with the signal's reason
 * between two volumes.
 */
export async function mountVolumes(
  pod: Pod,
  host: VolumeHost,
  signal: AbortSignal,
  mounted = new Map<string, MountedVolume>(),
): Promise<MountResult> {
  const used = usedVolumes(pod);
  const isMounted = (name: string): boolean => mounted.has(name);
  const {resolved, unresolved} = resolveVolumes(pod, used, host);
  const failed: [string, SystemError][] = [];
  let isExpanding = false;
  for (const [name, volume] of resolved) {
    const wasMounted = isMounted(name);
    signal.throwIfAborted();
    try {
      const isDue = !wasMounted || volume.requiresRemount(host);
      if (isDue) await mountVolume(volume, host, signal);
      if (!(await expandVolume(volume, host, {isMounted: wasMounted, signal}))) isExpanding = true;
      if (isDue) mounted.set(name, mountedVolume(volume, host));
    } catch (cause) {
      failed.push([name, mountError(volume, cause)]);
    }
  }
  const failures = failed.map(([, error]) => error);
  const missing = unresolved.filter(([name]) => !isMounted(name));
  if (missing.length > 0) {
    const unmounted = failed.filter(([name]) => !isMounted(name));
    failures.push(unprocessedError(missing, unmounted));
  }
  const [first, ...others] = failures;
  const allMounted = used.every(({name}) => isMounted(name));
  if (first !== undefined && !allMounted) throw new MountError([first, ...others]);
  return {volumes: new Map(mounted), failures, isExpanding};
}

/** Checks and sets up a volume, and reports the operation (GenerateMountVolumeFunc). */
async function mountVolume(volume: ResolvedVolume, host: VolumeHost, signal: AbortSignal): Promise<void> {
  const startedAt = host.clock.monotonic();
  const report = (isSuccessful: boolean): void => {
    const durationMs = host.clock.monotonic() - startedAt;
    const operation = volume.isBlock ? 'map_volume' : 'volume_mount';
    host.operated?.({plugin: volume.plugin, operation, isSuccessful, durationMs});
  };
  try {
    await volume.check();
    await volume.setUp(host, signal);
  } catch (error) {
    report(false);
    throw error;
  }
  report(true);
}

/** Enlarges a volume with its PersistentVolume, if it can be. Resolves with false if it must be tried again. */
async function expandVolume(
  volume: ResolvedVolume,
  host: VolumeHost,
  options: Omit<ExpandOptions, 'events'>,
): Promise<boolean> {
  try {
    return await volume.expand(host, {...options, events: host.events});
  } catch (cause) {
    options.signal.throwIfAborted();
    rethrowUnexpected(cause);
    const mounting = volume.isBlock ? 'MapVolume.MarkVolumeAsMounted failed' : 'MountVolume.Setup failed';
    const step = `${mounting} while expanding volume`;
    const failure = {cause, hint: cause instanceof KcriError ? cause.hint : undefined};
    if (!options.isMounted) throw new VolumeStepError(step, messageOf(cause), failure);
    throw new ResizeError(
      `NodeExpandVolume.NodeExpandVolume failed for volume "${volume.name}" : ${messageOf(cause)}`,
      failure,
    );
  }
}

/** Volumes with their plugins, and the reasons why others have none, by name. */
interface ResolvedVolumes {
  readonly resolved: readonly (readonly [string, ResolvedVolume])[];
  readonly unresolved: readonly (readonly [string, SystemError])[];
}

function resolveVolumes(pod: Pod, volumes: readonly Volume[], {objects}: VolumeHost): ResolvedVolumes {
  const resolved: [string, ResolvedVolume][] = [];
  const unresolved: [string, SystemError][] = [];
  for (const volume of volumes)
    try {
      resolved.push([volume.name, resolveVolume(pod, volume, objects)]);
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      unresolved.push([volume.name, error]);
    }
  return {resolved, unresolved};
}

function mountedVolume(volume: ResolvedVolume, {node}: VolumeHost): MountedVolume {
  const {readOnly, keepsLabels} = volume;
  return {hostPath: volume.path(node), readOnly, ...(keepsLabels && {keepsLabels})};
}

/** Returns the error of a volume that cannot be mounted. Throws programming errors again. */
function mountError({name, isBlock}: ResolvedVolume, cause: unknown): SystemError {
  rethrowUnexpected(cause);
  if (cause instanceof AttachTimeoutError || cause instanceof ResizeError) return cause;
  const usual = isBlock ? 'MapVolume.MapPodDevice failed' : 'MountVolume.SetUp failed';
  const step = cause instanceof VolumeStepError ? cause.step : usual;
  const failure = {cause, hint: cause instanceof KcriError ? cause.hint : undefined};
  const message = `${step} for volume "${name}" : ${messageOf(cause)}`;
  return isBlock ? new MapError(message, failure) : new SystemError(message, failure);
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
