import {applyDefaults} from './defaults.js';
import type {DecodeOptions, ManifestDocument} from './manifest.js';
import {byPosition, parseManifest} from './manifest.js';
import type {ManifestIssue} from './manifest-issue.js';
import type {Pod} from './v1.js';
import {validatePod} from './validate-pod.js';

/** A Pod with the API's defaults and the place that it came from. */
export interface LoadedPod {
  readonly pod: Pod;
  readonly file: string;
  /** Where the object begins, counted from 1. */
  readonly line: number;
}

/** A text's Pods, and everything that is wrong with them: only without issues are they fit for use. */
export interface LoadedManifest {
  readonly pods: readonly LoadedPod[];
  readonly issues: readonly ManifestIssue[];
  /** What --lenient let pass. */
  readonly warnings: readonly ManifestIssue[];
}

/** True when the part of the path is the path or something around it. */
function covers(part: string, path: string): boolean {
  return part === path || path.startsWith(`${part}.`) || path.startsWith(`${part}[`);
}

function findIssues(
  document: ManifestDocument,
  pod: Pod,
  known: readonly ManifestIssue[],
): readonly ManifestIssue[] {
  // What couldn't be read is missing from the Pod: complaining that it isn't there would mislead.
  const unread = known.filter(({path}) => path !== '').map(({path}) => path);
  return validatePod(pod)
    .map((error) => document.issueAt(error))
    .filter(({path}) => !unread.some((part) => covers(part, path)));
}

/**
 * Reads, defaults and validates a manifest, and returns all that is wrong at once, in the text's order.
 *
 * @throws ConfigError when the text is too large or holds no Pod.
 */
export function loadPods(text: string, options: DecodeOptions): LoadedManifest {
  const {documents, issues, warnings} = parseManifest(text, options);
  const defaulted = documents.map((document) => ({document, pod: applyDefaults(document.pod)}));
  const broken = defaulted.flatMap(({document, pod}) => findIssues(document, pod, issues));
  return {
    pods: defaulted.map(({document: {file, line}, pod}) => ({pod, file, line})),
    issues: [...issues, ...broken].sort(byPosition),
    warnings,
  };
}
