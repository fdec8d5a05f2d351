import type {PodEvent, PodRef} from '../../../kubelet/index.js';

/** Formats a pod as NAMESPACE/NAME. */
export function formatPodTitle({namespace, name}: Pick<PodRef, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

/** Returns the container of an event; undefined if it concerns the pod. */
export function eventContainer({fieldPath = ''}: Pick<PodEvent, 'fieldPath'>): string | undefined {
  return /\{(.+)\}$/.exec(fieldPath)?.[1];
}

/** Formats a duration as `412ms` or `3.1s`; empty if undefined. */
export function formatElapsed(ms: number | undefined): string {
  if (ms === undefined) return '';
  return ms < 1000 ? `${Math.round(ms)}ms` : `${(ms / 1000).toFixed(1)}s`;
}
