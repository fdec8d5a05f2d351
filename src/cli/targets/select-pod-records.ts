import {stat} from 'node:fs/promises';
import {belongsTo, parseWorkload, workloadRef} from '../../api/workloads/workload-of-pod.js';
import {ConfigError, hasErrno, isSystemCallError} from '../../base/errors.js';
import {isHttpUrl} from '../../base/is-http-url.js';
import {redactUrlText} from '../../format/redact-url.js';
import {findRecordsByName, findRecordsOfManifest, type PodRecord} from '../../kubelet/index.js';
import type {FetchManifestText} from '../../operations/manifests/read-manifests.js';
import type {InputStream} from '../context.js';
import {podNotFound} from './pod-not-found.js';
import {formatPodTitle} from '../sync/view/sync-text.js';

/** Source of manifests that are named instead of pods. */
export interface ManifestInput {
  readonly stdin: InputStream;
  /** Namespace of named pods, and of Pods in manifests without one; any by default. */
  readonly namespace?: string | undefined;
  /** Reads the manifest at a URL. */
  readonly fetch: FetchManifestText;
  readonly signal: AbortSignal;
}

/**
 * Returns the pods that the words select: names, `namespace/name`, UIDs, workloads such as
 * `deployment/web`, or manifests. Rejects with ConfigError for a
 * word that matches no pod, or several where one was expected.
 */
export async function selectPodRecords(
  records: readonly PodRecord[],
  words: readonly string[],
  input: ManifestInput,
): Promise<readonly PodRecord[]> {
  const chosen = new Set<PodRecord>();
  for (const word of words) for (const record of await guess(records, word, input)) chosen.add(record);
  if (chosen.size > 0) return [...chosen];
  throw new ConfigError(`no Pod in ${words.map((word) => `"${nameOf(word)}"`).join(', ')}`, {
    hint: 'only Pods can be deleted; kcri does not create objects of other kinds',
  });
}

async function guess(
  records: readonly PodRecord[],
  word: string,
  input: ManifestInput,
): Promise<readonly PodRecord[]> {
  const {namespace} = input;
  const named = findRecordsByName(records, word).filter(
    (record) => namespace === undefined || record.namespace === namespace,
  );
  // Several records of one name are a pod and earlier ones that are not removed completely.
  const titles = [...new Set(named.map(formatPodTitle))];
  if (titles.length === 1) return named;
  if (titles.length > 1)
    throw new ConfigError(`the name "${word}" is ambiguous: ${titles.toSorted().join(', ')}`, {
      hint: 'use NAMESPACE/NAME',
    });
  const workload = parseWorkload(word);
  const created =
    workload === undefined ? [] : records.filter(({pod}) => belongsTo(pod, {...workload, namespace}));
  if (created.length > 0) return created;
  if (word === '-' || isHttpUrl(word) || (await exists(word)))
    return await fromManifest(records, word, input);
  throw podNotFound(word, records);
}

async function fromManifest(
  records: readonly PodRecord[],
  source: string,
  {stdin, namespace, fetch, signal}: ManifestInput,
): Promise<readonly PodRecord[]> {
  const [{readManifests}, {ManifestEditor}] = await Promise.all([
    import('../../operations/manifests/read-manifests.js'),
    import('../../operations/manifests/manifest-overrides.js'),
  ]);
  const {edit} = new ManifestEditor({namespace});
  // An invalid field in the manifest must not prevent the deletion of its pod.
  const reading = {stdin, signal, edit, fetch, lenient: true, allowNoPods: true};
  const {pods, workloads} = await readManifests([source], reading);
  const refs = workloads.map(({workload}) => workloadRef(workload));
  const found = [
    ...pods.flatMap(({pod}) => findRecordsOfManifest(records, pod)),
    // The manifest may have changed: its previous pods are deleted too.
    ...records.filter(({pod}) => refs.some((ref) => belongsTo(pod, ref))),
  ];
  if (found.length === 0 && pods.length > 0)
    throw new ConfigError(`no pod of "${nameOf(source)}" was created by kcri`);
  return [...new Set(found)];
}

/** Returns a word as it may be shown: a URL without its credentials. */
function nameOf(word: string): string {
  return isHttpUrl(word) ? redactUrlText(word) : word;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    // A word longer than a path is neither a file nor a pod name.
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG')) return false;
    if (isSystemCallError(error)) return true; // reading the file reports the error
    throw error;
  }
}
