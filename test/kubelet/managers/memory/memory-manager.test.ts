import {expect, test} from 'vitest';
import {containersOf} from '../../../../src/api/pod-containers.js';
import type {Container, Pod} from '../../../../src/api/types/v1-pod.js';
import {compare} from '../../../../src/base/compare.js';
import {messageOf} from '../../../../src/base/errors.js';
import {
  formatMemoryCheckpoint,
  parseMemoryCheckpoint,
} from '../../../../src/kubelet/managers/memory/memory-checkpoint.js';
import type {MemoryManager} from '../../../../src/kubelet/managers/memory/memory-manager.js';
import type {MemoryBlock} from '../../../../src/kubelet/managers/memory/memory-state.js';
import {TopologyManager} from '../../../../src/kubelet/managers/topology/topology-manager.js';
import {createTopologyPolicy} from '../../../../src/kubelet/managers/topology/topology-policy.js';
import {NodeManagerSet} from '../../../../src/kubelet/pods/node-managers/node-manager-set.js';
import {listMembers} from '../../../../src/kubelet/resources/bit-set.js';
import {parseCpuSet} from '../../../../src/kubelet/resources/cpu-set.js';
import {readOracle} from '../../read-oracle.js';
import type {OracleHint} from '../topology/oracle-hints.js';
import {
  expectedState,
  MemoryFile,
  observe,
  shownState,
  startMemoryManager,
  type OracleConfig,
  type OracleHints,
  type OracleState,
} from './memory-oracle.js';

type Step = {readonly state: OracleState | null} & (
  | {readonly op: 'boot'; readonly allocatable: readonly MemoryBlock[] | null}
  | {
      readonly op: 'admit';
      readonly pod: Pod;
      readonly admit: boolean;
      readonly reason?: string;
      readonly message?: string;
      readonly providerHints?: readonly OracleHints[];
      readonly affinity?: Readonly<Record<string, OracleHint>>;
      readonly cpusetMems?: Readonly<Record<string, readonly number[] | null>>;
    }
  | {readonly op: 'start' | 'removeContainer'; readonly pod: string; readonly container: string}
  | {readonly op: 'podEnds'; readonly pod: string}
  | {readonly op: 'restart'; readonly config: OracleConfig; readonly error?: string}
);

interface SequenceCase {
  readonly id: string;
  readonly config: OracleConfig;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  readonly bootError?: string;
  readonly steps?: readonly Step[];
  readonly stateFile?: string;
}

const SEQUENCES = readOracle(new URL('sequences.jsonl.gz', import.meta.url)) as readonly SequenceCase[];
const POD_LEVEL = readOracle(new URL('podlevel.jsonl.gz', import.meta.url)) as readonly SequenceCase[];

const BEST_EFFORT: Pod = {
  metadata: {name: 'other', uid: 'uid-other'},
  spec: {containers: []},
} as unknown as Pod;

/** A node of the oracle: its managers, and the pods that run on it. */
class OracleNode {
  readonly #file = new MemoryFile();
  readonly #managesPodLevel: boolean;
  readonly #pods = new Map<string, Pod>();
  readonly #active: Pod[] = [];
  #config: OracleConfig;
  #memory: MemoryManager | undefined;

  constructor({config, featureGates}: SequenceCase) {
    this.#config = config;
    this.#managesPodLevel = featureGates?.['PodLevelResourceManagers'] === true;
  }

