import type {Pod} from '../../../api/types/v1-pod.js';
import type {Volume} from '../../../api/types/v1-volumes.js';
import type {Clock} from '../../../base/clock.js';
import {usedVolumes} from '../../../api/used-volumes.js';
import {KcriError, messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import {AttachLimitError} from '../../contract/volumes/attach-limit-error.js';
import {MapError, MountError, mountFailureReason, ResizeError} from '../../contract/volumes/mount-error.js';
import type {MountedVolume, MountedVolumes, MountResult, PlannedFile} from '../../contract/pod-filesystem.js';
import type {VolumeOperation} from '../../contract/kubelet-metrics.js';
import {podRef} from '../../contract/pod-ref.js';
import type {ExpandOptions} from '../../contract/volumes/csi-volumes.js';
import {NoPluginError} from './no-plugin-error.js';
import {resolveVolume, type ResolvedVolume} from './plugins/resolve-volume.js';
import type {VolumeHost} from './plugins/volume-plugin.js';
import {timeOperation} from './time-operation.js';
import {VolumeOperations} from './volume-operations.js';
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
      throw mountError(volume.name, volume, cause);
    }
  const volumes = new Map(resolved.map(([name, volume]) => [name, mountedVolume(volume, host)]));
  return {volumes, files};
}

/** Time for which a sync waits for the volumes of its pod, in ms (podAttachAndMountTimeout). */
const WAIT_MS = 123_000;
/** Time for which it waits for the driver of a volume that is mounted and is published again, in ms. */
const REPUBLISH_WAIT_MS = 2000;
/** Operation for the volumes without a usable source, which are reported together; no volume has this name. */
const UNPROCESSED = '';

/**
 * Mounts the volumes that a pod's containers use, all at once, and updates the files that kcri writes
 * (VolumeManager.WaitForAttachAndMount). Idempotent, also after a crash. `mounted` are the volumes that this process has
 * mounted, to which new ones are added: only those whose files follow their sources are set up again, and they remain
 * mounted if that fails. Each failure is a FailedMount event. While other volumes are not mounted, a failed one is tried again
 * in its own time; a volume of a driver is never tried before. Rejects with MountError unless all volumes are mounted, after two
 * minutes if one hangs, which the host's operations continue; and with the signal's reason, when no operation is in progress.
 */
export async function mountVolumes(
  pod: Pod,
  host: VolumeHost,
  signal: AbortSignal,
  mounted = new Map<string, MountedVolume>(),
): Promise<MountResult> {
  signal.throwIfAborted();
  const {operations = new VolumeOperations(host.clock)} = host;
  const used = usedVolumes(pod);
  const {resolved, unresolved} = resolveVolumes(pod, used, host);
  const needsSetUp = (name: string, volume: ResolvedVolume): boolean =>
    !mounted.has(name) || volume.requiresRemount(host);
  const due = resolved.filter(([name, volume]) => needsSetUp(name, volume) || volume.isExpandable);
  const report = failureReporter(pod, host);
  let isExpanding = false;
  const start = (name: string, volume: ResolvedVolume): void => {
    operations.start(name, async (during) => {
      const isMounted = mounted.has(name);
      const isSetUp = needsSetUp(name, volume);
      const history = createRecorder(name, volume, host);
      const isRetried = operations.errorOf(name) !== undefined;
      try {
        if (isSetUp) await mountVolume(volume, host, during);
        const isDone =
          !volume.isExpandable || (await expandVolume(volume, host, {isMounted, signal: during}));
        isExpanding ||= !isDone;
        if (!isMounted || isRetried) history.mounted();
      } catch (cause) {
        during.throwIfAborted();
        throw report(history.failed(mountError(name, volume, cause)));
      }
      if (!isSetUp) return;
      reportMounted(name, volume, host, operations.requestedAt(name));
      mounted.set(name, mountedVolume(volume, host));
    });
  };
  const hanging = await runOperations({due, start, mounted, operations, clock: host.clock}, signal);
  const failed = failedVolumes(due, operations);
  const failures = failed.map(([, error]) => error);
  const unmounted = failed.filter(([name]) => !mounted.has(name));
  const missing = unresolved.filter(([name]) => !mounted.has(name));
  if (missing.length > 0) {
    const error = report(unprocessedError(missing, unmounted));
    operations.start(UNPROCESSED, () => Promise.reject(error));
    await operations.next([UNPROCESSED], undefined, signal);
    failures.push(error);
  }
  if (hanging.length > 0) {
    const names = [...hanging, ...unmounted.map(([name]) => name)];
    failures.unshift(report(await timeoutError(pod, {unmounted: names, due}, host, signal)));
  }
  const names = [...failed.map(([name]) => name), ...(missing.length > 0 ? [UNPROCESSED] : [])];
  const times = names.map((name) => operations.retryAt(name) ?? 0);
  const retryAt = times.length === 0 ? undefined : Math.min(...times);
  const [first, ...others] = failures;
  const volumes = mountedOf(used, mounted);
  if (first !== undefined && volumes.length < used.length) throw new MountError([first, ...others], retryAt);
  return {volumes: new Map(volumes), failures, retryAt, isExpanding};
}

