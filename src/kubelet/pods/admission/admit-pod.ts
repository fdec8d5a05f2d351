import {allContainersOf} from '../../../api/pod-containers.js';
import type {Taint} from '../../../api/types/v1-node.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import type {NodePressure} from '../../contract/cluster/node-pressure.js';
import type {NodeManagers} from '../../contract/node-manager.js';
import type {Rejection} from '../../contract/pod-rejection.js';
import {isCriticalPod} from '../../sources/critical-pod.js';
import {computePodQosClass} from '../../resources/qos-class.js';
import {apparmorProfiles} from '../../managers/kuberuntime/config/security-profiles.js';
import {isStaticPod} from '../../sources/static-pod.js';
import {matchesNodeAffinity} from '../node-fit/node-affinity.js';
import {hasHostPortConflict} from '../node-fit/host-port-conflicts.js';
import {findInsufficientResources} from '../node-fit/node-capacity.js';
import {toleratesTaint, toleratesTaints} from '../node-fit/taint-toleration.js';
import {decidePreemption, type PreemptionInput} from '../preemption/needed-preemption.js';
import {findForbiddenSysctl} from './sysctl-allowlist.js';

/** A pod to admit to a node. */
export interface AdmissionRequest extends PreemptionInput {
  /** Pressure conditions of the node; none by default. */
  readonly pressures?: readonly NodePressure[];
}

type Handler = (admission: AdmissionRequest) => Rejection | undefined;

/** Admission handlers in the kubelet's order (NewMainKubelet, AddPodAdmitHandler and generalFilter). */
const HANDLERS_BEFORE_MANAGERS: readonly Handler[] = [admitUnderPressure, admitSysctls];
const HANDLERS_AFTER_MANAGERS: readonly Handler[] = [
  admitOs,
  admitGroupsPolicy,
  admitResources,
  admitNode,
  admitPorts,
  admitTaints,
  admitCritical,
  admitAppArmor,
];

/**
 * Returns the first reason why the node does not admit the pod, or undefined if it does (allocation_manager
 * canAdmitPod).
 *
 * @throws ConfigError when the node's own settings are invalid.
 */
export function findRejection(admission: AdmissionRequest): Rejection | undefined {
  return (
    firstRejection(HANDLERS_BEFORE_MANAGERS, admission) ?? firstRejection(HANDLERS_AFTER_MANAGERS, admission)
  );
}

/** Resolves like findRejection, with the managers of the node in their places among the handlers. */
export async function findRejectionOfNode(
  admission: AdmissionRequest,
  managers: Pick<NodeManagers, 'admit'>,
  signal: AbortSignal,
): Promise<Rejection | undefined> {
  return (
    firstRejection(HANDLERS_BEFORE_MANAGERS, admission) ??
    (await managers.admit('early', admission.pod, signal)) ??
    firstRejection(HANDLERS_AFTER_MANAGERS, admission) ??
    (await managers.admit('last', admission.pod, signal))
  );
}

/** Resolves with a rejection by the managers of the node, which allocate what the pod needs even if nothing else is checked. */
export async function findRejectionOfManagers(
  pod: Pod,
  managers: Pick<NodeManagers, 'admit'>,
  signal: AbortSignal,
): Promise<Rejection | undefined> {
  return (await managers.admit('early', pod, signal)) ?? (await managers.admit('last', pod, signal));
}

function firstRejection(handlers: readonly Handler[], admission: AdmissionRequest): Rejection | undefined {
  for (const handler of handlers) {
    const rejection = handler(admission);
    if (rejection !== undefined) return rejection;
  }
  return undefined;
}

