import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PodAntiAffinity,
  PodSchedulingGate,
  PodSchedulingGroup,
  PreferredSchedulingTerm,
  Toleration,
  TopologySpreadConstraint,
  WeightedPodAffinityTerm,
} from '../types/v1-scheduling.js';
import {enumeration, int32, int64, list, object, objectSchema, required, text} from './object-schema.js';
import {labelSelector} from './schema-meta.js';
import {
  NODE_INCLUSION_POLICIES,
  NODE_SELECTOR_OPERATORS,
  TAINT_EFFECTS,
  TOLERATION_OPERATORS,
  UNSATISFIABLE_ACTIONS,
} from '../types/v1-scheduling.js';

// The fields of the types in v1-scheduling.ts, in upstream's order.

export const nodeSelectorRequirement = objectSchema<NodeSelectorRequirement>('NodeSelectorRequirement', {
  key: required(text),
  operator: required(enumeration(NODE_SELECTOR_OPERATORS, {invalid: 'not a valid selector operator'})),
  values: list(text),
});

export const nodeSelectorTerm = objectSchema<NodeSelectorTerm>('NodeSelectorTerm', {
  matchExpressions: list(object(nodeSelectorRequirement)),
  matchFields: list(object(nodeSelectorRequirement)),
});

export const nodeSelector = objectSchema<NodeSelector>('NodeSelector', {
  nodeSelectorTerms: required(list(object(nodeSelectorTerm))),
});

export const preferredSchedulingTerm = objectSchema<PreferredSchedulingTerm>('PreferredSchedulingTerm', {
  weight: required(int32),
  preference: required(object(nodeSelectorTerm)),
});

export const nodeAffinity = objectSchema<NodeAffinity>('NodeAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: object(nodeSelector),
  preferredDuringSchedulingIgnoredDuringExecution: list(object(preferredSchedulingTerm)),
});

export const podAffinityTerm = objectSchema<PodAffinityTerm>('PodAffinityTerm', {
  labelSelector: object(labelSelector),
  namespaces: list(text),
  topologyKey: required(text),
  namespaceSelector: object(labelSelector),
  matchLabelKeys: list(text),
  mismatchLabelKeys: list(text),
});

export const weightedPodAffinityTerm = objectSchema<WeightedPodAffinityTerm>('WeightedPodAffinityTerm', {
  weight: required(int32),
  podAffinityTerm: required(object(podAffinityTerm)),
});

export const podAffinity = objectSchema<PodAffinity>('PodAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: list(object(podAffinityTerm)),
  preferredDuringSchedulingIgnoredDuringExecution: list(object(weightedPodAffinityTerm)),
});

export const podAntiAffinity = objectSchema<PodAntiAffinity>('PodAntiAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: list(object(podAffinityTerm)),
  preferredDuringSchedulingIgnoredDuringExecution: list(object(weightedPodAffinityTerm)),
});

export const affinity = objectSchema<Affinity>('Affinity', {
  nodeAffinity: object(nodeAffinity),
  podAffinity: object(podAffinity),
  podAntiAffinity: object(podAntiAffinity),
});

export const toleration = objectSchema<Toleration>('Toleration', {
  key: text,
  operator: enumeration(TOLERATION_OPERATORS),
  value: text,
  effect: enumeration(TAINT_EFFECTS),
  tolerationSeconds: int64,
});

export const topologySpreadConstraint = objectSchema<TopologySpreadConstraint>('TopologySpreadConstraint', {
  maxSkew: required(int32),
  topologyKey: required(text),
  whenUnsatisfiable: required(enumeration(UNSATISFIABLE_ACTIONS)),
  labelSelector: object(labelSelector),
  minDomains: int32,
  nodeAffinityPolicy: enumeration(NODE_INCLUSION_POLICIES),
  nodeTaintsPolicy: enumeration(NODE_INCLUSION_POLICIES),
  matchLabelKeys: list(text),
});

export const podSchedulingGate = objectSchema<PodSchedulingGate>('PodSchedulingGate', {
  name: required(text),
});

export const podSchedulingGroup = objectSchema<PodSchedulingGroup>('PodSchedulingGroup', {
  podGroupName: text,
});
