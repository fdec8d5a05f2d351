import {longRunningContainersOf} from '../../../api/pod-containers.js';
import {RUNTIME_ADVICE, type Finding} from '../finding.js';
import type {PodSnapshot} from '../snapshot/pod-snapshot.js';
import {quoteMessage} from './message-patterns.js';
import {clockText, describeAdvice, eventsOf, eventText, podTitle} from './subject.js';

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

/** Meanings of the reasons of pods that a node does not run. */
const REASONS: Readonly<Record<string, string>> = {
  Evicted: 'the kubelet evicted the pod, since the node ran short of a resource',
  Preempting: 'the pod was preempted: its resources were needed for a critical pod',
  DeadlineExceeded: 'activeDeadlineSeconds of the pod has passed',
  NodeAffinity: 'the labels of this node do not match nodeSelector or affinity of the pod',
  NodePorts: 'a host port of the pod is used by another pod',
  NodeName: 'the pod names another node in nodeName',
  TaintToleration: 'the pod does not tolerate a taint of this node',
  SysctlForbidden: 'the pod sets a sysctl that this kubelet does not allow',
  AppArmor: 'the AppArmor profile of the pod cannot be used on this node',
  PodOSNotSupported: 'the pod is for another operating system',
  PodOSSelectorNodeLabelDoesNotMatch: 'the pod is for another operating system',
  TopologyAffinityError: 'CPUs, memory or devices cannot be aligned as topologyManagerPolicy demands',
  UnexpectedAdmissionError: 'the kubelet did not admit the pod to this node',
  NodeShutdown: 'the node was shutting down',
  Terminated: 'the kubelet terminated the pod',
};

/** Explains a pod that the node rejected, evicted or ended. */
export function explainRejection(snapshot: PodSnapshot): Finding | undefined {
  const {status = {}} = snapshot.pod;
  const {phase, reason = '', message = ''} = status;
  if (phase !== 'Failed' || reason === '') return undefined;
  const resource = /^OutOf(.+)$/.exec(reason)?.[1];
  const known =
    resource === undefined
      ? REASONS[reason]
      : `the node has not enough ${resource} left for the requests of the pod`;
  const [event] = eventsOf(snapshot, undefined, reason);
  return {
    rule: resource === undefined ? `pod-${reason.toLowerCase()}` : 'out-of-resource',
    severity: 'problem',
    cause: known ?? `the pod has failed with reason ${reason}`,
    evidence: [
      reason,
      ...(message === '' ? [] : [quoteMessage(message)]),
      ...(event === undefined ? [] : [eventText(event, snapshot)]),
    ],
    next: 'nothing: a pod that has failed is not started again',
    tries: [{kcri: ['describe', 'node']}, describeAdvice(snapshot)],
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
