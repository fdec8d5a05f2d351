import {CONDITION_STATUSES} from '../types/v1-meta.js';
import {
  CLAIM_RETENTION_POLICIES,
  COMPLETION_MODES,
  CONCURRENCY_POLICIES,
  DEPLOYMENT_STRATEGIES,
  EXIT_CODE_OPERATORS,
  POD_FAILURE_ACTIONS,
  POD_MANAGEMENT_POLICIES,
  POD_REPLACEMENT_POLICIES,
  UPDATE_STRATEGIES,
  type CronJob,
  type CronJobSpec,
  type DaemonSet,
  type DaemonSetSpec,
  type DaemonSetUpdateStrategy,
  type Deployment,
  type DeploymentSpec,
  type DeploymentStrategy,
  type Job,
  type JobSpec,
  type JobTemplateSpec,
  type PodFailurePolicy,
  type PodFailurePolicyOnExitCodesRequirement,
  type PodFailurePolicyOnPodConditionsPattern,
  type PodFailurePolicyRule,
  type PodTemplate,
  type PodTemplateSpec,
  type ReplicaSet,
  type ReplicaSetSpec,
  type ReplicationController,
  type ReplicationControllerSpec,
  type RollingUpdate,
  type RollingUpdateStatefulSetStrategy,
  type StatefulSet,
  type StatefulSetOrdinals,
  type StatefulSetPersistentVolumeClaimRetentionPolicy,
  type StatefulSetSpec,
  type StatefulSetUpdateStrategy,
  type SuccessPolicy,
  type SuccessPolicyRule,
} from '../types/v1-workloads.js';
import {
  anything,
  bool,
  enumeration,
  int32,
  int64,
  intOrString,
  list,
  map,
  object,
  objectSchema,
  required,
  text,
} from './object-schema.js';
import {labelSelector, objectMeta} from './schema-meta.js';
import {persistentVolumeClaim} from './schema-persistent-volumes.js';
import {podSpec} from './schema-pod.js';

// The fields of the types in v1-workloads.ts, in upstream's order. A status is carried unchanged and not used.

const podTemplateSpec = objectSchema<PodTemplateSpec>('PodTemplateSpec', {
  metadata: object(objectMeta),
  spec: required(object(podSpec)),
});

export const podTemplate = objectSchema<PodTemplate>('PodTemplate', {
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['PodTemplate'])),
  metadata: required(object(objectMeta)),
  template: required(object(podTemplateSpec)),
});

const replicationControllerSpec = objectSchema<ReplicationControllerSpec>('ReplicationControllerSpec', {
  replicas: int32,
  minReadySeconds: int32,
  selector: map(text),
  template: required(object(podTemplateSpec)),
});

export const replicationController = objectSchema<ReplicationController>('ReplicationController', {
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['ReplicationController'])),
  metadata: required(object(objectMeta)),
  spec: required(object(replicationControllerSpec)),
  status: anything,
});

const replicaSetSpec = objectSchema<ReplicaSetSpec>('ReplicaSetSpec', {
  replicas: int32,
  minReadySeconds: int32,
  selector: object(labelSelector),
  template: required(object(podTemplateSpec)),
});

export const replicaSet = objectSchema<ReplicaSet>('ReplicaSet', {
  apiVersion: required(enumeration(['apps/v1'])),
  kind: required(enumeration(['ReplicaSet'])),
  metadata: required(object(objectMeta)),
  spec: required(object(replicaSetSpec)),
  status: anything,
});

const rollingUpdate = objectSchema<RollingUpdate>('RollingUpdate', {
  maxUnavailable: intOrString,
  maxSurge: intOrString,
});

const deploymentStrategy = objectSchema<DeploymentStrategy>('DeploymentStrategy', {
  type: enumeration(DEPLOYMENT_STRATEGIES),
  rollingUpdate: object(rollingUpdate),
});

const deploymentSpec = objectSchema<DeploymentSpec>('DeploymentSpec', {
  replicas: int32,
  selector: object(labelSelector),
  template: required(object(podTemplateSpec)),
  strategy: object(deploymentStrategy),
  minReadySeconds: int32,
  revisionHistoryLimit: int32,
  paused: bool,
  progressDeadlineSeconds: int32,
});

export const deployment = objectSchema<Deployment>('Deployment', {
  apiVersion: required(enumeration(['apps/v1'])),
  kind: required(enumeration(['Deployment'])),
  metadata: required(object(objectMeta)),
  spec: required(object(deploymentSpec)),
  status: anything,
});

const daemonSetUpdateStrategy = objectSchema<DaemonSetUpdateStrategy>('DaemonSetUpdateStrategy', {
  type: enumeration(UPDATE_STRATEGIES),
  rollingUpdate: object(rollingUpdate),
});

