import type {ContainerState} from '../../cri/index.js';
import type {RecordedPodEvent} from '../events/event-table.js';
import type {ListedPod} from '../pods/listed-pod.js';

/** Container as of a sample. */
interface SeenContainer {
  readonly listed: ListedPod;
  readonly name: string;
  readonly state: ContainerState;
}

const REASONS: Readonly<Record<ContainerState, string>> = {
  CONTAINER_CREATED: 'Created',
  CONTAINER_RUNNING: 'Started',
  CONTAINER_EXITED: 'Stopped',
  CONTAINER_UNKNOWN: 'Unknown',
};

/**
 * Derives events of pods that kcri did not create from samples of the runtime, since their events are stored
 * elsewhere. Works on runtimes without event streams too.
 */
export class RuntimeEventDetector {
  #before: ReadonlyMap<string, SeenContainer> | undefined;

  /** Returns what happened to containers since the last sample; nothing for the first one. */
  detect(listed: readonly ListedPod[], nowMs: number): readonly RecordedPodEvent[] {
    const before = this.#before;
    const now = new Map(listed.filter(({manager}) => manager !== 'kcri').flatMap(containersOf));
    this.#before = now;
    if (before === undefined) return [];
    const time = new Date(nowMs).toISOString();
    const changed = [...now].filter(([id, {state}]) => before.get(id)?.state !== state);
    const deleted = [...before].filter(([id]) => !now.has(id));
    return [
      ...deleted.map(([, seen]) => toEvent(seen, 'Deleted', time)),
      ...changed.map(([, seen]) => toEvent(seen, REASONS[seen.state], time)),
    ];
  }
}

function containersOf(listed: ListedPod): readonly (readonly [string, SeenContainer])[] {
  return (listed.inRuntime?.containers ?? []).map(({id, metadata, state}) => [
    id,
    {listed, name: metadata?.name ?? '', state},
  ]);
}

function toEvent({listed, name: container}: SeenContainer, reason: string, time: string): RecordedPodEvent {
  const {uid, namespace, name, labels} = listed;
  const metadata = {uid, namespace, name, labels};
  return {
    record: {uid, namespace, name, pod: {apiVersion: 'v1', kind: 'Pod', metadata, spec: {containers: []}}},
    component: 'runtime',
    event: {
      type: 'Normal',
      reason,
      message: `Container ${container} ${reason === 'Unknown' ? 'is in an unknown state' : reason.toLowerCase()}`,
      fieldPath: `spec.containers{${container}}`,
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
    },
  };
}
