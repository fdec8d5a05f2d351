import type {Pod} from '../../api/v1.js';

/** Finds out what has changed of pods from one look to the next. */
export class PodChanges {
  #before: ReadonlyMap<string, {readonly pod: Pod; readonly text: string}> = new Map();

  /** The pods that are new or not as they were, and those that are gone, as they ended. */
  since(pods: readonly Pod[], nowMs: number): readonly Pod[] {
    const now = new Map(pods.map((pod) => [pod.metadata.uid ?? '', {pod, text: JSON.stringify(pod)}]));
    const before = this.#before;
    this.#before = now;
    const changed = Array.from(now).filter(([uid, {text}]) => before.get(uid)?.text !== text);
    const gone = Array.from(before).filter(([uid]) => !now.has(uid));
    return [...gone.map(([, {pod}]) => ended(pod, nowMs)), ...changed.map(([, {pod}]) => pod)];
  }
}

/** A pod that ended between two looks was being deleted, unseen. */
function ended(pod: Pod, nowMs: number): Pod {
  const deletionTimestamp = pod.metadata.deletionTimestamp ?? new Date(nowMs).toISOString();
  return {...pod, metadata: {...pod.metadata, deletionTimestamp}};
}
