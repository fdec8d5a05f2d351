import {expect, test} from 'vitest';
import {readManifest, warningsOf} from '../../../src/kubelet/sources/prepare-manifest.js';

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

test('of duplicate keys, the last takes effect with a warning that has both positions', () => {
  const text =
    'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  hostname: a\n  hostname: b\n  containers: [{name: c, image: i}]\n';
  const manifest = readManifest(text, 'p.yaml', {acceptsWorkloads: true});
  expect(manifest).toMatchObject({kind: 'read', documents: [{pod: {spec: {hostname: 'b'}}}]});
  expect(manifest.kind === 'read' && warningsOf(manifest)).toMatchObject([
    {
      action: 'Taking the last of duplicate keys of',
      error: 'yaml: key "hostname" already set in map (line 5, column 3); this one is used',
      issues: [{line: 6, column: 3}],
    },
  ]);
});
