import {FieldPath} from '../../api/field-path.js';
import type {ObjectDocument} from '../../api/manifest.js';
import {apiObjects, NO_OBJECTS, type ApiObjects} from '../container/api-objects.js';
import type {DesiredPod} from '../container/pod-update.js';
import {lastObjects, lastPods, type PlacedPod} from './duplicates.js';
import {
  prepareManifest,
  readManifest,
  type PreparePod,
  type ReadManifest,
  type Refusal,
} from './manifest-reading.js';
import {sourceReport, type SourceReport, type SourceSet} from './pod-source.js';
import {ToldProblems, type Problems} from './told-problems.js';

/** What was found at a path of the manifest directory. */
export type FileContent =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** The file and when it was last changed, as far as its directory tells. */
      readonly stamp: string;
      /** Found with the same stamp before. */
      readonly isConfirmed: boolean;
    }
  /** No text can be read there; in the kubelet's words. */
  | {
      readonly kind: 'unreadable';
      readonly message: string;
      readonly error: string | undefined;
    };

/**
 * How the files are looked at. At a `list` of a directory a faulty one loses its pod; after a `change`, and when the
 * source is a single file, its previous version stays (file.go, file_linux.go).
 */
export type Look = 'list' | 'change' | 'single';

interface ManifestFile {
  readonly path: string;
  content: FileContent;
  /** Another number for each content. */
  readonly version: number;
  /** What it says; undefined for what can't be read. */
  readonly reading: ReadManifest | Refusal | undefined;
  /** Found like this more than once, so that it isn't half written. */
  isSettled: boolean;
  /** The objects that count: those of the last version without a fault. */
  readonly objects: readonly ObjectDocument[];
  /** The pod that it was found to want. */
  taken: PlacedPod | undefined;
  /** The pod that counts: for a while it may be that of the previous version. */
  desired: PlacedPod | undefined;
  /** Why the Pod can't run with these objects. */
  refused: {readonly refusal: Refusal; readonly objects: ApiObjects} | undefined;
}

/** The manifests of a directory as they were last read, and what is wanted according to them. */
export class ManifestFiles {
  readonly #prepare: PreparePod;
  readonly #problems: ToldProblems;
  readonly #files = new Map<string, ManifestFile>();
  #versions = 0;
  #objects: readonly ObjectDocument[] = [];
  #apiObjects = NO_OBJECTS;
  /** What was wanted at the last look; undefined before the first. */
  #pods: readonly DesiredPod[] | undefined;

  constructor(prepare: PreparePod, report: (report: SourceReport) => void) {
    this.#prepare = prepare;
    this.#problems = new ToldProblems(report);
  }

  /**
   * Takes what was found at a path, undefined when nothing is there any more. Faults are told of when the path was
   * found the same twice, unless it is certain that nobody is writing it.
   */
  put(path: string, content: FileContent | undefined, isSettled = false): void {
    const known = this.#files.get(path);
    if (content === undefined) this.#files.delete(path);
    else if (known !== undefined && isSame(known.content, content))
      Object.assign(known, {content, isSettled: true});
    else this.#files.set(path, this.#newVersion(path, content, {known, isSettled}));
  }

  /** What was found at a path when it was last looked at. */
  contentOf(path: string): FileContent | undefined {
    return this.#files.get(path)?.content;
  }

