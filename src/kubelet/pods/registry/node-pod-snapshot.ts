import {hasEnded} from '../../../api/types/v1-status.js';
import type {PodSandbox} from '../../../cri/index.js';
import type {PodRegistryOptions} from './pod-registry-options.js';
import type {PodRecord, PodRecords, PodStore} from './pod-store.js';

/** Records and sandboxes of all pods of the node. Each function rejects with SystemError or CriError. */
export interface NodePodSnapshot {
  /** Returns the records of kcri's pods. */
  readonly records: () => Promise<PodRecords>;
  /** Returns the records of pods that are not terminal. */
  readonly active: () => Promise<readonly PodRecord[]>;
  /** Returns all sandboxes of the runtime. */
  readonly sandboxes: () => Promise<readonly PodSandbox[]>;
}

/** Sources of a NodePodSnapshot. */
export interface NodePodSnapshotSources extends Pick<PodRegistryOptions, 'services' | 'histories'> {
  readonly store: Pick<PodStore, 'list'>;
}

/** Creates a snapshot; `share` makes several callers use one result, since reading it per pod takes quadratic time. */
export function createNodePodSnapshot(
  {store, services, histories}: NodePodSnapshotSources,
  share: <T>(load: () => Promise<T>) => () => Promise<T>,
): NodePodSnapshot {
  const records = share(async () => await store.list());
  return {
    records,
    active: share(async () => await activeAmong((await records()).records, histories)),
    sandboxes: share(async () => (await services.runtime.listPodSandbox({})).items),
  };
}

async function activeAmong(
  records: readonly PodRecord[],
  histories: PodRegistryOptions['histories'],
): Promise<readonly PodRecord[]> {
  const active: PodRecord[] = [];
  for (const record of records) {
    const phase = (await histories?.lastKnown(record.uid))?.status.phase;
    if (!hasEnded(phase)) active.push(record);
  }
  return active;
}