/** Returns what reports a failure as an event of the pod, and returns it. */
function failureReporter(pod: Pod, {events}: VolumeHost): (error: SystemError) => SystemError {
  return (error) => {
    events?.({type: 'Warning', reason: mountFailureReason(error), message: error.message, pod});
    return error;
  };
}

/** Returns what records the result of an attempt on a volume, which begins now, in its history. */
function createRecorder(name: string, volume: ResolvedVolume, {node, clock, onVolume}: VolumeHost) {
  const startedAt = clock.monotonic();
  const record = (result: {readonly ms: number} | {readonly error: string}): void => {
    const recorded = {name, volume: volume.name, plugin: volume.plugin, path: pathOf(volume, node)};
    onVolume?.(
      'error' in result
        ? {step: 'Failed', volume: recorded, ...result}
        : {step: 'Mounted', volume: recorded, ...result},
    );
  };
  return {
    mounted: () => {
      record({ms: clock.monotonic() - startedAt});
    },
    failed: (error: SystemError) => {
      record({error: error.message});
      return error;
    },
  };
}

/** Reports a volume that was mounted after it was requested, in ms of the monotonic clock. */
function reportMounted(
  name: string,
  {plugin, driver, isBlock}: ResolvedVolume,
  {clock, mounted}: VolumeHost,
  requestedAt: number | undefined,
): void {
  const now = clock.monotonic();
  mounted?.({name, plugin, driver, isBlock, durationMs: now - (requestedAt ?? now)});
}

/** Returns the path of a volume; empty if its name cannot be that of a directory, for which its mount fails. */
function pathOf(volume: ResolvedVolume, node: VolumeHost['node']): string {
  try {
    return volume.path(node);
  } catch (error) {
    rethrowUnexpected(error);
    return '';
  }
}

/** Returns the used volumes that are mounted, by name. */
function mountedOf(
  used: readonly Volume[],
  mounted: ReadonlyMap<string, MountedVolume>,
): readonly (readonly [string, MountedVolume])[] {
  return used.flatMap(({name}) => {
    const volume = mounted.get(name);
    return volume === undefined ? [] : [[name, volume] as const];
  });
}

/** Returns the volumes whose last attempt has failed. Throws programming errors. */
function failedVolumes(
  due: OperationRun['due'],
  operations: VolumeOperations,
): readonly (readonly [string, SystemError])[] {
  return due.flatMap(([name]): [string, SystemError][] => {
    const error = operations.isRunning(name) ? undefined : operations.errorOf(name);
    if (error === undefined) return [];
    if (error instanceof SystemError) return [[name, error]];
    throw error as Error;
  });
}

/** Inputs of {@link runOperations}. */
interface OperationRun {
  /** Volumes to mount or to set up again, by name. */
  readonly due: readonly (readonly [name: string, volume: ResolvedVolume])[];
  readonly start: (name: string, volume: ResolvedVolume) => void;
  readonly mounted: ReadonlyMap<string, unknown>;
  readonly operations: VolumeOperations;
  readonly clock: Clock;
}

/**
 * Starts the operations and waits until each has ended, but only for a limited time for those that can hang. Resolves with the
 * names of the volumes that are not mounted because theirs are still in progress. Rejects with the signal's reason.
 */
async function runOperations(
  {due, start, mounted, operations, clock}: OperationRun,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const startedAt = clock.monotonic();
  for (const [name, volume] of due) {
    const isDue = (operations.retryAt(name) ?? 0) <= startedAt;
    if (!operations.isRunning(name) && (isDue || volume.driver === undefined)) start(name, volume);
  }
  const endOfWait = ([name, {canHang}]: (typeof due)[number]): number => {
    if (!canHang) return Infinity;
    return startedAt + (mounted.has(name) ? REPUBLISH_WAIT_MS : WAIT_MS);
  };
  const limits = new Map(due.map((volume) => [volume[0], endOfWait(volume)]));
  const runningNames = (): readonly string[] =>
    due.map(([name]) => name).filter((name) => operations.isRunning(name));
  const retryAll = (now: number): readonly number[] =>
    due.flatMap(([name, volume]) => {
      const retryAt = operations.isRunning(name) ? undefined : operations.retryAt(name);
      if (retryAt !== undefined && retryAt <= now) start(name, volume);
      return retryAt !== undefined && retryAt > now ? [retryAt] : [];
    });
  for (;;) {
    const now = clock.monotonic();
    const waits = runningNames().map((name) => limits.get(name) ?? 0);
    const awaited = waits.filter((limit) => now < limit);
    if (awaited.length === 0) return runningNames().filter((name) => !mounted.has(name));
    const until = Math.min(...awaited, ...retryAll(now));
    await operations.next(runningNames(), Number.isFinite(until) ? until : undefined, signal);
  }
}

