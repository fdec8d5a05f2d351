import {invalidValue, type FieldError} from '../../../api/field-error.js';
import {FieldPath} from '../../../api/field-path.js';
import {PodValidationError} from '../../../api/decoding/manifest-issue.js';
import type {PodDocument} from '../../../api/manifest/parse-manifest.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {validatePod} from '../../../api/validation/validate-pod.js';
import {isHttpUrl} from '../../../base/is-http-url.js';
import {MAX_SEGMENT_LENGTH} from '../../../base/fs/files.js';
import {findRuntimeClassConflicts, applyRuntimeClass} from '../../sources/runtime-class.js';
import {checkStaticReferences, toLocalPod, toStaticPod} from '../../sources/static-pod.js';
import {NO_OBJECTS, type ApiObjects} from '../../contract/api-objects.js';
import {podLogsDirectoryName} from '../../contract/node-facts.js';
import {podRef} from '../../contract/pod-ref.js';
import {unsupportedFields} from './unsupported-fields.js';

/** A pod ready to be synced, and its manifest's source. */
export interface PreparedPod {
  readonly pod: Pod;
  readonly source: string;
}

/** Options of preparePods. */
export interface PrepareOptions {
  /** True to prepare static pods: with name suffix, UID from content and path, and source `file` or `http`. */
  readonly static: boolean;
  /** URL that static pods were fetched from; undefined if they come from files. */
  readonly url?: string | undefined;
  /** True if an API server provides PersistentVolumeClaims, which static pods must not refer to; false by default. */
  readonly inCluster?: boolean;
  readonly nodeName: string;
  /** Directory of the state of the pods, on which UIDs depend; static pods need none. */
  readonly rootDir?: string;
  /** Time when the manifests were first seen, in ms since the epoch. */
  readonly seenAtMs: number;
  /** API objects delivered with the manifests for Pods to refer to; none by default. */
  readonly objects?: ApiObjects;
}

/**
 * Completes Pods with their identity and rejects invalid Pods and unsupported fields. Throws PodValidationError with
 * every such field and its position, and StaticReferenceError.
 */
export function preparePods(
  documents: readonly PodDocument[],
  options: PrepareOptions,
): readonly PreparedPod[] {
  const {objects = NO_OBJECTS, inCluster = false} = options;
  const written = documents.map((document) => ({document, pod: document.pod}));
  refuse(written, (pod) => conflicts(pod, options));
  refuse(written, (pod) => unsupportedFields(admitted(pod, options)));
  // The UID of a static pod is a hash of all its fields, so it is computed once.
  const complete = documents.map((document) => ({document, pod: prepared(document, options)}));
  // With the node's name as a suffix, the name of a valid Pod may become too long.
  refuse(complete, validatePod);
  if (options.static)
    for (const {pod, file} of documents) checkStaticReferences(pod, file, objects, {inCluster});
  refuse(complete, checkLogDirectory);
  return complete.map(({document, pod}) => ({pod, source: document.origin}));
}

function prepared({pod, origin, written}: PodDocument, options: PrepareOptions): Pod {
  const {static: isStatic, nodeName, rootDir = '', seenAtMs, url} = options;
  const seen = new Date(seenAtMs).toISOString();
  return isStatic
    ? toStaticPod(pod, {
        nodeName,
        file: origin,
        seen,
        written,
        url: url ?? (isHttpUrl(origin) ? origin : undefined),
      })
    : toLocalPod(admitted(pod, options), {nodeName, seen, rootDir});
}

/** Returns the pod with the changes of API server admission, which static pods do not pass. */
function admitted(pod: Pod, {static: isStatic, objects = NO_OBJECTS}: PrepareOptions): Pod {
  return isStatic ? pod : applyRuntimeClass(pod, objects);
}

function conflicts(
  pod: Pod,
  {static: isStatic, objects = NO_OBJECTS}: PrepareOptions,
): readonly FieldError[] {
  return isStatic ? [] : findRuntimeClassConflicts(pod, objects);
}

/** Rejects a pod whose log directory name is too long: it could be started, but never terminated. */
function checkLogDirectory(pod: Pod): readonly FieldError[] {
  const {name, length} = {name: pod.metadata.name ?? '', length: podLogsDirectoryName(podRef(pod)).length};
  const problem = `the log directory NAMESPACE_NAME_UID would have a name of ${length} characters; at most ${MAX_SEGMENT_LENGTH} are allowed`;
  return length > MAX_SEGMENT_LENGTH
    ? [invalidValue(new FieldPath(['metadata', 'name']), name, problem)]
    : [];
}

function refuse(
  pods: readonly {readonly document: PodDocument; readonly pod: Pod}[],
  faultsOf: (pod: Pod) => readonly FieldError[],
): void {
  const issues = pods.flatMap(({document, pod}) => faultsOf(pod).map((error) => document.createIssue(error)));
  // The pods of a workload have the same issues.
  const unique = new Map(issues.map((issue) => [`${issue.file}:${issue.line}:${issue.message}`, issue]));
  if (unique.size > 0) throw new PodValidationError([...unique.values()]);
}
