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
import type {NodeFacts, RuntimeFeatures} from '../../contract/node-facts.js';
import type {ExtendedResources} from '../../contract/resources/extended-resources.js';
import {initialTaints, providedNodeIp} from './cloud-provider.js';
import {computeNodeResources} from './node-resources.js';

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
  /** Extended resources of the managers of the node; none if undefined. */
  readonly extended?: ExtendedResources | undefined;
  /** Volumes that must stay attached to the node; undefined to keep the last ones. */
  readonly volumesInUse?: readonly string[] | undefined;
  /** Features that the runtime reported when it was last ready; undefined before that. */
  readonly features: RuntimeFeatures | undefined;
  /** Last known status of the Node: what it has from others stays. */
  readonly previous: NodeStatus;
  /** Current time, in ms since the epoch. */
  readonly now: number;
}

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

/** Annotation of a node whose volumes the controllers attach. */
export const ATTACH_DETACH = 'volumes.kubernetes.io/controller-managed-attach-detach';

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
        ...(settings.controllerAttaches && {[ATTACH_DETACH]: 'true'}),
        ...providedNodeIp(node, settings),
      },
    },
    spec: {...(providerID !== '' && {providerID}), ...(taints.length > 0 && {taints})},
    status: computeNodeStatus(input),
  };
}

/** Returns the parts of the node's status that the kubelet owns (nodestatus setters). An undefined field is removed. */
export function computeNodeStatus(input: NodeStatusInput): NodeStatus {
  const {node, info, settings, images, features, previous, addresses, extended, volumesInUse} = input;
  const {handlers, supplementalGroupsPolicy} = features ?? {};
  return {
    ...(addresses && {addresses}),
    ...computeNodeResources(node, settings.maxPods, previous, extended),
    conditions: computeNodeConditions(input),
    daemonEndpoints: {kubeletEndpoint: {Port: settings.port}},
    declaredFeatures: DECLARED_FEATURES,
    ...(supplementalGroupsPolicy !== undefined && {features: {supplementalGroupsPolicy}}),
    ...(images && {images: unlessEmpty(computeNodeImages(images, settings.maxImages))}),
    ...(info && {nodeInfo: {...previous.nodeInfo, ...info}}),
    ...(volumesInUse && {volumesInUse: unlessEmpty(volumesInUse)}),
    runtimeHandlers: unlessEmpty([...(handlers ?? [])].map(([name, own]) => ({name, features: own}))),
  };
}

/** Returns undefined for an empty list, which the API server does not store. */
function unlessEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
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

/** Facts that the conditions of a node are computed from. */
type ConditionInput = Pick<NodeStatusInput, 'errors' | 'pressures' | 'previous' | 'now'>;

/** Returns the conditions of the node: its own ones, and those of others as they are. */
export function computeNodeConditions({
  errors,
  pressures,
  previous,
  now,
}: ConditionInput): readonly NodeCondition[] {
  const time = formatRfc3339Seconds(now);
  const facts: readonly ConditionFacts[] = [
    ...NODE_PRESSURES.map((type) => pressureCondition(type, pressures.includes(type))),
    readyCondition(errors),
  ];
  const known = new Map(previous.conditions?.map((condition) => [condition.type, condition]));
  const own = facts.map((fact): NodeCondition => {
    const before = known.get(fact.type);
    const kept = before?.status === fact.status ? before.lastTransitionTime : undefined;
    return {...fact, lastHeartbeatTime: time, lastTransitionTime: kept ?? time};
  });
  // As in a kubelet, what the Node has already stays at its place.
  return [...new Map([...known, ...own.map((each) => [each.type, each] as const)]).values()];
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
