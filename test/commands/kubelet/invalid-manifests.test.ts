import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {runKcri} from '../../cli/run-kcri.js';
import {aContainerSpec, aManifest} from '../command-testbed.js';
import {startKubelet} from './kubelet-testbed.js';

const INVALID =
  'apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec:\n  containers:\n  - image: busybox\n';
const SYNTAX = 'apiVersion: v1\nkind: Pod\nspec:\n\tcontainers: []\n';

describe('an invalid manifest', () => {
  test('appears in get kubelet with file, line and column until it is mended', async () => {
    const kubelet = await startKubelet();
    await kubelet.writeManifest('bad.yaml', INVALID);
    await kubelet.writeManifest('web.yaml', aManifest());
    const get = async () => await kubelet.run(['get', 'kubelet']);
    await expect
      .poll(async () => (await get()).stderr)
      .toMatch(/^kcri: invalid manifest: \S+\/bad\.yaml:6:5: spec\.containers\[0\]\.name: Required value/);
    const {stdout} = await kubelet.run(['get', 'kubelet', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({
      manifestProblems: [
        {
          level: 'error',
          place: expect.stringMatching(/\/bad\.yaml:6:5$/) as string,
          message: 'spec.containers[0].name: Required value',
        },
      ],
    });
    await kubelet.writeManifest('bad.yaml', aManifest({name: 'mended'}));
    await expect.poll(async () => (await get()).stderr).toBe('');
  });
});

describe('kubelet --check-config', () => {
  async function check(files: Readonly<Record<string, string>>) {
    const directory = join(await temporaryDirectory(), 'manifests');
    await mkdir(directory);
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
    const args = ['kubelet', '--check-config', '--pod-manifest-path', directory];
    const {stdout, stderr, exitCode} = await runKcri(args);
    return {stdout, stderr: stderr.replaceAll(`${directory}/`, ''), exitCode};
  }

  // Proves: kubelet --check-config
  test('reports all invalid manifests', async () => {
    const {stdout, stderr, exitCode} = await check({
      'a.yaml': INVALID,
      'b.yaml': SYNTAX,
      'c.yaml': aManifest(),
      'd.yaml': aManifest({name: 'd', containers: [aContainerSpec('main', {comand: ['x']})]}),
    });
    expect(stderr).toMatch(/^kcri: a\.yaml:6:5: spec\.containers\[0\]\.name: Required value\n/m);
    expect(stderr).toMatch(/^kcri: b\.yaml:4:1: yaml: /m);
    expect(stderr).toMatch(/^kcri: warning: d\.yaml:1:\d+: unknown field "spec\.containers\[0\]\.comand"/m);
    expect(stderr).not.toContain('c.yaml');
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });

  test('reports invalid workloads and objects without effect', async () => {
    const template = (image: string): object => ({
      metadata: {labels: {app: 'web'}},
      spec: {containers: [{name: 'main', image}]},
    });
    const deployment = (name: string, image: string): string =>
      JSON.stringify({
        ...{apiVersion: 'apps/v1', kind: 'Deployment', metadata: {name}},
        spec: {selector: {matchLabels: {app: 'web'}}, template: template(image)},
      });
    const files = {
      'a.json': deployment('a', 'busybox'),
      'b.json': deployment('b', ''),
      'c.yaml': 'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\n',
    };
    const {stderr, exitCode} = await check(files);
    expect(stderr).toMatch(
      /^kcri: b\.json:1:\d+: spec\.template\.spec\.containers\[0\]\.image: Required value\n/m,
    );
    expect(stderr).toMatch(
      /^kcri: warning: c\.yaml:1:1: skipping Ingress "web": objects of this kind have no effect here\n/m,
    );
    expect(stderr).not.toContain('a.json');
    expect(exitCode).toBe(1);
  });

  test('accepts valid manifests', async () => {
    expect(await check({'c.yaml': aManifest()})).toEqual({stdout: '', stderr: '', exitCode: 0});
  });
});
