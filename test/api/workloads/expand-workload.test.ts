import {describe, expect, test} from 'vitest';
import {loadManifest} from '../../../src/api/manifest/load-manifest.js';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import {expandWorkload, type ExpandOptions} from '../../../src/api/workloads/expand-workload.js';

const TEMPLATE = {
  metadata: {labels: {app: 'web'}, annotations: {note: 'n'}},
  spec: {containers: [{name: 'c', image: 'i'}]},
};
const SELECTOR = {matchLabels: {app: 'web'}};

/** Returns the pods of a workload `web`. */
function podsOf(kind: string, spec: object, options: ExpandOptions = {}): readonly Pod[] {
  const group = kind.endsWith('Job') ? 'batch/v1' : kind === 'ReplicationController' ? 'v1' : 'apps/v1';
  const body = kind === 'PodTemplate' ? spec : {spec};
  const apiVersion = kind === 'PodTemplate' ? 'v1' : group;
  const text = JSON.stringify({apiVersion, kind, metadata: {name: 'web', namespace: 'shop'}, ...body});
  const {issues, workloads} = loadManifest(text, {file: 'web.json'});
  expect(issues.map(({message}) => message)).toEqual([]);
  return workloads.flatMap(({workload}) => expandWorkload(workload, options));
}

const NEVER = {...TEMPLATE, spec: {...TEMPLATE.spec, restartPolicy: 'Never'}};

describe('the pods of a Deployment', () => {
  const spec = {replicas: 2, selector: SELECTOR, template: TEMPLATE};

  test('belong to a ReplicaSet that is named after the hash of the template', () => {
    const [first, second] = podsOf('Deployment', spec);
    const hash = first?.metadata.labels?.['pod-template-hash'] ?? '';
    expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{8,10}$/);
    expect(first?.metadata).toEqual({
      name: expect.stringMatching(new RegExp(`^web-${hash}-[bcdfghjklmnpqrstvwxz2456789]{5}$`)) as string,
      generateName: `web-${hash}-`,
      namespace: 'shop',
      labels: {app: 'web', 'pod-template-hash': hash},
      annotations: {note: 'n'},
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `web-${hash}`,
          uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    });
    expect(second?.metadata.name).not.toBe(first?.metadata.name);
    expect(second?.metadata.ownerReferences).toEqual(first?.metadata.ownerReferences);
  });

  test('have the same names for the same manifest, and others for a changed template', () => {
    const names = (one: object): unknown => podsOf('Deployment', one).map(({metadata}) => metadata.name);
    expect(names({...spec, revisionHistoryLimit: 3})).toEqual(names(spec));
    const changed = {...TEMPLATE, spec: {containers: [{name: 'c', image: 'j'}]}};
    expect(names({...spec, template: changed})).not.toEqual(names(spec));
  });

  test('are as many as the replicas of the options', () => {
    expect(podsOf('Deployment', spec, {replicas: 0})).toHaveLength(0);
    const names = podsOf('Deployment', spec, {replicas: 3}).map(({metadata}) => metadata.name);
    expect(new Set(names).size).toBe(3);
    expect(podsOf('Deployment', {...spec, replicas: undefined})).toHaveLength(1);
  });
});

test.each(['ReplicaSet', 'ReplicationController'])('the pods of a %s have generated names', (kind) => {
  const selector = kind === 'ReplicaSet' ? SELECTOR : {app: 'web'};
  const pods = podsOf(kind, {replicas: 2, selector, template: TEMPLATE});
  expect(pods.map(({metadata}) => metadata.labels)).toEqual([{app: 'web'}, {app: 'web'}]);
  expect(pods[1]?.metadata).toMatchObject({
    name: expect.stringMatching(/^web-[a-z2-9]{5}$/) as string,
    ownerReferences: [{kind, name: 'web', controller: true}],
  });
});