const daemonSetSpec = objectSchema<DaemonSetSpec>('DaemonSetSpec', {
  selector: object(labelSelector),
  template: required(object(podTemplateSpec)),
  updateStrategy: object(daemonSetUpdateStrategy),
  minReadySeconds: int32,
  revisionHistoryLimit: int32,
});

export const daemonSet = objectSchema<DaemonSet>('DaemonSet', {
  apiVersion: required(enumeration(['apps/v1'])),
  kind: required(enumeration(['DaemonSet'])),
  metadata: required(object(objectMeta)),
  spec: required(object(daemonSetSpec)),
  status: anything,
});

const rollingUpdateStatefulSetStrategy = objectSchema<RollingUpdateStatefulSetStrategy>(
  'RollingUpdateStatefulSetStrategy',
  {partition: int32, maxUnavailable: intOrString},
);

const statefulSetUpdateStrategy = objectSchema<StatefulSetUpdateStrategy>('StatefulSetUpdateStrategy', {
  type: enumeration(UPDATE_STRATEGIES),
  rollingUpdate: object(rollingUpdateStatefulSetStrategy),
});

const claimRetentionPolicy = objectSchema<StatefulSetPersistentVolumeClaimRetentionPolicy>(
  'StatefulSetPersistentVolumeClaimRetentionPolicy',
  {
    whenDeleted: enumeration(CLAIM_RETENTION_POLICIES),
    whenScaled: enumeration(CLAIM_RETENTION_POLICIES),
  },
);

const statefulSetOrdinals = objectSchema<StatefulSetOrdinals>('StatefulSetOrdinals', {start: int32});

const statefulSetSpec = objectSchema<StatefulSetSpec>('StatefulSetSpec', {
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

export const statefulSet = objectSchema<StatefulSet>('StatefulSet', {
  apiVersion: required(enumeration(['apps/v1'])),
  kind: required(enumeration(['StatefulSet'])),
  metadata: required(object(objectMeta)),
  spec: required(object(statefulSetSpec)),
  status: anything,
});

const onExitCodes = objectSchema<PodFailurePolicyOnExitCodesRequirement>(
  'PodFailurePolicyOnExitCodesRequirement',
  {
    containerName: text,
    operator: required(enumeration(EXIT_CODE_OPERATORS)),
    values: required(list(int32)),
  },
);

const onPodConditions = objectSchema<PodFailurePolicyOnPodConditionsPattern>(
  'PodFailurePolicyOnPodConditionsPattern',
  {type: required(text), status: enumeration(CONDITION_STATUSES)},
);

const podFailurePolicyRule = objectSchema<PodFailurePolicyRule>('PodFailurePolicyRule', {
  action: required(enumeration(POD_FAILURE_ACTIONS)),
  onExitCodes: object(onExitCodes),
  onPodConditions: list(object(onPodConditions)),
});

const podFailurePolicy = objectSchema<PodFailurePolicy>('PodFailurePolicy', {
  rules: required(list(object(podFailurePolicyRule))),
});

const successPolicyRule = objectSchema<SuccessPolicyRule>('SuccessPolicyRule', {
  succeededIndexes: text,
  succeededCount: int32,
});

const successPolicy = objectSchema<SuccessPolicy>('SuccessPolicy', {
  rules: required(list(object(successPolicyRule))),
});

const jobSpec = objectSchema<JobSpec>('JobSpec', {
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

export const job = objectSchema<Job>('Job', {
  apiVersion: required(enumeration(['batch/v1'])),
  kind: required(enumeration(['Job'])),
  metadata: required(object(objectMeta)),
  spec: required(object(jobSpec)),
  status: anything,
});

const jobTemplateSpec = objectSchema<JobTemplateSpec>('JobTemplateSpec', {
  metadata: object(objectMeta),
  spec: required(object(jobSpec)),
});

const cronJobSpec = objectSchema<CronJobSpec>('CronJobSpec', {
  schedule: required(text),
  timeZone: text,
  startingDeadlineSeconds: int64,
  concurrencyPolicy: enumeration(CONCURRENCY_POLICIES),
  suspend: bool,
  jobTemplate: required(object(jobTemplateSpec)),
  successfulJobsHistoryLimit: int32,
  failedJobsHistoryLimit: int32,
});

export const cronJob = objectSchema<CronJob>('CronJob', {
  apiVersion: required(enumeration(['batch/v1'])),
  kind: required(enumeration(['CronJob'])),
  metadata: required(object(objectMeta)),
  spec: required(object(cronJobSpec)),
  status: anything,
});