  /** Forgets all other paths. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#files.keys()) if (!paths.has(path)) this.#files.delete(path);
  }

  /** The paths that are faulty and may only be half written. */
  get suspects(): readonly string[] {
    return [...this.#files.values()]
      .filter((file) => !file.isSettled && isFaulty(file))
      .map(({path}) => path);
  }

  /**
   * What is wanted now; undefined when it is what was wanted at the last look. Tells of problems, those with the
   * directory itself (`others`) included.
   */
  look(look: Look, others: Problems = new Map()): SourceSet | undefined {
    const files = [...this.#files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    const problems: Problems = new Map(others);
    const changed = this.#updateObjects(files, problems);
    for (const file of files) this.#updatePod(file, look);
    const wanted = files.flatMap(({desired}) => (desired === undefined ? [] : [desired]));
    const pods = lastPods(wanted, problems);
    for (const file of files) if (file.isSettled) addProblems(file, look, problems);
    this.#problems.tell(problems);
    // A kubelet's source isn't ready before its single file was read.
    if (this.#pods === undefined && look !== 'list' && files.some(isFaulty)) return undefined;
    if (!changed && this.#pods !== undefined && areSame(this.#pods, pods)) return undefined;
    this.#pods = pods;
    return {pods, objects: this.#objects.map(({object}) => object)};
  }

  #newVersion(
    path: string,
    content: FileContent,
    {known, isSettled}: {readonly known: ManifestFile | undefined; readonly isSettled: boolean},
  ): ManifestFile {
    this.#versions += 1;
    const reading = content.kind === 'text' ? readManifest(content.text, path) : undefined;
    return {
      path,
      content,
      version: this.#versions,
      reading,
      isSettled,
      objects: reading?.kind === 'read' ? reading.objects : (known?.objects ?? []),
      taken: undefined,
      desired: known?.desired,
      refused: undefined,
    };
  }

  /** True when there are others than at the last look. */
  #updateObjects(files: readonly ManifestFile[], problems: Problems): boolean {
    const objects = lastObjects(
      files.flatMap((file) => file.objects),
      problems,
    );
    if (areSame(objects, this.#objects)) return false;
    this.#objects = objects;
    this.#apiObjects = apiObjects(
      objects.map(({object}) => object),
      files.map(({path}) => path),
    );
    return true;
  }

  /** A Pod that was taken stays whatever becomes of its objects, as with an API server; another one is tried again. */
  #updatePod(file: ManifestFile, look: Look): void {
    const document = file.reading?.kind === 'read' ? file.reading.documents[0] : undefined;
    if (document !== undefined && file.taken === undefined && file.refused?.objects !== this.#apiObjects) {
      const prepared = prepareManifest(document, this.#prepare, this.#apiObjects);
      if (prepared.kind === 'prepared') file.taken = {desired: prepared.desired, place: document};
      file.refused = prepared.kind === 'refused' ? {refusal: prepared, objects: this.#apiObjects} : undefined;
    }
    const isStale = !isFaulty(file) || (look === 'list' && file.isSettled);
    if (isStale) file.desired = file.taken;
  }
}

function isSame(a: FileContent, b: FileContent): boolean {
  if (a.kind === 'text') return b.kind === 'text' && a.text === b.text;
  return b.kind === 'unreadable' && a.message === b.message && a.error === b.error;
}

function areSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

function isFaulty({reading, refused}: ManifestFile): boolean {
  return reading?.kind !== 'read' || refused !== undefined;
}

function refusalOf({reading, refused}: ManifestFile): Refusal | undefined {
  return reading?.kind === 'refused' ? reading : refused?.refusal;
}

/** All that is wrong with a file, to be told in the words for this look. */
function addProblems(file: ManifestFile, look: Look, problems: Problems): void {
  const {path, version, content, reading} = file;
  const add = (report: SourceReport): void => {
    problems.set(`${path} ${version} ${report.error ?? report.message}`, report);
  };
  const fields = {path};
  if (content.kind === 'unreadable')
    add(sourceReport('file', content.message, {error: content.error, fields}));
  const refusal = refusalOf(file);
  // The same problem in whichever words it is told.
  if (refusal !== undefined)
    problems.set(`${path} ${version} ${refusal.error}`, refusalReport(path, refusal, look));
  if (reading?.kind !== 'read') return;
  const [, ...further] = reading.documents;
  if (further.length > 0) {
    const error = 'only the first Pod of a file is run, as a kubelet does; give each a file of its own';
    const issues = further.map((document) => document.issueAt({path: new FieldPath(), message: error}));
    add(sourceReport('file', 'Could not process manifest file', {error, fields, issues}));
  }
  if (reading.unknownFields.length > 0)
    add(
      sourceReport('file', 'Ignoring unknown fields of manifest file', {
        level: 'warning',
        error: reading.unknownFields.map(({message}) => message).join(', '),
        fields,
        issues: reading.unknownFields,
      }),
    );
}

function refusalReport(path: string, {error, issues}: Refusal, look: Look): SourceReport {
  const fields = {path};
  switch (look) {
    case 'list':
      return sourceReport('file', 'Could not process manifest file', {error, fields, issues});
    case 'single':
      return sourceReport('file', 'Unable to read config path', {error, fields, issues});
    case 'change': {
      const full = `can't process config file "${path}": ${error}`;
      return sourceReport('file', 'Unable to process watch event', {error: full, issues});
    }
  }
}
