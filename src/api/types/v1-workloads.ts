import {
  type Described,
  anything,
  bool,
  enumeration,
  int32,
  int64,
  intOrString,
  list,
  map,
  object,
  required,
  schemaOf,
  text,
} from '../schema/object-schema.js';
import {CONDITION_STATUSES, labelSelector, objectMeta} from './v1-meta.js';
import {persistentVolumeClaim} from './v1-persistent-volumes.js';
import {EXIT_CODE_OPERATORS, podSpec} from './v1-pod.js';

/** Metadata and spec of the pods that a workload creates (core/v1 PodTemplateSpec). */
export interface PodTemplateSpec extends Described<typeof podTemplateSpec> {}
const podTemplateSpec = schemaOf<PodTemplateSpec>('PodTemplateSpec')({
  metadata: object(objectMeta),
  spec: required(object(podSpec)),
});

/** A template on its own, from which kcri runs one pod (core/v1 PodTemplate). */
export interface PodTemplate extends Described<typeof podTemplate> {}
export const podTemplate = schemaOf<PodTemplate>('PodTemplate')({
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['PodTemplate'])),
  metadata: required(object(objectMeta)),
  template: required(object(podTemplateSpec)),
});

/** Desired state of a ReplicationController; its selector is a plain map. */
export interface ReplicationControllerSpec extends Described<typeof replicationControllerSpec> {}
const replicationControllerSpec = schemaOf<ReplicationControllerSpec>('ReplicationControllerSpec')({
  replicas: int32,
  minReadySeconds: int32,
  selector: map(text),
  template: required(object(podTemplateSpec)),
});

/** Keeps a number of identical pods running (core/v1 ReplicationController). */
export interface ReplicationController extends Described<typeof replicationController> {}
export const replicationController = schemaOf<ReplicationController>('ReplicationController')({
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['ReplicationController'])),
  metadata: required(object(objectMeta)),
  spec: required(object(replicationControllerSpec)),
  status: anything,
});

/** Desired state of a ReplicaSet. */
export interface ReplicaSetSpec extends Described<typeof replicaSetSpec> {}
const replicaSetSpec = schemaOf<ReplicaSetSpec>('ReplicaSetSpec')({
  replicas: int32,
  minReadySeconds: int32,
  selector: object(labelSelector),
  template: required(object(podTemplateSpec)),
});

/** Keeps a number of identical pods running (apps/v1 ReplicaSet). */
export interface ReplicaSet extends Described<typeof replicaSet> {}
export const replicaSet = schemaOf<ReplicaSet>('ReplicaSet')({
  apiVersion: required(enumeration(['apps/v1'])),
  kind: required(enumeration(['ReplicaSet'])),
  metadata: required(object(objectMeta)),
  spec: required(object(replicaSetSpec)),
  status: anything,
});

/** Limits of a rolling update. */
export interface RollingUpdate extends Described<typeof rollingUpdate> {}
const rollingUpdate = schemaOf<RollingUpdate>('RollingUpdate')({
  maxUnavailable: intOrString,
  maxSurge: intOrString,
});

/** Strategies to replace the pods of a Deployment. */
export const DEPLOYMENT_STRATEGIES = ['Recreate', 'RollingUpdate'] as const;

/** Strategy to replace the pods of a Deployment. */
export interface DeploymentStrategy extends Described<typeof deploymentStrategy> {}
const deploymentStrategy = schemaOf<DeploymentStrategy>('DeploymentStrategy')({
  type: enumeration(DEPLOYMENT_STRATEGIES),
  rollingUpdate: object(rollingUpdate),
});

/** Desired state of a Deployment. */
export interface DeploymentSpec extends Described<typeof deploymentSpec> {}
const deploymentSpec = schemaOf<DeploymentSpec>('DeploymentSpec')({
  replicas: int32,
  selector: object(labelSelector),
  template: required(object(podTemplateSpec)),
  strategy: object(deploymentStrategy),
  minReadySeconds: int32,
  revisionHistoryLimit: int32,
  paused: bool,
  progressDeadlineSeconds: int32,
});

/** Keeps a number of identical pods running and replaces them when the template changes (apps/v1 Deployment). */
export interface Deployment extends Described<typeof deployment> {}
export const deployment = schemaOf<Deployment>('Deployment')({
  apiVersion: required(enumeration(['apps/v1'])),
  kind: required(enumeration(['Deployment'])),
  metadata: required(object(objectMeta)),
  spec: required(object(deploymentSpec)),
  status: anything,
});

/** Strategies to replace the pods of a DaemonSet or StatefulSet. */
export const UPDATE_STRATEGIES = ['RollingUpdate', 'OnDelete'] as const;

