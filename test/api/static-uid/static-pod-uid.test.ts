import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {loadUnvalidatedManifest} from '../../../src/api/manifest/load-manifest.js';
import {computeStaticPodUid} from '../../../src/api/static-uid/static-pod-uid.js';
import {toStaticPod} from '../../../src/kubelet/sources/static-pod.js';

const GOLDEN = new URL('../../golden/', import.meta.url);

function readGolden(path: string): string {
  return readFileSync(new URL(path, GOLDEN), 'utf8');
}

type Case = readonly [uid: string, nodeName: string, path: string, manifest: object];

/** Returns the UID of the Pod of a manifest as the daemon computes it. */
function uidOf(text: string, {nodeName = 'node1', path = '/x/pod.yaml', url = ''}): string | undefined {
  const {pods, issues} = loadUnvalidatedManifest(text, {file: path, lenient: true});
  expect(issues).toEqual([]);
  const {pod, written} = pods[0]!;
  const source = {nodeName, file: path, seen: '', written, ...(url === '' ? {} : {url})};
  return toStaticPod(pod, source).metadata.uid;
}

const KUBELET = JSON.parse(readGolden('static-pod-uids/kubelet.json')) as [string, string, string, string][];

test.each(KUBELET)('kubelet 1.36.2 gives %s on %s the same UID', (manifest, nodeName, path, uid) => {
  expect(uidOf(readGolden(manifest), {nodeName, path})).toBe(uid);
});

// Every field of a Pod, as absent, null, empty and set, from kubelet 1.36's decoding.
test('generated manifests, valid or not, have the UIDs of a kubelet', () => {
  const cases = JSON.parse(readGolden('static-pod-uids/generated.json')) as Case[];
  const wrong = cases.filter(
    ([uid, nodeName, path, manifest]) =>
      computeStaticPodUid(manifest, `host:${nodeName}file:${path}`) !== uid,
  );
  expect(cases.length).toBeGreaterThan(40);
  expect(wrong).toEqual([]);
});

test.each([
  [
    'numbers in JSON',
    'json-numbers',
    '70a63c55ef5cfcf82386e9a498c30667',
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"j"},"spec":{"containers":[{"name":"c","image":"b:1","resources":{"limits":{"cpu":0.50,"memory":1e8}}}]}}',
  ],
  [
    'numbers in YAML',
    'yaml-numbers',
    '3f684a2206cc86fd35d8706c2d0c309d',
    `apiVersion: v1
kind: Pod
metadata: {name: yn}
spec:
  containers:
  - name: c
    image: b:1
    resources: {limits: {cpu: 0.50, memory: 1e8, "a/b": 9007199254740993}}
`,
  ],
  [
    'a time, on a machine in UTC',
    'time',
    'e4c81b23b0a92fb3b8b853146164846a',
    `apiVersion: v1
kind: Pod
metadata: {name: t, creationTimestamp: "2026-01-31T12:00:00Z"}
spec:
  containers: [{name: c, image: "b:1"}]
`,
  ],
  [
    'what kcri removes from exported objects',
    'exported',
    '8ea747af040e49ab217be30f347a4af9',
    `apiVersion: v1
kind: Pod
metadata: {name: e, generateName: e-, resourceVersion: "1", creationTimestamp: null, annotations: {b: "1", a: "2"}}
spec:
  containers:
  - name: c
    image: b:1
    volumeMounts: [{name: kube-api-access-abcde, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}]
  volumes:
  - name: kube-api-access-abcde
    projected: {sources: [{serviceAccountToken: {path: token}}]}
status: {phase: Running, podIP: 10.0.0.1, hostIP: 10.0.0.2}
`,
  ],
])('a manifest with %s has the UID of a kubelet', (_title, path, uid, text) => {
  expect(uidOf(text, {path: `/x/${path}`})).toBe(uid);
});

test.each([
  [
    'exported with a status, whose times spew takes for a cycle,',
    'times',
    'b2cc91870c066027b52c3f184071aa1a',
    `apiVersion: v1
kind: Pod
metadata:
  name: exported
  creationTimestamp: "2026-01-31T12:00:00Z"
  managedFields: [{manager: kubectl, operation: Apply, time: "2026-01-31T12:00:01Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {}}}]
spec:
  containers:
  - {name: c, image: "b:1", resources: {requests: {cpu: 100m}}}
status:
  phase: Running
  conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-01-31T12:00:09Z"}]
  startTime: "2026-01-31T12:00:05Z"
  containerStatuses:
  - name: c
    image: "b:1"
    ready: true
    restartCount: 1
    lastState: {terminated: {exitCode: 1, startedAt: "2026-01-31T12:00:06Z", finishedAt: "2026-01-31T12:00:07Z"}}
    state: {running: {startedAt: "2026-01-31T12:00:08Z"}}
`,
  ],
  [
    'with a container without an image',
    'images',
    '33bb5cfad30c6affc9195ceab8b2a5a2',
    `apiVersion: v1
kind: Pod
metadata: {name: noimage}
spec:
  initContainers: [{name: i}]
  containers: [{name: c, image: "b:1"}]
`,
  ],
])('a manifest %s has the UID of kubelet 1.36.2', (_title, name, uid, text) => {
  expect(uidOf(text, {path: `/run/manifests-h-pprof/${name}.yaml`})).toBe(uid);
});

test('a Pod of a list at a URL has the UID of a kubelet on every node', () => {
  const text =
    '{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"l"},"spec":{"containers":[{"name":"c","image":"b"}]}}]}';
  const uid = '91f70a64fe51ee92738983c33d89d15b';

  expect(uidOf(text, {nodeName: 'node2', url: 'http://127.0.0.1:1/pods?a=b'})).toBe(uid);
});

test('a UID in the manifest is kept, and an empty one is absent', () => {
  const withUid = (uid: string): string =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: a${uid}}\nspec: {containers: [{name: c, image: b}]}\n`;

  expect(uidOf(withUid(', uid: own'), {})).toBe('own');
  expect(uidOf(withUid(', uid: ""'), {})).toBe(uidOf(withUid(''), {}));
});

test('a Pod without containers, which is rejected later, has a UID', () => {
  expect(computeStaticPodUid({spec: {resources: {limits: {cpu: '1'}}}}, '')).toMatch(/^[0-9a-f]{32}$/);
});
