import {
  type Described,
  enumeration,
  int32,
  int64,
  list,
  object,
  required,
  schemaOf,
  text,
} from '../schema/object-schema.js';
import {labelSelector} from './v1-meta.js';

/** Operators to compare a node's label. */
export const NODE_SELECTOR_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] as const;

/** Operators to compare a toleration's value with the taint's. */
export const TOLERATION_OPERATORS = ['Equal', 'Exists'] as const;

/** Effects of a taint on pods that do not tolerate it. */
export const TAINT_EFFECTS = ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] as const;

/** Actions if a topology spread constraint cannot be satisfied. */
export const UNSATISFIABLE_ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'] as const;

/** Policies for counting nodes in topology spread, by node affinity or taints. */
export const NODE_INCLUSION_POLICIES = ['Honor', 'Ignore'] as const;

/** One condition on a node's label or field. */
export interface NodeSelectorRequirement extends Described<typeof nodeSelectorRequirement> {}
export const nodeSelectorRequirement = schemaOf<NodeSelectorRequirement>('NodeSelectorRequirement')({
  key: required(text),
  operator: required(enumeration(NODE_SELECTOR_OPERATORS, {invalid: 'not a valid selector operator'})),
  values: list(text),
});

/** Conditions that must all match; an empty term matches nothing. */
export interface NodeSelectorTerm extends Described<typeof nodeSelectorTerm> {}
export const nodeSelectorTerm = schemaOf<NodeSelectorTerm>('NodeSelectorTerm')({
  matchExpressions: list(object(nodeSelectorRequirement)),
  matchFields: list(object(nodeSelectorRequirement)),
});

/** Terms of which at least one must match. */
export interface NodeSelector extends Described<typeof nodeSelector> {}
export const nodeSelector = schemaOf<NodeSelector>('NodeSelector')({
  nodeSelectorTerms: required(list(object(nodeSelectorTerm))),
});

/** A preference for nodes, with its weight (1 to 100). */
export interface PreferredSchedulingTerm extends Described<typeof preferredSchedulingTerm> {}
export const preferredSchedulingTerm = schemaOf<PreferredSchedulingTerm>('PreferredSchedulingTerm')({
  weight: required(int32),
  preference: required(object(nodeSelectorTerm)),
});

/** Node affinity of a pod. */
export interface NodeAffinity extends Described<typeof nodeAffinity> {}
export const nodeAffinity = schemaOf<NodeAffinity>('NodeAffinity')({
  requiredDuringSchedulingIgnoredDuringExecution: object(nodeSelector),
  preferredDuringSchedulingIgnoredDuringExecution: list(object(preferredSchedulingTerm)),
});

/** Pods to run near or apart from, and the topology key. */
export interface PodAffinityTerm extends Described<typeof podAffinityTerm> {}
export const podAffinityTerm = schemaOf<PodAffinityTerm>('PodAffinityTerm')({
  labelSelector: object(labelSelector),
  namespaces: list(text),
  topologyKey: required(text),
  namespaceSelector: object(labelSelector),
  matchLabelKeys: list(text),
  mismatchLabelKeys: list(text),
});

/** A preference about other pods, with its weight (1 to 100). */
export interface WeightedPodAffinityTerm extends Described<typeof weightedPodAffinityTerm> {}
export const weightedPodAffinityTerm = schemaOf<WeightedPodAffinityTerm>('WeightedPodAffinityTerm')({
  weight: required(int32),
  podAffinityTerm: required(object(podAffinityTerm)),
});

/** Pod affinity. */
export interface PodAffinity extends Described<typeof podAffinity> {}
export const podAffinity = schemaOf<PodAffinity>('PodAffinity')({
  requiredDuringSchedulingIgnoredDuringExecution: list(object(podAffinityTerm)),
  preferredDuringSchedulingIgnoredDuringExecution: list(object(weightedPodAffinityTerm)),
});

/** Pod anti-affinity. */
export interface PodAntiAffinity extends Described<typeof podAntiAffinity> {}
export const podAntiAffinity = schemaOf<PodAntiAffinity>('PodAntiAffinity')({
  requiredDuringSchedulingIgnoredDuringExecution: list(object(podAffinityTerm)),
  preferredDuringSchedulingIgnoredDuringExecution: list(object(weightedPodAffinityTerm)),
});

/** Affinity of a pod. */
export interface Affinity extends Described<typeof affinity> {}
export const affinity = schemaOf<Affinity>('Affinity')({
  nodeAffinity: object(nodeAffinity),
  podAffinity: object(podAffinity),
  podAntiAffinity: object(podAntiAffinity),
});

/** A taint that the pod tolerates. */
export interface Toleration extends Described<typeof toleration> {}
export const toleration = schemaOf<Toleration>('Toleration')({
  key: text,
  operator: enumeration(TOLERATION_OPERATORS),
  value: text,
  effect: enumeration(TAINT_EFFECTS),
  tolerationSeconds: int64,
});

/** Rule for spreading pods evenly over zones, nodes or other topologies. */
export interface TopologySpreadConstraint extends Described<typeof topologySpreadConstraint> {}
export const topologySpreadConstraint = schemaOf<TopologySpreadConstraint>('TopologySpreadConstraint')({
  maxSkew: required(int32),
  topologyKey: required(text),
  whenUnsatisfiable: required(enumeration(UNSATISFIABLE_ACTIONS)),
  labelSelector: object(labelSelector),
  minDomains: int32,
  nodeAffinityPolicy: enumeration(NODE_INCLUSION_POLICIES),
  nodeTaintsPolicy: enumeration(NODE_INCLUSION_POLICIES),
  matchLabelKeys: list(text),
});

/** A gate that must be removed before the pod is scheduled. */
export interface PodSchedulingGate extends Described<typeof podSchedulingGate> {}
export const podSchedulingGate = schemaOf<PodSchedulingGate>('PodSchedulingGate')({
  name: required(text),
});

/** Group that the pod is scheduled with. */
export interface PodSchedulingGroup extends Described<typeof podSchedulingGroup> {}
export const podSchedulingGroup = schemaOf<PodSchedulingGroup>('PodSchedulingGroup')({
  podGroupName: text,
});
