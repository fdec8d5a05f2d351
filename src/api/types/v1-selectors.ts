import type {LocalObjectReference, Quantity} from './v1-meta.js';

/** A field of the pod, such as `metadata.name` or `status.podIP`. */
export interface ObjectFieldSelector {
  readonly apiVersion?: string;
  readonly fieldPath: string;
}

/** A request or limit of a container, divided by `divisor` and rounded up. */
export interface ResourceFieldSelector {
  readonly containerName?: string;
  readonly resource: string;
  readonly divisor?: Quantity;
}

/** One key of a ConfigMap. */
export interface ConfigMapKeySelector extends LocalObjectReference {
  readonly key: string;
  readonly optional?: boolean;
}

/** One key of a Secret. */
export interface SecretKeySelector extends LocalObjectReference {
  readonly key: string;
  readonly optional?: boolean;
}

/** One key of an env file in a volume. */
export interface FileKeySelector {
  readonly volumeName: string;
  readonly path: string;
  readonly key: string;
  readonly optional?: boolean;
}
