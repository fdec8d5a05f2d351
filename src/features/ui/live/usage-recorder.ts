import type {TopGroup} from '../../top/model/top-item.js';
import type {UiHistory, UiNode} from '../protocol.js';
import type {PodUsage} from './pod-usages.js';
import {RowHistory} from './row-history.js';

/** Nodes and pods of a sample. */
export interface RecordedSample {
  readonly groups: readonly TopGroup[];
  /** Usage by the key of a pod's row. */
  readonly usages: ReadonlyMap<string, PodUsage>;
  readonly nodes: readonly UiNode[];
  readonly nowMs: number;
}

interface RecordedPod {
  readonly group: TopGroup;
  readonly usage: PodUsage | undefined;
}

/** Records the usage of nodes, pods and containers. Only rows that have changed since the last sample are touched. */
export class UsageRecorder {
  readonly #history = new RowHistory();
  #pods: ReadonlyMap<string, RecordedPod> = new Map();

  /** Recent usage of all rows. */
  get rows(): Readonly<Record<string, UiHistory>> {
    return this.#history.rows;
  }

  /** Adds a sample, and forgets pods that do not exist any more. Those of a node that fails are kept without a sample. */
  record({groups, usages, nodes, nowMs}: RecordedSample): void {
    this.#history.begin(nowMs);
    for (const {key, failure, cpuPercent = null, memoryBytes = null} of nodes)
      this.#history.set(key, failure === undefined ? {cpuPercent, memoryBytes} : undefined);
    const before = this.#pods;
    const pods = new Map<string, RecordedPod>();
    for (const group of groups) {
      const {key} = group.pod;
      const known = before.get(key);
      const usage = usages.get(key);
      const isSame = known?.group === group && known.usage === usage;
      if (!isSame) this.#recordPod({group, usage}, known);
      pods.set(key, isSame ? known : {group, usage});
    }
    for (const [key, {group}] of before) if (!pods.has(key)) this.#forget(rowKeys(group));
    this.#pods = pods;
  }

  #recordPod({group, usage}: RecordedPod, before: RecordedPod | undefined): void {
    const keys = rowKeys(group);
    for (const [index, key] of keys.entries()) {
      const [cpuPercent = null, memoryBytes = null] = usage?.numbers.slice(2 * index) ?? [];
      this.#history.set(key, group.pod.isStale ? undefined : {cpuPercent, memoryBytes});
    }
    if (before === undefined || before.group === group) return;
    const present = new Set(keys);
    this.#forget(rowKeys(before.group).filter((key) => !present.has(key)));
  }

  #forget(keys: readonly string[]): void {
    for (const key of keys) this.#history.delete(key);
  }
}

/** Returns the keys of a pod and its containers, in the order of its usage. */
function rowKeys({pod, containers}: TopGroup): readonly string[] {
  return [pod.key, ...containers.map(({key}) => key)];
}
