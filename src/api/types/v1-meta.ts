import {
  type Described,
  anything,
  bool,
  enumeration,
  int64,
  list,
  map,
  object,
  quantity,
  required,
  schemaOf,
  text,
  time,
} from '../schema/object-schema.js';

/** An amount in Kubernetes notation, such as `500m` or `64Mi`; decoding makes it canonical (see quantity.ts). */
export type Quantity = string;

/** An RFC 3339 timestamp. */
export type Time = string;

/** A number, or a string such as a port name. */
export type IntOrString = number | string;

/** Amounts by resource name: `cpu`, `memory`, `ephemeral-storage`, `hugepages-2Mi`, `example.com/device`. */
export type ResourceList = Readonly<Record<string, Quantity>>;

/** Operators to compare a label. */
export const LABEL_SELECTOR_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

/** Image pull policies. */
export const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'] as const;
export type PullPolicy = (typeof PULL_POLICIES)[number];

/** Modes of recursive read-only mounts: the mounts below a read-only mount are read-only too. */
export const RECURSIVE_READ_ONLY_MODES = ['Disabled', 'Enabled', 'IfPossible'] as const;

/** Statuses of a condition. */
export const CONDITION_STATUSES = ['True', 'False', 'Unknown'] as const;
export type ConditionStatus = (typeof CONDITION_STATUSES)[number];

/** Owner of an object. */
export interface OwnerReference extends Described<typeof ownerReference> {}
export const ownerReference = schemaOf<OwnerReference>('OwnerReference')({
  apiVersion: required(text),
  kind: required(text),
  name: required(text),
  uid: required(text),
  controller: bool,
  blockOwnerDeletion: bool,
});

/** Managers of the fields of an object; preserved, but not used. */
export interface ManagedFieldsEntry extends Described<typeof managedFieldsEntry> {}
export const managedFieldsEntry = schemaOf<ManagedFieldsEntry>('ManagedFieldsEntry')({
  manager: text,
  operation: text,
  apiVersion: text,
  time: time,
  fieldsType: text,
  fieldsV1: anything,
  subresource: text,
});

/** Metadata of every object. */
export interface ObjectMeta extends Described<typeof objectMeta> {}
export const objectMeta = schemaOf<ObjectMeta>('ObjectMeta')({
  name: text,
  generateName: text,
  namespace: text,
  selfLink: text,
  uid: text,
  resourceVersion: text,
  generation: int64,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: int64,
  labels: map(text),
  annotations: map(text),
  ownerReferences: list(object(ownerReference)),
  finalizers: list(text),
  managedFields: list(object(managedFieldsEntry)),
});

/** One condition on a label. */
export interface LabelSelectorRequirement extends Described<typeof labelSelectorRequirement> {}
export const labelSelectorRequirement = schemaOf<LabelSelectorRequirement>('LabelSelectorRequirement')({
  key: required(text),
  operator: required(enumeration(LABEL_SELECTOR_OPERATORS, {invalid: 'not a valid selector operator'})),
  values: list(text),
});

/** A query over labels; all conditions must match. */
export interface LabelSelector extends Described<typeof labelSelector> {}
export const labelSelector = schemaOf<LabelSelector>('LabelSelector')({
  matchLabels: map(text),
  matchExpressions: list(object(labelSelectorRequirement)),
});

/** Another object of the same namespace, by name. */
export interface LocalObjectReference extends Described<typeof localObjectReference> {}
export const localObjectReference = schemaOf<LocalObjectReference>('LocalObjectReference')({
  name: text,
});

/** Another object of the same namespace, by kind and name. */
export interface TypedLocalObjectReference extends Described<typeof typedLocalObjectReference> {}
export const typedLocalObjectReference = schemaOf<TypedLocalObjectReference>('TypedLocalObjectReference')({
  apiGroup: required(text),
  kind: required(text),
  name: required(text),
});

/** Another object by kind, name and optional namespace. */
export interface TypedObjectReference extends Described<typeof typedObjectReference> {}
export const typedObjectReference = schemaOf<TypedObjectReference>('TypedObjectReference')({
  apiGroup: required(text),
  kind: required(text),
  name: required(text),
  namespace: text,
});

/** A claim of `spec.resourceClaims` that a container uses. */
export interface ResourceClaim extends Described<typeof resourceClaim> {}
export const resourceClaim = schemaOf<ResourceClaim>('ResourceClaim')({
  name: required(text),
  request: text,
});

/** Requested (`requests`) and maximum (`limits`) resources. */
export interface ResourceRequirements extends Described<typeof resourceRequirements> {}
export const resourceRequirements = schemaOf<ResourceRequirements>('ResourceRequirements')({
  limits: map(quantity),
  requests: map(quantity),
  claims: list(object(resourceClaim)),
});

/** Identity of an object. */
export interface ObjectReference extends Described<typeof objectReference> {}
export const objectReference = schemaOf<ObjectReference>('ObjectReference')({
  kind: text,
  namespace: text,
  name: text,
  uid: text,
  apiVersion: text,
  resourceVersion: text,
  fieldPath: text,
});
