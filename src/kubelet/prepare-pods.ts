import {PodValidationError} from '../api/manifest-issue.js';
import type {ManifestDocument} from '../api/manifest.js';
import type {Pod} from '../api/v1.js';
import {toLocalPod, toStaticPod} from './config/static-pod.js';
import {unsupportedFields} from './unsupported.js';

/** A pod as it is synced, and where it comes from. */
export interface PreparedPod {
  readonly pod: Pod;
  readonly source: string;
}

/** What is added to manifests before they are synced. */
export interface PrepareOptions {
  /** As the kubelet treats its manifest directory: name suffix, UID from the content, source `file`. */
  readonly static: boolean;
  readonly nodeName: string;
  /** When the manifests were first seen, in milliseconds since the epoch. */
  readonly seenAtMs: number;
}

/**
 * Gives valid Pods their identity, and refuses what this kubelet can't do: nothing is dropped in silence.
 * Throws PodValidationError with every such field and its place.
 */
export function preparePods(
  documents: readonly ManifestDocument[],
  options: PrepareOptions,
): readonly PreparedPod[] {
  const issues = documents.flatMap((document) =>
    unsupportedFields(document.pod).map((error) => document.issueAt(error)),
  );
  if (issues.length > 0) throw new PodValidationError(issues);
  const seen = new Date(options.seenAtMs).toISOString();
  return documents.map(({pod, file}) => ({
    pod: options.static
      ? toStaticPod(pod, {nodeName: options.nodeName, file, seen})
      : toLocalPod(pod, {nodeName: options.nodeName, seen}),
    source: file,
  }));
}
