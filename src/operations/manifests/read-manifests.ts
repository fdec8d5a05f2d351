import {readdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import type {Readable} from 'node:stream';
import type {LoadedManifest} from '../../api/manifest/load-manifest.js';
import {loadManifest} from '../../api/manifest/load-manifest.js';
import type {
  DocumentLocation,
  EditDocument,
  ObjectDocument,
  PodDocument,
  RemovedFields,
  SkippedDocument,
  WorkloadDocument,
} from '../../api/manifest/parse-manifest.js';
import type {ManifestIssue} from '../../api/decoding/manifest-issue.js';
import {PodValidationError} from '../../api/decoding/manifest-issue.js';
import {unsupportedValue} from '../../api/field-error.js';
import {FieldPath} from '../../api/field-path.js';
import {serviceNotices} from '../../api/services/service-notices.js';
import type {ObjectMeta} from '../../api/types/v1-meta.js';
import type {Pod} from '../../api/types/v1-pod.js';
import type {Service} from '../../api/types/v1-services.js';
import {claimKey} from '../../api/claims/bind-claims.js';
import {expandClaims, expandDocuments} from '../../api/manifest/expand-documents.js';
import {ConfigError, isSystemCallError, messageOf, UsageError} from '../../base/errors.js';
import {isHttpUrl} from '../../base/is-http-url.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {ifPresent} from '../../base/fs/files.js';
import {notAFileError} from '../../base/fs/read-text-file.js';
import {claimProblems} from './claim-issues.js';
import {readFileText, readStreamText, type NamedText} from './read-text.js';

/** Options of readManifests. */
export interface ReadManifestsOptions {
  readonly stdin: Readable;
  /** Reports unknown fields and duplicate keys as warnings instead of errors. */
  readonly lenient?: boolean | undefined;
  /** Rejects objects of kinds without effect, and the token of an exported Pod, instead of skipping them. */
  readonly strict?: boolean | undefined;
  /** Number of replicas of workloads, instead of that of their manifests. */
  readonly replicas?: number | undefined;
  /** Accepts manifests without Pods. */
  readonly allowNoPods?: boolean | undefined;
  /** Changes each document before it is decoded. */
  readonly edit?: EditDocument | undefined;
  /** Reads the manifest at a URL; without it, a URL is a file name. */
  readonly fetch?: FetchManifestText | undefined;
  readonly signal: AbortSignal;
}

/** Reads the text at a URL; its name has no credentials. */
export type FetchManifestText = (url: string, signal: AbortSignal) => Promise<NamedText>;

/** A Service of a manifest. */
export interface ServiceDocument extends DocumentLocation {
  readonly object: Service;
}

/** A manifest source: a file, a directory, a URL, `-`, or text that has been read. */
export type ManifestSource = string | NamedText;

/** Validated objects of several manifests with API defaults, and warnings. */
export interface ManifestSet {
  /** Pods, followed by the pods of the workloads. */
  readonly pods: readonly PodDocument[];
  readonly workloads: readonly WorkloadDocument[];
  /** Objects that the Pods may refer to. */
  readonly objects: readonly ObjectDocument[];
  /** Objects without effect. */
  readonly skipped: readonly SkippedDocument[];
  /** Names of the files that were read. */
  readonly files: readonly string[];
  /** Warnings in the form `file:line:column: message`. */
  readonly warnings: readonly string[];
  /** Notes on what was removed from exported objects. */
  readonly notes: readonly string[];
}

const STDIN = '-';
const MANIFEST_NAME = /^[^.].*\.(yaml|yml|json)$/;

function unreadableError(file: string, error: unknown): ConfigError {
  return new ConfigError(`cannot read manifest "${file}": ${systemErrorMessage(error)}`, {cause: error});
}

/** Returns the manifests of a directory sorted by name, without subdirectories and hidden files. */
async function listDirectory(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory);
  const candidates = entries.filter((name) => MANIFEST_NAME.test(name)).sort();
  const files: string[] = [];
  for (const name of candidates) {
    const file = join(directory, name);
    if (await isRegularFile(file)) files.push(file);
  }
  if (files.length > 0) return files;
  throw new ConfigError(`no manifests in directory "${directory}"`, {
    hint: 'manifests end in .yaml, .yml or .json; subdirectories are not searched',
  });
}

