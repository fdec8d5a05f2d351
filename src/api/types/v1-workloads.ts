import type {ConditionStatus, IntOrString, LabelSelector, ObjectMeta} from './v1-meta.js';
import type {PersistentVolumeClaim} from './v1-persistent-volumes.js';
import type {PodSpec} from './v1-pod.js';

/** Metadata and spec of the pods that a workload creates (core/v1 PodTemplateSpec). */
export interface PodTemplateSpec {
  readonly metadata?: ObjectMeta;
  readonly spec: PodSpec;
}

/** A template on its own, from which kcri runs one pod (core/v1 PodTemplate). */
export interface PodTemplate {
  readonly apiVersion: 'v1';
  readonly kind: 'PodTemplate';
  readonly metadata: ObjectMeta;
  readonly template: PodTemplateSpec;
}

/** Desired state of a ReplicationController; its selector is a plain map. */
export interface ReplicationControllerSpec {
  readonly replicas?: number;
  readonly minReadySeconds?: number;
  readonly selector?: Readonly<Record<string, string>>;
  readonly template: PodTemplateSpec;
}

/** Keeps a number of identical pods running (core/v1 ReplicationController). */
export interface ReplicationController {
  readonly apiVersion: 'v1';
  readonly kind: 'ReplicationController';
  readonly metadata: ObjectMeta;
  readonly spec: ReplicationControllerSpec;
  readonly status?: unknown;
}

/** Desired state of a ReplicaSet. */
export interface ReplicaSetSpec {
  readonly replicas?: number;
  readonly minReadySeconds?: number;
  readonly selector?: LabelSelector;
  readonly template: PodTemplateSpec;
}

/** Keeps a number of identical pods running (apps/v1 ReplicaSet). */
export interface ReplicaSet {
  readonly apiVersion: 'apps/v1';
  readonly kind: 'ReplicaSet';
  readonly metadata: ObjectMeta;
  readonly spec: ReplicaSetSpec;
  readonly status?: unknown;
}

/** Limits of a rolling update. */
export interface RollingUpdate {
  readonly maxUnavailable?: IntOrString;
  readonly maxSurge?: IntOrString;
}

/** Strategies to replace the pods of a Deployment. */
export const DEPLOYMENT_STRATEGIES = ['Recreate', 'RollingUpdate'] as const;

/** Strategy to replace the pods of a Deployment. */
export interface DeploymentStrategy {
  readonly type?: (typeof DEPLOYMENT_STRATEGIES)[number];
  readonly rollingUpdate?: RollingUpdate;
}

/** Desired state of a Deployment. */
export interface DeploymentSpec {
  readonly replicas?: number;
  readonly selector?: LabelSelector;
  readonly template: PodTemplateSpec;
  readonly strategy?: DeploymentStrategy;
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly paused?: boolean;
  readonly progressDeadlineSeconds?: number;
}

/** Keeps a number of identical pods running and replaces them when the template changes (apps/v1 Deployment). */
export interface Deployment {
  readonly apiVersion: 'apps/v1';
  readonly kind: 'Deployment';
  readonly metadata: ObjectMeta;
  readonly spec: DeploymentSpec;
  readonly status?: unknown;
}

/** Strategies to replace the pods of a DaemonSet or StatefulSet. */
export const UPDATE_STRATEGIES = ['RollingUpdate', 'OnDelete'] as const;

/** Strategy to replace the pods of a DaemonSet. */
export interface DaemonSetUpdateStrategy {
  readonly type?: (typeof UPDATE_STRATEGIES)[number];
  readonly rollingUpdate?: RollingUpdate;
}

/** Desired state of a DaemonSet. */
export interface DaemonSetSpec {
  readonly selector?: LabelSelector;
  readonly template: PodTemplateSpec;
  readonly updateStrategy?: DaemonSetUpdateStrategy;
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
}

/** Runs one pod on each node, here on this one (apps/v1 DaemonSet). */
export interface DaemonSet {
  readonly apiVersion: 'apps/v1';
  readonly kind: 'DaemonSet';
  readonly metadata: ObjectMeta;
  readonly spec: DaemonSetSpec;
  readonly status?: unknown;
}

/** Limits of a rolling update of a StatefulSet. */
export interface RollingUpdateStatefulSetStrategy {
  readonly partition?: number;
  readonly maxUnavailable?: IntOrString;
}

/** Strategy to replace the pods of a StatefulSet. */
export interface StatefulSetUpdateStrategy {
  readonly type?: (typeof UPDATE_STRATEGIES)[number];
  readonly rollingUpdate?: RollingUpdateStatefulSetStrategy;
}

/** Treatments of the claims of deleted pods. */
export const CLAIM_RETENTION_POLICIES = ['Retain', 'Delete'] as const;

/** Treatment of the claims of a StatefulSet that is deleted or scaled down. */
export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  readonly whenDeleted?: (typeof CLAIM_RETENTION_POLICIES)[number];
  readonly whenScaled?: (typeof CLAIM_RETENTION_POLICIES)[number];
}

/** Ordinal of the first pod of a StatefulSet. */
export interface StatefulSetOrdinals {
  readonly start?: number;
}

