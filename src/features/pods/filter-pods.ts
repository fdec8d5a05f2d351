import {parseLabelSelector} from './label-selector.js';
import type {ListedPod} from './listed-pod.js';
import {parsePodManager, type PodSelectionFlagValues} from './pod-selection-flags.js';
import {formatPodTitle} from './pod-title.js';

/** Returns the pods that flags select, sorted by namespace and name. Throws UsageError. */
export function filterPods(
  pods: readonly ListedPod[],
  {namespace, selector, manager}: PodSelectionFlagValues,
): readonly ListedPod[] {
  const matches = parseLabelSelector(selector ?? '');
  const wanted = parsePodManager(manager);
  return pods
    .filter((listed) => wanted === undefined || listed.manager === wanted)
    .filter((listed) => namespace === undefined || listed.namespace === namespace)
    .filter(({labels}) => matches(labels))
    .map((listed) => ({listed, title: formatPodTitle(listed)}))
    .sort((a, b) => (a.title < b.title ? -1 : 1))
    .map(({listed}) => listed);
}
