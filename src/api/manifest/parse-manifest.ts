import {ConfigError} from '../../base/errors.js';
import type {DecodeProblem} from '../decoding/decoder.js';
import {Decoder} from '../decoding/decoder.js';
import {removeServerFields, type ExportedObject} from '../exported/remove-server-fields.js';
import type {FieldError} from '../field-error.js';
import {describeFieldError} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import type {DecodedObject, SkippedObject} from '../decoding/decode-objects.js';
import {decodeObjects} from '../decoding/decode-objects.js';
import type {ManifestIssue} from '../decoding/manifest-issue.js';
import {PodValidationError} from '../decoding/manifest-issue.js';
import {findFieldOffset, findNode, toJson, type ManifestNode} from '../decoding/manifest-node.js';
import {findTemplateAction, TEMPLATE_PROBLEM} from '../decoding/find-template-action.js';
import {findSecretRanges} from '../decoding/secret-ranges.js';
import {SourceText} from '../decoding/source-text.js';
import type {Pod} from '../types/v1-pod.js';
import type {ApiObject} from '../types/v1-objects.js';
import type {Workload} from '../types/v1-workloads.js';
import {parseYaml, type SyntaxProblem, type YamlDocument} from '../decoding/parse-yaml.js';

/** Maximum size of a manifest in bytes, as in the kubelet; API objects are much smaller. */
export const MAX_MANIFEST_BYTES = 10 * 1024 * 1024;

/** Source of a manifest and options to read it. */
export interface DecodeOptions {
  /** File as the user named it; every message starts with it. */
  readonly file: string;
  /** Source that its pods record: a path, a URL, or `-` for standard input; `file` by default. */
  readonly origin?: string | undefined;
  /** True if unknown fields and duplicate keys are warnings. */
  readonly lenient?: boolean | undefined;
  /** Changes each document before it is decoded. */
  readonly edit?: EditDocument | undefined;
}

/** A document changed before it was decoded, and the reasons why parts could not be changed. */
export interface EditedDocument {
  readonly root: ManifestNode;
  readonly problems: readonly Omit<DecodeProblem, 'kind'>[];
}

/** Changes a document; positions of its values must be kept. */
export type EditDocument = (root: ManifestNode) => EditedDocument;

/** Position of an object in a manifest and the issues of its document. */
export interface DocumentLocation {
  /** File as messages name it. */
  readonly file: string;
  /** Path, URL, or `-` for standard input. */
  readonly origin: string;
  /** Position of the object's start, starting at 1. */
  readonly line: number;
  readonly column: number;
  /** Issues of its document so far. */
  readonly issues: readonly ManifestIssue[];
  /** Converts a field error of this object into an issue with its position. */
  createIssue(error: FieldError): ManifestIssue;
}

/** A Pod of a manifest: as written (decodeManifest) or with the API's defaults (loadManifest). */
export interface PodDocument extends DocumentLocation {
  /** The object without parts that do not match the schema. */
  readonly pod: Pod;
  /**
   * Returns the object's JSON as a kubelet reads it: with what kcri removes, and amounts in their notation. Undefined for
   * pods of workloads.
   */
  readonly written?: () => unknown;
}

/** An object of a manifest that Pods may refer to. */
export interface ObjectDocument extends DocumentLocation {
  readonly object: ApiObject;
}

/** A workload of a manifest. */
export interface WorkloadDocument extends DocumentLocation {
  readonly workload: Workload;
}

/** An object of a manifest that has no effect. */
export interface SkippedDocument extends DocumentLocation {
  readonly skipped: SkippedObject;
}

/** Content of a manifest, valid or not. */
export interface Manifest extends DocumentContent {
  /** Issue that explains all others: the text is a template. */
  readonly templateIssue: ManifestIssue | undefined;
}

/** Content of a document, valid or not. */
interface DocumentContent {
  readonly pods: readonly PodDocument[];
  readonly workloads: readonly WorkloadDocument[];
  readonly skipped: readonly SkippedDocument[];
  readonly objects: readonly ObjectDocument[];
  /** Issues in the order of the text. */
  readonly issues: readonly ManifestIssue[];
  /** Unknown fields, which --lenient ignores. */
  readonly warnings: readonly ManifestIssue[];
  /** Duplicate keys, of which --lenient takes the last. */
  readonly duplicates: readonly ManifestIssue[];
  /** Fields removed from objects that were exported from an API server. */
  readonly removed: readonly RemovedFields[];
}

