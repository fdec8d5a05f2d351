import {applyDefaults} from './defaults.js';
import {applyObjectDefaults} from './defaults-objects.js';
import type {FieldError} from './field-error.js';
import type {DecodeOptions, DocumentPlace, ManifestDocument, ObjectDocument} from './manifest.js';
import {byPosition, parseManifest} from './manifest.js';
import type {ManifestIssue} from './manifest-issue.js';
import {validateObject} from './validate-object.js';
import {validatePod} from './validate-pod.js';

/** A text's Pods and what they may refer to, and everything that is wrong: only without issues are they fit for use. */
export interface LoadedManifest {
  /** With the API's defaults. */
  readonly pods: readonly ManifestDocument[];
  /** The same. */
  readonly objects: readonly ObjectDocument[];
  readonly issues: readonly ManifestIssue[];
  /** What --lenient let pass. */
  readonly warnings: readonly ManifestIssue[];
}

/** True when the part of the path is the path or something around it. */
function covers(part: string, path: string): boolean {
  return part === path || path.startsWith(`${part}.`) || path.startsWith(`${part}[`);
}

/** Field errors with their places, but for those about what couldn't be read: to say it isn't there would mislead. */
function issuesOf(place: DocumentPlace, errors: readonly FieldError[]): readonly ManifestIssue[] {
  const unread = place.issues.filter(({path}) => path !== '').map(({path}) => path);
  return errors
    .map((error) => place.issueAt(error))
    .filter(({path}) => !unread.some((part) => covers(part, path)));
}

/**
 * As loadPods, but what the Pods say is still to be validated: for who changes them first. What is wrong so far is
 * what isn't YAML or JSON, doesn't fit the API's types, or is wrong with another object.
 *
 * @throws ConfigError when the text is too large or holds nothing at all.
 */
export function loadUncheckedPods(text: string, options: DecodeOptions): LoadedManifest {
  const manifest = parseManifest(text, options);
  const pods = manifest.documents.map((document) => ({...document, pod: applyDefaults(document.pod)}));
  const objects = manifest.objects.map((document) => ({
    ...document,
    object: applyObjectDefaults(document.object),
  }));
  const found = objects.flatMap((document) => issuesOf(document, validateObject(document.object)));
  return {
    pods,
    objects,
    issues: [...manifest.issues, ...found].sort(byPosition),
    warnings: manifest.warnings,
  };
}

/**
 * Reads, defaults and validates a manifest, and returns all that is wrong at once, in the text's order.
 *
 * @throws ConfigError when the text is too large or holds nothing at all.
 */
export function loadPods(text: string, options: DecodeOptions): LoadedManifest {
  const manifest = loadUncheckedPods(text, options);
  const found = manifest.pods.flatMap((document) => issuesOf(document, validatePod(document.pod)));
  return {...manifest, issues: [...manifest.issues, ...found].sort(byPosition)};
}
