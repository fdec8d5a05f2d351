import {findClosestMatch} from '../../base/closest-match.js';
import {ConfigError, type KcriError} from '../../base/errors.js';
import {podNameOf} from '../../operations/pods/pod-labels.js';
import {formatPodTitle} from './pod-title.js';
import {workloadWithoutPodsError} from './workload-pods.js';
import type {ListedPod} from './listed-pod.js';

/**
 * Returns the error for a word that names none of the pods: it names a container of `all`, or is close to the name of
 * one of the `candidates`.
 */
export function missingPodError(
  word: string,
  candidates: readonly ListedPod[],
  all: readonly ListedPod[],
): KcriError {
  const owners = all.filter((listed) => hasContainer(listed, word));
  if (owners.length > 0) {
    const titles = owners.map((owner) => `"${formatPodTitle(owner)}"`).join(', ');
    return new ConfigError(`"${word}" is a container, not a pod`, {
      hint: `use ${owners.length === 1 ? 'its pod' : 'one of the pods'} ${titles}`,
    });
  }
  const ofWorkload = workloadWithoutPodsError(word);
  if (ofWorkload !== undefined) return ofWorkload;
  const names = candidates.flatMap((listed) => [listed.name, formatPodTitle(listed)]);
  const closest = findClosestMatch(word, names);
  const hint = closest === undefined ? 'run "kcri get pods" to list pods' : `did you mean "${closest}"?`;
  return new ConfigError(`pod "${word}" not found`, {hint});
}

/** Reports whether a word is the ID, an ID prefix, the name, POD/NAME or NAMESPACE/POD/NAME of a container. */
function hasContainer({namespace, name: pod, inRuntime}: ListedPod, word: string): boolean {
  return (inRuntime?.containers ?? []).some((container) => {
    const name = container.metadata?.name ?? '';
    const owner = podNameOf(container) ?? pod;
    const names = [name, `${owner}/${name}`, `${namespace}/${owner}/${name}`];
    return names.includes(word) || (/^[0-9a-f]{4,}$/.test(word) && container.id.startsWith(word));
  });
}
