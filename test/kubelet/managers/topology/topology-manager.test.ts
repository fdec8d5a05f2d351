import {expect, test} from 'vitest';
import {aggregateContainerResources} from '../../../../src/api/resource-list.js';
import type {Container, Pod} from '../../../../src/api/types/v1-pod.js';
import {SystemError} from '../../../../src/base/errors.js';
import type {NodeManager, TopologyHint} from '../../../../src/kubelet/contract/node-manager.js';
import {TopologyManager} from '../../../../src/kubelet/managers/topology/topology-manager.js';
import {createTopologyPolicy} from '../../../../src/kubelet/managers/topology/topology-policy.js';
import {NodeManagerSet} from '../../../../src/kubelet/pods/node-managers/node-manager-set.js';
import {countMembers, listMembers} from '../../../../src/kubelet/resources/bit-set.js';
import {numaCombinations} from '../../../../src/kubelet/resources/numa-nodes.js';
import {readOracle} from '../../read-oracle.js';
import {shownHint, type OracleHint} from './oracle-hints.js';

interface ConstructionCase {
  readonly id: string;
  readonly policy: string;
  readonly scope: string;
  readonly options: Readonly<Record<string, string>> | null;
  readonly error: string;
  readonly numaCount?: number;
  /** Nodes of which the machine tells no distances, instead of a number of nodes. */
  readonly numaNodes?: readonly number[];
  readonly noDistances?: boolean;
}

interface AllocateCall {
  readonly provider: string;
  readonly container: string;
  readonly request: number;
  readonly affinity: OracleHint;
}

interface AdmitCase extends Pick<ConstructionCase, 'id' | 'policy' | 'scope' | 'options'> {
  readonly numaNodes: readonly number[];
  readonly distances?: readonly (readonly number[])[];
  readonly providers: readonly {
    readonly resource: string;
    readonly capacityPerNode: number;
    readonly free: readonly number[];
  }[];
  readonly steps: readonly {
    readonly pod: Pod;
    readonly admit: boolean;
    readonly reason?: string;
    readonly message?: string;
    readonly allocateCalls: readonly AllocateCall[] | null;
    readonly freeAfter: Readonly<Record<string, readonly number[]>>;
  }[];
}

const CASES = readOracle(new URL('admit.jsonl.gz', import.meta.url)) as readonly (
  | AdmitCase
  | ConstructionCase
)[];
const CONSTRUCTIONS = CASES.filter((each) => 'error' in each);
const ADMISSIONS = CASES.filter((each) => 'steps' in each);

/** The oracle's stand-in of a manager: a resource with some units per NUMA node. */
class CountedResource {
  readonly #resource: string;
  readonly #nodes: readonly number[];
  readonly #capacity: number;
  readonly free: number[];
  readonly #calls: AllocateCall[];

  constructor(
    {resource, capacityPerNode, free}: AdmitCase['providers'][number],
    nodes: readonly number[],
    calls: AllocateCall[],
  ) {
    this.#resource = resource;
    this.#nodes = nodes;
    this.#capacity = capacityPerNode;
    this.free = [...free];
    this.#calls = calls;
  }

  get manager(): NodeManager {
    return {
      name: this.#resource,
      topology: {
        podHints: (pod) =>
          this.#hints(Number(aggregateContainerResources(pod.spec, 'requests')[this.#resource] ?? 0)),
        containerHints: (_pod, container) => this.#hints(this.#request(container)),
        allocate: async (_pod, container, affinity) => {
          this.#allocate(container, affinity);
        },
      },
    };
  }

