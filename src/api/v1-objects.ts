import type {LocalObjectReference, ObjectMeta, ResourceList} from './v1-meta.js';
import type {Toleration} from './v1-scheduling.js';

/** Texts and bytes by key, for environments and volumes: core/v1 ConfigMap. */
export interface ConfigMap {
  readonly apiVersion: 'v1';
  readonly kind: 'ConfigMap';
  readonly metadata: ObjectMeta;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  /** Written in base64. */
  readonly binaryData?: Readonly<Record<string, Uint8Array>>;
}

/** What nobody but its pod may see: core/v1 Secret. */
export interface Secret {
  readonly apiVersion: 'v1';
  readonly kind: 'Secret';
  readonly metadata: ObjectMeta;
  readonly immutable?: boolean;
  /** Written in base64. */
  readonly data?: Readonly<Record<string, Uint8Array>>;
  /** Written as it is; the API's defaults move it into `data`, where it wins. */
  readonly stringData?: Readonly<Record<string, string>>;
  readonly type?: string;
}

/** An object by what identifies it. */
export interface ObjectReference {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** Who a pod is to others: core/v1 ServiceAccount. */
export interface ServiceAccount {
  readonly apiVersion: 'v1';
  readonly kind: 'ServiceAccount';
  readonly metadata: ObjectMeta;
  readonly secrets?: readonly ObjectReference[];
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  readonly automountServiceAccountToken?: boolean;
}

/** What pods of a class need beyond their containers. */
export interface Overhead {
  readonly podFixed?: ResourceList;
}

/** Which nodes can run pods of a class. */
export interface Scheduling {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
}

/** One of the runtime's ways to run a pod: node.k8s.io/v1 RuntimeClass. It belongs to no namespace. */
export interface RuntimeClass {
  readonly apiVersion: 'node.k8s.io/v1';
  readonly kind: 'RuntimeClass';
  readonly metadata: ObjectMeta;
  readonly handler: string;
  readonly overhead?: Overhead;
  readonly scheduling?: Scheduling;
}

/** What a Pod may refer to. */
export type ApiObject = ConfigMap | Secret | ServiceAccount | RuntimeClass;
