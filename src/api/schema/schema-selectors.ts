import type {
  ConfigMapKeySelector,
  FileKeySelector,
  ObjectFieldSelector,
  ResourceFieldSelector,
  SecretKeySelector,
} from '../types/v1-selectors.js';
import {bool, objectSchema, quantity, required, text} from './object-schema.js';
import {localObjectReference} from './schema-meta.js';

// The fields of the types in v1-selectors.ts, in upstream's order.

export const objectFieldSelector = objectSchema<ObjectFieldSelector>('ObjectFieldSelector', {
  apiVersion: text,
  fieldPath: required(text),
});

export const resourceFieldSelector = objectSchema<ResourceFieldSelector>('ResourceFieldSelector', {
  containerName: text,
  resource: required(text),
  divisor: quantity,
});

export const configMapKeySelector = objectSchema<ConfigMapKeySelector>('ConfigMapKeySelector', {
  ...localObjectReference.fields,
  key: required(text),
  optional: bool,
});

export const secretKeySelector = objectSchema<SecretKeySelector>('SecretKeySelector', {
  ...localObjectReference.fields,
  key: required(text),
  optional: bool,
});

export const fileKeySelector = objectSchema<FileKeySelector>('FileKeySelector', {
  volumeName: required(text),
  path: required(text),
  key: required(text),
  optional: bool,
});
