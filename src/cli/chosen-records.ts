import {stat} from 'node:fs/promises';
import {ConfigError, hasErrno, isSystemCallError} from '../base/errors.js';
import {recordsNamed, recordsOfManifest, type PodRecord} from '../kubelet/index.js';
import type {InputStream} from './context.js';

/** Where manifests come from when they are named instead of a pod. */
export interface ManifestInput {
  readonly stdin: InputStream;
  readonly signal: AbortSignal;
}

/**
 * The pods that the words mean: names, `namespace/name`, UIDs, or manifests. Throws ConfigError for a word
 * that means none, or several where one was named.
 */
export async function chosenRecords(
  records: readonly PodRecord[],
  words: readonly string[],
  input: ManifestInput,
): Promise<readonly PodRecord[]> {
  const chosen = new Set<PodRecord>();
  for (const word of words) for (const record of await meant(records, word, input)) chosen.add(record);
  if (chosen.size > 0) return [...chosen];
  throw new ConfigError(`no Pod in ${words.map((word) => `"${word}"`).join(', ')}`, {
    hint: 'only Pods are ended; what they refer to was never made into anything',
  });
}

async function meant(
  records: readonly PodRecord[],
  word: string,
  input: ManifestInput,
): Promise<readonly PodRecord[]> {
  const named = recordsNamed(records, word);
  if (named.length === 1) return named;
  if (named.length > 1)
    throw new ConfigError(`the name "${word}" is ambiguous: ${named.map(title).toSorted().join(', ')}`, {
      hint: 'name the pod as namespace/name',
    });
  if (word === '-' || (await exists(word))) return await fromManifest(records, word, input);
  throw new ConfigError(`no pod "${word}" was made by kcri`, {
    hint:
      records.length === 0
        ? 'kcri has made no pods here'
        : `kcri's pods are: ${records.map(title).toSorted().join(', ')}`,
  });
}

async function fromManifest(
  records: readonly PodRecord[],
  source: string,
  {stdin, signal}: ManifestInput,
): Promise<readonly PodRecord[]> {
  const {readManifests} = await import('../operations/read-manifests.js');
  // A field that has become wrong since must not keep anybody from deleting the pod.
  const {pods} = await readManifests([source], {stdin, signal, lenient: true, podless: true});
  const found = pods.flatMap(({pod}) => recordsOfManifest(records, pod));
  if (found.length === 0 && pods.length > 0) throw new ConfigError(`no pod of "${source}" was made by kcri`);
  return found;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    // Longer than a path may be: no file, and no pod's name either.
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG')) return false;
    if (isSystemCallError(error)) return true; // whoever reads it says what is wrong with it
    throw error;
  }
}

const title = ({namespace, name}: PodRecord): string => `${namespace}/${name}`;
