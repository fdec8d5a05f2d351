import type {LabelSelector} from './v1-meta.js';

/** Operators to compare a node's label. */
export const NODE_SELECTOR_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] as const;
export type NodeSelectorOperator = (typeof NODE_SELECTOR_OPERATORS)[number];

/** Operators to compare a toleration's value with the taint's. */
export const TOLERATION_OPERATORS = ['Equal', 'Exists'] as const;
export type TolerationOperator = (typeof TOLERATION_OPERATORS)[number];

/** Effects of a taint on pods that do not tolerate it. */
export const TAINT_EFFECTS = ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] as const;
export type TaintEffect = (typeof TAINT_EFFECTS)[number];

/** Actions if a topology spread constraint cannot be satisfied. */
export const UNSATISFIABLE_ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'] as const;
export type UnsatisfiableConstraintAction = (typeof UNSATISFIABLE_ACTIONS)[number];

/** Policies for counting nodes in topology spread, by node affinity or taints. */
export const NODE_INCLUSION_POLICIES = ['Honor', 'Ignore'] as const;
export type NodeInclusionPolicy = (typeof NODE_INCLUSION_POLICIES)[number];

/** One condition on a node's label or field. */
export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: NodeSelectorOperator;
  readonly values?: readonly string[];
}

/** Conditions that must all match; an empty term matches nothing. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

/** Terms of which at least one must match. */
export interface NodeSelector {
  readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
}

/** A preference for nodes, with its weight (1 to 100). */
export interface PreferredSchedulingTerm {
  readonly weight: number;
  readonly preference: NodeSelectorTerm;
}

/** Node affinity of a pod. */
export interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTerm[];
}

/** Pods to run near or apart from, and the topology key. */
export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly topologyKey: string;
  readonly namespaceSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

/** A preference about other pods, with its weight (1 to 100). */
export interface WeightedPodAffinityTerm {
  readonly weight: number;
  readonly podAffinityTerm: PodAffinityTerm;
}

/** Pod affinity. */
export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
}

/** Pod anti-affinity. */
export interface PodAntiAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
}

/** Affinity of a pod. */
export interface Affinity {
  readonly nodeAffinity?: NodeAffinity;
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAntiAffinity;
}

/** A taint that the pod tolerates. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: TolerationOperator;
  readonly value?: string;
  readonly effect?: TaintEffect;
  readonly tolerationSeconds?: number;
}

/** Rule for spreading pods evenly over zones, nodes or other topologies. */
export interface TopologySpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: UnsatisfiableConstraintAction;
  readonly labelSelector?: LabelSelector;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: NodeInclusionPolicy;
  readonly nodeTaintsPolicy?: NodeInclusionPolicy;
  readonly matchLabelKeys?: readonly string[];
}

/** A gate that must be removed before the pod is scheduled. */
export interface PodSchedulingGate {
  readonly name: string;
}

/** Group that the pod is scheduled with. */
export interface PodSchedulingGroup {
  readonly podGroupName?: string;
}
