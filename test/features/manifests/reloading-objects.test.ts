import {rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {expect, test} from 'vitest';
import {createReloadingObjects} from '../../../src/features/manifests/reloading-objects.js';
import type {ApiObjects} from '../../../src/kubelet/index.js';
import {readManifests, type ManifestSource} from '../../../src/operations/manifests/read-manifests.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

const POD = 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n';

function aConfigMap(name: string, value: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {key: ${value}}\n`;
}

interface ReloadedObjects {
  readonly objects: ApiObjects;
  readonly warnings: readonly string[];
  readonly hidden: readonly string[];
  readonly read: (name: string) => string | undefined;
}

async function startReloading(sources: readonly ManifestSource[], stdin = ''): Promise<ReloadedObjects> {
  const warnings: string[] = [];
  const hidden: string[] = [];
  const options = {stdin: Readable.from([stdin]), signal: new AbortController().signal};
  const objects = createReloadingObjects(sources, await readManifests(sources, options), {
    ...options,
    warn: (message) => void warnings.push(message),
    hide: (values) => void hidden.push(...values),
  });
  return {objects, warnings, hidden, read: (name) => objects.configMap('default', name)?.data?.['key']};
}

test('a refresh applies changes and removals in files and directories', async () => {
  const directory = await temporaryDirectory();
  const file = join(await temporaryDirectory(), 'pod.yaml');
  await writeFile(file, `${POD}---\n${aConfigMap('a', '"1"')}---\n${aConfigMap('gone', 'x')}`);
  await writeFile(join(directory, 'b.yaml'), aConfigMap('b', '"1"'));
  const {objects, read} = await startReloading([file, directory]);
  await writeFile(file, `${POD}---\n${aConfigMap('a', '"2"')}`);
  await writeFile(join(directory, 'c.yaml'), aConfigMap('c', '"3"'));
  expect(['a', 'b', 'c', 'gone'].map(read)).toEqual(['1', '1', undefined, 'x']);
  await objects.refresh?.();
  expect(['a', 'b', 'c', 'gone'].map(read)).toEqual(['2', '1', '3', undefined]);
});

test('objects from standard input stay, and other files are reloaded', async () => {
  const file = join(await temporaryDirectory(), 'a.yaml');
  await writeFile(file, aConfigMap('a', '"1"'));
  const {objects, read, warnings} = await startReloading(['-', file], `${POD}---\n${aConfigMap('in', 'x')}`);
  await writeFile(file, aConfigMap('a', '"2"'));
  await objects.refresh?.();
  expect({a: read('a'), in: read('in'), warnings}).toEqual({a: '2', in: 'x', warnings: []});
});

test('an invalid or removed file keeps the last objects with one warning, until it is valid again', async () => {
  const file = join(await temporaryDirectory(), 'pod.yaml');
  await writeFile(file, `${POD}---\n${aConfigMap('a', '"1"')}`);
  const {objects, read, warnings} = await startReloading([file]);
  await writeFile(file, `${POD}---\n${aConfigMap('a', '"2"').replace('data', 'dada')}`);
  await objects.refresh?.();
  await objects.refresh?.();
  expect(read('a')).toBe('1');
  expect(warnings).toEqual([
    expect.stringMatching(/^keeping the ConfigMaps and Secrets read before: .*dada/s),
  ]);
  await rm(file);
  await objects.refresh?.();
  expect(warnings).toHaveLength(2);
  await writeFile(file, `${POD}---\n${aConfigMap('a', '"3"')}`);
  await objects.refresh?.();
  expect({a: read('a'), warnings: warnings.length}).toEqual({a: '3', warnings: 2});
});

test('changed values of Secrets are masked too', async () => {
  const file = join(await temporaryDirectory(), 'secret.yaml');
  const secret = (value: string): string =>
    `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {key: ${value}}\n`;
  await writeFile(file, `${POD}---\n${secret('old')}`);
  const {objects, hidden} = await startReloading([file]);
  await writeFile(file, `${POD}---\n${secret('new')}`);
  await objects.refresh?.();
  expect(hidden).toEqual(['new']);
});