/** Reports whether the entry of a directory is a manifest. A dangling link is one, whose reading fails with its name. */
async function isRegularFile(file: string): Promise<boolean> {
  const found = await ifPresent(() => stat(file));
  return found?.isFile() ?? true;
}

/** Returns the files of a source on the command line. */
async function filesOf(source: string): Promise<readonly string[]> {
  const kind = await stat(source);
  if (kind.isDirectory()) return await listDirectory(source);
  if (kind.isFile()) return [source];
  throw notAFileError(source);
}

/** Reads one text. Rejects with ConfigError. */
type ReadText = () => Promise<NamedText>;

/** Returns the texts of a source, unread. Rejects with ConfigError. */
async function textsOf(
  source: ManifestSource,
  {stdin, fetch, signal}: ReadManifestsOptions,
): Promise<readonly ReadText[]> {
  if (typeof source !== 'string') return [() => Promise.resolve(source)];
  if (fetch !== undefined && isHttpUrl(source)) return [() => fetch(source, signal)];
  const reader = (file: string, read: () => Promise<string>) => async (): Promise<NamedText> => ({
    file,
    text: await withFileName(file, read),
  });
  if (source === STDIN) {
    const read = reader('stdin', () => readStreamText(stdin, 'stdin', signal));
    return [async () => ({...(await read()), origin: STDIN})];
  }
  const files = await withFileName(source, () => filesOf(source));
  return files.map((file) => reader(file, () => readFileText(file, signal)));
}

/** Manifests that could be loaded, and the errors of the others. */
interface LoadedSources {
  readonly manifests: readonly LoadedManifest[];
  readonly files: readonly string[];
  readonly errors: readonly ConfigError[];
}

async function loadSources(
  sources: readonly ManifestSource[],
  options: ReadManifestsOptions,
): Promise<LoadedSources> {
  const {lenient, edit} = options;
  const manifests: LoadedManifest[] = [];
  const files: string[] = [];
  const errors: ConfigError[] = [];
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      // The others may be invalid too.
      if (!(error instanceof ConfigError)) throw error;
      errors.push(error);
    }
  };
  for (const source of sources)
    await attempt(async () => {
      for (const read of await textsOf(source, options))
        await attempt(async () => {
          const {file, origin, text} = await read();
          manifests.push(loadManifest(text, {file, origin, lenient, edit}));
          files.push(file);
        });
    });
  return {manifests, files, errors};
}

/** Throws one error with all that is wrong with the manifests. */
function rejectInvalid(errors: readonly ConfigError[], issues: readonly ManifestIssue[]): void {
  if (issues.length > 0) throw new PodValidationError(issues, errors);
  const [first, ...others] = errors;
  if (first === undefined) return;
  if (others.length === 0) throw first;
  throw new ConfigError(errors.map(messageOf).join('\n'), {cause: first, hint: first.hint});
}

/** Adds the file name to system errors. */
async function withFileName<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isSystemCallError(error) ? unreadableError(file, error) : error;
  }
}

/** Throws ConfigError for two objects of one kind and name. */
function rejectDuplicates({
  workloads,
  pods,
  objects,
}: Pick<ManifestSet, 'workloads' | 'pods' | 'objects'>): void {
  const locations = new Map<string, DocumentLocation>();
  const documents = [
    ...workloads.map(({workload, ...location}) => ({title: titleOf(workload), location})),
    ...pods.map(({pod, ...location}) => ({title: titleOf(pod), location})),
    ...objects.map(({object, ...location}) => ({title: titleOf(object), location})),
  ];
  for (const {title, location} of documents) {
    const other = locations.get(title);
    if (other !== undefined) {
      const positions = [other, location].map(({file, line}) => `${file}:${line}`).join(' and ');
      throw new ConfigError(`${title} is defined twice: ${positions}`);
    }
    locations.set(title, location);
  }
}

