import {ConfigError, type KcriError} from '../../base/errors.js';
import type {PodRecord} from '../../kubelet/index.js';
import {formatPodTitle} from '../sync/view/sync-text.js';

/** Returns the error for a word that names none of the pods created by kcri. */
export function podNotFound(word: string, records: readonly PodRecord[]): KcriError {
  return new ConfigError(`pod "${word}" not found`, {
    hint:
      records.length === 0
        ? 'kcri has not created any such pods'
        : `pods created by kcri: ${records.map(formatPodTitle).toSorted().join(', ')}`,
  });
}
