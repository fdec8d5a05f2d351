import type {Container, Pod, PodSpec} from '../../../src/api/types/v1-pod.js';
import type {ContainerStatus, PodStatus} from '../../../src/api/types/v1-status.js';
import type {PodSnapshot} from '../../../src/features/why/snapshot/pod-snapshot.js';
import {podUid} from '../../../src/cri/index.js';
import type {KubeletPodReport, RecordedEvent} from '../../../src/kubelet/index.js';
import {aContainer, aContainerStatus, aPod, UID} from '../../fakes/a-pod.js';

/** Time of the snapshots, at which events happen too. */
export const NOW = '2026-11-27T12:45:00.000Z';

/** Container ID of instances that have exited. */
export const ID = 'c'.repeat(64);

/** Returns a snapshot of a pod of a kubelet of kcri that runs well, by default. */
export function aSnapshot(fields: Partial<PodSnapshot> = {}): PodSnapshot {
  return {
    takenAt: NOW,
    pod: aStatusPod([{ready: true, state: {running: {startedAt: '2026-11-27T12:00:00Z'}}}]),
    manager: 'kcri',
    isUnattended: false,
    runsWith: 'kcri sync web.yaml',
    sandbox: 'ready',
    runtimeError: undefined,
    events: [],
    kubelet: undefined,
    kubeletErrors: [],
    containers: {},
    node: {},
    unread: [],
    ...fields,
  };
}

/** Parts of aStatusPod. */
interface StatusPodFields {
  readonly status?: Partial<PodStatus>;
  readonly spec?: Partial<PodSpec>;
  readonly container?: Partial<Container>;
}

/** Returns a pod with one container `main`, or as many as it has statuses. */
export function aStatusPod(
  statuses: readonly Partial<ContainerStatus>[],
  {status = {}, spec = {}, container = {}}: StatusPodFields = {},
): Pod {
  const containerStatuses = statuses.map((each) => aContainerStatus({restartCount: 0, ...each}));
  return {
    ...aPod({containers: [aContainer(container)], ...spec}),
    status: {phase: 'Running', startTime: '2026-11-27T12:36:00Z', containerStatuses, ...status},
  };
}

/** Returns a snapshot of a pod whose container waits. */
export function aWaiting(reason: string, message = '', fields: Partial<PodSnapshot> = {}): PodSnapshot {
  return aSnapshot({pod: aStatusPod([{state: {waiting: {reason, message}}}]), ...fields});
}

/** Returns a snapshot of a pod whose container has exited, and waits for its next start. */
export function anExit(
  exit: {readonly exitCode: number; readonly reason?: string; readonly message?: string},
  fields: Partial<PodSnapshot> = {},
): PodSnapshot {
  const terminated = {
    startedAt: '2026-11-27T12:40:00Z',
    finishedAt: '2026-11-27T12:40:11Z',
    containerID: `containerd://${ID}`,
    reason: 'Error',
    ...exit,
  };
  const waiting = {
    reason: 'CrashLoopBackOff',
    message: 'back-off 5m0s restarting failed container=main pod=web_default(u)',
  };
  return aSnapshot({
    pod: aStatusPod([{restartCount: 6, state: {waiting}, lastState: {terminated}}]),
    ...fields,
  });
}

/** Returns a recorded event, of the container `main` by default. */
export function anEvent(fields: Partial<RecordedEvent>): RecordedEvent {
  return {
    type: 'Warning',
    reason: 'Unhealthy',
    message: '',
    fieldPath: 'spec.containers{main}',
    count: 1,
    firstTimestamp: NOW,
    lastTimestamp: NOW,
    ...fields,
  };
}

/** Returns a report of the kubelet about the pod, with parts of its container `main` and of its worker. */
export function aReport(
  container: Partial<KubeletPodReport['containers'][number]>,
  worker: object = {},
): KubeletPodReport {
  return {
    uid: podUid(UID),
    namespace: 'default',
    name: 'web',
    worker: {state: 'sync', isWorking: false, ...worker},
    containers: [{name: 'main', probes: [], ...container}],
  };
}
