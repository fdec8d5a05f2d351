import type {Pod} from '../../api/types/v1-pod.js';

/** Detects changes of pods between two samples. */
export class PodChangeDetector {
  #before: ReadonlyMap<string, {readonly pod: Pod; readonly text: string}> = new Map();

  /** Returns new and changed pods, and the last state of removed pods. */
  detect(pods: readonly Pod[], nowMs: number): readonly Pod[] {
    const now = new Map(pods.map((pod) => [pod.metadata.uid ?? '', {pod, text: JSON.stringify(pod)}]));
    const before = this.#before;
    this.#before = now;
    const changed = Array.from(now).filter(([uid, {text}]) => before.get(uid)?.text !== text);
    const removed = Array.from(before).filter(([uid]) => !now.has(uid));
    return [...removed.map(([, {pod}]) => ended(pod, nowMs)), ...changed.map(([, {pod}]) => pod)];
  }
}

/** Returns the final state of a pod that was removed between two samples, as being deleted. */
function ended(pod: Pod, nowMs: number): Pod {
  const deletionTimestamp = pod.metadata.deletionTimestamp ?? new Date(nowMs).toISOString();
  return {...pod, metadata: {...pod.metadata, deletionTimestamp}};
}
