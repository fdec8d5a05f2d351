import type {
  LabelSelector,
  LabelSelectorRequirement,
  LocalObjectReference,
  ManagedFieldsEntry,
  ObjectMeta,
  OwnerReference,
  ResourceClaim,
  ResourceRequirements,
  TypedLocalObjectReference,
  TypedObjectReference,
} from '../types/v1-meta.js';
import {
  anything,
  bool,
  enumeration,
  int64,
  list,
  map,
  object,
  objectSchema,
  quantity,
  required,
  text,
  time,
} from './object-schema.js';
import {LABEL_SELECTOR_OPERATORS} from '../types/v1-meta.js';

// The fields of the types in v1-meta.ts, in upstream's order.

export const ownerReference = objectSchema<OwnerReference>('OwnerReference', {
  apiVersion: required(text),
  kind: required(text),
  name: required(text),
  uid: required(text),
  controller: bool,
  blockOwnerDeletion: bool,
});

export const managedFieldsEntry = objectSchema<ManagedFieldsEntry>('ManagedFieldsEntry', {
  manager: text,
  operation: text,
  apiVersion: text,
  time: time,
  fieldsType: text,
  fieldsV1: anything,
  subresource: text,
});

export const objectMeta = objectSchema<ObjectMeta>('ObjectMeta', {
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

export const labelSelectorRequirement = objectSchema<LabelSelectorRequirement>('LabelSelectorRequirement', {
  key: required(text),
  operator: required(enumeration(LABEL_SELECTOR_OPERATORS, {invalid: 'not a valid selector operator'})),
  values: list(text),
});

export const labelSelector = objectSchema<LabelSelector>('LabelSelector', {
  matchLabels: map(text),
  matchExpressions: list(object(labelSelectorRequirement)),
});

export const localObjectReference = objectSchema<LocalObjectReference>('LocalObjectReference', {
  name: text,
});

export const typedLocalObjectReference = objectSchema<TypedLocalObjectReference>(
  'TypedLocalObjectReference',
  {
    apiGroup: required(text),
    kind: required(text),
    name: required(text),
  },
);

export const typedObjectReference = objectSchema<TypedObjectReference>('TypedObjectReference', {
  apiGroup: required(text),
  kind: required(text),
  name: required(text),
  namespace: text,
});

export const resourceClaim = objectSchema<ResourceClaim>('ResourceClaim', {
  name: required(text),
  request: text,
});

export const resourceRequirements = objectSchema<ResourceRequirements>('ResourceRequirements', {
  limits: map(quantity),
  requests: map(quantity),
  claims: list(object(resourceClaim)),
});
