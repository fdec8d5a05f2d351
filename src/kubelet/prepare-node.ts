import type {Pod} from '../api/v1.js';
import {messageOf} from '../base/errors.js';
import {MountError} from './container/mount-error.js';
import type {MountedVolumes} from './container/pod-filesystem.js';
import {podRef} from './container/pod-ref.js';
import type {SyncFailure, SyncFailureReason, SyncResult} from './container/sync-result.js';
import type {SyncContext} from './kuberuntime/sync-context.js';

type NodeContext = Pick<SyncContext, 'files' | 'objects' | 'events'>;

/** What containers need of the node's file system: the pod's cgroup, directories and volumes. */
export async function prepareNode(
  context: NodeContext,
  pod: Pod,
  signal: AbortSignal,
): Promise<{readonly volumes: MountedVolumes} | FailedStep> {
  const {files, objects} = context;
  try {
    await files.makePodCgroup(pod);
  } catch (cause) {
    const message = `unable to ensure pod container exists: ${messageOf(cause)}`;
    return nodeFailure(context, pod, {reason: 'FailedCreatePodContainer', message, cause});
  }
  try {
    await files.makePodDirs(pod);
  } catch (cause) {
    const message = `error making pod data directories: ${messageOf(cause)}`;
    return nodeFailure(context, pod, {reason: 'Failed', message, cause});
  }
  try {
    return {volumes: await files.mountVolumes(pod, objects, signal)};
  } catch (cause) {
    signal.throwIfAborted();
    // One event for each volume; the first is what the sync fails with.
    const [first, ...others] = cause instanceof MountError ? cause.failures : [cause];
    const failed = mountFailure(context, pod, first);
    for (const other of others) mountFailure(context, pod, other);
    return failed;
  }
}

function mountFailure(context: NodeContext, pod: Pod, cause: unknown): FailedStep {
  return nodeFailure(context, pod, {reason: 'FailedMount', message: messageOf(cause), cause});
}

type FailedStep = SyncResult & {readonly failure: SyncFailure};

/** The node can't have the pod yet: told as an event of the same reason. */
export function nodeFailure(
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
