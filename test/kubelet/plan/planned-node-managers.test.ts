import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../src/base/clock.js';
import {toJson} from '../../../src/cri/index.js';
import {NO_OBJECTS} from '../../../src/kubelet/contract/api-objects.js';
import type {NodeFacts} from '../../../src/kubelet/contract/node-facts.js';
import {
  createNodeReport,
  withReportedManagers,
} from '../../../src/kubelet/daemon/introspection/node-report.js';
import {explainCallFields} from '../../../src/kubelet/managers/kuberuntime/provenance/call-rules.js';
import type {PlannedCall} from '../../../src/kubelet/plan/planned-call.js';
import {planPods} from '../../../src/kubelet/plan/plan-pods.js';
import type {PlanOptions} from '../../../src/kubelet/plan/planned-registry.js';
import {machineOf, ORACLE_MACHINES} from '../resources/machine/machine-oracle.js';
import {aContainer, aPod} from '../../fakes/a-pod.js';
import {startRegistryTestbed} from '../pods/registry-testbed.js';

const {signal} = new AbortController();

/** Eight CPUs on four cores, n and n + 4 on each, and one NUMA node. */
const MACHINE = machineOf(ORACLE_MACHINES.get('s1n1c4t2-split')?.machineInfo ?? expect.fail());
const MIB = 2n ** 20n;

const MANAGERS: Partial<NodeFacts> = {
  cpuMilli: 8000n,
  machine: () => ({
    ...MACHINE,
    numaNodes: MACHINE.numaNodes.map((node) => ({...node, memoryBytes: 4096n * MIB})),
  }),
  cpuManager: {
    policy: 'static',
    options: {'full-pcpus-only': 'true'},
    reconcilePeriodMs: 10_000,
    reservedSystemCpus: '0,4',
    allowsAlphaOptions: false,
    allowsBetaOptions: true,
    managesPodLevel: false,
    dropsQuota: true,
  },
  memoryManager: {
    policy: 'Static',
    reservedMemory: [{numaNode: 0, limits: {memory: '100Mi'}}],
    managesPodLevel: false,
  },
  topologyManager: {policy: 'single-numa-node', scope: 'container', options: {}},
  reservations: {
    total: {cpuMilli: 2000n, memoryBytes: 100n * MIB, ephemeralStorageBytes: 0n, pids: 0n},
    eviction: {memoryBytes: 0n, ephemeralStorageBytes: 0n},
    limitsPods: true,
    cgroups: [],
  },
};

const CPU_STATE =
  '{"policyName":"static","defaultCpuSet":"0,2-4,6-7","entries":{"other":{"main":"1,5"}},"checksum":0}';

/** Returns options for a node whose kubelet has given CPUs 1 and 5 to a pod. */
async function planOptions(facts: Partial<NodeFacts> = MANAGERS): Promise<PlanOptions> {
  const {runtime, connection: services, node} = await startRegistryTestbed();
  await mkdir(node.rootDir, {recursive: true});
  await writeFile(join(node.rootDir, 'cpu_manager_state'), CPU_STATE);
  const planned = {...node, ...facts};
  const runtimeOptions = {services, endpoint: runtime.endpoint, runtimeName: 'fake', clock: systemClock};
  return {...runtimeOptions, node: planned, objects: NO_OBJECTS};
}

const guaranteed = (name: string, cpu: string, memory = '64Mi'): Pod =>
  aPod(
    {containers: [aContainer({resources: {limits: {cpu, memory}, requests: {cpu, memory}}})]},
    {name, uid: `uid-of-${name}`},
  );

const explainFields = ({method, container, requestType, request, facts}: PlannedCall) =>
  explainCallFields({method, container, request: toJson(requestType, request, {names: 'proto'})}, facts);

test('a plan shows the CPUs and memory that new pods would get from the kubelet, and stores nothing', async () => {
  const options = await planOptions();
  const plans = await planPods(options, [guaranteed('a', '2'), guaranteed('b', '2')], signal);
  const created = plans.map(({calls}) => calls.find(({method}) => method === 'CreateContainer'));
  expect(created.map((call) => call?.request)).toMatchObject([
    {config: {linux: {resources: {cpusetCpus: '2,6', cpusetMems: '0', cpuQuota: -1n}}}},
    {config: {linux: {resources: {cpusetCpus: '3,7', cpusetMems: '0', cpuQuota: -1n}}}},
  ]);
  const fields = created.flatMap((call) => call ?? []).flatMap(explainFields);
  expect(fields.find(({path}) => path.at(-1) === 'cpuset_cpus')?.text).toBe(
    'CPU manager (cpuManagerPolicy static), aligned by the topology manager (topologyManagerPolicy single-numa-node): exclusive CPUs 2,6',
  );
  expect(created[0]?.why.text).toBe(
    'it has not been created yet; exclusive CPUs 2,6; memory of NUMA nodes 0',
  );
  expect(await readFile(join(options.node.rootDir, 'cpu_manager_state'), 'utf8')).toBe(CPU_STATE);
  expect(await readdir(options.node.rootDir)).not.toContain('memory_manager_state');
});

test.each([
  ['3', '64Mi', 'SMTAlignmentError: Pod was rejected: SMT Alignment Error: requested 3 cpus not multiple'],
  [
    '6',
    '64Mi',
    'TopologyAffinityError: Pod was rejected: Resources cannot be allocated with Topology locality',
  ],
  ['2', '5Gi', 'UnexpectedAdmissionError: Pod was rejected: Allocate failed due to [memorymanager]'],
])(
  'a plan for a pod with %s CPUs and %s of memory fails with the rejection',
  async (cpu, memory, message) => {
    const options = await planOptions();
    await expect(planPods(options, [guaranteed('a', cpu, memory)], signal)).rejects.toThrow(message);
  },
);

test('a node is planned with the managers that its running kubelet reports', async () => {
  const {node} = await planOptions();
  const {machine, ...own} = MANAGERS;
  const plain = {...node, cpuManager: undefined, memoryManager: undefined, topologyManager: undefined};
  const report = JSON.parse(
    JSON.stringify(createNodeReport(node, {} as Parameters<typeof createNodeReport>[1])),
  ) as ReturnType<typeof createNodeReport>;
  expect(withReportedManagers({...plain, reservations: undefined}, report)).toMatchObject({
    ...own,
    reservations: {...own.reservations, limitsPods: false},
  });
  expect(machine).toBeDefined();
  const none = createNodeReport(plain, {} as Parameters<typeof createNodeReport>[1]);
  expect(withReportedManagers(plain, none)).toBe(plain);
});
