import {findClosestMatch} from '../../base/closest-match.js';
import {ConfigError, type KcriError} from '../../base/errors.js';
import type {PodRecord} from '../../kubelet/index.js';
import {formatPodTitle} from '../sync/view/sync-text.js';

/** Returns the error for a word that names none of the pods created by kcri. */
export function podNotFound(word: string, records: readonly PodRecord[]): KcriError {
  const closest = findClosestMatch(
    word,
    records.flatMap((record) => [record.name, formatPodTitle(record)]),
  );
  return new ConfigError(`pod "${word}" not found`, {
    hint: closest === undefined ? hintOnList(records) : `did you mean "${closest}"?`,
  });
}

function hintOnList(records: readonly PodRecord[]): string {
  return records.length === 0
    ? 'kcri has not created any such pods'
    : 'run "kcri get pods" to list the pods created by kcri';
}