/** Volumes of a pod that were not mounted in time. */
interface LateVolumes {
  readonly unmounted: readonly string[];
  /** Volumes that were to be mounted. */
  readonly due: OperationRun['due'];
}

/**
 * Returns the error of a sync whose volumes were not attached and mounted in time; AttachLimitError if the pod cannot have them on
 * this node. Rejects with the signal's reason.
 */
async function timeoutError(
  pod: Pod,
  {unmounted, due}: LateVolumes,
  {csi, node}: VolumeHost,
  signal: AbortSignal,
): Promise<SystemError> {
  const {uid} = podRef(pod);
  const unattached = unmounted.filter((name) => csi?.isAttaching(uid, name) === true);
  const volumes = `unmounted volumes=${listOf(unmounted)}, unattached volumes=${listOf(unattached)}, failed to process volumes=[]: context deadline exceeded`;
  for (const name of unattached)
    if ((await csi?.exceedsLimit(uid, name, signal)) === true) return new AttachLimitError(volumes);
  return new SystemError(`Unable to attach or mount volumes: ${volumes}`, {
    hint: timeoutHint(unattached, due, node),
  });
}

/** Returns what to look at if volumes were not mounted in time, some of which may not be attached. */
function timeoutHint(
  unattached: readonly string[],
  due: OperationRun['due'],
  {nodeName}: VolumeHost['node'],
): string {
  if (unattached.length === 0)
    return "look into the log of the volume's driver, or check that the server of the volume answers";
  if (due.some(([name, {driver}]) => driver !== undefined && unattached.includes(name)))
    return 'check with "kubectl get volumeattachments" what the controller of the CSI driver waits for';
  // Controllers create VolumeAttachments only for CSI drivers.
  return `look into the log of kube-controller-manager, which lists the volumes that it has attached in "kubectl get node ${nodeName} -o jsonpath={.status.volumesAttached}"`;
}

/** Returns names as the kubelet prints a list of them. */
function listOf(names: readonly string[]): string {
  return `[${names.toSorted().join(' ')}]`;
}

/** Checks and sets up a volume, and reports the operation (GenerateMountVolumeFunc). */
async function mountVolume(volume: ResolvedVolume, host: VolumeHost, signal: AbortSignal): Promise<void> {
  const report = (operation: VolumeOperation): void => host.operated?.(operation);
  const operation = {
    plugin: volume.plugin,
    isMigrated: volume.isMigrated,
    operation: volume.isBlock ? 'map_volume' : 'volume_mount',
  } as const;
  await timeOperation(operation, {clock: host.clock, report}, async () => {
    await volume.check();
    await volume.setUp(host, signal);
  });
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

function mountedVolume(volume: ResolvedVolume, host: VolumeHost): MountedVolume {
  const {readOnly, groupId} = volume;
  return {
    ...{hostPath: volume.path(host.node), readOnly},
    ...(volume.keepsLabels(host) && {keepsLabels: true}),
    ...(groupId !== undefined && {groupId}),
  };
}

/** Returns the error of a volume of a pod that cannot be mounted. Throws programming errors again. */
function mountError(specName: string, {name, isBlock}: ResolvedVolume, cause: unknown): SystemError {
  rethrowUnexpected(cause);
  if (cause instanceof ResizeError) return cause;
  if (cause instanceof NoPluginError) return unprocessedError([[specName, cause]], []);
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
  const names = (of: typeof unresolved): string => listOf(of.map(([name]) => name));
  const reasons = unresolved.map(([, {message}]) => message).join('; ');
  const [first] = unresolved;
  return new SystemError(
    `Unable to attach or mount volumes: unmounted volumes=${names([...unresolved, ...failed])}, unattached volumes=[], failed to process volumes=${names(unresolved)}: ${reasons}`,
    {cause: first?.[1], hint: first?.[1].hint},
  );
}
