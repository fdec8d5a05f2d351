import type {ShownPod} from '../../pods/listed-pod.js';
import {restartCommand} from '../../pods/not-restarted.js';
import type {PodSnapshot} from './pod-snapshot.js';

/** Returns a snapshot with only what the status of a pod says, which takes no reads. */
export function snapshotOfStatus(shown: ShownPod, nowMs: number): PodSnapshot {
  const {listed, pod, isUnattended = false} = shown;
  return {
    takenAt: new Date(nowMs).toISOString(),
    pod,
    manager: listed.manager,
    isUnattended,
    runsWith: listed.record === undefined ? undefined : restartCommand(listed.record),
    sandbox: sandboxState(shown),
    runtimeError: undefined,
    events: [],
    kubelet: undefined,
    kubeletErrors: [],
    containers: {},
    node: {},
    unread: [],
  };
}

function sandboxState({listed: {inRuntime}}: ShownPod): PodSnapshot['sandbox'] {
  if (inRuntime === undefined) return undefined;
  return inRuntime.sandboxes[0].state === 'SANDBOX_READY' ? 'ready' : 'stopped';
}
