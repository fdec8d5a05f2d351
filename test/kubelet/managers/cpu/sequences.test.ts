import {setImmediate} from 'node:timers/promises';
import {expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {readOracle} from '../../read-oracle.js';
import {CpuNode, type CpuNodeConfig, type FeatureGates, type OracleCpuState} from './cpu-node.js';

interface Step {
  readonly op: 'boot' | 'admit' | 'start' | 'exit' | 'removeContainer' | 'podEnds' | 'reconcile' | 'restart';
  readonly state: OracleCpuState | null;
  readonly pod?: Pod | string;
  readonly container?: string;
  readonly containerID?: string;
  readonly config?: CpuNodeConfig;
  readonly error?: string;
  readonly allocatable?: string;
  readonly admit?: boolean;
  readonly reason?: string;
  readonly message?: string;
  readonly cpus?: Readonly<Record<string, string>>;
  readonly affinity?: unknown;
  readonly providerHints?: unknown;
  readonly updates?: unknown;
  readonly success?: readonly string[];
  readonly failure?: readonly string[];
}

interface SequenceCase {
  readonly id: string;
  readonly config: CpuNodeConfig;
  readonly featureGates?: FeatureGates;
  readonly bootError?: string;
  readonly steps?: readonly Step[];
  readonly stateFile?: string;
}

const ORACLES = [
  {file: 'sequences.jsonl.gz', count: 253},
  {file: 'podlevel.jsonl.gz', count: 57},
];

const CASES = ORACLES.flatMap(({file, count}) => {
  const cases = readOracle(new URL(file, import.meta.url)) as readonly SequenceCase[];
  expect(cases).toHaveLength(count);
  return cases;
});

test.for(CASES)('$id gives CPUs as a kubelet does', async ({config, featureGates, ...expected}) => {
  const node = new CpuNode(featureGates);
  expect(await node.start(config)).toBe(expected.bootError);
  for (const [index, step] of (expected.steps ?? []).entries()) {
    await take(node, step);
    await setImmediate();
    if (step.state !== null) expect(node.state, `step ${index}: ${step.op}`).toEqual(step.state);
  }
  if (expected.stateFile !== undefined) expect(node.stateFile).toBe(expected.stateFile);
});

/** Actions of the steps that change nothing but the node. */
const ACTIONS: Partial<Record<Step['op'], (node: CpuNode, names: ContainerNames) => Promise<void> | void>> = {
  start: async (node, {pod, container, containerID}) => node.startContainer(pod, container, containerID),
  exit: (node, {pod, container}) => {
    node.exitContainer(pod, container);
  },
  removeContainer: async (node, {pod, container}) => node.removeContainer(pod, container),
  podEnds: (node, {pod}) => {
    node.endPod(pod);
  },
};

interface ContainerNames {
  readonly pod: string;
  readonly container: string;
  readonly containerID: string;
}

async function take(node: CpuNode, step: Step): Promise<void> {
  const {op, pod = '', container = '', containerID = '', config} = step;
  const act = ACTIONS[op];
  if (typeof pod === 'object') await admit(node, pod, step);
  else if (act !== undefined) await act(node, {pod, container, containerID});
  else if (op === 'boot') expect(node.allocatable).toBe(step.allocatable);
  else if (config !== undefined) expect(await node.start(config)).toBe(step.error);
  else await reconcile(node, step);
}

async function admit(node: CpuNode, pod: Pod, step: Step): Promise<void> {
  node.hints.length = 0;
  for (const name of Object.keys(node.affinities)) Reflect.deleteProperty(node.affinities, name);
  expect(await node.admit(pod)).toEqual(
    step.admit === true ? undefined : {reason: step.reason, message: step.message},
  );
  expect(node.hints).toEqual(step.providerHints ?? []);
  if (step.affinity !== undefined) expect(node.affinities).toEqual(step.affinity);
  if (step.cpus !== undefined) expect(await node.cpusOf(pod)).toEqual(step.cpus);
}

async function reconcile(node: CpuNode, {updates, success = [], failure = []}: Step): Promise<void> {
  node.updates.length = 0;
  await node.reconcile();
  expect(node.updates).toEqual(updates);
  const {running} = node;
  expect(running.filter((name) => !failure.includes(name))).toEqual(success);
}