/** Returns the objects with the claims of StatefulSets, except those that manifests define. */
function withSetClaims(
  objects: readonly ObjectDocument[],
  claims: readonly ObjectDocument[],
): readonly ObjectDocument[] {
  const keyOf = ({object}: ObjectDocument): string | undefined =>
    object.kind === 'PersistentVolumeClaim' ? claimKey(object) : undefined;
  const known = new Set(objects.map(keyOf));
  return [...objects, ...claims.filter((claim) => !known.has(keyOf(claim)))];
}

/** Returns kind and name, such as `Secret "default/login"`. */
function titleOf({
  kind,
  metadata: {name = '', namespace},
}: {
  readonly kind: string;
  readonly metadata: ObjectMeta;
}): string {
  const word = kind === 'Pod' ? 'pod' : kind;
  return `${word} "${namespace === undefined ? name : `${namespace}/${name}`}"`;
}

/** Returns the error for manifests without a Pod to run. */
function noPods(manifests: readonly LoadedManifest[], files: readonly string[]): ConfigError {
  const kinds = new Set([
    ...manifests.flatMap(({objects}) => objects.map(({object}) => object.kind)),
    ...manifests.flatMap(({skipped}) => skipped.map(({skipped: {skippedKind}}) => skippedKind)),
  ]);
  const found = [...kinds].map(pluralOf).join(' and ');
  return new ConfigError(`no Pod in ${files.map((file) => `"${file}"`).join(', ')}, only ${found}`, {
    hint: 'pass the manifests of the Pods or workloads that use them too, or their directory',
  });
}

/** Returns one note on everything that was removed; none if nothing was. */
function describeRemoved(removed: readonly RemovedFields[]): readonly string[] {
  const [first, ...others] = removed;
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const names = [...new Set(removed.flatMap((one) => one.names))].join(', ');
  return [`note: ignored what an API server added to ${first.title}${more}: ${names}`];
}

/** Returns the plural of a kind, such as NetworkPolicies. */
function pluralOf(kind: string): string {
  if (kind.endsWith('y')) return `${kind.slice(0, -1)}ies`;
  return kind.endsWith('ss') ? `${kind}es` : kind.endsWith('s') ? kind : `${kind}s`;
}

/** Returns the issues of what containers may miss of exported objects under --strict. */
function lossesOf(manifests: readonly LoadedManifest[]): readonly ManifestIssue[] {
  return manifests.flatMap(({removed}) => removed.flatMap(({losses}) => losses));
}

/** Returns the issue of an object without effect under --strict. */
function rejectSkipped(document: SkippedDocument): ManifestIssue {
  const known = ['Pod', 'workloads', 'ConfigMap', 'Secret', 'Service', 'ServiceAccount', 'RuntimeClass'];
  known.push(
    'PersistentVolumeClaim',
    'PersistentVolume',
    'StorageClass',
    'CSIDriver',
    'VolumeAttributesClass',
  );
  known.push('ResourceClaim', 'ResourceClaimTemplate', 'DeviceClass', 'ResourceSlice');
  const {skippedKind} = document.skipped;
  return document.createIssue(unsupportedValue(new FieldPath(['kind']), skippedKind, known));
}

/** Returns what of a workload has no effect here. */
function describeWorkload({workload, file, line, column}: WorkloadDocument): readonly string[] {
  const title = `${file}:${line}:${column}: note: ${workload.kind} "${workload.metadata.name ?? ''}"`;
  if (workload.kind === 'CronJob') return [`${title} runs once; its schedule has no effect here`];
  return workload.kind === 'Job' && workload.spec.suspend === true
    ? [`${title} is suspended and has no pods`]
    : [];
}