/** Strategy to replace the pods of a DaemonSet. */
export interface DaemonSetUpdateStrategy extends Described<typeof daemonSetUpdateStrategy> {}
const daemonSetUpdateStrategy = schemaOf<DaemonSetUpdateStrategy>('DaemonSetUpdateStrategy')({
  type: enumeration(UPDATE_STRATEGIES),
  rollingUpdate: object(rollingUpdate),
});

/** Desired state of a DaemonSet. */
export interface DaemonSetSpec extends Described<typeof daemonSetSpec> {}
const daemonSetSpec = schemaOf<DaemonSetSpec>('DaemonSetSpec')({
  selector: object(labelSelector),
  template: required(object(podTemplateSpec)),
  updateStrategy: object(daemonSetUpdateStrategy),
  minReadySeconds: int32,
  revisionHistoryLimit: int32,
});

/** Runs one pod on each node, here on this one (apps/v1 DaemonSet). */
export interface DaemonSet extends Described<typeof daemonSet> {}
export const daemonSet = schemaOf<DaemonSet>('DaemonSet')({
  apiVersion: required(enumeration(['apps/v1'])),
  kind: required(enumeration(['DaemonSet'])),
  metadata: required(object(objectMeta)),
  spec: required(object(daemonSetSpec)),
  status: anything,
});

/** Limits of a rolling update of a StatefulSet. */
export interface RollingUpdateStatefulSetStrategy extends Described<
  typeof rollingUpdateStatefulSetStrategy
> {}
const rollingUpdateStatefulSetStrategy = schemaOf<RollingUpdateStatefulSetStrategy>(
  'RollingUpdateStatefulSetStrategy',
)({
  partition: int32,
  maxUnavailable: intOrString,
});

/** Strategy to replace the pods of a StatefulSet. */
export interface StatefulSetUpdateStrategy extends Described<typeof statefulSetUpdateStrategy> {}
const statefulSetUpdateStrategy = schemaOf<StatefulSetUpdateStrategy>('StatefulSetUpdateStrategy')({
  type: enumeration(UPDATE_STRATEGIES),
  rollingUpdate: object(rollingUpdateStatefulSetStrategy),
});

/** Treatments of the claims of deleted pods. */
export const CLAIM_RETENTION_POLICIES = ['Retain', 'Delete'] as const;

/** Treatment of the claims of a StatefulSet that is deleted or scaled down. */
export interface StatefulSetPersistentVolumeClaimRetentionPolicy extends Described<
  typeof claimRetentionPolicy
> {}
const claimRetentionPolicy = schemaOf<StatefulSetPersistentVolumeClaimRetentionPolicy>(
  'StatefulSetPersistentVolumeClaimRetentionPolicy',
)({
  whenDeleted: enumeration(CLAIM_RETENTION_POLICIES),
  whenScaled: enumeration(CLAIM_RETENTION_POLICIES),
});

/** Ordinal of the first pod of a StatefulSet. */
export interface StatefulSetOrdinals extends Described<typeof statefulSetOrdinals> {}
const statefulSetOrdinals = schemaOf<StatefulSetOrdinals>('StatefulSetOrdinals')({
  start: int32,
});

/** Orders in which the pods of a StatefulSet start. */
export const POD_MANAGEMENT_POLICIES = ['OrderedReady', 'Parallel'] as const;

/** Desired state of a StatefulSet. */
export interface StatefulSetSpec extends Described<typeof statefulSetSpec> {}
const statefulSetSpec = schemaOf<StatefulSetSpec>('StatefulSetSpec')({
  replicas: int32,
  selector: object(labelSelector),
  template: required(object(podTemplateSpec)),
  volumeClaimTemplates: list(object(persistentVolumeClaim)),
  serviceName: text,
  podManagementPolicy: enumeration(POD_MANAGEMENT_POLICIES),
  updateStrategy: object(statefulSetUpdateStrategy),
  revisionHistoryLimit: int32,
  minReadySeconds: int32,
  persistentVolumeClaimRetentionPolicy: object(claimRetentionPolicy),
  ordinals: object(statefulSetOrdinals),
});

/** Runs pods with stable names and volumes, in order (apps/v1 StatefulSet). */
export interface StatefulSet extends Described<typeof statefulSet> {}
export const statefulSet = schemaOf<StatefulSet>('StatefulSet')({
  apiVersion: required(enumeration(['apps/v1'])),
  kind: required(enumeration(['StatefulSet'])),
  metadata: required(object(objectMeta)),
  spec: required(object(statefulSetSpec)),
  status: anything,
});

/** Actions for a failed pod of a Job. */
export const POD_FAILURE_ACTIONS = ['FailJob', 'FailIndex', 'Ignore', 'Count'] as const;

/** Exit codes that match a rule. */
export interface PodFailurePolicyOnExitCodesRequirement extends Described<typeof onExitCodes> {}
const onExitCodes = schemaOf<PodFailurePolicyOnExitCodesRequirement>(
  'PodFailurePolicyOnExitCodesRequirement',
)({
  containerName: text,
  operator: required(enumeration(EXIT_CODE_OPERATORS)),
  values: required(list(int32)),
});

