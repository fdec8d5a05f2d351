import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {hostname} from 'node:os';
import {expect, test} from 'vitest';
import type {Node} from '../../src/api/types/v1-node.js';
import {until} from '../base/until.js';
import {runKcri, type RunResult} from '../cli/run-kcri.js';
import {startKubelet} from './kubelet/kubelet-testbed.js';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from './command-testbed.js';

/** Runs kcri on the root directory and the runtime of the testbed. */
async function runOn({rootDir, runtime}: CommandTestbed, ...args: readonly string[]): Promise<RunResult> {
  return await runKcri(['--root-dir', rootDir, ...args], {endpoint: runtime.endpoint});
}

// Proves: get node
test('get node shows the node that a kubelet would register', async () => {
  const testbed = await createTestbed();
  const {stdout, stderr, exitCode} = await runOn(testbed, 'get', 'node', '-o', 'wide');
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  const [header = '', row = ''] = stdout.trimEnd().split('\n');
  expect(header.split(/ {2,}/)).toEqual([
    ...['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION', 'INTERNAL-IP', 'EXTERNAL-IP', 'OS-IMAGE'],
    ...['KERNEL-VERSION', 'CONTAINER-RUNTIME', 'CPU-TOPOLOGY', 'EXCLUSIVE-CPUS'],
  ]);
  expect(row).toMatch(/ {2}\d+ sockets?, \d+ NUMA nodes?, \d+ cores?, \d+ CPUs? {2,}<none>$/);
  expect(row).toMatch(new RegExp(`^${hostname().toLowerCase()} +Ready +<none> +<unknown> +v1\\.36\\.2`));
});

test('get node -o wide shows the exclusive CPUs of all containers', async () => {
  const testbed = await createTestbed();
  const path = join(testbed.rootDir, 'cpu_manager_state');
  const entries = {u: {init: '1', main: '1-2'}, v: {main: '7'}};
  await mkdir(testbed.rootDir, {recursive: true});
  await writeFile(path, JSON.stringify({policyName: 'static', defaultCpuSet: '0', entries, checksum: 0}));
  expect((await runOn(testbed, 'get', 'node', '-o', 'wide')).stdout).toMatch(/ {2}1-2,7$/m);
  await writeFile(path, '{"policyName":"static","defaultCpuSet":"1","checksum":7}');
  const {stdout, stderr} = await runOn(testbed, 'get', 'node', '-o', 'wide');
  expect(stdout).toMatch(/ <unknown> +<unknown>$/m);
  expect(stderr).toBe('kcri: warning: the CPUs of the node are unknown: checkpoint is corrupted\n');
});

test.each(['nodes', 'no'])('get %s is get node', async (word) => {
  const testbed = await createTestbed();
  expect((await runOn(testbed, 'get', word)).stdout).toMatch(/^NAME +STATUS +ROLES +AGE +VERSION\n/);
});

// Proves: get node --output
test('get node -o json prints the Node object', async () => {
  const testbed = await createTestbed();
  const {stdout} = await runOn(testbed, 'get', 'node', '-o', 'json');
  const node = JSON.parse(stdout) as Node;
  expect(node).toMatchObject({apiVersion: 'v1', kind: 'Node', status: {capacity: {pods: '110'}}});
  expect(node.status?.conditions?.map(({type, status}) => `${type}=${status}`)).toEqual([
    'MemoryPressure=False',
    'DiskPressure=False',
    'PIDPressure=False',
    'Ready=True',
  ]);
});

// Proves: get node --template
test('get node prints fields with a template', async () => {
  const testbed = await createTestbed();
  const template = '{{.kind}} {{.status.capacity.pods}}';
  const {stdout} = await runOn(testbed, 'get', 'node', '-o', 'go-template', '--template', template);
  expect(stdout.trim()).toBe('Node 110');
});

// Proves: describe node
test('describe node lists the pods that have not ended', async () => {
  const testbed = await createTestbed();
  const manifest = aManifest({
    containers: [aContainerSpec('main', {resources: {requests: {cpu: '10m'}, limits: {memory: '64Mi'}}})],
  });
  await testbed.run(['runp', await testbed.write('web.yaml', manifest)]);
  const {stdout, stderr, exitCode} = await runOn(testbed, 'describe', 'node');
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  expect(stdout).toMatch(/^Non-terminated Pods: +\(1 in total\)$/m);
  expect(stdout).toMatch(/^ +default +web +10m \(\d+%\) +0 \(0%\) +64Mi \(0%\) +64Mi \(0%\) +\S+$/m);
  expect(stdout).not.toContain('Kubelet:');
});

test('describe node and get node show the node as the running kubelet configures it', async () => {
  const flags = [
    ...['--node-cpu=4', '--node-memory=8Gi', '--max-pods=17', '--node-labels=disk=ssd'],
    ...['--kube-reserved=cpu=500m,memory=1Gi', '--system-reserved=cpu=100m,memory=900Mi'],
  ];
  const {run} = await startKubelet({flags});
  await until(async () => (await run(['get', 'kubelet'])).exitCode === 0);
  const node = JSON.parse((await run(['get', 'node', '-o', 'json'])).stdout) as Node;
  expect(node).toMatchObject({
    metadata: {name: 'n1', labels: {disk: 'ssd'}},
    status: {
      capacity: {cpu: '4', memory: '8Gi', pods: '17'},
      // Without the reserved memory and the eviction reserve of 100Mi.
      allocatable: {cpu: '3400m', memory: '6168Mi', pods: '17'},
    },
  });
  const {stdout, stderr} = await run(['describe', 'node']);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^Allocatable:\n +cpu: +3400m$/m);
  expect(stdout).toMatch(/^Eviction Thresholds:\n +Signal +Kind +Threshold +Available +Met$/m);
  expect(stdout).toMatch(/^ +memory\.available +hard +100Mi +(?:\d+Mi \(\d+%\)|<unknown>) +no$/m);
});

test('a missing runtime is an error that names the endpoint', async () => {
  const testbed = await createTestbed();
  const {stdout, stderr, exitCode} = await runKcri(['--root-dir', testbed.rootDir, 'get', 'node'], {
    endpoint: 'unix:///nowhere.sock',
  });
  expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  expect(stderr).toContain('/nowhere.sock');
});