describe('the pods of a StatefulSet', () => {
  const spec = {
    replicas: 2,
    serviceName: 'peers',
    ordinals: {start: 3},
    selector: SELECTOR,
    template: {
      ...TEMPLATE,
      spec: {
        containers: [{name: 'c', image: 'i', volumeMounts: [{name: 'data', mountPath: '/data'}]}],
        volumes: [
          {name: 'data', emptyDir: {}},
          {name: 'tmp', emptyDir: {}},
        ],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: {name: 'data'},
        spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}},
      },
    ],
  };

  test('are numbered, with host name, subdomain and labels', () => {
    const pods = podsOf('StatefulSet', spec);
    expect(pods.map(({metadata}) => metadata.name)).toEqual(['web-3', 'web-4']);
    expect(pods[1]).toMatchObject({
      metadata: {
        labels: {
          app: 'web',
          'apps.kubernetes.io/pod-index': '4',
          'controller-revision-hash': expect.stringMatching(/^web-[a-z2-9]+$/) as string,
          'statefulset.kubernetes.io/pod-name': 'web-4',
        },
        ownerReferences: [{kind: 'StatefulSet', name: 'web', controller: true}],
      },
      spec: {hostname: 'web-4', subdomain: 'peers'},
    });
  });

  test('have the claims of the templates instead of volumes of the same name', () => {
    const [pod] = podsOf('StatefulSet', spec);
    expect(pod?.spec.volumes).toMatchObject([
      {name: 'data', persistentVolumeClaim: {claimName: 'data-web-3', readOnly: false}},
      {name: 'tmp', emptyDir: {}},
    ]);
  });
});

test('the pod of a DaemonSet tolerates the conditions of its node', () => {
  const own = {key: 'dedicated', operator: 'Exists'};
  const template = {...TEMPLATE, spec: {...TEMPLATE.spec, hostNetwork: true, tolerations: [own]}};
  const [pod, ...others] = podsOf('DaemonSet', {selector: SELECTOR, template});
  expect(others).toEqual([]);
  expect(pod?.metadata.labels).toMatchObject({
    'controller-revision-hash': expect.any(String) as string,
    'pod-template-generation': '1',
  });
  expect(pod?.spec.tolerations?.map(({key}) => key)).toEqual([
    'dedicated',
    'node.kubernetes.io/not-ready',
    'node.kubernetes.io/unreachable',
    'node.kubernetes.io/disk-pressure',
    'node.kubernetes.io/memory-pressure',
    'node.kubernetes.io/pid-pressure',
    'node.kubernetes.io/unschedulable',
    'node.kubernetes.io/network-unavailable',
  ]);
});

describe('the pods of a Job', () => {
  test('have the labels of the Job', () => {
    const [pod, ...others] = podsOf('Job', {template: NEVER});
    expect(others).toEqual([]);
    const uid = pod?.metadata.ownerReferences?.[0]?.uid;
    expect(pod?.metadata).toMatchObject({
      name: expect.stringMatching(/^web-[a-z2-9]{5}$/) as string,
      labels: {
        app: 'web',
        'batch.kubernetes.io/controller-uid': uid,
        'batch.kubernetes.io/job-name': 'web',
        'controller-uid': uid,
        'job-name': 'web',
      },
      finalizers: ['batch.kubernetes.io/job-tracking'],
    });
  });

  test('have completion indexes if it is Indexed', () => {
    const pods = podsOf('Job', {completions: 2, completionMode: 'Indexed', template: NEVER});
    expect(pods.map(({spec}) => spec.hostname)).toEqual(['web-0', 'web-1']);
    expect(pods[1]).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^web-1-[a-z2-9]{5}$/) as string,
        labels: {'batch.kubernetes.io/job-completion-index': '1'},
        annotations: {'batch.kubernetes.io/job-completion-index': '1', note: 'n'},
      },
      spec: {
        containers: [
          {
            env: [
              {
                name: 'JOB_COMPLETION_INDEX',
                valueFrom: {
                  fieldRef: {fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']"},
                },
              },
            ],
          },
        ],
      },
    });
  });

  test('are one for each worker without completions, and none if it is suspended', () => {
    expect(podsOf('Job', {parallelism: 3, template: NEVER})).toHaveLength(3);
    expect(podsOf('Job', {suspend: true, template: NEVER})).toEqual([]);
  });

  test('are created once by a CronJob', () => {
    const [pod, ...others] = podsOf('CronJob', {
      schedule: '* * * * *',
      jobTemplate: {spec: {template: NEVER}},
    });
    expect(others).toEqual([]);
    expect(pod?.metadata).toMatchObject({
      name: expect.stringMatching(/^web-manual-[a-z2-9]{5}$/) as string,
      ownerReferences: [{kind: 'Job', name: 'web-manual'}],
    });
  });
});

test('a PodTemplate becomes one pod of its name', () => {
  const [pod] = podsOf('PodTemplate', {template: TEMPLATE});
  expect(pod?.metadata).toEqual({
    name: 'web',
    namespace: 'shop',
    labels: {app: 'web'},
    annotations: {note: 'n'},
  });
});
