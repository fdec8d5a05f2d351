import type {Pod} from '../types/v1-pod.js';
import type {Workload} from '../types/v1-workloads.js';

/** Kind and name of a workload. */
export interface WorkloadRef {
  readonly kind: Workload['kind'];
  readonly namespace: string;
  readonly name: string;
}

/** Kinds of workloads by the lower-case words that name them: kubectl's singular, plural and short names. */
const WORDS: ReadonlyMap<string, Workload['kind']> = new Map(
  (
    [
      ['CronJob', 'cronjobs', 'cj'],
      ['DaemonSet', 'daemonsets', 'ds'],
      ['Deployment', 'deployments', 'deploy'],
      ['Job', 'jobs'],
      ['ReplicaSet', 'replicasets', 'rs'],
      ['ReplicationController', 'replicationcontrollers', 'rc'],
      ['StatefulSet', 'statefulsets', 'sts'],
    ] as const
  ).flatMap(([kind, ...others]) => [kind.toLowerCase(), ...others].map((word) => [word, kind] as const)),
);

/** Returns the kind of workloads that a word such as `deployments` or `sts` names; undefined for other words. */
export function parseWorkloadKind(word: string): Workload['kind'] | undefined {
  return WORDS.get(word.replace(/\..*/, '').toLowerCase());
}

/** Returns the workload that `deployment/web` or `sts/db` names, in any namespace; undefined for other words. */
export function parseWorkload(word: string): Pick<WorkloadRef, 'kind' | 'name'> | undefined {
  const [, resource = '', name = ''] = /^([A-Za-z]+)(?:\.[a-z.0-9]+)?\/([^/]+)$/.exec(word) ?? [];
  const kind = WORDS.get(resource.toLowerCase());
  return kind === undefined ? undefined : {kind, name};
}

/** Returns the reference of a workload. */
export function workloadRef({kind, metadata: {name = '', namespace = 'default'}}: Workload): WorkloadRef {
  return {kind, namespace, name};
}

/**
 * Returns the workloads that a pod belongs to: its controller, and the Deployment or CronJob that created this one,
 * which is known from the names that kcri and Kubernetes give.
 */
export function workloadsOfPod({metadata}: Pod): readonly WorkloadRef[] {
  const {namespace = 'default', labels = {}, ownerReferences = []} = metadata;
  const owner = ownerReferences.find(({controller}) => controller === true);
  const kind = owner === undefined ? undefined : WORDS.get(owner.kind.toLowerCase());
  if (owner === undefined || kind === undefined) return [];
  const {name} = owner;
  const found: WorkloadRef[] = [{kind, namespace, name}];
  const parent = parentOf(kind, labels['pod-template-hash']);
  if (parent !== undefined && name.endsWith(parent.suffix))
    found.push({kind: parent.kind, namespace, name: name.slice(0, -parent.suffix.length)});
  return found;
}

function parentOf(
  kind: Workload['kind'],
  hash: string | undefined,
): {readonly kind: Workload['kind']; readonly suffix: string} | undefined {
  if (kind === 'ReplicaSet') return hash === undefined ? undefined : {kind: 'Deployment', suffix: `-${hash}`};
  return kind === 'Job' ? {kind: 'CronJob', suffix: '-manual'} : undefined;
}

/** Names and labels of a pod whose owners are unknown, because only the runtime knows it. */
interface NamedPod {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the workloads that a pod belongs to, as far as the names and labels that controllers give their pods tell. */
export function workloadsOfLabels({namespace, name, labels}: NamedPod): readonly WorkloadRef[] {
  const refs = (...found: readonly (readonly [WorkloadRef['kind'], string | undefined])[]) =>
    found.flatMap(([kind, owner]) => (owner === undefined ? [] : {kind, namespace, name: owner}));
  const {'pod-template-hash': hash, 'controller-revision-hash': revision} = labels;
  const job = labels['batch.kubernetes.io/job-name'] ?? labels['job-name'];
  if (job !== undefined) return refs(['Job', job], ['CronJob', /^(.+)-(?:\d{8}|manual)$/.exec(job)?.[1]]);
  if (labels['statefulset.kubernetes.io/pod-name'] !== undefined)
    return refs(['StatefulSet', /^(.+)-\d+$/.exec(name)?.[1]]);
  const owner = /^(.+)-[a-z0-9]+$/.exec(name)?.[1];
  if (hash !== undefined && owner?.endsWith(`-${hash}`) === true)
    return refs(['ReplicaSet', owner], ['Deployment', owner.slice(0, -hash.length - 1)]);
  return revision === undefined ? [] : refs(['DaemonSet', owner]);
}

/** Reports whether a pod belongs to a workload of this kind and name, in this namespace or else in any. */
export function belongsTo(
  pod: Pod,
  {kind, namespace, name}: Pick<WorkloadRef, 'kind' | 'name'> & {readonly namespace: string | undefined},
): boolean {
  return workloadsOfPod(pod).some(
    (one) => one.kind === kind && one.name === name && (namespace ?? one.namespace) === one.namespace,
  );
}
