import {describe, expect, test} from 'vitest';
import {loadManifest, type LoadedManifest} from '../../../src/api/manifest/load-manifest.js';
import {DAEMON_SET_POD, DEPLOYMENT_POD, MIRROR_POD} from './exported-pods.js';

function load(text: string): LoadedManifest {
  const manifest = loadManifest(text, {file: 'pod.yaml'});
  expect(manifest.issues).toEqual([]);
  return manifest;
}

const podOf = (text: string): unknown => load(text).pods[0]!.pod;

const POD = 'apiVersion: v1\nkind: Pod\n';
const SPEC = 'spec: {containers: [{name: c, image: i}]}\n';

describe('an exported pod', () => {
  test.each([
    ['of a Deployment', DEPLOYMENT_POD],
    ['of a DaemonSet', DAEMON_SET_POD],
    ['of a static pod', MIRROR_POD],
  ])('%s is the Pod of the manifest that it was created from', (_, {manifest, exported}) => {
    expect(podOf(exported)).toEqual(podOf(manifest));
  });

  test('is described with everything that was removed', () => {
    const {removed} = load(DEPLOYMENT_POD.exported);
    expect(removed).toMatchObject([{title: 'pod "shop/web-6d4cf56db6-x7k2p"'}]);
    expect(removed[0]!.names).toEqual([
      'volume "kube-api-access-x7k2p"',
      'metadata.creationTimestamp',
      'metadata.generateName',
      'metadata.generation',
      'metadata.managedFields',
      'metadata.ownerReferences',
      'metadata.resourceVersion',
      'metadata.uid',
      'annotation "cni.projectcalico.org/podIP"',
      'annotation "kubectl.kubernetes.io/last-applied-configuration"',
      'status',
      'spec.nodeName',
      'spec.preemptionPolicy',
      'spec.serviceAccount',
      'spec.serviceAccountName',
      'toleration of node.kubernetes.io/not-ready',
      'toleration of node.kubernetes.io/unreachable',
    ]);
  });

  test('loses only its token, at a position in the text', () => {
    const [issue, ...others] = load(DEPLOYMENT_POD.exported).removed[0]!.losses;
    expect(others).toEqual([]);
    expect(issue!.source).toBe('  - name: kube-api-access-x7k2p');
    expect(issue!.message).toBe(
      'spec.volumes[1]: Forbidden: volume "kube-api-access-x7k2p": its token is issued by the API server',
    );
  });

  test('loses the secret volume with the token of an older server', () => {
    const text = `${POD}metadata: {name: p, resourceVersion: "1"}
spec:
  containers:
  - {name: c, image: i, volumeMounts: [{name: default-token-x7k2p, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]}
  volumes: [{name: default-token-x7k2p, secret: {secretName: default-token-x7k2p}}]
`;
    expect(podOf(text)).toEqual(podOf(`${POD}metadata: {name: p}\n${SPEC}`));
  });

  test('of a list is read like a single one, and each is described', () => {
    const item = DEPLOYMENT_POD.exported.trim().replaceAll('\n', '\n  ');
    const list = `apiVersion: v1\nkind: List\nmetadata: {resourceVersion: ""}\nitems:\n- ${item}\n`;
    const {pods, removed} = load(list);
    expect(pods.map(({pod}) => pod)).toEqual([podOf(DEPLOYMENT_POD.manifest)]);
    expect(removed).toHaveLength(1);
    expect(removed[0]!.losses[0]!.path).toBe('items[0].spec.volumes[1]');
  });

  test('keeps what its author may have set', () => {
    const text = `${POD}metadata: {name: p, resourceVersion: "1"}
spec:
  containers: [{name: c, image: i}]
  serviceAccountName: robot
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}}}
  preemptionPolicy: Never
  tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}]
`;
    expect(podOf(text)).toMatchObject({
      spec: {serviceAccountName: 'robot', preemptionPolicy: 'Never', affinity: {}, tolerations: [{}]},
    });
  });
});

describe('a manifest that was not exported', () => {
  test('keeps a UID, annotations and status', () => {
    const text = `${POD}metadata: {name: p, uid: u1, creationTimestamp: null, annotations: {kubernetes.io/config.source: api}}\n${SPEC}status: {phase: Pending}\n`;
    expect(load(text).removed).toEqual([]);
    expect(podOf(text)).toMatchObject({
      metadata: {uid: 'u1', annotations: {'kubernetes.io/config.source': 'api'}},
      status: {phase: 'Pending'},
    });
  });

  test('loses generateName if it has a name', () => {
    const {pods, removed} = load(`${POD}metadata: {name: p, generateName: p-}\n${SPEC}`);
    expect(pods[0]!.pod.metadata).toEqual({name: 'p', namespace: 'default'});
    expect(removed).toMatchObject([{names: ['metadata.generateName']}]);
  });

  test('loses the token volume even without the metadata of a server', () => {
    const text = DEPLOYMENT_POD.exported.split('spec:\n')[1]!.split('status:\n')[0]!;
    const pod = `${POD}metadata: {name: p}\nspec:\n${text}`;
    expect(load(pod).removed[0]!.names).toEqual(['volume "kube-api-access-x7k2p"']);
  });
});
