import {FieldPath} from '../../api/field-path.js';
import type {ObjectDocument} from '../../api/manifest/parse-manifest.js';
import {createApiObjects, NO_OBJECTS, type ApiObjects} from '../contract/api-objects.js';
import {
  dropDuplicateObjects,
  dropDuplicatePods,
  dropDuplicateWorkloads,
  type LocatedPod,
  type LocatedWorkload,
} from './manifest-duplicates.js';
import {
  prepareManifest,
  readManifest,
  warningsOf,
  type PreparePod,
  type DecodedManifest,
  type ManifestRejection,
  type ReadManifestOptions,
} from './prepare-manifest.js';
import {prepareWorkload} from './prepare-workload.js';
import {createSourceReport, type SourceReport, type SourceSet} from './pod-source.js';
import {ProblemDeduplicator, type Problems} from './problem-deduplicator.js';

/** Content at a path of the manifest directory. */
export type ManifestFileContent =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** Identity, size and times of the file. */
      readonly stamp: string;
      /** Identity of the file. */
      readonly identity: string;
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

/** Pod and workloads of a file that can run. */
interface AcceptedManifest {
  readonly kind: 'accepted';
  readonly pod: LocatedPod | undefined;
  readonly workloads: readonly LocatedWorkload[];
}

/** Options of ManifestFiles. */
export interface ManifestFilesOptions extends ReadManifestOptions {
  readonly prepare: PreparePod;
  readonly report: (report: SourceReport) => void;
}

/** Options of {@link ManifestFiles.put}. */
interface PutOptions {
  readonly isSettled?: boolean;
  readonly entryChanges?: number;
}

interface ManifestFile {
  readonly path: string;
  content: ManifestFileContent;
  /** How often the entry of this file was created, removed or moved, as far as it is known. */
  entryChanges: number;
  /** Number that differs for each content. */
  readonly version: number;
  /** Decoded manifest; undefined if the file cannot be read. */
  readonly manifest: DecodedManifest | ManifestRejection | undefined;
  /** True if two reads found the same content, so that the file is complete. */
  isSettled: boolean;
  /** Objects of the last valid version of the file. */
  readonly objects: readonly ObjectDocument[];
  /** Content of this version, after it has been accepted. */
  accepted: AcceptedManifest | undefined;
  /** Pod in effect, possibly that of the previous version. */
  desired: LocatedPod | undefined;
  /** Workloads in effect: those of the last valid version. */
  workloads: readonly LocatedWorkload[];
  /** Rejection of the Pod or a workload, and the objects with which it was rejected. */
  rejected: {readonly rejection: ManifestRejection; readonly objects: ApiObjects} | undefined;
}

/** Manifests of a directory as of the last read, and the pods and objects that they define. */
export class ManifestFiles {
  readonly #options: ManifestFilesOptions;
  readonly #problems: ProblemDeduplicator;
  readonly #files = new Map<string, ManifestFile>();
  #current: readonly SourceReport[] = [];
  #versions = 0;
  /** Paths of files that were removed and written again since the last refresh. */
  readonly #recreated = new Set<string>();
  #objects: readonly ObjectDocument[] = [];
  #apiObjects = NO_OBJECTS;
  /** Set of the last refresh; undefined before the first. */
  #last: Required<SourceSet> | undefined;

  constructor(options: ManifestFilesOptions) {
    this.#options = options;
    this.#problems = new ProblemDeduplicator(options.report);
  }

