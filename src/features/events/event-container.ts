import type {PodEvent} from '../../kubelet/index.js';

/** Returns the container of an event; undefined if it concerns the pod. */
export function eventContainer({fieldPath = ''}: Pick<PodEvent, 'fieldPath'>): string | undefined {
  return /\{(.+)\}$/.exec(fieldPath)?.[1];
}
