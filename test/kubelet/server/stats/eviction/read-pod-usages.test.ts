import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {connect} from '../../../../../src/cri/index.js';
import {podRef} from '../../../../../src/kubelet/contract/pod-ref.js';
import {readPodUsages} from '../../../../../src/kubelet/server/stats/eviction/read-pod-usages.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {aContainer as aContainerSpec, aPod} from '../../../../fakes/a-pod.js';
import {FakeRuntime} from '../../../../fakes/fake-runtime.js';
import {aContainer, aSandbox} from '../../../../fakes/runtime-builders.js';

const {signal} = new AbortController();
const MEMORY = 10n * 1024n ** 2n;

test('the memory, layers, logs and volumes of pods are measured; a pod that does not run has no usage', async () => {
  const sandbox = aSandbox({name: 'web', uid: 'uid-1'});
  const runtime = await FakeRuntime.start({
    sandboxes: [sandbox],
    containers: [aContainer({sandbox, name: 'main'}), aContainer({sandbox, name: 'side'})],
  });
  const connection = connect(runtime.endpoint);
  onTestFinished(async () => {
    connection.close();
    await runtime.stop();
  });
  const directory = await temporaryDirectory();
  const node = {rootDir: join(directory, 'root'), podLogsDir: join(directory, 'logs')};
  const logs = join(node.podLogsDir, 'default_web_uid-1', 'main');
  const volume = join(node.rootDir, 'pods/uid-1/volumes/kubernetes.io~empty-dir/data');
  for (const path of [logs, volume]) await mkdir(path, {recursive: true});
  await writeFile(join(logs, '0.log'), 'x'.repeat(5000));
  await writeFile(join(volume, 'file'), 'x'.repeat(50_000));
  const containers = ['side', 'main', 'absent'].map((name) => aContainerSpec({name}));
  const pod = aPod({containers, volumes: [{name: 'data', emptyDir: {}}]}, {name: 'web', uid: 'uid-1'});
  const other = aPod({}, {name: 'other', uid: 'uid-2'});

  const usages = await readPodUsages([pod, other], {runtime: connection.runtime, node}, signal);
  expect([...usages.keys()]).toEqual([podRef(pod).uid]);
  const usage = usages.get(podRef(pod).uid)!;
  expect(usage.memoryBytes).toBe(2n * MEMORY);
  expect(usage.containers.map(({name}) => name)).toEqual(['side', 'main']);
  expect(usage.containers[1]).toMatchObject({memoryBytes: MEMORY, layer: {usedBytes: 65_536n}});
  expect(usage.containers[1]?.logs.usedBytes).toBeGreaterThanOrEqual(5000n);
  expect(usage.containers[0]?.logs).toEqual({usedBytes: 0n, inodesUsed: 0n});
  expect(usage.volumes.usedBytes).toBeGreaterThanOrEqual(50_000n);
  expect(usage.volumes.inodesUsed).toBe(2n);
});
