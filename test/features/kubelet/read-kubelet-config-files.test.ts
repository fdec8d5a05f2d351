import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {readKubeletConfigFiles} from '../../../src/features/kubelet/read-kubelet-config-files.js';
import {readKubeletConfig} from '../../../src/kubelet/configuration/kubelet-config.js';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

async function makeFiles(files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-config-'));
  onTestFinished(async () => {
    await rm(directory, {recursive: true});
  });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), {recursive: true});
    await writeFile(join(directory, name), HEAD + text);
  }
  return directory;
}

// Proves: kubelet --config-dir
test('drop-ins are read in the order in which Go walks a directory, and only those with the suffix', async () => {
  const names = [
    '20.conf',
    '10.conf',
    'b.conf/1.conf',
    'b.conf/0.conf',
    'a/z.conf',
    '9.conf',
    'B.conf',
    '.conf',
  ];
  const others = ['0.yaml', '1.conf.bak', 'a/README'];
  const directory = await makeFiles(Object.fromEntries([...names, ...others].map((name) => [name, ''])));
  const files = await readKubeletConfigFiles(undefined, directory, new AbortController().signal);
  expect(files.map(({path}) => path.slice(directory.length + 1))).toEqual([
    ...['.conf', '10.conf', '20.conf', '9.conf', 'B.conf'],
    ...['a/z.conf', 'b.conf/0.conf', 'b.conf/1.conf'],
  ]);
});

test('drop-ins are merged over --config like a JSON merge patch, and flags win', async () => {
  const directory = await makeFiles({
    'kubelet.yaml':
      'maxPods: 5\nsyncFrequency: 30s\nport: 20\nclusterDNS: [a, b]\nsystemReserved: {cpu: "1"}\nimageMinimumGCAge: 1m\n',
    'd/10.conf': 'maxPods: 6\nclusterDNS: [c]\nsystemReserved: {memory: 1Gi}\n',
    'd/9.conf': 'maxPods: 7\nsyncFrequency: 0s\nport: null\nimageMinimumGCAge: 3m\n',
    'd/sub/1.conf': 'imageMinimumGCAge: 4m\n',
  });
  const files = await readKubeletConfigFiles(
    join(directory, 'kubelet.yaml'),
    join(directory, 'd'),
    new AbortController().signal,
  );
  const {values} = readKubeletConfig(files, new Map([['image-gc-high-threshold', ['90']]]));
  expect(values).toMatchObject({
    maxPods: 7,
    clusterDNS: ['c'],
    systemReserved: {cpu: '1', memory: '1Gi'},
    imageMinimumGCAge: '4m',
    // Zero and null are the same as a missing field.
    syncFrequency: '1m0s',
    port: 10_250,
  });
  const {values: flagged} = readKubeletConfig(files, new Map([['max-pods', ['8']]]));
  expect(flagged.maxPods).toBe(8);
});
