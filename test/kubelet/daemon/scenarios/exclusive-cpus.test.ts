import {mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {NodeFacts} from '../../../../src/kubelet/contract/node-facts.js';
import type {CpuManagerSettings} from '../../../../src/kubelet/contract/resources/cpu-manager-settings.js';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {machineOf, ORACLE_MACHINES} from '../../resources/machine/machine-oracle.js';
import {DaemonTestbed} from '../daemon-testbed.js';

/** Eight CPUs on four cores: CPU n and n + 4 are siblings. */
const MACHINE = machineOf(ORACLE_MACHINES.get('s1n1c4t2-split')?.machineInfo ?? expect.fail());

const SETTINGS: CpuManagerSettings = {
  policy: 'static',
  options: {},
  reconcilePeriodMs: 10_000,
  reservedSystemCpus: '',
  allowsAlphaOptions: false,
  allowsBetaOptions: true,
  managesPodLevel: false,
  dropsQuota: true,
};

/** Returns a node that reserves one CPU, with a static CPU manager. */
function nodeWith(settings: Partial<CpuManagerSettings> = {}): Partial<NodeFacts> {
  return {
    cpuMilli: 8000n,
    machine: () => MACHINE,
    cpuManager: {...SETTINGS, ...settings},
    topologyManager: {policy: 'none', scope: 'container', options: {}},
    reservations: {
      total: {cpuMilli: 1000n, memoryBytes: 0n, ephemeralStorageBytes: 0n, pids: 0n},
      eviction: {memoryBytes: 0n, ephemeralStorageBytes: 0n},
      limitsPods: true,
      cgroups: [],
    },
  };
}

function podOf(name: string, resources: object): string {
  return aManifest({
    name,
    metadata: {uid: `uid-of-${name}`},
    terminationGracePeriodSeconds: 0,
    containers: [aContainerSpec('main', {resources})],
  });
}

const exclusive = (name: string, cpu: string): string => podOf(name, {limits: {cpu, memory: '64Mi'}});
const SHARED = podOf('shared', {requests: {cpu: '100m'}});

/** Returns the CPUs of calls, as `pod:CPUs`. */
function cpusOf(testbed: DaemonTestbed, method: 'CreateContainer' | 'UpdateContainerResources'): string[] {
  return testbed.fake.callsTo(method).map(({request}) => {
    const {
      config,
      linux,
      container_id: id,
    } = request as {
      config?: {linux: {resources: Linux}; labels: Record<string, string>};
      linux?: Linux;
      container_id?: string;
    };
    const container = testbed.fake.containers.find((each) => each.id === id);
    const name =
      config?.labels['io.kubernetes.pod.name'] ?? container?.config.labels?.['io.kubernetes.pod.name'];
    return `${name?.replace('-goldennode', '') ?? '?'}:${(config?.linux.resources ?? linux)?.cpuset_cpus ?? ''}`;
  });
}

interface Linux {
  readonly cpuset_cpus?: string;
}

const stateOf = async (testbed: DaemonTestbed): Promise<string> =>
  readFile(join(testbed.rootDir, 'cpu_manager_state'), 'utf8');

test('a Guaranteed pod gets whole CPUs without a quota, and the others keep away from them until it has ended', async () => {
  await using testbed = await DaemonTestbed.start({node: nodeWith()});
  await testbed.put('shared.json', SHARED);
  await testbed.until('the shared pod runs', () => testbed.running.length === 1);
  await testbed.put('own.json', exclusive('own', '2'));
  await testbed.until(
    'the shared pod gives way',
    () => cpusOf(testbed, 'UpdateContainerResources').length > 0,
  );

  expect(cpusOf(testbed, 'CreateContainer')).toEqual(['shared:0-7', 'own:1,5']);
  expect(cpusOf(testbed, 'UpdateContainerResources').at(-1)).toBe('shared:0,2-4,6-7');
  const created = testbed.fake.callsTo('CreateContainer').at(-1)?.request;
  expect(created).toMatchObject({config: {linux: {resources: {cpu_quota: '-1'}}}});
  const sandbox = testbed.fake.callsTo('RunPodSandbox').at(-1)?.request;
  expect(sandbox).toHaveProperty('config.linux.resources.cpu_shares', '2048');
  expect(sandbox).toHaveProperty('config.linux.resources.cpu_quota', '-1');
  expect(await stateOf(testbed)).toMatch(
    /^\{"policyName":"static","defaultCpuSet":"0,2-4,6-7","entries":\{"[^"]+":\{"main":"1,5"\}\},"checksum":\d+\}$/,
  );
  expect((await stat(join(testbed.rootDir, 'cpu_manager_state'))).mode & 0o777).toBe(0o600);

  await testbed.remove('own.json');
  await testbed.until(
    'the shared pod has all CPUs again',
    () => cpusOf(testbed, 'UpdateContainerResources').at(-1) === 'shared:0-7',
  );
  expect(JSON.parse(await stateOf(testbed))).toMatchObject({defaultCpuSet: '0-7'});
});

test('a killed kubelet finds the CPUs of its pods again, and writes them once', async () => {
  await using testbed = await DaemonTestbed.start({
    node: nodeWith(),
    manifests: {'own.json': exclusive('own', '2')},
  });
  await testbed.until('it runs', () => testbed.running.length === 1);
  const before = await stateOf(testbed);
  await testbed.stop();
  testbed.run();
  await testbed.put('more.json', exclusive('more', '4'));
  await testbed.until('the next pod runs', () => testbed.running.length === 2);
  await testbed.until('CPUs are written', () => cpusOf(testbed, 'UpdateContainerResources').length > 0);
  expect(before).toContain('{"main":"1,5"}');
  expect(cpusOf(testbed, 'CreateContainer')).toEqual(['own:1,5', 'more:2-3,6-7']);
  expect(cpusOf(testbed, 'UpdateContainerResources')).toEqual(['own:1,5']);
});

test('a pod for which there are not enough CPUs fails, though the sum of requests would fit', async () => {
  await using testbed = await DaemonTestbed.start({
    node: nodeWith({options: {'full-pcpus-only': 'true'}}),
    manifests: {'own.json': exclusive('own', '6')},
  });
  await testbed.until('it runs', () => testbed.running.length === 1);
  await testbed.put('odd.json', exclusive('odd', '1'));
  await testbed.until('it is rejected', () =>
    testbed.events.some(({reason}) => reason === 'SMTAlignmentError'),
  );
  expect(testbed.view.pods().find(({metadata}) => metadata.name === 'odd-goldennode')?.status).toMatchObject({
    phase: 'Failed',
    reason: 'SMTAlignmentError',
    message: 'Pod was rejected: SMT Alignment Error: requested 1 cpus not multiple cpus per core = 2',
  });
});

test.each([
  [
    'of another policy',
    '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}',
    'start cpu manager error: could not restore state from checkpoint: configured policy "static" differs from state checkpoint policy "none", please drain this node and delete the CPU manager checkpoint file "ROOT/cpu_manager_state" before restarting Kubelet',
  ],
  [
    'of another machine',
    '{"policyName":"static","defaultCpuSet":"0-3","checksum":0}',
    'start cpu manager error: current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-3"',
  ],
  [
    'that is torn',
    '{"policyName":"stat',
    'start cpu manager error: could not restore state from checkpoint: unexpected end of JSON input, please drain this node and delete the CPU manager checkpoint file "ROOT/cpu_manager_state" before restarting Kubelet',
  ],
])('a kubelet does not start with a state %s', async (_what, state, message) => {
  const rootDir = await mkdtemp(join(tmpdir(), 'kcri-cpus-'));
  await writeFile(join(rootDir, 'cpu_manager_state'), state);
  await using testbed = await DaemonTestbed.start({
    rootDir,
    node: nodeWith(),
    manifests: {'own.json': exclusive('own', '2')},
  });
  await expect(testbed.ended).rejects.toThrow(message.replace('ROOT', rootDir));
  expect(testbed.fake.callsTo('RunPodSandbox')).toEqual([]);
  expect(await readFile(join(rootDir, 'cpu_manager_state'), 'utf8')).toBe(state);
  await rm(rootDir, {recursive: true});
  testbed.run(); // for the end of the testbed
  await testbed.until('it runs', () => testbed.running.length === 1);
});