const MEMORY_PRESSURE_TAINT: Taint = {key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule'};

/**
 * Rejects pods of a node under pressure (eviction_manager.go Admit). If it only lacks memory, pods with requests and pods
 * that tolerate that are admitted.
 */
function admitUnderPressure({pod, pressures = []}: AdmissionRequest): Rejection | undefined {
  if (pressures.length === 0 || isCriticalPod(pod)) return undefined;
  const lacksOnlyMemory = pressures.every((pressure) => pressure === 'MemoryPressure');
  const isBestEffort = computePodQosClass(pod) === 'BestEffort';
  if (lacksOnlyMemory && (!isBestEffort || toleratesTaint(pod, MEMORY_PRESSURE_TAINT))) return undefined;
  return {
    reason: 'Evicted',
    message: `The node had condition: [${pressures.join(' ')}]. `,
    hint: 'free memory, disk space or processes of the node, or change the eviction thresholds',
  };
}

function admitSysctls({pod, node}: AdmissionRequest): Rejection | undefined {
  const message = findForbiddenSysctl(pod, node);
  if (message === undefined) return undefined;
  const hint = 'remove it from spec.securityContext.sysctls, or allow it with --allowed-unsafe-sysctls';
  return {reason: 'SysctlForbidden', message, hint};
}

const OS_LABEL = 'kubernetes.io/os';

function admitOs({pod}: AdmissionRequest): Rejection | undefined {
  const {labels} = pod.metadata;
  if ((labels?.[OS_LABEL] ?? 'linux') !== 'linux')
    return {
      reason: 'PodOSSelectorNodeLabelDoesNotMatch',
      message: `Failed to admit pod as the \`${OS_LABEL}\` label doesn't match node label`,
      hint: `remove metadata.labels["${OS_LABEL}"]; this is a Linux node`,
    };
  if ((pod.spec.os?.name ?? 'linux') !== 'linux')
    return {
      reason: 'PodOSNotSupported',
      message: "Failed to admit pod as the OS field doesn't match node OS",
      hint: 'remove spec.os, or run the pod on another node; this is a Linux node',
    };
  return undefined;
}

function admitGroupsPolicy({pod, node}: AdmissionRequest): Rejection | undefined {
  const strict = pod.spec.securityContext?.supplementalGroupsPolicy === 'Strict';
  if (!strict || node.runtime.supplementalGroupsPolicy) return undefined;
  return {
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
    hint: 'use a runtime that supports supplementalGroupsPolicy, such as containerd 2.0, or remove the field',
  };
}

const LOWER_REQUESTS = 'lower resources.requests, or delete another pod with "kcri delete"';

function admitResources({pod, others, node}: AdmissionRequest): Rejection | undefined {
  const [short] = isCriticalPod(pod) ? [] : findInsufficientResources(pod, others, node);
  if (short === undefined) return undefined;
  const {resource, requested, used, capacity} = short;
  return {
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
    hint: LOWER_REQUESTS,
  };
}

/** Rejects a critical pod only if preempting other pods does not help (CriticalPodAdmissionHandler). */
function admitCritical(admission: AdmissionRequest): Rejection | undefined {
  const preemption = decidePreemption(admission);
  if (preemption.kind === 'possible') return undefined;
  const missing = preemption.missing.map(({resource, quantity}) => `(res: ${resource}, q: ${quantity}), `);
  return {
    reason: 'UnexpectedAdmissionError',
    message: `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${missing.join('')}]`,
    hint: LOWER_REQUESTS,
  };
}

function admitNode({pod, node}: AdmissionRequest): Rejection | undefined {
  if (matchesNodeAffinity(pod, node)) return undefined;
  return failedPredicate(
    'NodeAffinity',
    "node(s) didn't match Pod's node affinity/selector",
    'change spec.nodeSelector and spec.affinity.nodeAffinity, or label the node with --node-labels',
  );
}

function admitPorts({pod, others}: AdmissionRequest): Rejection | undefined {
  if (!hasHostPortConflict(pod, others)) return undefined;
  return failedPredicate(
    'NodePorts',
    "node(s) didn't have free ports for the requested pod ports",
    'change hostPort, or delete the pod that uses it with "kcri delete"',
  );
}

/** Rejects a pod that does not tolerate a NoExecute taint; static pods run despite taints. */
function admitTaints({pod, node}: AdmissionRequest): Rejection | undefined {
  if (isStaticPod(pod) || toleratesTaints(pod, node.taints ?? [])) return undefined;
  return failedPredicate(
    'TaintToleration',
    "node(s) had taints that the pod didn't tolerate",
    'add a toleration to spec.tolerations, or remove the taint from the node',
  );
}

function failedPredicate(reason: string, problem: string, hint: string): Rejection {
  return {reason, message: `Predicate ${reason} failed: ${problem}`, hint};
}

function admitAppArmor({pod, node}: AdmissionRequest): Rejection | undefined {
  if (node.appArmorEnabled || !allContainersOf(pod).some((container) => isConfined(pod, container)))
    return undefined;
  return {
    reason: 'AppArmor',
    message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host',
    hint: 'remove appArmorProfile, or enable AppArmor in the kernel',
  };
}

function isConfined(pod: Pod, container: Container): boolean {
  const {apparmorProfile = 'unconfined'} = apparmorProfiles(pod, container);
  return apparmorProfile !== 'unconfined';
}
