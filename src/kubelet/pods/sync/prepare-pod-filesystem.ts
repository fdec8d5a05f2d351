import type {Pod} from '../../../api/types/v1-pod.js';
import {Backoff} from '../../../base/async/backoff.js';
import {timestampOf} from '../../../base/clock.js';
import {messageOf, rethrowUnexpected} from '../../../base/errors.js';
import type {ObjectUse} from '../../contract/api-objects.js';
import {MountError, mountFailureReason} from '../../contract/volumes/mount-error.js';
import type {MountedVolumes} from '../../contract/pod-filesystem.js';
import {podRef, type PodRef} from '../../contract/pod-ref.js';
import type {SyncFailure, SyncFailureReason, SyncResult} from '../../contract/sync-result.js';
import type {SyncContext} from '../../managers/kuberuntime/sync-context.js';
import type {SyncOptions} from './sync-options.js';

type NodeContext = Pick<SyncContext, 'files' | 'objects' | 'events' | 'onVolume' | 'mountBackoff' | 'clock'>;

/** Delays after a failure before any volume is mounted, in ms: doubled up to a maximum (goroutinemap exponentialbackoff). */
const INITIAL_MOUNT_DELAY_MS = 500;
const MAX_MOUNT_DELAY_MS = 122_000;

/** Creates the delays after failures to load what a pod's volumes need. */
export function createMountBackOff(): Backoff {
  return new Backoff(INITIAL_MOUNT_DELAY_MS, MAX_MOUNT_DELAY_MS);
}

/** A pod that preparePodFilesystem prepares, and for which use. */
interface PodPreparation extends Pick<SyncOptions, 'onDirsMade'> {
  readonly pod: Pod;
  readonly use: ObjectUse;
}

/** Prepared resources of a pod. */
interface PreparedPod {
  readonly volumes: MountedVolumes;
  /** Time at which volumes that could not be updated are tried again, in ms of the monotonic clock; undefined without any. */
  readonly retryAt: number | undefined;
}

/**
 * Prepares the pod's resources on the node: cgroup, directories, the objects that it refers to, and volumes. A volume
 * that is mounted but cannot be updated only causes an event, so that containers restart with its last content.
 */
export async function preparePodFilesystem(
  context: NodeContext,
  {pod, use, onDirsMade}: PodPreparation,
  signal: AbortSignal,
): Promise<PreparedPod | FailedStep> {
  const {files, objects} = context;
  try {
    await files.makePodCgroup(pod);
  } catch (cause) {
    rethrowUnexpected(cause);
    const message = `unable to ensure pod container exists: ${messageOf(cause)}`;
    return reportSetUpFailure(context, pod, {reason: 'FailedCreatePodContainer', message, cause});
  }
  try {
    await files.makePodDirs(pod);
  } catch (cause) {
    rethrowUnexpected(cause);
    const message = `error making pod data directories: ${messageOf(cause)}`;
    return reportSetUpFailure(context, pod, {reason: 'Failed', message, cause});
  }
  onDirsMade?.();
  try {
    await objects.load?.(pod, {...use, events: context.events}, signal);
    const {volumes, retryAt, isExpanding} = await files.mountVolumes(pod, context, signal);
    if (isExpanding === true)
      return {volumes, retryAt: Math.min(retryAt ?? Infinity, nextMount(context, podRef(pod)))};
    context.mountBackoff.reset(podRef(pod).uid);
    return {volumes, retryAt};
  } catch (cause) {
    signal.throwIfAborted();
    rethrowUnexpected(cause);
    if (cause instanceof MountError) return failedMount(context, pod, cause);
    const failed = reportSetUpFailure(context, pod, {
      reason: 'FailedMount',
      message: messageOf(cause),
      cause,
    });
    return {
      ...failed,
      failure: {...failed.failure, retryAt: timestampOf(context.clock, nextMount(context, podRef(pod)))},
    };
  }
}

/** Returns the time at which the volumes of a pod are prepared again after a failure, in ms of the monotonic clock. */
function nextMount({mountBackoff, clock}: NodeContext, {uid}: PodRef): number {
  const now = clock.monotonic();
  mountBackoff.next(uid, now, now);
  return now + mountBackoff.get(uid);
}

/** Returns the failure of the first volume, which has had its event. */
function failedMount({clock}: NodeContext, pod: Pod, {failures: [cause], retryAt}: MountError): FailedStep {
  const failure: SyncFailure = {reason: mountFailureReason(cause), message: cause.message, cause};
  return {
    ...{action: 'SetUpNode', target: podRef(pod).name},
    failure: {...failure, ...(retryAt !== undefined && {retryAt: timestampOf(clock, retryAt)})},
  };
}

type FailedStep = SyncResult & {readonly failure: SyncFailure};

/** Returns the failure of a set-up step on the node and reports it as an event of the same reason. */
export function reportSetUpFailure(
  {events}: Pick<SyncContext, 'events'>,
  pod: Pod,
  failure: SyncFailure & {
    readonly reason: Extract<
      SyncFailureReason,
      | 'FailedCreatePodContainer'
      | 'Failed'
      | 'FailedMount'
      | 'FailedMapVolume'
      | 'VolumeResizeFailed'
      | 'NetworkNotReady'
      | 'PodFeatureUnsupported'
    >;
  },
): FailedStep {
  const {reason, message} = failure;
  events({type: 'Warning', reason, message, pod});
  return {action: 'SetUpNode', target: podRef(pod).name, failure};
}

/** Returns the failure of a pod that needs the network, which is not ready; undefined if it can start. */
export function missingNetwork({spec}: Pod, networkError: string | undefined) {
  if (networkError === undefined || spec.hostNetwork === true) return undefined;
  return {reason: 'NetworkNotReady', message: `network is not ready: ${networkError}`} as const;
}
