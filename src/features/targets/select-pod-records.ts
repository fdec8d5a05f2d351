import {stat} from 'node:fs/promises';
import type {ApiObject} from '../../api/types/v1-objects.js';
import {belongsTo, parseWorkload, workloadRef} from '../../api/workloads/workload-of-pod.js';
import {ConfigError, hasErrno, isSystemCallError, type KcriError} from '../../base/errors.js';
import {isHttpUrl} from '../../base/is-http-url.js';
import {redactUrlText} from '../../format/redact-url.js';
import {findRecordsByName, findRecordsOfManifest, type PodRecord, type PodRef} from '../../kubelet/index.js';
import type {FetchManifestText} from '../../operations/manifests/read-manifests.js';
import type {InputStream} from '../../cli/process/standard-input.js';
import {formatPodTitle} from '../pods/pod-title.js';
import {findClosestMatch} from '../../base/closest-match.js';

/** Source of manifests that are named instead of pods. */
export interface ManifestInput {
  readonly stdin: InputStream;
  /** Namespace of named pods, and of Pods in manifests without one; any by default. */
  readonly namespace?: string | undefined;
  /** Reads the manifest at a URL. */
  readonly fetch: FetchManifestText;
  readonly signal: AbortSignal;
}

/** Records that words select, and the words that match none. */
export interface SelectedRecords {
  readonly selected: readonly PodRecord[];
  readonly missing: readonly {readonly word: string; readonly error: KcriError}[];
  /** Objects of the manifests. */
  readonly objects: readonly ApiObject[];
}

/** Records of a manifest, and its objects. */
interface ManifestRecords {
  readonly records: readonly PodRecord[] | KcriError;
  readonly objects: readonly ApiObject[];
}

/** Words of a command line: pods, workloads or manifests, and `files`, which are manifests only. */
export interface RecordWords {
  readonly words: readonly string[];
  readonly files: readonly string[];
}

/**
 * Returns the pods that the words select: names, `namespace/name`, UIDs, workloads such as
 * `deployment/web`, or manifests. Rejects with ConfigError for a word that is ambiguous, and if manifests without Pods
 * are all that is named.
 */
export async function selectPodRecords(
  records: readonly PodRecord[],
  {words, files}: RecordWords,
  input: ManifestInput,
): Promise<SelectedRecords> {
  const chosen = new Set<PodRecord>();
  const missing: {readonly word: string; readonly error: KcriError}[] = [];
  const add = (word: string, found: readonly PodRecord[] | KcriError): void => {
    if (found instanceof Error) missing.push({word, error: found});
    else for (const record of found) chosen.add(record);
  };
  const objects: ApiObject[] = [];
  const addManifest = (source: string, found: ManifestRecords): void => {
    add(source, found.records);
    objects.push(...found.objects);
  };
  for (const word of words) {
    const found = await guess(records, word, input);
    if ('objects' in found) addManifest(word, found);
    else add(word, found);
  }
  for (const file of files) addManifest(file, await fromManifest(records, file, input));
  if (chosen.size > 0 || missing.length > 0) return {selected: [...chosen], missing, objects};
  throw new ConfigError(`no Pod in ${[...words, ...files].map((word) => `"${nameOf(word)}"`).join(', ')}`, {
    hint: 'only Pods can be deleted; kcri does not create objects of other kinds',
  });
}

/** Returns the records that a word selects, or the error that there are none. Rejects with ConfigError. */
async function guess(
  records: readonly PodRecord[],
  word: string,
  input: ManifestInput,
): Promise<readonly PodRecord[] | KcriError | ManifestRecords> {
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
  return podNotFound(word, records);
}

async function fromManifest(
  records: readonly PodRecord[],
  source: string,
  {stdin, namespace, fetch, signal}: ManifestInput,
): Promise<ManifestRecords> {
  const [{readManifests}, {ManifestEditor}] = await Promise.all([
    import('../../operations/manifests/read-manifests.js'),
    import('../../operations/manifests/manifest-overrides.js'),
  ]);
  const {edit} = new ManifestEditor({namespace});
  // An invalid field in the manifest must not prevent the deletion of its pod.
  const reading = {stdin, signal, edit, fetch, lenient: true, allowNoPods: true};
  const {pods, workloads, objects: documents} = await readManifests([source], reading);
  const objects = documents.map(({object}) => object);
  const refs = workloads.map(({workload}) => workloadRef(workload));
  const found = [
    ...pods.flatMap(({pod}) => findRecordsOfManifest(records, pod)),
    // The manifest may have changed: its previous pods are deleted too.
    ...records.filter(({pod}) => refs.some((ref) => belongsTo(pod, ref))),
  ];
  if (found.length === 0 && pods.length > 0)
    return {records: new ConfigError(`no pod of "${nameOf(source)}" was created by kcri`), objects};
  return {records: [...new Set(found)], objects};
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

/** Returns the error for a word that names none of the pods created by kcri, where only those are accepted. */
function podNotFound(word: string, records: readonly Pick<PodRef, 'namespace' | 'name'>[]): KcriError {
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
