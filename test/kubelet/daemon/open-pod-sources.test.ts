import {writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {openPodSources} from '../../../src/kubelet/daemon/open-pod-sources.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {configMapManifest, podManifest} from '../sources/run-source.js';

test('pods of files and a URL are delivered as updates, together with the API objects they refer to', async () => {
  const directory = await temporaryDirectory();
  await writeFile(
    join(directory, 'a.yaml'),
    podManifest('a', '  volumes: [{name: c, configMap: {name: settings}}]\n'),
  );
  await writeFile(join(directory, 'c.yaml'), configMapManifest('settings', '"1"'));
  const server = createServer((_, response) => response.end(podManifest('b')));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const received: string[] = [];
  let changes = 0;
  const sources = openPodSources(
    {
      manifestPath: directory,
      manifestUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      fileCheckFrequencyMs: {current: 20_000},
      httpCheckFrequencyMs: {current: 20_000},
      nodeName: 'node1',
      clock: systemClock,
    },
    {
      update: ({op, source, pods}) => {
        const value = sources.objects.configMap('default', 'settings')?.data?.['key'] ?? 'nothing';
        if (source === 'file') received.push(`${op} ${pods[0]?.pod.metadata.name ?? ''} with ${value}`);
        else
          received.push(`${op} ${pods[0]?.pod.metadata.annotations?.['kubernetes.io/config.source'] ?? ''}`);
      },
      objectsChanged: () => (changes += 1),
      report: ({message}) => void received.push(message),
      event: ({message}) => void received.push(message),
      keepStaticPod: (pod) => pod,
      podStates: {status: () => undefined, isPresent: () => false, listRecorded: () => []},
    },
  );
  const all = new Set(['file', 'http'] as const);
  expect(sources.seenAllSources(all)).toBe(false);
  const controller = new AbortController();
  const run = sources.run(controller.signal);
  await until(() => sources.seenAllSources(all));
  const before = changes;
  await writeFile(join(directory, 'c.yaml'), configMapManifest('settings', '"2"'));
  await until(() => sources.objects.configMap('default', 'settings')?.data?.['key'] === '2');
  controller.abort();
  await run;
  expect(received.toSorted()).toEqual(['ADD a-node1 with 1', 'ADD http']);
  expect(changes).toBe(before + 1);
});
