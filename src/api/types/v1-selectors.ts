import {type Described, bool, quantity, required, schemaOf, text} from '../schema/object-schema.js';
import {localObjectReference} from './v1-meta.js';

/** A field of the pod, such as `metadata.name` or `status.podIP`. */
export interface ObjectFieldSelector extends Described<typeof objectFieldSelector> {}
export const objectFieldSelector = schemaOf<ObjectFieldSelector>('ObjectFieldSelector')({
  apiVersion: text,
  fieldPath: required(text),
});

/** A request or limit of a container, divided by `divisor` and rounded up. */
export interface ResourceFieldSelector extends Described<typeof resourceFieldSelector> {}
export const resourceFieldSelector = schemaOf<ResourceFieldSelector>('ResourceFieldSelector')({
  containerName: text,
  resource: required(text),
  divisor: quantity,
});

/** One key of a ConfigMap. */
export interface ConfigMapKeySelector extends Described<typeof configMapKeySelector> {}
export const configMapKeySelector = schemaOf<ConfigMapKeySelector>('ConfigMapKeySelector')({
  ...localObjectReference.fields,
  key: required(text),
  optional: bool,
});

/** One key of a Secret. */
export interface SecretKeySelector extends Described<typeof secretKeySelector> {}
export const secretKeySelector = schemaOf<SecretKeySelector>('SecretKeySelector')({
  ...localObjectReference.fields,
  key: required(text),
  optional: bool,
});

/** One key of an env file in a volume. */
export interface FileKeySelector extends Described<typeof fileKeySelector> {}
export const fileKeySelector = schemaOf<FileKeySelector>('FileKeySelector')({
  volumeName: required(text),
  path: required(text),
  key: required(text),
  optional: bool,
});
