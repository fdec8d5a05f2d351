import {resolve} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../src/api/types/v1-pod.js';
import type {ApiObject} from '../../../src/api/types/v1-objects.js';
import type {Volume} from '../../../src/api/types/v1-volumes.js';
import {messageOf} from '../../../src/base/errors.js';
import {createApiObjects, NO_OBJECTS, type ApiObjects} from '../../../src/kubelet/contract/api-objects.js';
import {
  checkStaticReferences,
  isStaticPod,
  toLocalPod,
  toStaticPod,
} from '../../../src/kubelet/sources/static-pod.js';
import {aContainer, aPod, aRawPod} from '../../fakes/a-pod.js';

const SEEN = '2026-05-01T12:00:00Z';
const STATIC = {nodeName: 'Node1', file: 'web.yaml', seen: SEEN};
const LOCAL = {nodeName: 'node1', seen: SEEN, rootDir: '/root'};

/** Returns a Pod without UID and namespace. */
function manifest(spec: Partial<PodSpec> = {}): Pod {
  return aRawPod(spec, {annotations: {note: 'x'}});
}

describe('a static pod', () => {
  test('from a file has the node name in its name and tolerates NoExecute taints', () => {
    const {metadata, spec, status} = toStaticPod(manifest(), STATIC);

    expect(metadata).toEqual({
      name: 'web-node1',
      namespace: 'default',
      uid: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      annotations: {
        note: 'x',
        'kubernetes.io/config.hash': metadata.uid,
        'kubernetes.io/config.seen': SEEN,
        'kubernetes.io/config.source': 'file',
      },
    });
    expect(spec).toMatchObject({
      nodeName: 'Node1',
      tolerations: [{operator: 'Exists', effect: 'NoExecute'}],
    });
    expect(status).toEqual({phase: 'Pending'});
  });

  // Proves: Pod.metadata
  test('from a URL has the source http, a UID based on the URL, and no additional toleration', () => {
    const from = (url: string, nodeName = 'node1'): ReturnType<typeof toStaticPod> =>
      toStaticPod(manifest(), {nodeName, file: 'shown', seen: SEEN, url});
    const {metadata, spec} = from('http://host/pods');

    expect(metadata.annotations).toMatchObject({'kubernetes.io/config.source': 'http'});
    expect(spec.tolerations).toBeUndefined();
    expect(from('http://host/pods', 'node2').metadata.uid).toBe(metadata.uid);
    expect(from('http://host/others').metadata.uid).not.toBe(metadata.uid);
  });

  // Proves: ObjectMeta.namespace
  test('has the namespace, UID and tolerations of its manifest', () => {
    const pod = aPod({tolerations: [{key: 'k'}]}, {namespace: 'ns', uid: 'u'});

    const {metadata, spec} = toStaticPod(pod, STATIC);

    expect(metadata).toMatchObject({namespace: 'ns', uid: 'u'});
    expect(metadata.annotations).toMatchObject({'kubernetes.io/config.hash': 'u'});
    expect(spec.tolerations).toHaveLength(2);
  });

  test('is another pod if its content, node or file is different', () => {
    const uids = [
      toStaticPod(manifest(), STATIC),
      toStaticPod(manifest(), {...STATIC, seen: 'later'}),
      toStaticPod(manifest({hostname: 'h'}), STATIC),
      toStaticPod(manifest(), {...STATIC, nodeName: 'node2'}),
      toStaticPod(manifest(), {...STATIC, file: 'other.yaml'}),
    ].map(({metadata}) => metadata.uid);

    expect(uids[1]).toBe(uids[0]);
    expect(new Set(uids).size).toBe(4);
  });

  test('is the same pod for all spellings of a path, and from standard input in any directory', () => {
    const uidOf = (file: string) => toStaticPod(manifest(), {...STATIC, file}).metadata.uid;
    expect([uidOf('./web.yaml'), uidOf('sub/../web.yaml'), uidOf(resolve('web.yaml'))]).toEqual(
      Array.from({length: 3}, () => uidOf('web.yaml')),
    );
    expect(uidOf('-')).not.toBe(uidOf('./-'));
  });

  test('is distinguished from a local pod', () => {
    expect(isStaticPod(toStaticPod(manifest(), STATIC))).toBe(true);
    expect(isStaticPod(toLocalPod(manifest(), LOCAL))).toBe(false);
    expect(isStaticPod(manifest())).toBe(false);
  });
});

