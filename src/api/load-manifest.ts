import {applyPodDefaults} from './defaults/pod-defaults.js';
import {applyObjectDefaults} from './defaults/object-defaults.js';
import type {FieldError} from './field-error.js';
import type {
  DecodeOptions,
  DocumentLocation,
  PodDocument,
  ObjectDocument,
} from './decoding/parse-manifest.js';
import {byPosition, parseManifest} from './decoding/parse-manifest.js';
import type {ManifestIssue} from './decoding/manifest-issue.js';
import {validateObject} from './validation/validate-object.js';
import {validatePod} from './validation/validate-pod.js';

/** A text's Pods and what they may refer to, and everything that is wrong: only without issues are they fit for use. */
export interface LoadedManifest {
  /** With the API's defaults. */
  readonly pods: readonly PodDocument[];
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
function issuesOf(place: DocumentLocation, errors: readonly FieldError[]): readonly ManifestIssue[] {
  const unread = place.issues.filter(({path}) => path !== '').map(({path}) => path);
  return errors
    .map((error) => place.createIssue(error))
    .filter(({path}) => !unread.some((part) => covers(part, path)));
}

/**
 * As loadPods, but what the Pods say is still to be validated: for who changes them first. What is wrong so far is
 * what isn't YAML or JSON, doesn't fit the API's types, or is wrong with another object.
 *
 * @throws ConfigError when the text is too large or holds nothing at all.
 */
export function loadUnvalidatedManifest(text: string, options: DecodeOptions): LoadedManifest {
  const manifest = parseManifest(text, options);
  const pods = manifest.pods.map((document) => ({...document, pod: applyPodDefaults(document.pod)}));
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
export function loadManifest(text: string, options: DecodeOptions): LoadedManifest {
  const manifest = loadUnvalidatedManifest(text, options);
  const found = manifest.pods.flatMap((document) => issuesOf(document, validatePod(document.pod)));
  return {...manifest, issues: [...manifest.issues, ...found].sort(byPosition)};
}
