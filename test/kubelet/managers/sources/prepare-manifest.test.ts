import {expect, test} from 'vitest';
import {readManifest} from '../../../../src/kubelet/managers/sources/prepare-manifest.js';

const DEPLOYMENT = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n';
const SERVICE = 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n';

test.each([
  ['Deployment', DEPLOYMENT, 'a node of a cluster runs only Pods from manifests; create the Deployment'],
  ['Service', SERVICE, 'supported values: "Pod"'],
])('a %s is rejected on a node of a cluster', (kind, text, reason) => {
  expect(readManifest(text, 'web.yaml', {acceptsWorkloads: false})).toMatchObject({
    kind: 'rejected',
    error: expect.stringContaining(
      `web.yaml: couldn't parse as pod(kind: Unsupported value: "${kind}": ${reason}`,
    ) as string,
    issues: [{line: 2, path: 'kind'}],
  });
});
