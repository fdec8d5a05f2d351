import type {Pod} from '../../../api/types/v1-pod.js';
import {messageOf} from '../../../base/errors.js';
import {MountError} from '../../contract/mount-error.js';
import type {MountedVolumes} from '../../contract/pod-filesystem.js';
import {podRef} from '../../contract/pod-ref.js';
import type {SyncFailure, SyncFailureReason, SyncResult} from '../../contract/sync-result.js';
import type {SyncContext} from '../../managers/kuberuntime/sync-context.js';

type NodeContext = Pick<SyncContext, 'files' | 'objects' | 'events'>;

/** Prepares the pod's resources on the node: cgroup, directories, the objects that it refers to, and volumes. */
export async function preparePodFilesystem(
  context: NodeContext,
  pod: Pod,
  signal: AbortSignal,
): Promise<{readonly volumes: MountedVolumes} | FailedStep> {
  const {files, objects} = context;
  try {
    await files.makePodCgroup(pod);
  } catch (cause) {
    const message = `unable to ensure pod container exists: ${messageOf(cause)}`;
    return reportSetUpFailure(context, pod, {reason: 'FailedCreatePodContainer', message, cause});
  }
  try {
    await files.makePodDirs(pod);
  } catch (cause) {
    const message = `error making pod data directories: ${messageOf(cause)}`;
    return reportSetUpFailure(context, pod, {reason: 'Failed', message, cause});
  }
  try {
    await objects.load?.(pod, signal);
    return {volumes: await files.mountVolumes(pod, objects, signal)};
  } catch (cause) {
    signal.throwIfAborted();
    // Each volume gets an event; the sync fails with the first one.
    const [first, ...others] = cause instanceof MountError ? cause.failures : [cause];
    const failed = mountFailure(context, pod, first);
    for (const other of others) mountFailure(context, pod, other);
    return failed;
  }
}

function mountFailure(context: NodeContext, pod: Pod, cause: unknown): FailedStep {
  return reportSetUpFailure(context, pod, {reason: 'FailedMount', message: messageOf(cause), cause});
}

type FailedStep = SyncResult & {readonly failure: SyncFailure};

/** Returns the failure of a set-up step on the node and reports it as an event of the same reason. */
export function reportSetUpFailure(
  {events}: Pick<SyncContext, 'events'>,
  pod: Pod,
  failure: SyncFailure & {
    readonly reason: Extract<
      SyncFailureReason,
      'FailedCreatePodContainer' | 'Failed' | 'FailedMount' | 'NetworkNotReady'
    >;
  },
): FailedStep {
  const {reason, message} = failure;
  events({type: 'Warning', reason, message, pod});
  return {action: 'SetUpNode', target: podRef(pod).name, failure};
}
