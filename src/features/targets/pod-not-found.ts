import {parseWorkload} from '../../api/workloads/workload-of-pod.js';
import {findClosestMatch} from '../../base/closest-match.js';
import {ConfigError, type KcriError} from '../../base/errors.js';
import type {PodRef} from '../../kubelet/index.js';
import {formatPodTitle} from '../pods/pod-title.js';

/** Returns the error for a word that names none of the pods created by kcri, where only those are accepted. */
export function podNotFound(word: string, records: readonly Pick<PodRef, 'namespace' | 'name'>[]): KcriError {
  const closest = findClosestMatch(
    word,
    records.flatMap((record) => [record.name, formatPodTitle(record)]),
  );
  const what = parseWorkload(word) === undefined ? `pod "${word}" not found` : `"${word}" has no pods here`;
  return new ConfigError(what, {
    hint: closest === undefined ? hintOnList(records) : `did you mean "${closest}"?`,
  });
}

function hintOnList(records: readonly Pick<PodRef, 'namespace' | 'name'>[]): string {
  return records.length === 0
    ? 'kcri has not created any such pods'
    : 'run "kcri get pods --manager=kcri" to list the pods created by kcri; "kcri rmp" removes others';
}