/** Orders in which the pods of a StatefulSet start. */
export const POD_MANAGEMENT_POLICIES = ['OrderedReady', 'Parallel'] as const;

/** Desired state of a StatefulSet. */
export interface StatefulSetSpec {
  readonly replicas?: number;
  readonly selector?: LabelSelector;
  readonly template: PodTemplateSpec;
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[];
  readonly serviceName?: string;
  readonly podManagementPolicy?: (typeof POD_MANAGEMENT_POLICIES)[number];
  readonly updateStrategy?: StatefulSetUpdateStrategy;
  readonly revisionHistoryLimit?: number;
  readonly minReadySeconds?: number;
  readonly persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy;
  readonly ordinals?: StatefulSetOrdinals;
}

/** Runs pods with stable names and volumes, in order (apps/v1 StatefulSet). */
export interface StatefulSet {
  readonly apiVersion: 'apps/v1';
  readonly kind: 'StatefulSet';
  readonly metadata: ObjectMeta;
  readonly spec: StatefulSetSpec;
  readonly status?: unknown;
}

/** Actions for a failed pod of a Job. */
export const POD_FAILURE_ACTIONS = ['FailJob', 'FailIndex', 'Ignore', 'Count'] as const;
/** Comparisons of an exit code with the values of a rule. */
export const EXIT_CODE_OPERATORS = ['In', 'NotIn'] as const;

/** Exit codes that match a rule. */
export interface PodFailurePolicyOnExitCodesRequirement {
  readonly containerName?: string;
  readonly operator: (typeof EXIT_CODE_OPERATORS)[number];
  readonly values: readonly number[];
}

/** Condition of a pod that matches a rule. */
export interface PodFailurePolicyOnPodConditionsPattern {
  readonly type: string;
  readonly status?: ConditionStatus;
}

/** Rule for failed pods; the first one that matches decides. */
export interface PodFailurePolicyRule {
  readonly action: (typeof POD_FAILURE_ACTIONS)[number];
  readonly onExitCodes?: PodFailurePolicyOnExitCodesRequirement;
  readonly onPodConditions?: readonly PodFailurePolicyOnPodConditionsPattern[];
}

/** Treatment of failed pods of a Job. */
export interface PodFailurePolicy {
  readonly rules: readonly PodFailurePolicyRule[];
}

/** Set or number of indexes whose success completes a Job. */
export interface SuccessPolicyRule {
  readonly succeededIndexes?: string;
  readonly succeededCount?: number;
}

/** Conditions under which an Indexed Job succeeds early. */
export interface SuccessPolicy {
  readonly rules: readonly SuccessPolicyRule[];
}

/** Ways to count the completions of a Job. */
export const COMPLETION_MODES = ['NonIndexed', 'Indexed'] as const;
/** Times at which a Job replaces a pod. */
export const POD_REPLACEMENT_POLICIES = ['TerminatingOrFailed', 'Failed'] as const;

/** Desired state of a Job. */
export interface JobSpec {
  readonly parallelism?: number;
  readonly completions?: number;
  readonly activeDeadlineSeconds?: number;
  readonly podFailurePolicy?: PodFailurePolicy;
  readonly successPolicy?: SuccessPolicy;
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly selector?: LabelSelector;
  readonly manualSelector?: boolean;
  readonly template: PodTemplateSpec;
  readonly ttlSecondsAfterFinished?: number;
  readonly completionMode?: (typeof COMPLETION_MODES)[number];
  readonly suspend?: boolean;
  readonly podReplacementPolicy?: (typeof POD_REPLACEMENT_POLICIES)[number];
  readonly managedBy?: string;
}

/** Runs pods until a number of them has succeeded (batch/v1 Job). */
export interface Job {
  readonly apiVersion: 'batch/v1';
  readonly kind: 'Job';
  readonly metadata: ObjectMeta;
  readonly spec: JobSpec;
  readonly status?: unknown;
}

/** Metadata and spec of the Jobs that a CronJob creates. */
export interface JobTemplateSpec {
  readonly metadata?: ObjectMeta;
  readonly spec: JobSpec;
}

/** Treatments of a run that is still active when the next one is due. */
export const CONCURRENCY_POLICIES = ['Allow', 'Forbid', 'Replace'] as const;

/** Desired state of a CronJob. */
export interface CronJobSpec {
  readonly schedule: string;
  readonly timeZone?: string;
  readonly startingDeadlineSeconds?: number;
  readonly concurrencyPolicy?: (typeof CONCURRENCY_POLICIES)[number];
  readonly suspend?: boolean;
  readonly jobTemplate: JobTemplateSpec;
  readonly successfulJobsHistoryLimit?: number;
  readonly failedJobsHistoryLimit?: number;
}

/** Creates Jobs on a schedule; kcri runs one (batch/v1 CronJob). */
export interface CronJob {
  readonly apiVersion: 'batch/v1';
  readonly kind: 'CronJob';
  readonly metadata: ObjectMeta;
  readonly spec: CronJobSpec;
  readonly status?: unknown;
}

/** An object whose controller creates pods. */
export type Workload =
  | CronJob
  | DaemonSet
  | Deployment
  | Job
  | PodTemplate
  | ReplicaSet
  | ReplicationController
  | StatefulSet;
