import type {PodRef} from '../../kubelet/index.js';

/** Formats a pod as NAMESPACE/NAME. */
export function formatPodTitle({namespace, name}: Pick<PodRef, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}
