import type {UiContainer, UiHistory, UiNode, UiPod} from '../../../src/features/ui/protocol.js';

/** Time of the fake server, in ms since the epoch. */
export const UI_NOW_MS = Date.parse('2026-11-28T12:00:00Z');

const GB = 1e9;
const MB = 1e6;

/** Returns a node of the page. */
export function aUiNode(overrides: Partial<UiNode> = {}): UiNode {
  const name = overrides.name ?? 'node-1';
  return {
    key: `node ${name}`,
    name,
    cpuPercent: 23,
    cores: 8,
    memoryBytes: 9.4 * GB,
    memoryTotalBytes: 32 * GB,
    disks: [
      {name: 'nodefs', usedBytes: 61 * GB, totalBytes: 100 * GB},
      {name: 'imagefs', usedBytes: 38 * GB, totalBytes: 200 * GB},
    ],
    pressure: {cpu: 1.2, memory: 0, io: 3.4},
    runtime: 'containerd 2.1.4',
    ...overrides,
  };
}

/** Returns a container of a pod of the page. */
export function aUiContainer(podKey: string, overrides: Partial<UiContainer> = {}): UiContainer {
  const name = overrides.name ?? 'app';
  return {
    key: `container ${podKey} ${name}`,
    name,
    state: 'Running',
    tone: 'good',
    ready: 'yes',
    restarts: 0,
    cpuPercent: 4.2,
    memoryBytes: 64 * MB,
    startedMs: UI_NOW_MS - 3_600_000,
    image: 'registry.example/web:1.4',
    id: 'c0ffee'.repeat(10),
    ...overrides,
  };
}

/** Returns a running pod of the page. */
export function aUiPod(overrides: Partial<UiPod> = {}): UiPod {
  const {node = 'node-1', namespace = 'default', name = 'web'} = overrides;
  const key = overrides.key ?? `pod ${node} ${namespace} ${name}`;
  return {
    key,
    node,
    namespace,
    name,
    uid: `uid-of-${name}`,
    manager: 'kcri',
    state: 'Running',
    tone: 'good',
    ready: '1/1',
    restarts: 0,
    cpuPercent: 4.2,
    memoryBytes: 64 * MB,
    startedMs: UI_NOW_MS - 3_600_000,
    containers: [aUiContainer(key)],
    ...overrides,
  };
}

/** Returns the same wave of usage in every run. */
export function aUiHistory(
  {cpu, memory}: {readonly cpu: number; readonly memory: number},
  samples = 120,
): UiHistory {
  const indexes = Array.from({length: samples}, (_, index) => index);
  const wave = (index: number): number =>
    1 + 0.35 * Math.sin(index / 7 + cpu) + 0.2 * Math.sin(index / 2.3 + memory);
  return {
    timesMs: indexes.map((index) => UI_NOW_MS - (samples - 1 - index) * 2000),
    cpuPercent: indexes.map((index) => Math.max(cpu * wave(index), 0)),
    memoryBytes: indexes.map((index) => memory * (0.9 + (0.1 * index) / samples)),
  };
}

/** Returns many pods of several namespaces, states and managers, with two containers each. */
export function manyUiPods(count: number, nodes: readonly string[] = ['node-1']): readonly UiPod[] {
  return Array.from({length: count}, (_, index) => {
    const isBad = index % 23 === 7;
    const node = nodes[index % nodes.length] ?? 'node-1';
    const name = `service-${String(index).padStart(3, '0')}`;
    const key = `pod ${node} ${name}`;
    const state = isBad ? ({state: 'CrashLoopBackOff', tone: 'bad'} as const) : {};
    return aUiPod({
      key,
      node,
      name,
      namespace: ['default', 'shop', 'monitoring'][index % 3] ?? 'default',
      manager: index % 4 === 0 ? 'kubelet' : 'kcri',
      restarts: isBad ? 12 : index % 5 === 0 ? 1 : 0,
      ready: isBad ? '1/2' : '2/2',
      cpuPercent: (index * 7) % 90,
      memoryBytes: (20 + ((index * 13) % 400)) * MB,
      startedMs: UI_NOW_MS - (index + 1) * 97_000,
      ...state,
      ...(isBad && {why: 'container app exits with code 1: cannot connect to db:5432'}),
      containers: [
        aUiContainer(key, {cpuPercent: ((index * 7) % 90) / 2, ...state}),
        aUiContainer(key, {
          name: 'proxy',
          image: 'registry.example/proxy:2.0',
          cpuPercent: ((index * 7) % 90) / 2,
        }),
      ],
    });
  });
}
