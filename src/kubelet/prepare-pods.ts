import {invalidValue, type FieldError} from '../api/field-error.js';
import {FieldPath} from '../api/field-path.js';
import {PodValidationError} from '../api/manifest-issue.js';
import type {ManifestDocument} from '../api/manifest.js';
import type {Pod} from '../api/v1.js';
import {validatePod} from '../api/validate-pod.js';
import {MAX_SEGMENT_LENGTH} from '../base/files.js';
import {runtimeClassConflicts, withRuntimeClass} from './config/runtime-class.js';
import {checkStaticReferences, toLocalPod, toStaticPod} from './config/static-pod.js';
import {NO_OBJECTS, type ApiObjects} from './container/api-objects.js';
import {podLogsName} from './container/node.js';
import {podRef} from './container/pod-ref.js';
import {unsupportedFields} from './unsupported.js';

/** A pod as it is synced, and where it comes from. */
export interface PreparedPod {
  readonly pod: Pod;
  readonly source: string;
}

/** What is added to manifests before they are synced. */
export interface PrepareOptions {
  /** As the kubelet treats its own manifests: name suffix, UID from content and place, source `file` or `http`. */
  readonly static: boolean;
  /** Where static pods were fetched from; without it they come from files. */
  readonly url?: string | undefined;
  readonly nodeName: string;
  /** When the manifests were first seen, in milliseconds since the epoch. */
  readonly seenAtMs: number;
  /** What came with the manifests for Pods to refer to: nothing by default. */
  readonly objects?: ApiObjects;
}

/**
 * Gives Pods their identity, and refuses what is invalid then and what this kubelet can't do: nothing is dropped in
 * silence. Throws PodValidationError with every such field and its place, and StaticReferenceError.
 */
export function preparePods(
  documents: readonly ManifestDocument[],
  options: PrepareOptions,
): readonly PreparedPod[] {
  const {objects = NO_OBJECTS} = options;
  refuse(documents, ({pod}) => conflicts(pod, options));
  refuse(documents, ({pod}) => unsupportedFields(admitted(pod, options)));
  // The node's name may make a pod's too long, so that a valid Pod is none any more.
  refuse(documents, (document) => validatePod(prepared(document, options)));
  if (options.static) for (const {pod, file} of documents) checkStaticReferences(pod, file, objects);
  refuse(documents, (document) => checkLogDirectory(prepared(document, options)));
  return documents.map((document) => ({pod: prepared(document, options), source: document.file}));
}

function prepared({pod, file}: ManifestDocument, options: PrepareOptions): Pod {
  const {static: isStatic, nodeName, seenAtMs, url} = options;
  const seen = new Date(seenAtMs).toISOString();
  return isStatic
    ? toStaticPod(pod, {nodeName, file, seen, url})
    : toLocalPod(admitted(pod, options), {nodeName, seen});
}

/** No API server has admitted a static pod. */
function admitted(pod: Pod, {static: isStatic, objects = NO_OBJECTS}: PrepareOptions): Pod {
  return isStatic ? pod : withRuntimeClass(pod, objects);
}

function conflicts(
  pod: Pod,
  {static: isStatic, objects = NO_OBJECTS}: PrepareOptions,
): readonly FieldError[] {
  return isStatic ? [] : runtimeClassConflicts(pod, objects);
}

/** A pod that no log directory can be made for could be begun, and never ended. */
function checkLogDirectory(pod: Pod): readonly FieldError[] {
  const {name, length} = {name: pod.metadata.name ?? '', length: podLogsName(podRef(pod)).length};
  const problem = `the pod's log directory NAMESPACE_NAME_UID would have a name of ${length} characters, at most ${MAX_SEGMENT_LENGTH} are possible`;
  return length > MAX_SEGMENT_LENGTH
    ? [invalidValue(new FieldPath(['metadata', 'name']), name, problem)]
    : [];
}

function refuse(
  documents: readonly ManifestDocument[],
  faultsOf: (document: ManifestDocument) => readonly FieldError[],
): void {
  const issues = documents.flatMap((document) => faultsOf(document).map((error) => document.issueAt(error)));
  if (issues.length > 0) throw new PodValidationError(issues);
}
