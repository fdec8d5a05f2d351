import type {PodRef} from '../../kubelet/index.js';

/** `namespace/name`, as people name pods. */
export function podTitle({namespace, name}: Pick<PodRef, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

/** `412ms` or `3.1s`; empty for what was not measured. */
export function tookText(ms: number | undefined): string {
  if (ms === undefined) return '';
  return ms < 1000 ? `${Math.round(ms)}ms` : `${(ms / 1000).toFixed(1)}s`;
}
