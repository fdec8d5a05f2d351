import type {Pod} from '../../api/types/v1-pod.js';
import {podUid, type PodUid} from '../../cri/ids.js';
import type {PodRecord, RecordedEvent, RejectedPod, RuntimePod} from '../../kubelet/index.js';
import type {PodManagerName} from './pod-selection-flags.js';

/** Names of the kind in kubectl; kcri has only pods. */
const KIND_WORDS: ReadonlySet<string> = new Set(['pod', 'pods', 'po']);

/** A pod before its status is read: one with a record of kcri, or another pod of the runtime. */
export interface ListedPod {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly manager: PodManagerName;
  /** Record of a pod that kcri created. */
  readonly record?: PodRecord;
  /** Record of a pod that the node did not admit. */
  readonly rejected?: RejectedPod;
  /** Pod that only the kubelet of this machine knows. */
  readonly ofKubelet?: Pod;
  /** Facts about the pod in the file of a saved node. */
  readonly saved?: SavedPod;
  /** Sandboxes and containers; absent if the runtime has none or is unavailable. */
  readonly inRuntime?: RuntimePod | undefined;
}

/** A pod of a saved node. */
export interface SavedPod {
  /** Pod with its status. */
  readonly pod: Pod;
  readonly events: readonly RecordedEvent[];
  readonly isUnattended: boolean;
}

/** A pod with its status. */
export interface ShownPod {
  readonly listed: ListedPod;
  /** Pod with its status, as an API server would return it. */
  readonly pod: Pod;
  /** True if containers are not started again, or images not pulled again, since no process runs the pod. */
  readonly isUnattended?: boolean;
}

/** Returns the pod of a record. */
export function listRecord(record: PodRecord, inRuntime?: RuntimePod): ListedPod {
  const {uid, namespace, name, pod} = record;
  return {uid, namespace, name, labels: pod.metadata.labels ?? {}, manager: 'kcri', record, inRuntime};
}

/** Returns a pod that kcri has no record of. */
export function listRuntimePod(inRuntime: RuntimePod): ListedPod {
  const {uid, namespace, name, labels, manager} = inRuntime;
  return {uid, namespace, name, labels, manager, inRuntime};
}

/** Returns a pod that the node did not admit. */
export function listRejectedPod(rejected: RejectedPod): ListedPod {
  const {uid, namespace, name, pod} = rejected;
  return {uid, namespace, name, labels: pod.metadata.labels ?? {}, manager: 'kcri', rejected};
}

/** Returns a rejected pod with its status. */
export function showRejectedPod(listed: ListedPod, {pod, createdAt, rejection}: RejectedPod): ShownPod {
  const creationTimestamp = createdAt.replace(/\.\d+Z$/, 'Z');
  return {listed, pod: {...pod, metadata: {...pod.metadata, creationTimestamp}, status: rejection.status}};
}

/** Returns a pod that only the kubelet of this machine knows. */
export function listKubeletPod(pod: Pod): ListedPod {
  const {uid = '', namespace = '', name = '', labels = {}} = pod.metadata;
  return {uid: podUid(uid), namespace, name, labels, manager: 'kubelet', ofKubelet: pod};
}

/** Returns the pods with a sandbox whose ID starts with the word. */
export function findBySandboxId(listed: readonly ListedPod[], word: string): readonly ListedPod[] {
  if (!/^[0-9a-f]+$/.test(word)) return [];
  return listed.filter(({inRuntime}) => inRuntime?.sandboxes.some(({id}) => id.startsWith(word)) === true);
}

/** Drops the kind from `kcri describe pod web`, unless a pod has that name. */
export function withoutKind(words: readonly string[], listed: readonly ListedPod[]): readonly string[] {
  const [first = '', ...rest] = words;
  return KIND_WORDS.has(first) && !listed.some(({name}) => name === first) ? rest : words;
}
