import type {Workload} from '../../api/types/v1-workloads.js';
import type {WorkloadRef} from '../../api/workloads/workload-of-pod.js';
import type {JsonObject} from '../../format/json.js';
import type {Pod} from '../../api/types/v1-pod.js';

/** A pod with its status, and the workloads that it belongs to. */
export interface OwnedPod {
  readonly pod: Pod;
  readonly owners: readonly WorkloadRef[];
}

/** A workload as far as its pods show: kcri stores no objects but pods. */
export interface WorkloadSummary extends WorkloadRef {
  /** Pods that have not ended. */
  readonly active: number;
  readonly ready: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Time at which the oldest pod was created, in RFC 3339. */
  readonly createdAt: string | undefined;
  readonly images: readonly string[];
}

/** API groups of the kinds. */
const GROUPS: Readonly<Record<Workload['kind'], string>> = {
  CronJob: 'batch',
  DaemonSet: 'apps',
  Deployment: 'apps',
  Job: 'batch',
  PodTemplate: '',
  ReplicaSet: 'apps',
  ReplicationController: '',
  StatefulSet: 'apps',
};

/** Returns the workloads that the pods belong to, sorted by namespace, kind and name. */
export function computeWorkloads(pods: readonly OwnedPod[]): readonly WorkloadSummary[] {
  const groups = new Map<string, {readonly ref: WorkloadRef; readonly pods: Pod[]}>();
  for (const {pod, owners} of pods)
    for (const ref of owners) {
      const key = `${ref.namespace} ${ref.kind} ${ref.name}`;
      const group = groups.get(key) ?? {ref, pods: []};
      group.pods.push(pod);
      groups.set(key, group);
    }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, {ref, pods: own}]) => summarize(ref, own));
}

function summarize(ref: WorkloadRef, pods: readonly Pod[]): WorkloadSummary {
  const inPhase = (phase: string): number => pods.filter(({status}) => status?.phase === phase).length;
  const [succeeded, failed] = [inPhase('Succeeded'), inPhase('Failed')];
  const times = pods.flatMap(({metadata}) => metadata.creationTimestamp ?? []);
  return {
    ...ref,
    active: pods.length - succeeded - failed,
    ready: pods.filter(isReady).length,
    succeeded,
    failed,
    createdAt: times.toSorted()[0],
    images: [...new Set(pods.flatMap(({spec}) => spec.containers.map(({image}) => image)))],
  };
}

/** Reports whether a pod is ready; one that only the runtime knows if all its containers are. */
function isReady({status}: Pod): boolean {
  const condition = status?.conditions?.find(({type}) => type === 'Ready');
  if (condition !== undefined) return condition.status === 'True';
  const {containerStatuses = []} = status ?? {};
  return status?.phase === 'Running' && containerStatuses.every(({ready}) => ready);
}

/** Returns the name of a workload as kubectl prints it: `deployment.apps/web`. */
export function workloadTitle({kind, name}: Pick<WorkloadRef, 'kind' | 'name'>): string {
  return `${[kind.toLowerCase(), GROUPS[kind]].filter((part) => part !== '').join('.')}/${name}`;
}

/** Returns a workload as an object of the API, with the fields of its status that its pods show. */
export function workloadObject(summary: WorkloadSummary): JsonObject {
  const {kind, namespace, name, createdAt, active, ready, succeeded, failed} = summary;
  const metadata = {name, namespace, ...(createdAt !== undefined && {creationTimestamp: createdAt})};
  return {
    apiVersion: [GROUPS[kind], 'v1'].filter((part) => part !== '').join('/'),
    kind,
    metadata,
    status: GROUPS[kind] === 'batch' ? {active, ready, succeeded, failed} : statusOf(summary),
  };
}

function statusOf({kind, active, ready}: WorkloadSummary): JsonObject {
  return kind === 'DaemonSet'
    ? {currentNumberScheduled: active, numberReady: ready}
    : {replicas: active, readyReplicas: ready};
}