/** Removed parts of an exported object. */
export interface RemovedFields {
  /** Object such as `pod "default/web"`. */
  readonly title: string;
  /** Names of the parts, in the order of the API. */
  readonly names: readonly string[];
  /** Parts that containers may miss, with the reason. */
  readonly losses: readonly ManifestIssue[];
}

function toPlace(
  {node, path}: DecodedObject,
  text: SourceText,
  {issues, origin}: Pick<DocumentLocation, 'issues' | 'origin'>,
): DocumentLocation {
  const {file, line, column} = text.createIssue(node.offset, '', '');
  const issueAt = (error: FieldError): ManifestIssue => {
    const full = {...error, path: new FieldPath([...path.steps, ...error.path.steps])};
    return text.createIssue(
      findFieldOffset(node, error.path),
      full.path.toString(),
      describeFieldError(full),
    );
  };
  return {file, origin, line, column, issues, createIssue: issueAt};
}

function describeRemoved(
  {kind, name, namespace = 'default', fields}: ExportedObject,
  text: SourceText,
): RemovedFields {
  const losses = fields.flatMap(({offset, path, name: part, loss}) =>
    loss === undefined
      ? []
      : [text.createIssue(offset, path.toString(), `${path.toString()}: Forbidden: ${part}: ${loss}`)],
  );
  const title = `${kind === 'Pod' ? 'pod' : kind} "${namespace}/${name}"`;
  return {title, names: fields.map((field) => field.name), losses};
}

interface PreparedDocument extends Partial<EditedDocument> {
  readonly exported: readonly ExportedObject[];
  /** The document with only the caller's changes. */
  readonly written?: ManifestNode;
}

/** Returns a document as it is to be decoded: what a server added is removed, and the caller's changes are made. */
function prepareDocument(
  {root}: YamlDocument,
  edit: EditDocument = (unchanged) => ({root: unchanged, problems: []}),
): PreparedDocument {
  if (root === undefined) return {exported: []};
  const {root: cleaned, exported} = removeServerFields(root);
  return {...edit(cleaned), exported, written: edit(root).root};
}

function describeTaken(issue: ManifestIssue): ManifestIssue {
  return {...issue, message: `${issue.message}; this one is used`};
}

/** Returns the JSON of an object. Its numbers have the digits that a kubelet reads: those of JSON as written. */
function toWrittenJson(node: ManifestNode, isJson: boolean): unknown {
  return toJson(node, ({value, source}) => {
    if (typeof value === 'number') return isJson ? source : value;
    if (typeof value !== 'bigint') return value;
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  });
}

interface DocumentOptions extends Pick<DecodeOptions, 'lenient' | 'edit'> {
  readonly origin: string;
  readonly isJson: boolean;
}

function readDocument(
  document: YamlDocument,
  text: SourceText,
  {lenient = false, edit, origin, isJson}: DocumentOptions,
): DocumentContent {
  const {problems} = document;
  const {root, written, exported, problems: editProblems = []} = prepareDocument(document, edit);
  const decoder = new Decoder();
  const found = root === undefined ? [] : decodeObjects(root, new FieldPath(), decoder);
  const toIssue = ({offset, path, message}: Omit<DecodeProblem, 'kind'>): ManifestIssue =>
    text.createIssue(offset, path.toString(), message);
  const tolerated = ({kind}: DecodeProblem): boolean => lenient && kind === 'unknown-field';
  const isTaken = ({duplicateOf}: SyntaxProblem): boolean => lenient && duplicateOf !== undefined;
  const issues = [
    ...problems.filter((problem) => !isTaken(problem)).map((problem) => text.createSyntaxIssue(problem)),
    ...editProblems.map(toIssue),
    ...decoder.problems.filter((problem) => !tolerated(problem)).map(toIssue),
  ];
  const places = found.map((one) => ({...one, place: toPlace(one, text, {issues, origin})}));
  return {
    pods: places.flatMap(({object, place, path, node}) =>
      object.kind === 'Pod'
        ? [{...place, pod: object, written: () => toWrittenJson(findNode(written, path) ?? node, isJson)}]
        : [],
    ),
    workloads: places.flatMap(({object, place}) =>
      isWorkload(object) ? [{...place, workload: object}] : [],
    ),
    skipped: places.flatMap(({object, place}) =>
      object.kind === 'Skipped' ? [{...place, skipped: object}] : [],
    ),
    objects: places.flatMap(({object, place}) =>
      object.kind === 'Pod' || object.kind === 'Skipped' || isWorkload(object) ? [] : [{...place, object}],
    ),
    issues,
    warnings: decoder.problems.filter(tolerated).map(toIssue),
    duplicates: problems.filter(isTaken).map((problem) => describeTaken(text.createSyntaxIssue(problem))),
    removed: exported.map((one) => describeRemoved(one, text)),
  };
}