/** Condition of a pod that matches a rule. */
export interface PodFailurePolicyOnPodConditionsPattern extends Described<typeof onPodConditions> {}
const onPodConditions = schemaOf<PodFailurePolicyOnPodConditionsPattern>(
  'PodFailurePolicyOnPodConditionsPattern',
)({
  type: required(text),
  status: enumeration(CONDITION_STATUSES),
});

/** Rule for failed pods; the first one that matches decides. */
export interface PodFailurePolicyRule extends Described<typeof podFailurePolicyRule> {}
const podFailurePolicyRule = schemaOf<PodFailurePolicyRule>('PodFailurePolicyRule')({
  action: required(enumeration(POD_FAILURE_ACTIONS)),
  onExitCodes: object(onExitCodes),
  onPodConditions: list(object(onPodConditions)),
});

/** Treatment of failed pods of a Job. */
export interface PodFailurePolicy extends Described<typeof podFailurePolicy> {}
const podFailurePolicy = schemaOf<PodFailurePolicy>('PodFailurePolicy')({
  rules: required(list(object(podFailurePolicyRule))),
});

/** Set or number of indexes whose success completes a Job. */
export interface SuccessPolicyRule extends Described<typeof successPolicyRule> {}
const successPolicyRule = schemaOf<SuccessPolicyRule>('SuccessPolicyRule')({
  succeededIndexes: text,
  succeededCount: int32,
});

/** Conditions under which an Indexed Job succeeds early. */
export interface SuccessPolicy extends Described<typeof successPolicy> {}
const successPolicy = schemaOf<SuccessPolicy>('SuccessPolicy')({
  rules: required(list(object(successPolicyRule))),
});

/** Ways to count the completions of a Job. */
export const COMPLETION_MODES = ['NonIndexed', 'Indexed'] as const;

/** Times at which a Job replaces a pod. */
export const POD_REPLACEMENT_POLICIES = ['TerminatingOrFailed', 'Failed'] as const;

/** Desired state of a Job. */
export interface JobSpec extends Described<typeof jobSpec> {}
const jobSpec = schemaOf<JobSpec>('JobSpec')({
  parallelism: int32,
  completions: int32,
  activeDeadlineSeconds: int64,
  podFailurePolicy: object(podFailurePolicy),
  successPolicy: object(successPolicy),
  backoffLimit: int32,
  backoffLimitPerIndex: int32,
  maxFailedIndexes: int32,
  selector: object(labelSelector),
  manualSelector: bool,
  template: required(object(podTemplateSpec)),
  ttlSecondsAfterFinished: int32,
  completionMode: enumeration(COMPLETION_MODES),
  suspend: bool,
  podReplacementPolicy: enumeration(POD_REPLACEMENT_POLICIES),
  managedBy: text,
});

/** Runs pods until a number of them has succeeded (batch/v1 Job). */
export interface Job extends Described<typeof job> {}
export const job = schemaOf<Job>('Job')({
  apiVersion: required(enumeration(['batch/v1'])),
  kind: required(enumeration(['Job'])),
  metadata: required(object(objectMeta)),
  spec: required(object(jobSpec)),
  status: anything,
});

/** Metadata and spec of the Jobs that a CronJob creates. */
export interface JobTemplateSpec extends Described<typeof jobTemplateSpec> {}
const jobTemplateSpec = schemaOf<JobTemplateSpec>('JobTemplateSpec')({
  metadata: object(objectMeta),
  spec: required(object(jobSpec)),
});

/** Treatments of a run that is still active when the next one is due. */
export const CONCURRENCY_POLICIES = ['Allow', 'Forbid', 'Replace'] as const;

/** Desired state of a CronJob. */
export interface CronJobSpec extends Described<typeof cronJobSpec> {}
const cronJobSpec = schemaOf<CronJobSpec>('CronJobSpec')({
  schedule: required(text),
  timeZone: text,
  startingDeadlineSeconds: int64,
  concurrencyPolicy: enumeration(CONCURRENCY_POLICIES),
  suspend: bool,
  jobTemplate: required(object(jobTemplateSpec)),
  successfulJobsHistoryLimit: int32,
  failedJobsHistoryLimit: int32,
});

/** Creates Jobs on a schedule; kcri runs one (batch/v1 CronJob). */
export interface CronJob extends Described<typeof cronJob> {}
export const cronJob = schemaOf<CronJob>('CronJob')({
  apiVersion: required(enumeration(['batch/v1'])),
  kind: required(enumeration(['CronJob'])),
  metadata: required(object(objectMeta)),
  spec: required(object(cronJobSpec)),
  status: anything,
});

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
