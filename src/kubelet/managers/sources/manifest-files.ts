import {FieldPath} from '../../../api/field-path.js';
import type {ObjectDocument} from '../../../api/decoding/parse-manifest.js';
import {createApiObjects, NO_OBJECTS, type ApiObjects} from '../../contract/api-objects.js';
import type {DesiredPod} from '../../contract/pod-update.js';
import {dropDuplicateObjects, dropDuplicatePods, type LocatedPod} from './manifest-duplicates.js';
import {
  prepareManifest,
  readManifest,
  type PreparePod,
  type DecodedManifest,
  type ManifestRejection,
} from './prepare-manifest.js';
import {createSourceReport, type SourceReport, type SourceSet} from './pod-source.js';
import {ProblemDeduplicator, type Problems} from './problem-deduplicator.js';

/** Content at a path of the manifest directory. */
export type ManifestFileContent =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** Identity, size and times of the file. */
      readonly stamp: string;
      /** True if the previous read found the same stamp. */
      readonly isConfirmed: boolean;
    }
  /** Failure to read the path; message and error are the kubelet's. */
  | {
      readonly kind: 'unreadable';
      readonly message: string;
      readonly error: string | undefined;
    };

/**
 * Mode of a read. In a `list` of a directory, an invalid file loses its pod; after a `change`, and if the source is a
 * `single` file, the pod of the previous version remains (file.go, file_linux.go).
 */
export type ReadMode = 'list' | 'change' | 'single';

interface ManifestFile {
  readonly path: string;
  content: ManifestFileContent;
  /** Number that differs for each content. */
  readonly version: number;
  /** Decoded manifest; undefined if the file cannot be read. */
  readonly manifest: DecodedManifest | ManifestRejection | undefined;
  /** True if two reads found the same content, so that the file is complete. */
  isSettled: boolean;
  /** Objects of the last valid version of the file. */
  readonly objects: readonly ObjectDocument[];
  /** Pod of this version, after it has been accepted. */
  accepted: LocatedPod | undefined;
  /** Pod in effect, possibly that of the previous version. */
  desired: LocatedPod | undefined;
  /** Rejection of the Pod, and the objects with which it was rejected. */
  rejected: {readonly rejection: ManifestRejection; readonly objects: ApiObjects} | undefined;
}

/** Manifests of a directory as of the last read, and the pods and objects that they define. */
export class ManifestFiles {
  readonly #prepare: PreparePod;
  readonly #problems: ProblemDeduplicator;
  readonly #files = new Map<string, ManifestFile>();
  #current: readonly SourceReport[] = [];
  #versions = 0;
  #objects: readonly ObjectDocument[] = [];
  #apiObjects = NO_OBJECTS;
  /** Desired pods as of the last refresh; undefined before the first. */
  #pods: readonly DesiredPod[] | undefined;

  constructor(prepare: PreparePod, report: (report: SourceReport) => void) {
    this.#prepare = prepare;
    this.#problems = new ProblemDeduplicator(report);
  }

  /**
   * Sets the content of a path; undefined removes it. Problems of the file are reported after two reads of the same
   * content, or immediately if `isSettled`.
   */
  put(path: string, content: ManifestFileContent | undefined, isSettled = false): void {
    const known = this.#files.get(path);
    if (content === undefined) this.#files.delete(path);
    else if (known !== undefined && isSame(known.content, content))
      Object.assign(known, {content, isSettled: true});
    else this.#files.set(path, this.#newVersion(path, content, {known, isSettled}));
  }

  /** Returns the content of a path as of the last read. */
  contentOf(path: string): ManifestFileContent | undefined {
    return this.#files.get(path)?.content;
  }