  get memory(): MemoryManager {
    if (this.#memory === undefined) throw new Error('not started');
    return this.#memory;
  }

  /** Starts the memory manager. Resolves with the error that prevents it. */
  async start(config = this.#config): Promise<string | undefined> {
    this.#config = config;
    try {
      const options = {managesPodLevel: this.#managesPodLevel, active: this.#active};
      this.#memory = await startMemoryManager(config, this.#file, options);
      return undefined;
    } catch (error) {
      return messageOf(error).replace(/^start memory manager error: /, '');
    }
  }

  /** Returns the content of the state file. */
  get file(): string | undefined {
    return this.#file.text;
  }

  /** Resolves when the file has everything. */
  async written(): Promise<void> {
    await this.#memory?.containerCreated(BEST_EFFORT, {name: 'other', image: 'i'});
  }

  async run(step: Step): Promise<void> {
    switch (step.op) {
      case 'boot':
        expect(sorted(this.memory.allocatable())).toEqual(sorted(step.allocatable ?? []));
        break;
      case 'admit':
        await this.#admit(step);
        break;
      case 'start':
        await this.memory.containerCreated(this.#pod(step.pod), this.#container(step.pod, step.container));
        break;
      case 'removeContainer':
        this.#removeContainer(step.pod, step.container);
        break;
      case 'podEnds':
        this.#deactivate(this.#pod(step.pod));
        this.memory.topology.podHints(BEST_EFFORT);
        break;
      case 'restart':
        await this.written();
        expect(await this.start(step.config)).toBe(step.error);
        break;
    }
    if (step.state !== null) expect(shownState(this.memory.state)).toEqual(expectedState(step.state));
  }

  async #admit(step: Extract<Step, {op: 'admit'}>): Promise<void> {
    const {pod} = step;
    this.#pods.set(pod.metadata.name ?? '', pod);
    this.#active.push(pod);
    const {provider, hints, affinity} = observe(this.memory.topology);
    const rejection = await this.#admission(provider).admit('early', pod, new AbortController().signal);
    expect({reason: rejection?.reason, message: rejection?.message, hints: hints.map(withoutNull)}).toEqual({
      reason: step.reason,
      message: step.message,
      hints: (step.providerHints ?? []).map(withoutNull),
    });
    if (!step.admit) {
      this.#deactivate(pod);
      return;
    }
    if (this.#config.topologyManagerPolicy !== 'none')
      expect(Object.fromEntries(affinity)).toEqual(step.affinity);
    const nodes = containersOf(pod).map((container) => {
      const {cpusetMems = ''} = this.memory.resources({pod, container});
      return [container.name, listMembers(parseCpuSet(cpusetMems))];
    });
    expect(Object.fromEntries(nodes)).toEqual(
      Object.fromEntries(Object.entries(step.cpusetMems ?? {}).map(([name, list]) => [name, list ?? []])),
    );
  }

  #admission(provider: ReturnType<typeof observe>['provider']): NodeManagerSet {
    const policy = createTopologyPolicy(
      {
        policy: this.#config.topologyManagerPolicy,
        scope: this.#config.topologyManagerScope,
        options: {},
      },
      this.#config.numaNodes.map((_node, index) => ({
        id: this.#config.numaNodeIDs?.[index] ?? index,
        distances: [],
      })),
    );
    const topology = new TopologyManager({
      policy,
      providers: [provider],
      managesPodLevel: this.#managesPodLevel,
    });
    const admit = async (pod: Pod): Promise<undefined> => {
      await topology.admit(pod);
    };
    return new NodeManagerSet([{name: 'topology', admit}]);
  }

  /** The kubelet removes single containers only if their pods no longer have them; pods that it refused are kept here. */
  #removeContainer(name: string, container: string): void {
    const pod = this.#pod(name);
    const without = (list: readonly Container[] = []): readonly Container[] =>
      list.filter((each) => each.name !== container);
    const {initContainers, containers} = pod.spec;
    const spec = {...pod.spec, initContainers: without(initContainers), containers: without(containers)};
    const active = this.#active.splice(0);
    this.#active.push(...[...this.#pods.values()].filter((each) => each !== pod), {...pod, spec});
    this.memory.topology.podHints(BEST_EFFORT);
    this.#active.splice(0, Infinity, ...active);
  }

  #deactivate(pod: Pod): void {
    const index = this.#active.indexOf(pod);
    if (index >= 0) this.#active.splice(index, 1);
  }

  #pod(name: string): Pod {
    const pod = this.#pods.get(name);
    if (pod === undefined) throw new Error(`no pod ${name}`);
    return pod;
  }

  #container(pod: string, name: string): Container {
    const container = containersOf(this.#pod(pod)).find((each) => each.name === name);
    if (container === undefined) throw new Error(`no container ${name}`);
    return container;
  }
}

/** Sorts the blocks of a container by type in a state file: a kubelet writes them in any order. */
function sortTypes(file: string): string {
  if (!file.includes('},{"numaAffinity')) return file;
  const managesPodLevel = file.includes('"podEntries"');
  const state = parseMemoryCheckpoint(file, 'Static', managesPodLevel);
  const containers = [...state.containers].map(([uid, ofPod]) => {
    const entries = [...ofPod].map(([name, blocks]) => [name, blocks.toSorted(byType)] as const);
    return [uid, new Map(entries)] as const;
  });
  return formatMemoryCheckpoint('Static', {...state, containers: new Map(containers)}, managesPodLevel);
}

function byType(a: MemoryBlock, b: MemoryBlock): number {
  return compare(a.type, b.type);
}

/** A provider without an opinion answers nil or an empty map, which mean the same. */
function withoutNull(each: OracleHints): OracleHints {
  return {...each, hints: each.hints ?? {}};
}

function sorted(blocks: readonly MemoryBlock[]): readonly string[] {
  return blocks.map(({numaAffinity, type, size}) => `${String(numaAffinity)} ${type} ${size}`).toSorted();
}

test.each([...SEQUENCES, ...POD_LEVEL])('$id: memory is given out as by the kubelet', async (each) => {
  const node = new OracleNode(each);
  expect(await node.start()).toBe(each.bootError);
  for (const step of each.steps ?? []) await node.run(step);
  await node.written();
  if (each.stateFile !== undefined) expect(node.file).toBe(sortTypes(each.stateFile));
});

test('all sequences of the oracles were read', () => {
  expect([SEQUENCES.length, POD_LEVEL.length]).toEqual([121, 29]);
});
