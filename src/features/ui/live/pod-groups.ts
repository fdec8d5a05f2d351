import {podKeyOf, computeTopGroups, type ListedSample, type TopGroup} from '../../top/model/top-item.js';
import type {ShownPod} from '../../pods/listed-pod.js';

/** State of a pod, on which its rows depend. */
interface PodState extends Pick<ShownPod, 'pod'> {
  readonly manager: string;
  readonly isStale: boolean;
  /** Exclusive CPUs of its containers. */
  readonly cpus: string;
}

interface KnownPod {
  readonly state: PodState;
  readonly group: TopGroup;
}

/**
 * Computes the rows of the pods that have changed since the last sample, without their usage; those of the others stay the same
 * objects.
 */
export class PodGroups {
  #known: ReadonlyMap<string, KnownPod> = new Map();

  /** Returns the rows of the samples of all nodes, as computeTopGroups does. */
  compute(samples: readonly ListedSample[]): readonly TopGroup[] {
    const known = new Map(samples.flatMap((sample) => this.#computeNode(sample)));
    this.#known = known;
    return [...known.values()].map(({group}) => group);
  }

  #computeNode(sample: ListedSample): readonly (readonly [string, KnownPod])[] {
    const pods = sample.shown.map((shown) => {
      const key = podKeyOf(sample.node, shown.listed.uid);
      const state = stateOf(sample, shown);
      const before = this.#known.get(key);
      return {
        key,
        shown,
        state,
        before: before !== undefined && isEqual(before.state, state) ? before : undefined,
      };
    });
    const changed = pods.flatMap(({shown, before}) => (before === undefined ? [shown] : []));
    const groups = computeTopGroups(
      [{...sample, usage: new Map(), shown: changed, pods: changed.map(({pod}) => pod)}],
      () => undefined,
    );
    const computed = new Map(groups.map((group) => [group.pod.podKey, group]));
    return pods.flatMap(({key, state, before}) => {
      const group = before?.group ?? computed.get(key);
      return group === undefined ? [] : [[key, {state, group}] as const];
    });
  }
}

function stateOf({exclusiveCpus, isStale}: ListedSample, {listed: {manager}, pod}: ShownPod): PodState {
  const cpus = [...(exclusiveCpus.get(pod.metadata.uid ?? '') ?? [])].map((entry) => entry.join(' '));
  return {pod, manager, isStale, cpus: cpus.join('\n')};
}

function isEqual(a: PodState, b: PodState): boolean {
  return a.pod === b.pod && a.cpus === b.cpus && a.isStale === b.isStale && a.manager === b.manager;
}