  /** Removes all paths but these. */
  retain(paths: ReadonlySet<string>): void {
    for (const path of this.#files.keys()) if (!paths.has(path)) this.#files.delete(path);
  }

  /** Problems as of the last refresh. */
  get problems(): readonly SourceReport[] {
    return this.#current;
  }

  /** Paths of invalid files that may be partially written. */
  get unsettledPaths(): readonly string[] {
    return [...this.#files.values()]
      .filter((file) => !file.isSettled && isInvalid(file))
      .map(({path}) => path);
  }

  /**
   * Returns the desired pods and objects, or undefined if they did not change since the last call. Reports new
   * problems, including those of the directory itself (`directoryProblems`).
   */
  refresh(mode: ReadMode, directoryProblems: Problems = new Map()): SourceSet | undefined {
    const files = [...this.#files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    const problems: Problems = new Map(directoryProblems);
    const changed = this.#updateObjects(files, problems);
    for (const file of files) this.#updatePod(file, mode);
    const desiredPods = files.flatMap(({desired}) => (desired === undefined ? [] : [desired]));
    const pods = dropDuplicatePods(desiredPods, problems);
    for (const file of files) if (file.isSettled) addProblems(file, mode, problems);
    this.#problems.report(problems);
    this.#current = [...problems.values()];
    // A kubelet's source is not ready before its single file is valid.
    if (this.#pods === undefined && mode !== 'list' && files.some(isInvalid)) return undefined;
    if (!changed && this.#pods !== undefined && areSame(this.#pods, pods)) return undefined;
    this.#pods = pods;
    return {pods, objects: this.#objects.map(({object}) => object)};
  }

  #newVersion(
    path: string,
    content: ManifestFileContent,
    {known, isSettled}: {readonly known: ManifestFile | undefined; readonly isSettled: boolean},
  ): ManifestFile {
    this.#versions += 1;
    const manifest = content.kind === 'text' ? readManifest(content.text, path) : undefined;
    return {
      path,
      content,
      version: this.#versions,
      manifest,
      isSettled,
      objects: manifest?.kind === 'read' ? manifest.objects : (known?.objects ?? []),
      accepted: undefined,
      desired: known?.desired,
      rejected: undefined,
    };
  }

  /** Updates the objects and returns whether they changed. */
  #updateObjects(files: readonly ManifestFile[], problems: Problems): boolean {
    const objects = dropDuplicateObjects(
      files.flatMap((file) => file.objects),
      problems,
    );
    if (areSame(objects, this.#objects)) return false;
    this.#objects = objects;
    this.#apiObjects = createApiObjects(
      objects.map(({object}) => object),
      files.map(({path}) => path),
    );
    return true;
  }

  /**
   * Updates the desired pod of a file. An accepted Pod remains even if its objects change, as with an API server. A
   * rejected Pod is retried with the new objects.
   */
  #updatePod(file: ManifestFile, mode: ReadMode): void {
    const document = file.manifest?.kind === 'read' ? file.manifest.documents[0] : undefined;
    if (
      document !== undefined &&
      file.accepted === undefined &&
      file.rejected?.objects !== this.#apiObjects
    ) {
      const prepared = prepareManifest(document, this.#prepare, this.#apiObjects);
      if (prepared.kind === 'prepared') file.accepted = {desired: prepared.desired, location: document};
      file.rejected =
        prepared.kind === 'rejected' ? {rejection: prepared, objects: this.#apiObjects} : undefined;
    }
    const isStale = !isInvalid(file) || (mode === 'list' && file.isSettled);
    if (isStale) file.desired = file.accepted;
  }
}

function isSame(a: ManifestFileContent, b: ManifestFileContent): boolean {
  if (a.kind === 'text') return b.kind === 'text' && a.text === b.text;
  return b.kind === 'unreadable' && a.message === b.message && a.error === b.error;
}

function areSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

function isInvalid({manifest, rejected}: ManifestFile): boolean {
  return manifest?.kind !== 'read' || rejected !== undefined;
}

function rejectionOf({manifest, rejected}: ManifestFile): ManifestRejection | undefined {
  return manifest?.kind === 'rejected' ? manifest : rejected?.rejection;
}

/** Adds the problems of a file, with the kubelet's messages for the mode. */
function addProblems(file: ManifestFile, mode: ReadMode, problems: Problems): void {
  const {path, version, content, manifest} = file;
  const add = (report: SourceReport): void => {
    problems.set(`${path} ${version} ${report.error ?? report.message}`, report);
  };
  const fields = {path};
  if (content.kind === 'unreadable')
    add(createSourceReport('file', content.message, {error: content.error, fields}));
  const rejection = rejectionOf(file);
  // The key does not depend on the mode, so that the same problem is not reported again with another message.
  if (rejection !== undefined)
    problems.set(`${path} ${version} ${rejection.error}`, createRejectionReport(path, rejection, mode));
  if (manifest?.kind !== 'read') return;
  const [, ...further] = manifest.documents;
  if (further.length > 0) {
    const error = 'only the first Pod of a file runs, as with a kubelet; put each Pod in its own file';
    const issues = further.map((document) => document.createIssue({path: new FieldPath(), message: error}));
    add(createSourceReport('file', 'Could not process manifest file', {error, fields, issues}));
  }
  for (const report of describeIgnored(manifest, fields)) add(report);
}

/** Returns what a valid manifest contains and the kubelet ignores. */
function describeIgnored(
  {unknownFields, removedFields}: DecodedManifest,
  fields: Readonly<Record<string, string>>,
): readonly SourceReport[] {
  const reports: SourceReport[] = [];
  if (removedFields.length > 0) {
    const removed = removedFields.join(', ');
    const message = 'Ignoring what an API server added to the objects of a manifest file';
    reports.push(createSourceReport('file', message, {level: 'info', fields: {...fields, removed}}));
  }
  if (unknownFields.length > 0) {
    const error = unknownFields.map(({message}) => message).join(', ');
    const message = 'Ignoring unknown fields of manifest file';
    reports.push(
      createSourceReport('file', message, {level: 'warning', error, fields, issues: unknownFields}),
    );
  }
  return reports;
}

function createRejectionReport(
  path: string,
  {error, issues}: ManifestRejection,
  mode: ReadMode,
): SourceReport {
  const fields = {path};
  switch (mode) {
    case 'list':
      return createSourceReport('file', 'Could not process manifest file', {error, fields, issues});
    case 'single':
      return createSourceReport('file', 'Unable to read config path', {error, fields, issues});
    case 'change': {
      const full = `can't process config file "${path}": ${error}`;
      return createSourceReport('file', 'Unable to process watch event', {error: full, issues});
    }
  }
}