function describeSkipped({skipped: {skippedKind, name}, ...place}: SkippedDocument): string {
  const title = name === '' ? skippedKind : `${skippedKind} "${name}"`;
  return `${place.file}:${place.line}:${place.column}: skipping ${title}: objects of this kind have no effect here`;
}

/** Reports whether a document is a Service. */
export function isService(document: ObjectDocument): document is ObjectDocument & ServiceDocument {
  return document.object.kind === 'Service';
}

/** Returns what of the Services differs from a cluster. */
function describeServices(
  objects: readonly ObjectDocument[],
  pods: readonly Pod[],
): {readonly warnings: readonly string[]; readonly notes: readonly string[]} {
  const notices = objects.filter(isService).flatMap((document) =>
    serviceNotices(document.object, pods).map(({isWarning, ...error}) => ({
      isWarning,
      issue: document.createIssue(error),
    })),
  );
  return {
    warnings: notices.filter(({isWarning}) => isWarning).map(({issue}) => describe(issue)),
    notes: notices
      .filter(({isWarning}) => !isWarning)
      .map(({issue}) => describe({...issue, message: `note: ${issue.message}`})),
  };
}

function describe({file, line, column, message}: ManifestIssue): string {
  return `${file}:${line}:${column}: ${message}`;
}

/**
 * Reads Pods, workloads and the objects they refer to from files, directories (their .yaml, .yml and .json files by
 * name), URLs and, as `-`, standard input. The result has the API's defaults and is validated.
 *
 * @throws PodValidationError with all problems of all manifests, including unreadable files.
 *
 * @throws ConfigError for unreadable files alone, manifests without Pods, and duplicates; UsageError for a second `-`.
 */
export async function readManifests(
  sources: readonly ManifestSource[],
  options: ReadManifestsOptions,
): Promise<ManifestSet> {
  if (sources.filter((source) => source === STDIN).length > 1) {
    throw new UsageError('"-" must not be repeated: standard input can only be read once');
  }
  const {manifests, files, errors} = await loadSources(sources, options);
  const skipped = manifests.flatMap((manifest) => manifest.skipped);
  const issues = [
    ...manifests.flatMap((manifest) => manifest.issues),
    ...(options.strict === true ? [...skipped.map(rejectSkipped), ...lossesOf(manifests)] : []),
  ];
  rejectInvalid(errors, issues);
  const workloads = manifests.flatMap((manifest) => manifest.workloads);
  const written = manifests.flatMap((manifest) => manifest.objects);
  const pods = [...manifests.flatMap((manifest) => manifest.pods), ...expandDocuments(workloads, options)];
  if (pods.length + workloads.length === 0 && options.allowNoPods !== true) throw noPods(manifests, files);
  rejectDuplicates({workloads, pods, objects: written});
  const objects = withSetClaims(written, expandClaims(workloads, options));
  const claims = options.allowNoPods === true ? undefined : claimProblems(objects, pods);
  if (claims !== undefined && claims.issues.length > 0) throw new PodValidationError(claims.issues);
  const services = describeServices(
    objects,
    pods.map(({pod}) => pod),
  );
  const warnings = [
    ...manifests.flatMap(({warnings: unknown, duplicates}) => [...unknown, ...duplicates]).map(describe),
    ...skipped.map(describeSkipped),
    ...services.warnings,
    // Pods of a workload have the same one.
    ...new Set(claims?.warnings.map(describe)),
  ];
  const notes = [
    ...describeRemoved(manifests.flatMap((manifest) => manifest.removed)),
    ...workloads.flatMap(describeWorkload),
    ...services.notes,
  ];
  return {pods, workloads, objects, skipped, files, warnings, notes};
}
