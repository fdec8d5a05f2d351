import {hasEnded} from '../api/v1-status.js';
import type {PodSandbox} from '../cri/index.js';
import type {LocalPodsOptions} from './local-pods-options.js';
import type {PodRecord, PodRecords, PodStore} from './pod/pod-store.js';

/** What is asked of all pods to tell how one of them stands. Each rejects like what it asks. */
export interface PodNeighbours {
  /** kcri's pods. */
  readonly records: () => Promise<PodRecords>;
  /** Those of them that have not ended. */
  readonly active: () => Promise<readonly PodRecord[]>;
  /** Everybody's, in the runtime. */
  readonly sandboxes: () => Promise<readonly PodSandbox[]>;
}

/** Where it is found. */
export interface NeighbourSources extends Pick<LocalPodsOptions, 'services' | 'histories'> {
  readonly store: Pick<PodStore, 'list'>;
}

/** `share` makes an answer do for several questions: asked for each pod, the cost would grow with the pods' square. */
export function neighboursFrom(
  {store, services, histories}: NeighbourSources,
  share: <T>(ask: () => Promise<T>) => () => Promise<T>,
): PodNeighbours {
  const records = share(async () => await store.list());
  return {
    records,
    active: share(async () => await activeAmong((await records()).records, histories)),
    sandboxes: share(async () => (await services.runtime.listPodSandbox({})).items),
  };
}

async function activeAmong(
  records: readonly PodRecord[],
  histories: LocalPodsOptions['histories'],
): Promise<readonly PodRecord[]> {
  const active: PodRecord[] = [];
  for (const record of records) {
    const phase = (await histories?.lastKnown(record.uid))?.status.phase;
    if (!hasEnded(phase)) active.push(record);
  }
  return active;
}
