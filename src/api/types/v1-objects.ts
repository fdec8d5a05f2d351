import type {LocalObjectReference, ObjectMeta, ObjectReference, ResourceList} from './v1-meta.js';
import type {ManifestClaim, ManifestVolume} from './v1-persistent-volumes.js';
import type {Toleration} from './v1-scheduling.js';
import type {Service} from './v1-services.js';

/** Texts and bytes by key, for environments and volumes (core/v1 ConfigMap). */
export interface ConfigMap {
  readonly apiVersion: 'v1';
  readonly kind: 'ConfigMap';
  readonly metadata: ObjectMeta;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  /** Written in base64. */
  readonly binaryData?: Readonly<Record<string, Uint8Array>>;
}

/** Secret data by key (core/v1 Secret). */
export interface Secret {
  readonly apiVersion: 'v1';
  readonly kind: 'Secret';
  readonly metadata: ObjectMeta;
  readonly immutable?: boolean;
  /** Written in base64. */
  readonly data?: Readonly<Record<string, Uint8Array>>;
  /** Plain text; defaulting moves it into `data`, where it takes precedence. */
  readonly stringData?: Readonly<Record<string, string>>;
  readonly type?: string;
}

/** Identity of a pod (core/v1 ServiceAccount). */
export interface ServiceAccount {
  readonly apiVersion: 'v1';
  readonly kind: 'ServiceAccount';
  readonly metadata: ObjectMeta;
  readonly secrets?: readonly ObjectReference[];
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  readonly automountServiceAccountToken?: boolean;
}

/** Resources that pods of a RuntimeClass need in addition to their containers. */
export interface Overhead {
  readonly podFixed?: ResourceList;
}

/** Nodes that can run pods of a RuntimeClass. */
export interface Scheduling {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
}

/** A runtime handler and its requirements (node.k8s.io/v1 RuntimeClass, cluster-scoped). */
export interface RuntimeClass {
  readonly apiVersion: 'node.k8s.io/v1';
  readonly kind: 'RuntimeClass';
  readonly metadata: ObjectMeta;
  readonly handler: string;
  readonly overhead?: Overhead;
  readonly scheduling?: Scheduling;
}

/** An object that a Pod may refer to, or that selects Pods. */
export type ApiObject =
  | ConfigMap
  | Secret
  | ServiceAccount
  | RuntimeClass
  | Service
  | ManifestClaim
  | ManifestVolume;

/** Reports whether an object belongs to no namespace. */
export function isClusterScoped({kind}: Pick<ApiObject, 'kind'>): boolean {
  return kind === 'RuntimeClass' || kind === 'PersistentVolume';
}