describe('a static pod that refers to API objects', () => {
  const source = (volume: Omit<Volume, 'name'>): Partial<PodSpec> => ({volumes: [{name: 'v', ...volume}]});
  const env = (valueFrom: object): Partial<PodSpec> => ({
    containers: [aContainer({env: [{name: 'A', valueFrom}]})],
  });

  // Proves: EnvVarSource.configMapKeyRef, ProjectedVolumeSource.sources
  test.each<[string, Partial<PodSpec>]>([
    ['serviceaccounts', {serviceAccountName: 'robot'}],
    ['secrets', {imagePullSecrets: [{name: 's'}]}],
    ['secrets', env({secretKeyRef: {name: 's', key: 'k'}})],
    ['secrets', {initContainers: [aContainer({name: 'i', envFrom: [{secretRef: {name: 's'}}]})]}],
    ['secrets', source({secret: {secretName: 's'}})],
    ['secrets', source({projected: {sources: [{secret: {name: 's'}}]}})],
    ['secrets', source({cephfs: {monitors: ['m'], secretRef: {name: 's'}}})],
    ['configmaps', env({configMapKeyRef: {name: 'c', key: 'k'}})],
    ['configmaps', {containers: [aContainer({envFrom: [{configMapRef: {name: 'c'}}]})]}],
    ['configmaps', source({configMap: {name: 'c'}})],
    ['resourceclaims', {resourceClaims: [{name: 'r'}]}],
    ['csidrivers (via CSI volumes)', source({csi: {driver: 'd'}})],
    ['endpoints (via glusterFS volumes)', source({glusterfs: {endpoints: 'e', path: 'p'}})],
    ['persistentvolumeclaims', source({persistentVolumeClaim: {claimName: 'p'}})],
    ['persistentvolumeclaims (via ephemeral volumes)', source({ephemeral: {}})],
    [
      'serviceaccounts (via projected volumes)',
      source({projected: {sources: [{serviceAccountToken: {path: 't'}}]}}),
    ],
    ['clustertrustbundles', source({projected: {sources: [{clusterTrustBundle: {path: 't'}}]}})],
    ['podcertificates', source({projected: {sources: [{podCertificate: {}}]}})],
  ])('is rejected for %s: %o', (kind, spec) => {
    expect(() => {
      checkStaticReferences(manifest(spec), 'web.yaml', NO_OBJECTS, {inCluster: true});
    }).toThrow(`invalid manifest "web.yaml": static pods may not reference ${kind}`);
  });

  test('is accepted if the objects come with it in its namespace', () => {
    const spec: Partial<PodSpec> = {
      serviceAccountName: 'robot',
      imagePullSecrets: [{name: 's'}],
      containers: [aContainer({envFrom: [{configMapRef: {name: 'c'}}, {secretRef: {name: 's'}}]})],
      volumes: [
        {name: 'c', configMap: {name: 'c'}},
        {name: 's', secret: {secretName: 's'}},
        {name: 'p', projected: {sources: [{secret: {name: 's'}}, {configMap: {name: 'c'}}]}},
      ],
    };
    const kinds = [
      ['ServiceAccount', 'robot'],
      ['Secret', 's'],
      ['ConfigMap', 'c'],
    ] as const;
    const objectsIn = (namespace: string, missing?: string): ApiObjects =>
      createApiObjects(
        kinds
          .filter(([kind]) => kind !== missing)
          .map(([kind, name]): ApiObject => ({apiVersion: 'v1', kind, metadata: {name, namespace}})),
        [],
      );
    const rejection = (objects: ApiObjects): string => {
      try {
        checkStaticReferences(manifest(spec), 'web.yaml', objects, {inCluster: true});
        return '';
      } catch (error) {
        return messageOf(error).replace(/^.*reference /, '');
      }
    };

    expect(rejection(objectsIn('default'))).toBe('');
    expect(rejection(objectsIn('other'))).toBe('serviceaccounts');
    expect(kinds.map(([kind]) => rejection(objectsIn('default', kind)))).toEqual([
      'serviceaccounts',
      'secrets',
      'configmaps',
    ]);
  });

  test('is accepted with volumes that need no API object', () => {
    const volumes = [
      {name: 'e', emptyDir: {}},
      {name: 'h', hostPath: {path: '/'}},
      {name: 'd', downwardAPI: {}},
      {name: 'p', projected: {sources: [{downwardAPI: {}}]}},
      {name: 'i', image: {reference: 'x'}},
      {name: 'n', nfs: {server: 's', path: '/'}},
    ];

    checkStaticReferences(manifest({volumes}), 'web.yaml', NO_OBJECTS, {inCluster: true});
  });

  test('is accepted with claims and CSI volumes outside a cluster, where they need no API server', () => {
    const volumes = [
      {name: 'c', persistentVolumeClaim: {claimName: 'data', readOnly: false}},
      {name: 'd', csi: {driver: 'd'}},
      {name: 'e', ephemeral: {volumeClaimTemplate: {spec: {}}}},
    ];

    checkStaticReferences(manifest({volumes}), 'web.yaml', NO_OBJECTS, {inCluster: false});
  });
});

describe('a local pod', () => {
  test('has its own name and the source api', () => {
    const {metadata, spec} = toLocalPod(manifest({nodeName: 'elsewhere'}), LOCAL);

    expect(metadata).toEqual({
      name: 'web',
      namespace: 'default',
      uid: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string,
      annotations: {note: 'x', 'kubernetes.io/config.seen': SEEN, 'kubernetes.io/config.source': 'api'},
    });
    expect(spec.nodeName).toBe('node1');
    expect(spec.tolerations).toBeUndefined();
  });

  test('has the UID and namespace of its manifest', () => {
    expect(toLocalPod(aPod({}, {uid: 'u', namespace: 'ns'}), LOCAL).metadata).toMatchObject({
      uid: 'u',
      namespace: 'ns',
    });
  });

  test('is the same pod whether the default namespace is explicit or not', () => {
    const explicit = {...manifest(), metadata: {...manifest().metadata, namespace: 'default'}};

    expect(toLocalPod(explicit, LOCAL).metadata.uid).toBe(toLocalPod(manifest(), LOCAL).metadata.uid);
  });

  test('is another pod in another root directory, so that log directories and cgroups differ', () => {
    const other = toLocalPod(manifest(), {...LOCAL, rootDir: '/other'});

    expect(other.metadata.uid).not.toBe(toLocalPod(manifest(), LOCAL).metadata.uid);
  });

  test('may name a service account', () => {
    expect(toLocalPod(manifest({serviceAccountName: 'robot'}), LOCAL).spec.serviceAccountName).toBe('robot');
  });
});
