import {MANAGER_ANNOTATION, PARTIAL_ANNOTATION} from '../../../api/manager-annotation.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import {compare} from '../../../base/compare.js';
import {omit} from '../../../base/omit.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import {restoreContainerSpec} from '../../managers/kuberuntime/restore-container-spec.js';
import {formatMs} from '../status/compute/container-status.js';
import {computePodStatus} from '../status/compute/pod-status.js';
import type {RuntimePod} from './group-runtime-pods.js';

/** Prefix of the labels by which a kubelet identifies the pods of sandboxes. */
const IDENTITY_LABELS = /^io\.kubernetes\.(pod|container)\./;

const NANOS_PER_MS = 1_000_000n;

/** Node on which the pod runs. */
export interface RestoreContext {
  readonly node: NodeFacts;
  readonly runtimeName: string;
  /** Current time, in ms since the epoch. */
  readonly nowMs: number;
}

/**
 * Returns a pod and its status as far as the runtime knows them: names, labels, images, ports, states and addresses.
 * A running container counts as ready, since its probes are unknown. A container that exited with 0 before any later
 * one was created is taken for an init container.
 */
export function restorePod(
  found: RuntimePod,
  runtime: RuntimePodStatus,
  {node, runtimeName, nowMs}: RestoreContext,
): Pod {
  const {uid, namespace, name, labels, annotations, manager, sandboxes} = found;
  const own = Object.entries(labels).filter(([key]) => !IDENTITY_LABELS.test(key));
  const createdAt = formatMs(Number((sandboxes.at(-1)?.createdAt ?? 0n) / NANOS_PER_MS));
  const isReady = runtime.sandboxes[0]?.state === 'SANDBOX_READY';
  const network = runtime.sandboxes[0]?.linux?.namespaces?.options?.network;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      uid,
      namespace,
      name,
      creationTimestamp: createdAt,
      ...(own.length > 0 && {labels: Object.fromEntries(own)}),
      annotations: {...annotations, [MANAGER_ANNOTATION]: manager, [PARTIAL_ANNOTATION]: 'true'},
    },
    spec: {
      ...containersOf(runtime.containers),
      nodeName: node.nodeName,
      // A kubelet stops the sandbox of a pod whose containers it does not restart.
      restartPolicy: isReady ? 'Always' : 'Never',
      ...(network === 'NODE' && {hostNetwork: true}),
    },
  };
  const status = computePodStatus({
    pod,
    runtime,
    node,
    runtimeName,
    now: nowMs,
    reasons: new Map(),
    previous: {startTime: createdAt},
    isTerminal: !isReady,
  });
  const spec = omit(pod.spec, 'restartPolicy');
  return {...pod, spec, status: knownStatus(status, {isReady, isEmpty: runtime.containers.length === 0})};
}

/** Removes what only the manager of the pod knows. */
function knownStatus(
  status: PodStatus,
  {isReady, isEmpty}: {readonly isReady: boolean; readonly isEmpty: boolean},
): PodStatus {
  const known = omit(status, 'conditions', 'qosClass', 'resources', 'allocatedResources');
  if (!isEmpty) return known;
  return isReady ? {...known, phase: 'Running'} : {...known, phase: 'Unknown', reason: 'SandboxNotReady'};
}

/** Returns the containers in the order of their creation, init containers apart. */
function containersOf(
  statuses: readonly RuntimeContainerStatus[],
): Pick<Pod['spec'], 'containers' | 'initContainers'> {
  const newest = new Map<string, RuntimeContainerStatus>();
  const created = new Map<string, bigint>();
  for (const status of statuses) {
    if (!newest.has(status.name)) newest.set(status.name, status);
    created.set(status.name, status.cri.createdAt);
  }
  const ordered = [...newest.values()].toSorted((a, b) =>
    compare(created.get(a.name) ?? 0n, created.get(b.name) ?? 0n),
  );
  const isInit = (status: RuntimeContainerStatus, index: number): boolean =>
    status.state === 'CONTAINER_EXITED' &&
    status.cri.exitCode === 0 &&
    index < ordered.length - 1 &&
    ordered.slice(index + 1).every(({name}) => (created.get(name) ?? 0n) >= status.cri.finishedAt);
  const inits = ordered.filter(isInit).map(restoreContainer);
  const regular = ordered.filter((status, index) => !isInit(status, index)).map(restoreContainer);
  return {containers: regular, ...(inits.length > 0 && {initContainers: inits})};
}

function restoreContainer(status: RuntimeContainerStatus): Container {
  return omit(restoreContainerSpec(status), 'lifecycle');
}
