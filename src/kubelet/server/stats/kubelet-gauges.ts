import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodUid} from '../../../cri/index.js';
import {isStaticPod} from '../../sources/static-pod.js';
import {podRef} from '../../contract/pod-ref.js';
import type {MetricFamily, Sample} from '../../managers/metrics/exposition.js';
import type {WorkerSummary} from '../../contract/pod-worker-summary.js';
import type {ServedKubelet} from '../served-kubelet.js';

const STATES = {
  CONTAINER_CREATED: 'created',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
  CONTAINER_UNKNOWN: 'unknown',
} as const;

/** Collects the gauges that are computed from the kubelet's current state on each scrape. */
export function collectKubeletGauges(kubelet: ServedKubelet): readonly MetricFamily[] {
  const desired = kubelet.pods();
  const active = desired.filter((pod) => kubelet.isActive(podRef(pod).uid));
  const running = kubelet.runningPods().filter(({isRunning}) => isRunning);
  return [
    {
      name: 'kubelet_desired_pods',
      help: 'The number of pods the kubelet is being instructed to run. static is true if the pod is not from the apiserver.',
      type: 'gauge',
      stability: 'ALPHA',
      samples: byOrigin(desired),
    },
    {
      name: 'kubelet_active_pods',
      help: 'The number of pods the kubelet considers active and which are being considered when admitting new pods. static is true if the pod is not from the apiserver.',
      type: 'gauge',
      stability: 'ALPHA',
      samples: byOrigin(active),
    },
    {
      name: 'kubelet_running_pods',
      help: 'Number of pods that have a running pod sandbox',
      type: 'gauge',
      stability: 'ALPHA',
      samples: [{labels: {}, value: running.length}],
    },
    {
      name: 'kubelet_running_containers',
      help: 'Number of containers currently running',
      type: 'gauge',
      stability: 'ALPHA',
      samples: containersByState(kubelet),
    },
    {
      name: 'kubelet_working_pods',
      help: 'Number of pods the kubelet is actually running, broken down by lifecycle phase, whether the pod is desired, orphaned, or runtime only (also orphaned), and whether the pod is static. An orphaned pod has been removed from local configuration or force deleted in the API and consumes resources that are not otherwise visible.',
      stability: 'ALPHA',
      type: 'gauge',
      samples: workersByLifecycle(kubelet.workers(), new Set(desired.map((pod) => podRef(pod).uid))),
    },
  ];
}

function byOrigin(pods: readonly Pod[]): readonly Sample[] {
  const statics = pods.filter(isStaticPod).length;
  return [
    {labels: {static: ''}, value: pods.length - statics},
    {labels: {static: 'true'}, value: statics},
  ];
}

/** Counts the containers of the kubelet's pods by state; it does not inspect the pods of other clients. */
function containersByState(kubelet: ServedKubelet): readonly Sample[] {
  const counts = new Map<string, number>();
  const uids = new Set([
    ...kubelet.pods().map((pod) => podRef(pod).uid),
    ...[...kubelet.runningPods(), ...kubelet.workers()].map(({uid}) => uid),
  ]);
  for (const uid of uids)
    for (const {state} of containersOf(kubelet, uid))
      counts.set(STATES[state], (counts.get(STATES[state]) ?? 0) + 1);
  return [...counts].map(([state, value]) => ({labels: {container_state: state}, value}));
}

const LIFECYCLES = ['sync', 'terminating', 'terminated'] as const;
/** All combinations of the labels `config` and `static`. */
const KINDS = [
  ['desired', 'true'],
  ['desired', ''],
  ['orphan', 'true'],
  ['orphan', ''],
  ['runtime_only', 'unknown'],
] as const;

/** Counts workers for all combinations of labels, including those with a count of 0 (HandlePodCleanups). */
function workersByLifecycle(
  workers: readonly WorkerSummary[],
  desired: ReadonlySet<PodUid>,
): readonly Sample[] {
  const keys = workers.map(({uid, lifecycle, pod}) => {
    const config = pod === undefined ? 'runtime_only' : desired.has(uid) ? 'desired' : 'orphan';
    const isStatic = pod === undefined ? 'unknown' : isStaticPod(pod) ? 'true' : '';
    return `${lifecycle} ${config} ${isStatic}`;
  });
  return LIFECYCLES.flatMap((lifecycle) =>
    KINDS.map(([config, isStatic]) => ({
      labels: {lifecycle, config, static: isStatic},
      value: keys.filter((key) => key === `${lifecycle} ${config} ${isStatic}`).length,
    })),
  );
}

function containersOf(kubelet: ServedKubelet, uid: Parameters<ServedKubelet['runtimeStatus']>[0]) {
  try {
    return kubelet.runtimeStatus(uid).containers;
  } catch {
    return []; // counted again once the pod can be inspected
  }
}
