import {applyDefaults} from './defaults.js';
import type {DecodeOptions, ManifestDocument} from './manifest.js';
import {byPosition, parseManifest} from './manifest.js';
import type {ManifestIssue} from './manifest-issue.js';
import {validatePod} from './validate-pod.js';

/** A text's Pods, and everything that is wrong with them: only without issues are they fit for use. */
export interface LoadedManifest {
  /** With the API's defaults. */
  readonly pods: readonly ManifestDocument[];
  readonly issues: readonly ManifestIssue[];
  /** What --lenient let pass. */
  readonly warnings: readonly ManifestIssue[];
}

/** True when the part of the path is the path or something around it. */
function covers(part: string, path: string): boolean {
  return part === path || path.startsWith(`${part}.`) || path.startsWith(`${part}[`);
}

function findIssues(document: ManifestDocument): readonly ManifestIssue[] {
  // What couldn't be read is missing from the Pod: complaining that it isn't there would mislead.
  const unread = document.issues.filter(({path}) => path !== '').map(({path}) => path);
  return validatePod(document.pod)
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
  const pods = documents.map((document) => ({...document, pod: applyDefaults(document.pod)}));
  return {pods, issues: [...issues, ...pods.flatMap(findIssues)].sort(byPosition), warnings};
}
