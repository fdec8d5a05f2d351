import type {LabelSelector} from './v1-meta.js';

/** How a node's label is compared. */
export const NODE_SELECTOR_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] as const;
export type NodeSelectorOperator = (typeof NODE_SELECTOR_OPERATORS)[number];

/** How a toleration's value is compared with the taint's. */
export const TOLERATION_OPERATORS = ['Equal', 'Exists'] as const;
export type TolerationOperator = (typeof TOLERATION_OPERATORS)[number];

/** What a taint does to pods that don't tolerate it. */
export const TAINT_EFFECTS = ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] as const;
export type TaintEffect = (typeof TAINT_EFFECTS)[number];

/** What happens when pods can't be spread as asked. */
export const UNSATISFIABLE_ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'] as const;
export type UnsatisfiableConstraintAction = (typeof UNSATISFIABLE_ACTIONS)[number];

/** Whether a node's affinity or taints count when pods are spread. */
export const NODE_INCLUSION_POLICIES = ['Honor', 'Ignore'] as const;
export type NodeInclusionPolicy = (typeof NODE_INCLUSION_POLICIES)[number];

/** One condition on a node's label or field. */
export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: NodeSelectorOperator;
  readonly values?: readonly string[];
}

/** Conditions that all hold; an empty term matches nothing. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

/** Terms of which one must match. */
export interface NodeSelector {
  readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
}

/** A wish about the node, with its weight (1 to 100). */
export interface PreferredSchedulingTerm {
  readonly weight: number;
  readonly preference: NodeSelectorTerm;
}

/** Which nodes a pod may run on or prefers. */
export interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTerm[];
}

/** Pods to be near to or away from, and what near means. */
export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly topologyKey: string;
  readonly namespaceSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

/** A wish about other pods, with its weight (1 to 100). */
export interface WeightedPodAffinityTerm {
  readonly weight: number;
  readonly podAffinityTerm: PodAffinityTerm;
}

/** Pods to be near to. */
export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
}

/** Pods to be away from. */
export interface PodAntiAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
}

/** All wishes and demands about the node. */
export interface Affinity {
  readonly nodeAffinity?: NodeAffinity;
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAntiAffinity;
}

/** A taint that the pod puts up with. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: TolerationOperator;
  readonly value?: string;
  readonly effect?: TaintEffect;
  readonly tolerationSeconds?: number;
}

/** How evenly pods are spread over zones, nodes and the like. */
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

/** A condition that must be lifted before the pod is scheduled. */
export interface PodSchedulingGate {
  readonly name: string;
}

/** The group that the pod is scheduled with. */
export interface PodSchedulingGroup {
  readonly podGroupName?: string;
}
