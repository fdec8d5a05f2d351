import {applyPodDefaults} from '../defaults/pod-defaults.js';
import {applyWorkloadDefaults} from '../defaults/workload-defaults.js';
import {applyObjectDefaults} from '../defaults/object-defaults.js';
import type {FieldError} from '../field-error.js';
import type {
  DecodeOptions,
  DocumentLocation,
  Manifest,
  RemovedFields,
  PodDocument,
  ObjectDocument,
  SkippedDocument,
  WorkloadDocument,
} from './parse-manifest.js';
import {byPosition, parseManifest} from './parse-manifest.js';
import {findTemplateIssue} from '../decoding/find-template-action.js';
import type {ManifestIssue} from '../decoding/manifest-issue.js';
import {withGeneratedName} from '../workloads/generated-names.js';
import {validateObject} from '../validation/validate-object.js';
import {validatePod} from '../validation/validate-pod.js';
import {validateWorkload} from '../validation/validate-workload.js';

/** Pods of a manifest, the objects that they may refer to, and all issues. Use the pods only if there are no issues. */
export interface LoadedManifest {
  /** Pods with the defaults of the API. */
  readonly pods: readonly PodDocument[];
  /** Workloads with the defaults of the API, validated with their templates. */
  readonly workloads: readonly WorkloadDocument[];
  /** Objects without effect. */
  readonly skipped: readonly SkippedDocument[];
  /** Objects with the defaults of the API. */
  readonly objects: readonly ObjectDocument[];
  readonly issues: readonly ManifestIssue[];
  /** Unknown fields that --lenient ignored. */
  readonly warnings: readonly ManifestIssue[];
  /** Duplicate keys of which --lenient took the last. */
  readonly duplicates: readonly ManifestIssue[];
  /** Fields removed from objects that were exported from an API server. */
  readonly removed: readonly RemovedFields[];
  /** Issue that explains all others: the text is a template. */
  readonly templateIssue: ManifestIssue | undefined;
}

/** Reports whether `part` is the path or contains it. */
function covers(part: string, path: string): boolean {
  return part === path || path.startsWith(`${part}.`) || path.startsWith(`${part}[`);
}

/**
 * Returns field errors as issues with positions. Omits errors about parts that could not be decoded, because they are
 * not missing.
 */
function issuesOf(place: DocumentLocation, errors: readonly FieldError[]): readonly ManifestIssue[] {
  const unread = place.issues.filter(({path}) => path !== '').map(({path}) => path);
  return errors
    .map((error) => place.createIssue(error))
    .filter(({path}) => !unread.some((part) => covers(part, path)));
}

/**
 * Reads a manifest like loadManifest, but leaves the validation of the Pods to the caller, which changes them first.
 * Reports errors of syntax and type, and duplicate objects.
 *
 * @throws ConfigError if the text is too large or empty.
 */
export function loadUnvalidatedManifest(text: string, options: DecodeOptions): LoadedManifest {
  const manifest = parseManifest(text, options);
  const pods = manifest.pods.map((document) => ({...document, pod: applyPodDefaults(document.pod)}));
  const objects = manifest.objects.map((document) => ({
    ...document,
    object: applyObjectDefaults(document.object),
  }));
  const workloads = manifest.workloads.map((document) => ({
    ...document,
    workload: applyWorkloadDefaults(document.workload),
  }));
  const found = [
    ...objects.flatMap((document) => issuesOf(document, validateObject(document.object))),
    ...workloads.flatMap((document) => issuesOf(document, validateWorkload(document.workload))),
  ];
  return {
    pods,
    workloads,
    skipped: manifest.skipped,
    objects,
    issues: explain([...manifest.issues, ...found], manifest),
    templateIssue: manifest.templateIssue,
    warnings: manifest.warnings,
    duplicates: manifest.duplicates,
    removed: manifest.removed,
  };
}

/**
 * Decodes, defaults and validates a manifest. Returns all issues in the order of the text. A Pod with only a
 * generateName gets a name computed from its content.
 *
 * @throws ConfigError if the text is too large or empty.
 */
export function loadManifest(text: string, options: DecodeOptions): LoadedManifest {
  const manifest = loadUnvalidatedManifest(text, options);
  const pods = manifest.pods.map((document) => ({...document, pod: withGeneratedName(document.pod)}));
  const found = pods.flatMap((document) => issuesOf(document, validatePod(document.pod)));
  return {...manifest, pods, issues: explain([...manifest.issues, ...found], manifest)};
}

/** Returns issues in the order of the text; of a template, only the issue that it is one. */
function explain(
  issues: readonly ManifestIssue[],
  {templateIssue}: Pick<Manifest, 'templateIssue'>,
): readonly ManifestIssue[] {
  const cause = issues.length === 0 ? undefined : (templateIssue ?? findTemplateIssue(issues));
  return cause === undefined ? issues.toSorted(byPosition) : [cause];
}