  /**
   * Sets the content of a path; undefined removes it. Problems of the file are reported after two reads of the same
   * content, or immediately if `isSettled`. With two changes of its directory entry (`entryChanges`), a file was removed
   * and written again, so that its pod is another one even if the content is equal; a file that is moved over it is one
   * change (file_linux.go).
   */
  put(
    path: string,
    content: ManifestFileContent | undefined,
    {isSettled = false, entryChanges: added = 0}: PutOptions = {},
  ): void {
    const known = this.#files.get(path);
    // A change may be reported only after a read that has found its result.
    const earlier = known !== undefined && isSameFile(known.content, content) ? known.entryChanges : 0;
    const entryChanges = earlier + added;
    const isRecreated = known !== undefined && entryChanges >= 2;
    if (content === undefined) this.#files.delete(path);
    else if (known !== undefined && !isRecreated && isSame(known.content, content))
      Object.assign(known, {content, entryChanges, isSettled: true});
    else {
      const file = this.#newVersion(path, content, {known, isSettled});
      this.#files.set(path, file);
      if (!isRecreated) file.entryChanges = entryChanges;
      else {
        file.desired = undefined;
        this.#recreated.add(path);
      }
    }
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
   * Returns the desired pods and objects; nothing if they did not change since the last call. If files were removed and
   * written again, a set without their pods comes first. Reports new problems, including those of the directory itself
   * (`directoryProblems`).
   */
  refresh(mode: ReadMode, directoryProblems: Problems = new Map()): readonly SourceSet[] {
    const files = [...this.#files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    const problems: Problems = new Map(directoryProblems);
    const changed = this.#updateObjects(files, problems);
    for (const file of files) this.#updatePods(file, mode);
    const desiredPods = files.flatMap(({desired}) => desired ?? []);
    const pods = dropDuplicatePods(desiredPods, problems);
    const workloads = dropDuplicateWorkloads(
      files.flatMap((file) => file.workloads),
      problems,
    );
    const isIncomplete = directoryProblems.size > 0 || files.some(isInvalid);
    for (const file of files) if (file.isSettled) addProblems(file, mode, problems);
    this.#problems.report(problems);
    this.#current = [...problems.values()];
    // A kubelet's source is not ready before its single file is valid.
    if (this.#last === undefined && mode !== 'list' && files.some(isInvalid)) return [];
    const next = {pods, workloads, objects: this.#objects.map(({object}) => object), isIncomplete};
    if (!changed && this.#last !== undefined && isSameSet(this.#last, next)) return [];
    this.#last = next;
    return this.#removedFirst(next);
  }

  /** Puts a set without the pods of files that were removed and written again before this one, if there are any. */
  #removedFirst(next: Required<SourceSet>): readonly SourceSet[] {
    const kept = next.pods.filter(({origin}) => !this.#recreated.has(origin));
    this.#recreated.clear();
    return kept.length === next.pods.length ? [next] : [{...next, pods: kept}, next];
  }

  #newVersion(
    path: string,
    content: ManifestFileContent,
    {known, isSettled}: {readonly known: ManifestFile | undefined; readonly isSettled: boolean},
  ): ManifestFile {
    this.#versions += 1;
    const manifest = content.kind === 'text' ? readManifest(content.text, path, this.#options) : undefined;
    return {
      path,
      content,
      entryChanges: 0,
      version: this.#versions,
      manifest,
      isSettled,
      objects: manifest?.kind === 'read' ? manifest.objects : (known?.objects ?? []),
      accepted: undefined,
      desired: known?.desired,
      workloads: known?.workloads ?? [],
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
   * Updates the desired pod and the workloads of a file. An accepted manifest remains even if its objects change, as with
   * an API server. A rejected one is retried with the new objects.
   */
  #updatePods(file: ManifestFile, mode: ReadMode): void {
    if (file.accepted === undefined && file.rejected?.objects !== this.#apiObjects) this.#accept(file);
    const isStale = !isInvalid(file) || (mode === 'list' && file.isSettled);
    if (isStale) file.desired = file.accepted?.pod;
    // Unlike a pod, a workload remains when its manifest becomes invalid, as with an API server.
    if (file.accepted !== undefined) file.workloads = file.accepted.workloads;
  }

  /** Accepts or rejects the content of a file with the current objects. */
  #accept(file: ManifestFile): void {
    if (file.manifest?.kind !== 'read') return;
    const prepared = this.#prepareAll(file.manifest);
    if (prepared.kind === 'rejected') file.rejected = {rejection: prepared, objects: this.#apiObjects};
    else {
      file.accepted = prepared;
      file.rejected = undefined;
    }
  }

  #prepareAll({documents: [document], workloads}: DecodedManifest): AcceptedManifest | ManifestRejection {
    const {prepare} = this.#options;
    const located: LocatedWorkload[] = [];
    for (const one of workloads) {
      const prepared = prepareWorkload(one, prepare, this.#apiObjects);
      if (prepared.kind === 'rejected') return prepared;
      located.push({desired: prepared.desired, location: one});
    }
    if (document === undefined) return {kind: 'accepted', pod: undefined, workloads: located};
    const prepared = prepareManifest(document, prepare, this.#apiObjects);
    if (prepared.kind === 'rejected') return prepared;
    return {kind: 'accepted', pod: {desired: prepared.desired, location: document}, workloads: located};
  }
}

function isSameFile(a: ManifestFileContent, b: ManifestFileContent | undefined): boolean {
  return a.kind === 'text' && b?.kind === 'text' && a.identity === b.identity;
}

function isSame(a: ManifestFileContent, b: ManifestFileContent): boolean {
  if (a.kind === 'text') return b.kind === 'text' && a.text === b.text;
  return b.kind === 'unreadable' && a.message === b.message && a.error === b.error;
}

function isSameSet(a: Required<SourceSet>, b: Required<SourceSet>): boolean {
  return a.isIncomplete === b.isIncomplete && areSame(a.pods, b.pods) && areSame(a.workloads, b.workloads);
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
  manifest: DecodedManifest,
  fields: Readonly<Record<string, string>>,
): readonly SourceReport[] {
  const reports: SourceReport[] = [];
  const {removedFields} = manifest;
  if (removedFields.length > 0) {
    const removed = removedFields.join(', ');
    const message = 'Ignoring what an API server added to the objects of a manifest file';
    reports.push(createSourceReport('file', message, {level: 'info', fields: {...fields, removed}}));
  }
  for (const {action, ...rest} of warningsOf(manifest))
    reports.push(createSourceReport('file', `${action} manifest file`, {level: 'warning', fields, ...rest}));
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
