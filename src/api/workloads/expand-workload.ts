import type {Toleration} from '../types/v1-scheduling.js';
import type {Pod, PodSpec} from '../types/v1-pod.js';
import type {ManifestClaim} from '../types/v1-persistent-volumes.js';
import type {Volume} from '../types/v1-volumes.js';
import type {
  DaemonSet,
  Deployment,
  PodTemplate,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
  Workload,
} from '../types/v1-workloads.js';
import {generateName, hashTemplate} from './generated-names.js';
import {createCronJobRun, createJobPods} from './job-pods.js';
import {createPod} from './pod-from-template.js';

/** Options of expandWorkload. */
export interface ExpandOptions {
  /** Number of replicas, which overrides that of workloads with `spec.replicas`. */
  readonly replicas?: number | undefined;
}

/**
 * Returns the pods of a workload as its controller creates them on this node: their names, labels, owners and changes
 * of the template. Names are computed, so that the same manifest always gives the same pods. The workload must have its
 * defaults (applyWorkloadDefaults). Of a Job, returns one pod for each completion; a CronJob runs one Job.
 */
export function expandWorkload(workload: Workload, options: ExpandOptions = {}): readonly Pod[] {
  switch (workload.kind) {
    case 'Deployment':
      return deploymentPods(workload, options);
    case 'ReplicaSet':
    case 'ReplicationController':
      return replicaPods(workload, options);
    case 'StatefulSet':
      return statefulSetPods(workload, options);
    case 'DaemonSet':
      return [daemonSetPod(workload)];
    case 'Job':
      return createJobPods(workload);
    case 'CronJob':
      return createJobPods(createCronJobRun(workload));
    case 'PodTemplate':
      return [templatePod(workload)];
  }
}

/** Returns the ReplicaSet of the current template of a Deployment (getNewReplicaSet). */
export function createReplicaSet({metadata, spec}: Deployment, replicas?: number): ReplicaSet {
  const hash = hashTemplate(spec.template);
  const {template} = spec;
  const labels = {...template.metadata?.labels, 'pod-template-hash': hash};
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${metadata.name ?? ''}-${hash}`,
      ...(metadata.namespace !== undefined && {namespace: metadata.namespace}),
      labels,
    },
    spec: {
      replicas: replicas ?? spec.replicas ?? 1,
      template: {...template, metadata: {...template.metadata, labels}},
    },
  };
}

function deploymentPods(deployment: Deployment, {replicas}: ExpandOptions): readonly Pod[] {
  return replicaPods(createReplicaSet(deployment, replicas), {});
}

function range(length: number, start = 0): readonly number[] {
  return Array.from({length}, (_, index) => start + index);
}

function replicaPods(owner: ReplicaSet | ReplicationController, {replicas}: ExpandOptions): readonly Pod[] {
  const prefix = `${owner.metadata.name ?? ''}-`;
  return range(replicas ?? owner.spec.replicas ?? 1).map((index) =>
    createPod(owner.spec.template, owner, {
      name: generateName(prefix, `${owner.metadata.namespace ?? ''}/${index}`),
      generateName: prefix,
    }),
  );
}

/** Tolerations of the pods of a DaemonSet (AddOrUpdateDaemonPodTolerations). */
function daemonTolerations({hostNetwork}: PodSpec): readonly Toleration[] {
  const tolerate = (key: string, effect: 'NoExecute' | 'NoSchedule'): Toleration => ({
    key: `node.kubernetes.io/${key}`,
    operator: 'Exists',
    effect,
  });
  return [
    tolerate('not-ready', 'NoExecute'),
    tolerate('unreachable', 'NoExecute'),
    tolerate('disk-pressure', 'NoSchedule'),
    tolerate('memory-pressure', 'NoSchedule'),
    tolerate('pid-pressure', 'NoSchedule'),
    tolerate('unschedulable', 'NoSchedule'),
    ...(hostNetwork === true ? [tolerate('network-unavailable', 'NoSchedule')] : []),
  ];
}

function daemonSetPod(owner: DaemonSet): Pod {
  const {metadata, spec} = owner;
  const prefix = `${metadata.name ?? ''}-`;
  return createPod(
    spec.template,
    owner,
    {
      name: generateName(prefix, metadata.namespace ?? ''),
      generateName: prefix,
      labels: {'controller-revision-hash': hashTemplate(spec.template), 'pod-template-generation': '1'},
    },
    (same) => {
      const added = daemonTolerations(same);
      const others = (same.tolerations ?? []).filter(
        ({key, operator, effect}) =>
          !added.some((one) => one.key === key && one.operator === operator && one.effect === effect),
      );
      return {...same, tolerations: [...others, ...added]};
    },
  );
}

/** Returns the name of the claim of a pod of a StatefulSet (getPersistentVolumeClaimName). */
function claimName(template: string, set: string, ordinal: number): string {
  return `${template}-${set}-${ordinal}`;
}

function statefulSetPods(owner: StatefulSet, {replicas}: ExpandOptions): readonly Pod[] {
  const {metadata, spec} = owner;
  const {name: set = ''} = metadata;
  const revision = `${set}-${hashTemplate(spec.template)}`;
  return range(replicas ?? spec.replicas ?? 1, spec.ordinals?.start ?? 0).map((ordinal) => {
    const name = `${set}-${ordinal}`;
    return createPod(
      spec.template,
      owner,
      {
        name,
        generateName: `${set}-`,
        labels: {
          'apps.kubernetes.io/pod-index': String(ordinal),
          'controller-revision-hash': revision,
          'statefulset.kubernetes.io/pod-name': name,
        },
      },
      (same) => ({
        ...same,
        hostname: name,
        ...(spec.serviceName !== undefined && {subdomain: spec.serviceName}),
        ...withClaims(owner, ordinal, same.volumes ?? []),
      }),
    );
  });
}

/** Returns the volumes of a pod with those of the claim templates, which replace volumes of the same name. */
function withClaims(
  {metadata: {name: set = ''}, spec: {volumeClaimTemplates = []}}: StatefulSet,
  ordinal: number,
  volumes: readonly Volume[],
): {readonly volumes?: readonly Volume[]} {
  const claimed = volumeClaimTemplates.map(({metadata: {name = ''}}) => ({
    name,
    persistentVolumeClaim: {claimName: claimName(name, set, ordinal), readOnly: false},
  }));
  const others = volumes.filter(({name}) => !claimed.some((one) => one.name === name));
  return claimed.length + others.length === 0 ? {} : {volumes: [...claimed, ...others]};
}

/** A claim of a StatefulSet. */
export interface SetClaim {
  readonly claim: ManifestClaim;
  /** Index of its template in the StatefulSet. */
  readonly template: number;
}

/** Returns the claims of the pods of a StatefulSet. */
export function expandSetClaims(
  {metadata, spec}: StatefulSet,
  {replicas}: ExpandOptions = {},
): readonly SetClaim[] {
  const {name: set = '', namespace = 'default'} = metadata;
  return range(replicas ?? spec.replicas ?? 1, spec.ordinals?.start ?? 0).flatMap((ordinal) =>
    (spec.volumeClaimTemplates ?? []).map(({metadata: {name = '', labels}, spec: claim}, template) => ({
      claim: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: {name: claimName(name, set, ordinal), namespace, ...(labels && {labels})},
        spec: claim,
      },
      template,
    })),
  );
}

function templatePod({metadata, template}: PodTemplate): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...template.metadata,
      name: metadata.name ?? '',
      namespace: metadata.namespace ?? 'default',
    },
    spec: template.spec,
  };
}
