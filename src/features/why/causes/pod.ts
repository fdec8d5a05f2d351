import {longRunningContainersOf} from '../../../api/pod-containers.js';
import {RUNTIME_ADVICE, type Finding} from '../finding.js';
import type {PodSnapshot} from '../snapshot/pod-snapshot.js';
import {clockText, podTitle} from './subject.js';

/** Explains a pod whose runtime does not answer: nothing else can be mended before. */
export function explainRuntime(snapshot: PodSnapshot): Finding | undefined {
  const {runtimeError, takenAt} = snapshot;
  if (runtimeError === undefined) return undefined;
  return {
    rule: 'runtime-unavailable',
    severity: 'problem',
    cause: `the runtime is unavailable: ${runtimeError}`,
    evidence: [`no answer at ${clockText(takenAt, takenAt)}; everything else is the last known state`],
    next: 'containers that run keep running; none is started or restarted before it answers',
    tries: [{kcri: ['info']}, ...RUNTIME_ADVICE],
  };
}

/** Explains a pod whose kubelet cannot do anything now. */
export function explainKubelet(snapshot: PodSnapshot): Finding | undefined {
  const [first, ...rest] = snapshot.kubeletErrors;
  if (first === undefined || isReady(snapshot)) return undefined;
  return {
    rule: 'kubelet-cannot-sync',
    severity: 'problem',
    cause: `the kubelet cannot sync pods: ${first}`,
    evidence: rest,
    tries: [{kcri: ['get', 'kubelet']}],
  };
}

/** Explains a pod of no manager whose sandbox was stopped. */
export function explainStoppedSandbox(snapshot: PodSnapshot): Finding | undefined {
  const {manager, sandbox, pod} = snapshot;
  const hasExited = (pod.status?.containerStatuses ?? []).length > 0;
  if (manager !== 'none' || sandbox !== 'stopped' || hasExited) return undefined;
  return {
    rule: 'sandbox-stopped',
    severity: 'problem',
    cause: 'the sandbox of the pod is stopped, and nothing manages the pod',
    evidence: ['SANDBOX_NOTREADY'],
    next: 'nothing: no kubelet manages this pod',
    tries: [{kcri: ['inspectp', podTitle(snapshot)]}],
  };
}

/** Explains a pod whose containers are ready, but whose readiness gates are not set. */
export function explainReadinessGates(snapshot: PodSnapshot): Finding | undefined {
  const {pod} = snapshot;
  const conditions = pod.status?.conditions ?? [];
  const isTrue = (type: string): boolean =>
    conditions.some((each) => each.type === type && each.status === 'True');
  const missing = (pod.spec.readinessGates ?? [])
    .map(({conditionType}) => conditionType)
    .filter((type) => !isTrue(type));
  if (missing.length === 0 || !isTrue('ContainersReady')) return undefined;
  return {
    rule: 'readiness-gates',
    severity: 'problem',
    cause: `all containers are ready, but the readiness gate ${missing.join(', ')} is not set`,
    evidence: [],
    next: 'the pod becomes ready when a controller sets it',
    tries: ['remove spec.readinessGates, or run the controller'],
  };
}

function isReady({pod}: PodSnapshot): boolean {
  const ready = (pod.status?.containerStatuses ?? []).filter((status) => status.ready).length;
  return ready > 0 && ready === longRunningContainersOf(pod).length;
}
