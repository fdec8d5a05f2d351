import type {Container, Pod} from '../../api/v1.js';
import type {NodeFacts} from '../container/node.js';
import {isCriticalPod} from '../kuberuntime/oom-score.js';
import {apparmorProfiles} from '../kuberuntime/security-profiles.js';
import {nodeMatches} from './node-affinity.js';
import {portsTaken, shortages} from './node-room.js';
import {podsToPreempt, type Preemption} from './preemption.js';
import {forbiddenSysctl} from './sysctls.js';

/** Why the node does not take a pod, in the kubelet's words. */
export interface Rejection {
  readonly reason: string;
  readonly message: string;
  readonly hint: string;
}

/** What a pod's admission is decided by. */
export interface Admission {
  readonly pod: Pod;
  /** The other pods on the node that have not ended. */
  readonly others: readonly Pod[];
  /** Those of them that may be ended to make room for a critical pod; by default none. */
  readonly endable?: readonly Pod[];
  readonly node: NodeFacts;
}

type Handler = (admission: Admission) => Rejection | undefined;

/** In the kubelet's order (NewMainKubelet, AddPodAdmitHandler and generalFilter). */
const HANDLERS: readonly Handler[] = [
  admitSysctls,
  admitOs,
  admitGroupsPolicy,
  admitResources,
  admitNode,
  admitPorts,
  admitCritical,
  admitAppArmor,
];

/**
 * Why the pod can't run on this node, or undefined when it can (allocation_manager canAdmitPod): the first reason.
 *
 * @throws ConfigError when the node's own settings are wrong.
 */
export function rejectionOf(admission: Admission): Rejection | undefined {
  for (const handler of HANDLERS) {
    const rejection = handler(admission);
    if (rejection !== undefined) return rejection;
  }
  return undefined;
}

function admitSysctls({pod, node}: Admission): Rejection | undefined {
  const message = forbiddenSysctl(pod, node);
  if (message === undefined) return undefined;
  const hint = 'leave it out of spec.securityContext.sysctls, or allow it with --allowed-unsafe-sysctls';
  return {reason: 'SysctlForbidden', message, hint};
}

const OS_LABEL = 'kubernetes.io/os';

function admitOs({pod}: Admission): Rejection | undefined {
  const wanted = pod.metadata.labels?.[OS_LABEL] ?? 'linux';
  if (wanted === 'linux') return undefined;
  return {
    reason: 'PodOSSelectorNodeLabelDoesNotMatch',
    message: `Failed to admit pod as the \`${OS_LABEL}\` label doesn't match node label`,
    hint: `leave out metadata.labels["${OS_LABEL}"]; this is a Linux node`,
  };
}

function admitGroupsPolicy({pod, node}: Admission): Rejection | undefined {
  const strict = pod.spec.securityContext?.supplementalGroupsPolicy === 'Strict';
  if (!strict || node.runtime.supplementalGroupsPolicy) return undefined;
  return {
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
    hint: 'the runtime must know supplementalGroupsPolicy, as containerd 2.0 does; or leave it out',
  };
}

const ASK_FOR_LESS = 'ask for less in resources.requests, or end another pod with "kcri delete"';

function admitResources({pod, others, node}: Admission): Rejection | undefined {
  const [short] = isCriticalPod(pod) ? [] : shortages(pod, others, node);
  if (short === undefined) return undefined;
  const {resource, requested, used, capacity} = short;
  return {
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
    hint: ASK_FOR_LESS,
  };
}

/** A critical pod is refused only when ending others doesn't help (CriticalPodAdmissionHandler). */
function admitCritical(admission: Admission): Rejection | undefined {
  const preemption = preemptionFor(admission);
  if (preemption.kind === 'possible') return undefined;
  const missing = preemption.missing.map(({resource, quantity}) => `(res: ${resource}, q: ${quantity}), `);
  return {
    reason: 'UnexpectedAdmissionError',
    message: `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${missing.join('')}]`,
    hint: ASK_FOR_LESS,
  };
}

function preemptionFor({pod, others, endable = [], node}: Admission): Preemption {
  return podsToPreempt(pod, endable, isCriticalPod(pod) ? shortages(pod, others, node) : []);
}

/** Room that has to be made before a pod can run that isn't rejected: by ending these, for that resource first of all. */
export interface NeededRoom {
  readonly victims: readonly Pod[];
  readonly resource: string;
}

/** For whom a pod that isn't rejected has to wait; undefined when there is room for it, as for all that aren't critical. */
export function neededRoom(admission: Admission): NeededRoom | undefined {
  const {pod, others, node} = admission;
  const preemption = preemptionFor(admission);
  const [short] = shortages(pod, others, node);
  if (short === undefined || preemption.kind === 'impossible') return undefined;
  return {victims: preemption.victims, resource: short.resource};
}

function admitNode({pod, node}: Admission): Rejection | undefined {
  if (nodeMatches(pod, node)) return undefined;
  return failedPredicate(
    'NodeAffinity',
    "node(s) didn't match Pod's node affinity/selector",
    'change spec.nodeSelector and spec.affinity.nodeAffinity, or give the node labels with --node-labels',
  );
}

function admitPorts({pod, others}: Admission): Rejection | undefined {
  if (!portsTaken(pod, others)) return undefined;
  return failedPredicate(
    'NodePorts',
    "node(s) didn't have free ports for the requested pod ports",
    'change hostPort, or end the pod that has it with "kcri delete"',
  );
}

function failedPredicate(reason: string, problem: string, hint: string): Rejection {
  return {reason, message: `Predicate ${reason} failed: ${problem}`, hint};
}

function admitAppArmor({pod, node}: Admission): Rejection | undefined {
  if (node.appArmorEnabled || !allContainers(pod).some((container) => isConfined(pod, container)))
    return undefined;
  return {
    reason: 'AppArmor',
    message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host',
    hint: 'leave out appArmorProfile, or start a kernel with AppArmor',
  };
}

function isConfined(pod: Pod, container: Container): boolean {
  const {apparmorProfile = 'unconfined'} = apparmorProfiles(pod, container);
  return apparmorProfile !== 'unconfined';
}

function allContainers({spec}: Pod): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}
