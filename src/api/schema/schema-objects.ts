import type {
  ConfigMap,
  Overhead,
  RuntimeClass,
  Scheduling,
  Secret,
  ServiceAccount,
} from '../types/v1-objects.js';
import type {ObjectReference} from '../types/v1-meta.js';
import {
  bool,
  bytes,
  enumeration,
  list,
  map,
  object,
  objectSchema,
  quantity,
  required,
  secretText,
  text,
} from './object-schema.js';
import {localObjectReference, objectMeta} from './schema-meta.js';
import {toleration} from './schema-scheduling.js';

// The fields of the types in v1-objects.ts, in upstream's order.

export const configMap = objectSchema<ConfigMap>('ConfigMap', {
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['ConfigMap'])),
  metadata: required(object(objectMeta)),
  immutable: bool,
  data: map(text),
  binaryData: map(bytes),
});

export const secret = objectSchema<Secret>('Secret', {
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['Secret'])),
  metadata: required(object(objectMeta)),
  immutable: bool,
  data: map(bytes),
  stringData: map(secretText),
  type: text,
});

export const objectReference = objectSchema<ObjectReference>('ObjectReference', {
  kind: text,
  namespace: text,
  name: text,
  uid: text,
  apiVersion: text,
  resourceVersion: text,
  fieldPath: text,
});

export const serviceAccount = objectSchema<ServiceAccount>('ServiceAccount', {
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['ServiceAccount'])),
  metadata: required(object(objectMeta)),
  secrets: list(object(objectReference)),
  imagePullSecrets: list(object(localObjectReference)),
  automountServiceAccountToken: bool,
});

const overhead = objectSchema<Overhead>('Overhead', {
  podFixed: map(quantity),
});

const scheduling = objectSchema<Scheduling>('Scheduling', {
  nodeSelector: map(text),
  tolerations: list(object(toleration)),
});

export const runtimeClass = objectSchema<RuntimeClass>('RuntimeClass', {
  apiVersion: required(enumeration(['node.k8s.io/v1'])),
  kind: required(enumeration(['RuntimeClass'])),
  metadata: required(object(objectMeta)),
  handler: required(text),
  overhead: object(overhead),
  scheduling: object(scheduling),
});