/** Kinds of workloads. */
const WORKLOADS: Readonly<Record<Workload['kind'], true>> = {
  CronJob: true,
  DaemonSet: true,
  Deployment: true,
  Job: true,
  PodTemplate: true,
  ReplicaSet: true,
  ReplicationController: true,
  StatefulSet: true,
};

function isWorkload(object: DecodedObject['object']): object is Workload {
  return Object.hasOwn(WORKLOADS, object.kind);
}

/** Compares issues by position. */
export function byPosition(a: ManifestIssue, b: ManifestIssue): number {
  return a.line - b.line || a.column - b.column;
}

function createTemplateIssue(source: SourceText, content: string): ManifestIssue | undefined {
  const offset = findTemplateAction(content);
  return offset === undefined ? undefined : source.createIssue(offset, '', TEMPLATE_PROBLEM);
}

/**
 * Parses a YAML or JSON manifest with one or more documents: Pods, workloads, objects they refer to, and lists of these.
 * Collects all issues.
 *
 * @throws ConfigError if it is too large or empty.
 */
export function parseManifest(text: string, {file, origin = file, ...options}: DecodeOptions): Manifest {
  if (Buffer.byteLength(text) > MAX_MANIFEST_BYTES) {
    throw new ConfigError(`"${file}" is larger than ${MAX_MANIFEST_BYTES / 1024 / 1024} MiB`);
  }
  const content = text.replace(/^\uFEFF/, '');
  const isJson = content.trimStart().startsWith('{');
  const yaml = parseYaml(content);
  const source = new SourceText(file, content, findSecretRanges(yaml, content));
  const parts = yaml.map((document) => readDocument(document, source, {...options, origin, isJson}));
  const issues = parts.flatMap((part) => part.issues).sort(byPosition);
  const templateIssue = createTemplateIssue(source, content);
  const manifest = {
    pods: parts.flatMap(({pods}) => pods),
    workloads: parts.flatMap(({workloads}) => workloads),
    skipped: parts.flatMap(({skipped}) => skipped),
    objects: parts.flatMap(({objects}) => objects),
    issues: issues.length > 0 && templateIssue !== undefined ? [templateIssue] : issues,
    templateIssue,
    warnings: parts.flatMap(({warnings}) => warnings).sort(byPosition),
    duplicates: parts.flatMap(({duplicates}) => duplicates).sort(byPosition),
    removed: parts.flatMap(({removed}) => removed),
  };
  const {pods, workloads, skipped, objects} = manifest;
  if ([pods, workloads, skipped, objects, manifest.issues].every(({length}) => length === 0)) {
    throw new ConfigError(`no Pod in "${file}"`, {
      hint: 'a manifest must contain a Pod, or a workload such as a Deployment or Job',
    });
  }
  return manifest;
}

/**
 * Returns the Pods of a manifest as written, neither defaulted nor validated (see loadManifest for both).
 *
 * @throws PodValidationError with all errors of syntax, type and name.
 * @throws ConfigError if the text is too large or empty.
 */
export function decodeManifest(text: string, options: DecodeOptions): readonly PodDocument[] {
  const {pods, issues} = parseManifest(text, options);
  if (issues.length > 0) throw new PodValidationError(issues);
  return pods;
}
