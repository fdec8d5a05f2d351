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
export type LabelSelectorOperator = (typeof LABEL_SELECTOR_OPERATORS)[number];

/** Image pull policies. */
export const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'] as const;
export type PullPolicy = (typeof PULL_POLICIES)[number];

/** Modes of recursive read-only mounts: the mounts below a read-only mount are read-only too. */
export const RECURSIVE_READ_ONLY_MODES = ['Disabled', 'Enabled', 'IfPossible'] as const;
export type RecursiveReadOnlyMode = (typeof RECURSIVE_READ_ONLY_MODES)[number];

/** Statuses of a condition. */
export const CONDITION_STATUSES = ['True', 'False', 'Unknown'] as const;
export type ConditionStatus = (typeof CONDITION_STATUSES)[number];

/** Owner of an object. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Managers of the fields of an object; preserved, but not used. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: Time;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

/** Identity of an object. */
export interface ObjectReference {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** Metadata of every object. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly selfLink?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: Time;
  readonly deletionTimestamp?: Time;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** One condition on a label. */
export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: LabelSelectorOperator;
  readonly values?: readonly string[];
}

/** A query over labels; all conditions must match. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

/** Another object of the same namespace, by name. */
export interface LocalObjectReference {
  readonly name?: string;
}

/** Another object of the same namespace, by kind and name. */
export interface TypedLocalObjectReference {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

/** Another object by kind, name and optional namespace. */
export interface TypedObjectReference {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** A claim of `spec.resourceClaims` that a container uses. */
export interface ResourceClaim {
  readonly name: string;
  readonly request?: string;
}

/** Requested (`requests`) and maximum (`limits`) resources. */
export interface ResourceRequirements {
  readonly limits?: ResourceList;
  readonly requests?: ResourceList;
  readonly claims?: readonly ResourceClaim[];
}
