import type {TopGroup, TopItem} from '../../../src/features/top/model/top-item.js';
import {createTopState, rearrange, type TopState} from '../../../src/features/top/model/top-state.js';

/** Returns the row of a container. */
export function aContainerItem(pod: string, name: string, fields: Partial<TopItem> = {}): TopItem {
  return {
    key: `container ${pod} ${name}`,
    kind: 'container',
    podKey: pod,
    node: undefined,
    isStale: false,
    namespace: 'default',
    pod,
    name,
    ready: 'yes',
    state: 'Running',
    restarts: 0,
    probes: '',
    cpuPercent: 1,
    memoryBytes: 1_000_000,
    startedMs: 0,
    manager: 'kcri',
    exclusiveCpus: '',
    containerId: `id-of-${name}`,
    ...fields,
  };
}

/** Returns a pod with one container per name. */
export function aGroup(pod: string, names: readonly string[], fields: Partial<TopItem> = {}): TopGroup {
  const item = aContainerItem(pod, pod, {...fields, containerId: undefined});
  return {
    pod: {...item, key: `pod ${pod}`, kind: 'pod'},
    containers: names.map((name) => aContainerItem(pod, name, fields)),
  };
}

/** Returns a state with these pods on a terminal of a size. */
export function aTopState(groups: readonly TopGroup[], fields: Partial<TopState> = {}): TopState {
  const node = {
    name: 'node-1',
    cores: 4,
    cpuPercent: 25,
    memoryBytes: 2_000_000_000,
    memoryTotalBytes: 8_000_000_000,
  };
  const state = createTopState({columns: 80, rows: 24}, node);
  return rearrange({...state, groups, sampledMs: 0, ...fields});
}
