import {formatAmount} from '../../../api/quantity.js';
import type {ResourceList} from '../../../api/types/v1-meta.js';
import type {
  ContainerImage,
  Node,
  NodeAddress,
  NodeCondition,
  NodeStatus,
  NodeSystemInfo,
} from '../../../api/types/v1-node.js';
import type {Image} from '../../../cri/index.js';
import {formatRfc3339Seconds} from '../../../format/time.js';
import {NODE_PRESSURES, type NodePressure} from '../../contract/cluster/node-pressure.js';
import type {NodeSettings} from '../../contract/cluster/node-settings.js';
import {nodeAllocatable, type NodeFacts} from '../../contract/node-facts.js';
import {initialTaints, providedNodeIp} from './cloud-provider.js';

/** Facts that the status of a node is computed from. */
export interface NodeStatusInput {
  readonly node: NodeFacts;
  /** Undefined if the runtime could not be asked; the status then keeps the last one. */
  readonly info: NodeSystemInfo | undefined;
  readonly settings: NodeSettings;
  /** Images of the runtime; see `info`. */
  readonly images: readonly Image[] | undefined;
  /** Addresses of the node; undefined to keep the last ones. */
  readonly addresses: readonly NodeAddress[] | undefined;
  /** Reasons why the kubelet is not ready. */
  readonly errors: readonly string[];
  /** Pressure conditions that are true. */
  readonly pressures: readonly NodePressure[];
  /** Last known conditions of the Node. */
  readonly previous: readonly NodeCondition[];
  /** Current time, in ms since the epoch. */
  readonly now: number;
}

const NANOS = 1_000_000_000n;
const MILLI_NANOS = 1_000_000n;
/** Names of an image in the status (MaxNamesPerImageInNodeStatus). */
const MAX_NAMES_PER_IMAGE = 5;

/**
 * Features that the scheduler and the API server look for before they use them, sorted (nodedeclaredfeatures). Without
 * ExtendWebSocketsToKubelet, the API server translates WebSocket streams of kubectl to SPDY.
 */
const DECLARED_FEATURES = [
  'ExtendWebSocketsToKubelet',
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'RestartAllContainersOnContainerExits',
] as const;

/** Returns the Node that the kubelet registers (Kubelet.initialNode). */
export function computeInitialNode(input: NodeStatusInput): Node {
  const {node, settings} = input;
  const {providerId: providerID} = settings;
  const taints = initialTaints(settings);
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: node.nodeName,
      labels: node.labels,
      annotations: {
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
        ...providedNodeIp(node, settings),
      },
    },
    spec: {...(providerID !== '' && {providerID}), ...(taints.length > 0 && {taints})},
    status: computeNodeStatus(input),
  };
}

/** Returns the status of the node (nodestatus setters). */
export function computeNodeStatus(input: NodeStatusInput): NodeStatus {
  const {node, info, settings, images, addresses} = input;
  return {
    ...(addresses && {addresses}),
    capacity: resourcesOf(node, settings.maxPods, ephemeralCapacity(node.ephemeralStorageBytes)),
    allocatable: allocatableOf(node, settings.maxPods),
    conditions: computeNodeConditions(input),
    daemonEndpoints: {kubeletEndpoint: {Port: settings.port}},
    declaredFeatures: DECLARED_FEATURES,
    features: {supplementalGroupsPolicy: node.runtime.supplementalGroupsPolicy},
    ...(images && {images: computeNodeImages(images, settings.maxImages)}),
    ...(info && {nodeInfo: info}),
    ...(node.runtime.handlers.size > 0 && {
      runtimeHandlers: [...node.runtime.handlers].map(([name, features]) => ({name, features})),
    }),
  };
}

const ephemeralCapacity = (bytes: bigint): string => formatAmount({nanos: bytes * NANOS, format: 'BinarySI'});

function allocatableOf(node: NodeFacts, maxPods: number): ResourceList {
  const {cpuMilli, memoryBytes, ephemeralStorageBytes} = nodeAllocatable(node);
  const ephemeral = formatAmount({nanos: ephemeralStorageBytes * NANOS, format: 'DecimalSI'});
  return resourcesOf({...node, cpuMilli, memoryBytes}, maxPods, ephemeral);
}

function resourcesOf(
  {cpuMilli, memoryBytes, hugePageBytes}: Pick<NodeFacts, 'cpuMilli' | 'memoryBytes' | 'hugePageBytes'>,
  maxPods: number,
  ephemeralStorage: string,
): ResourceList {
  const memory = formatAmount({nanos: memoryBytes * NANOS, format: 'BinarySI'});
  const hugePages = [...hugePageBytes].map(([size, bytes]) => [
    `hugepages-${size.replace('B', 'i')}`,
    formatAmount({nanos: bytes * NANOS, format: 'BinarySI'}),
  ]);
  return {
    cpu: formatAmount({nanos: cpuMilli * MILLI_NANOS, format: 'DecimalSI'}),
    'ephemeral-storage': ephemeralStorage,
    ...(Object.fromEntries(hugePages) as ResourceList),
    memory,
    pods: String(maxPods),
  };
}

/** Returns the largest images, at most `most` (nodestatus.Images). */
export function computeNodeImages(images: readonly Image[], most: number): readonly ContainerImage[] {
  const named = images.filter(({repoTags, repoDigests}) => repoTags.length + repoDigests.length > 0);
  const sorted = named.toSorted((a, b) => (a.size === b.size ? 0 : a.size > b.size ? -1 : 1));
  return (most === -1 ? sorted : sorted.slice(0, most)).map(({repoDigests, repoTags, size}) => ({
    names: [...repoDigests, ...repoTags].slice(0, MAX_NAMES_PER_IMAGE),
    sizeBytes: Number(size),
  }));
}

type ConditionFacts = Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>;

/** Reasons and messages of a pressure condition: when it is false, and when it is true (nodestatus setters). */
const PRESSURE_FACTS: Readonly<
  Record<NodePressure, Readonly<Record<'no' | 'yes', readonly [string, string]>>>
> = {
  MemoryPressure: {
    no: ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
    yes: ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
  },
  DiskPressure: {
    no: ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
    yes: ['KubeletHasDiskPressure', 'kubelet has disk pressure'],
  },
  PIDPressure: {
    no: ['KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
    yes: ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
  },
};

/** Returns the conditions of the node. */
export function computeNodeConditions({
  errors,
  pressures,
  previous,
  now,
}: Pick<NodeStatusInput, 'errors' | 'pressures' | 'previous' | 'now'>): readonly NodeCondition[] {
  const time = formatRfc3339Seconds(now);
  const facts: readonly ConditionFacts[] = [
    ...NODE_PRESSURES.map((type) => pressureCondition(type, pressures.includes(type))),
    readyCondition(errors),
  ];
  return facts.map((fact) => {
    const before = previous.find(({type}) => type === fact.type);
    const kept = before?.status === fact.status ? before.lastTransitionTime : undefined;
    return {...fact, lastHeartbeatTime: time, lastTransitionTime: kept ?? time};
  });
}

function pressureCondition(type: NodePressure, isTrue: boolean): ConditionFacts {
  const [reason, message] = PRESSURE_FACTS[type][isTrue ? 'yes' : 'no'];
  return {type, status: isTrue ? 'True' : 'False', reason, message};
}

function readyCondition(errors: readonly string[]): ConditionFacts {
  if (errors.length === 0)
    return {
      type: 'Ready',
      status: 'True',
      reason: 'KubeletReady',
      message: 'kubelet is posting ready status',
    };
  const message = errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;
  return {type: 'Ready', status: 'False', reason: 'KubeletNotReady', message};
}
