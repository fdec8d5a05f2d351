import {ConfigError} from '../base/errors.js';
import type {DecodeProblem} from './decode.js';
import {Decoder} from './decode.js';
import type {FieldError} from './field-error.js';
import {describeFieldError} from './field-error.js';
import {FieldPath} from './field-path.js';
import type {FoundObject} from './kinds.js';
import {readObjects} from './kinds.js';
import type {ManifestIssue} from './manifest-issue.js';
import {PodValidationError} from './manifest-issue.js';
import {locate} from './manifest-tree.js';
import {secretRanges} from './secret-ranges.js';
import {SourceText} from './source-text.js';
import type {Pod} from './v1.js';
import type {ApiObject} from './v1-objects.js';
import type {SyntaxFault, YamlDocument} from './yaml-tree.js';
import {parseYaml} from './yaml-tree.js';

/** No object of the API is nearly as large; the kubelet reads no more of a file either. */
export const LARGEST_MANIFEST_BYTES = 10 * 1024 * 1024;

/** Where a text comes from, and how strictly it is read. */
export interface DecodeOptions {
  /** As the user named it; it opens every message. */
  readonly file: string;
  /** Unknown fields become warnings. */
  readonly lenient?: boolean | undefined;
}

/** Where an object of a manifest stands, and what is wrong there. */
export interface DocumentPlace {
  readonly file: string;
  /** Where the object begins, counted from 1. */
  readonly line: number;
  readonly column: number;
  /** What is wrong with the document that it stands in, so far. */
  readonly issues: readonly ManifestIssue[];
  /** A field error of this object with its place in the text. */
  issueAt(error: FieldError): ManifestIssue;
}

/** A Pod of a manifest: as it was written (decodeManifest), or with the API's defaults (loadPods). */
export interface ManifestDocument extends DocumentPlace {
  /** Without the parts that didn't fit the API's types. */
  readonly pod: Pod;
}

/** An object that Pods may refer to, in the same way. */
export interface ObjectDocument extends DocumentPlace {
  readonly object: ApiObject;
}

/** All that a manifest holds, right or wrong. */
export interface Manifest {
  readonly documents: readonly ManifestDocument[];
  readonly objects: readonly ObjectDocument[];
  /** In the text's order. */
  readonly issues: readonly ManifestIssue[];
  /** What --lenient lets pass. */
  readonly warnings: readonly ManifestIssue[];
}

function toPlace(
  {node, path}: FoundObject,
  text: SourceText,
  issues: readonly ManifestIssue[],
): DocumentPlace {
  const {file, line, column} = text.issue(node.offset, '', '');
  const issueAt = (error: FieldError): ManifestIssue => {
    const full = {...error, path: new FieldPath([...path.steps, ...error.path.steps])};
    return text.issue(locate(node, error.path), full.path.toString(), describeFieldError(full));
  };
  return {file, line, column, issues, issueAt};
}

/** The parser quotes what it stumbles over, unless that may be secret. */
function faultIssue({offset, message}: SyntaxFault, text: SourceText): ManifestIssue {
  const shown = text.hides(offset) ? message.replace(/:?\s*".*$/s, '') : message;
  return text.issue(offset, '', `yaml: ${shown}`);
}

function readDocument({root, faults}: YamlDocument, text: SourceText, lenient: boolean): Manifest {
  const decoder = new Decoder();
  const found = root === undefined ? [] : readObjects(root, new FieldPath(), decoder);
  const toIssue = ({offset, path, message}: DecodeProblem): ManifestIssue =>
    text.issue(offset, path.toString(), message);
  const tolerated = ({kind}: DecodeProblem): boolean => lenient && kind === 'unknown-field';
  const issues = [
    ...faults.map((fault) => faultIssue(fault, text)),
    ...decoder.problems.filter((problem) => !tolerated(problem)).map(toIssue),
  ];
  const places = found.map((one) => ({object: one.object, place: toPlace(one, text, issues)}));
  return {
    documents: places.flatMap(({object, place}) => (object.kind === 'Pod' ? [{...place, pod: object}] : [])),
    objects: places.flatMap(({object, place}) => (object.kind === 'Pod' ? [] : [{...place, object}])),
    issues,
    warnings: decoder.problems.filter(tolerated).map(toIssue),
  };
}

/** Issues as a reader meets them. */
export function byPosition(a: ManifestIssue, b: ManifestIssue): number {
  return a.line - b.line || a.column - b.column;
}

/**
 * Reads a manifest, YAML or JSON, one or several documents, Pods and what they refer to, and lists of such, and
 * collects what is wrong with it.
 *
 * @throws ConfigError when it is too large or holds nothing at all.
 */
export function parseManifest(text: string, {file, lenient = false}: DecodeOptions): Manifest {
  if (Buffer.byteLength(text) > LARGEST_MANIFEST_BYTES) {
    throw new ConfigError(`"${file}" is larger than ${LARGEST_MANIFEST_BYTES / 1024 / 1024} MiB`);
  }
  const content = text.replace(/^\uFEFF/, '');
  const yaml = parseYaml(content);
  const source = new SourceText(file, content, secretRanges(yaml, content));
  const parts = yaml.map((document) => readDocument(document, source, lenient));
  const manifest = {
    documents: parts.flatMap(({documents}) => documents),
    objects: parts.flatMap(({objects}) => objects),
    issues: parts.flatMap(({issues}) => issues).sort(byPosition),
    warnings: parts.flatMap(({warnings}) => warnings).sort(byPosition),
  };
  if (manifest.documents.length + manifest.objects.length + manifest.issues.length === 0) {
    throw new ConfigError(`no Pod in "${file}"`, {hint: 'a manifest holds an object with kind: Pod'});
  }
  return manifest;
}

/**
 * The Pods of a manifest as they were written: neither defaulted nor validated (see loadPods for all at once).
 *
 * @throws PodValidationError with every fault of syntax, type and name at once.
 * @throws ConfigError when the text is too large or holds nothing at all.
 */
export function decodeManifest(text: string, options: DecodeOptions): readonly ManifestDocument[] {
  const {documents, issues} = parseManifest(text, options);
  if (issues.length > 0) throw new PodValidationError(issues);
  return documents;
}