  #request({resources}: Container): number {
    return Number(resources?.requests?.[this.#resource] ?? 0);
  }

  #hints(request: number): Map<string, TopologyHint[]> {
    if (request === 0) return new Map();
    const least = Math.ceil(request / this.#capacity);
    const hints = numaCombinations(this.#nodes)
      .filter((mask) => listMembers(mask).reduce((sum, node) => sum + (this.free[node] ?? 0), 0) >= request)
      .map((numaNodes) => ({numaNodes, preferred: countMembers(numaNodes) === least}));
    return new Map([[this.#resource, hints]]);
  }

  #allocate({name, ...container}: Container, affinity: TopologyHint): void {
    const request = this.#request({name, ...container});
    this.#calls.push({provider: this.#resource, container: name, request, affinity: shownHint(affinity)});
    if (this.free.reduce((sum, units) => sum + units, 0) < request)
      throw new SystemError(`not enough ${this.#resource}`);
    const aligned = listMembers(affinity.numaNodes ?? 0n);
    let rest = request;
    for (const node of [...aligned, ...this.#nodes.filter((other) => !aligned.includes(other))]) {
      const taken = Math.min(rest, this.free[node] ?? 0);
      this.free[node] = (this.free[node] ?? 0) - taken;
      rest -= taken;
    }
  }
}

test.each(ADMISSIONS)('$id: $policy admits pods as the kubelet does, by $scope', async (each) => {
  const calls: AllocateCall[] = [];
  const resources = each.providers.map((provider) => ({
    name: provider.resource,
    stand: new CountedResource(provider, each.numaNodes, calls),
  }));
  const policy = createTopologyPolicy(
    {policy: each.policy, scope: each.scope, options: each.options ?? {}},
    each.numaNodes.map((id, index) => ({id, distances: each.distances?.[index] ?? []})),
  );
  const providers = resources.flatMap(({stand}) => stand.manager.topology ?? []);
  const topology = new TopologyManager({policy, providers, managesPodLevel: false});
  const managers = new NodeManagerSet([
    {
      name: 'topology',
      admit: async (pod) => {
        await topology.admit(pod);
        return undefined;
      },
    },
  ]);
  for (const step of each.steps) {
    calls.length = 0;
    const rejection = await managers.admit('early', step.pod, new AbortController().signal);
    expect({
      admit: rejection === undefined,
      reason: rejection?.reason,
      message: rejection?.message,
      allocateCalls: calls,
      freeAfter: Object.fromEntries(resources.map(({name, stand}) => [name, stand.free])),
    }).toEqual({
      admit: step.admit,
      reason: step.reason,
      message: step.message,
      allocateCalls: step.allocateCalls ?? [],
      freeAfter: step.freeAfter,
    });
  }
});

test.each(CONSTRUCTIONS)('$id: $policy is accepted or refused', (each) => {
  const count = each.numaNodes?.length ?? each.numaCount ?? 0;
  const distances = each.noDistances === false ? Array.from({length: count}, () => 10) : [];
  const nodes = Array.from({length: count}, (_, id) => ({id, distances}));
  let error = '';
  try {
    createTopologyPolicy({policy: each.policy, scope: each.scope, options: each.options ?? {}}, nodes);
  } catch (problem) {
    if (!(problem instanceof SystemError)) throw problem;
    error = problem.message;
  }
  expect(error).toBe(each.error);
});

test('all cases of the oracle were read', () => {
  expect([CASES.length, CONSTRUCTIONS.length + ADMISSIONS.length]).toEqual([166, 166]);
});

test('admissions are counted: those of one NUMA node also as aligned', async () => {
  const counted: unknown[] = [];
  const policy = createTopologyPolicy({policy: 'single-numa-node', scope: 'container', options: {}}, [
    {id: 0, distances: []},
    {id: 1, distances: []},
  ]);
  const stand = new CountedResource({resource: 'x/a', capacityPerNode: 2, free: [1, 1]}, [0, 1], []);
  const topology = new TopologyManager({
    policy,
    providers: [stand.manager.topology ?? []].flat(),
    managesPodLevel: false,
    metrics: {
      topologyAdmitted: ({isFailed}) => counted.push({isFailed}),
      resourcesAligned: (scope, isFailed) => counted.push({scope, isFailed}),
    },
  });
  const podWith = (amount: string): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'p', uid: 'u'},
    spec: {containers: [{name: 'a', image: 'i', resources: {requests: {'x/a': amount}}}]},
  });
  await topology.admit(podWith('1'));
  await expect(topology.admit(podWith('2'))).rejects.toThrow('with Topology locality');
  expect(counted).toEqual([
    {scope: 'container', isFailed: false},
    {isFailed: false},
    {scope: 'container', isFailed: true},
    {isFailed: true},
  ]);
});

test.each([
  [{policy: 'constructor', scope: 'container', options: {}}, 'unknown policy: "constructor"'],
  [
    {policy: 'restricted', scope: 'container', options: {toString: 'true'}},
    'unknown Topology Manager Policy option: "toString"',
  ],
])('names of members of objects are unknown too: %j', (settings, message) => {
  expect(() => createTopologyPolicy(settings, [])).toThrow(message);
});
