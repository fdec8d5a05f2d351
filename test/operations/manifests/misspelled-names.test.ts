import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {expect, test} from 'vitest';
import {readManifests} from '../../../src/operations/manifests/read-manifests.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

const CLASS = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: csi.example.com
`;

const aClaim = (name: string, storageClassName: string): string => `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ${name}}
spec:
  storageClassName: ${storageClassName}
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`;

const TEMPLATE = `spec:
  containers: [{name: main, image: busybox}]
  volumes:
    - name: data
      persistentVolumeClaim: {claimName: data}
`;
const POD = `apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n${TEMPLATE}`;
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    ${TEMPLATE.replaceAll('\n', '\n    ')}
`;

async function warningsOf(...documents: readonly string[]): Promise<readonly string[]> {
  const file = join(await temporaryDirectory(), 'web.yaml');
  await writeFile(file, documents.join('---\n'));
  const options = {stdin: Readable.from([]), signal: new AbortController().signal};
  const {warnings} = await readManifests([file], options);
  return warnings.map((warning) => warning.replace(file, 'web.yaml'));
}

test('a claim of a class that is nearly in the manifests is warned about', async () => {
  expect(await warningsOf(POD, aClaim('data', 'fats'), CLASS)).toEqual([
    'web.yaml:14:21: spec.storageClassName: no StorageClass "fats" is in the manifests, so the claim is a directory of the node; did you mean "fast"?',
  ]);
});

test.each([
  ['a pod', POD, 'web.yaml:8:42: spec'],
  ['pods of a workload, once', DEPLOYMENT, 'web.yaml:13:46: spec.template.spec'],
])('%s with a claim that is nearly in the manifests is warned about', async (_, document, place) => {
  expect(await warningsOf(document, aClaim('dato', 'fast'), CLASS)).toEqual([
    `${place}.volumes[0].persistentVolumeClaim.claimName: no claim "data" is in the manifests, so it is a directory of the node; did you mean "dato"?`,
  ]);
});

test.each([
  ['the class', [POD, aClaim('data', 'fast'), CLASS]],
  ['another class', [POD, aClaim('data', 'standard'), CLASS]],
  ['no class', [POD, aClaim('data', '""'), CLASS]],
  ['another claim', [POD, aClaim('logs', 'fast'), CLASS]],
])('manifests with %s cause no warning', async (_, documents) => {
  expect(await warningsOf(...documents)).toEqual([]);
});
