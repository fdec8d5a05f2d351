import {requiredValue, unsupportedValue} from '../../../api/field-error.js';
import {FieldPath} from '../../../api/field-path.js';
import {loadUnvalidatedManifest, type LoadedManifest} from '../../../api/load-manifest.js';
import {PodValidationError, type ManifestIssue} from '../../../api/decoding/manifest-issue.js';
import type {DocumentLocation, ObjectDocument, PodDocument} from '../../../api/decoding/parse-manifest.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {KcriError} from '../../../base/errors.js';
import type {ApiObjects} from '../../contract/api-objects.js';
import {podRef} from '../../contract/pod-ref.js';
import type {DesiredPod} from '../../contract/pod-update.js';
import {StaticReferenceError} from './static-pod.js';

/** Reason for which a manifest is rejected. */
export interface ManifestRejection {
  readonly kind: 'rejected';
  /** Error text of the kubelet: `invalid pod: [spec.containers[0].name: Required value]`. */
  readonly error: string;
  readonly issues: readonly ManifestIssue[];
}

/** Content of a manifest. */
export interface DecodedManifest {
  readonly kind: 'read';
  /** Pods with API defaults; they are validated when they get their identity. */
  readonly documents: readonly PodDocument[];
  readonly objects: readonly ObjectDocument[];
  /** Fields unknown to the API; a kubelet ignores them. */
  readonly unknownFields: readonly ManifestIssue[];
  /** Names of the parts that an API server added and that were removed. */
  readonly removedFields: readonly string[];
}

/** Decodes a manifest. Unknown fields are not an error, as with a kubelet (common.go tryDecodeSinglePod). */
export function readManifest(text: string, file: string): DecodedManifest | ManifestRejection {
  try {
    const manifest = loadUnvalidatedManifest(text, {file, lenient: true});
    const {pods: documents, objects, issues, warnings: unknownFields} = manifest;
    const other = findOther(manifest);
    if (other !== undefined) return createKindRejection(file, other);
    const removedFields = [...new Set(manifest.removed.flatMap(({names}) => names))];
    if (issues.length === 0) return {kind: 'read', documents, objects, unknownFields, removedFields};
    return createParseRejection(file, issues.map(({message}) => message).join(', '), issues);
  } catch (error) {
    if (!(error instanceof KcriError)) throw error;
    return createParseRejection(file, error.message, []);
  }
}

/** Object that a kubelet cannot run. */
interface OtherObject extends DocumentLocation {
  readonly kind: string;
}

/** Returns the first object that a kubelet cannot run: a workload needs a controller, others have no effect. */
function findOther({
  workloads: [workload],
  skipped: [skipped],
  objects,
}: Pick<LoadedManifest, 'workloads' | 'skipped' | 'objects'>): OtherObject | undefined {
  const service = objects.find(({object}) => object.kind === 'Service');
  if (service !== undefined) return {...service, kind: 'Service'};
  if (workload !== undefined) return {...workload, kind: workload.workload.kind};
  return skipped && {...skipped, kind: skipped.skipped.skippedKind};
}

function createKindRejection(file: string, other: OtherObject): ManifestRejection {
  const {kind} = other;
  const issue = other.createIssue(unsupportedValue(new FieldPath(['kind']), kind, ['Pod']));
  return createParseRejection(file, issue.message, [issue]);
}

function createParseRejection(
  file: string,
  reason: string,
  issues: readonly ManifestIssue[],
): ManifestRejection {
  const error = `${file}: couldn't parse as pod(${reason}), please check config file`;
  return {kind: 'rejected', error, issues};
}

/**
 * Converts the Pod of a manifest to the one that runs. Throws PodValidationError or StaticReferenceError if it cannot
 * run, so that no field is silently ignored.
 */
export type PreparePod = (document: PodDocument, objects: ApiObjects) => Pod;

/** Manifest whose Pod can run. */
interface PreparedManifest {
  readonly kind: 'prepared';
  readonly desired: DesiredPod;
}

const NAME = new FieldPath(['metadata', 'name']);

/** Returns the Pod with its identity, or the reason why it cannot run; checks in the order of the kubelet. */
export function prepareManifest(
  document: PodDocument,
  prepare: PreparePod,
  objects: ApiObjects,
): PreparedManifest | ManifestRejection {
  if ((document.pod.metadata.name ?? '') === '') {
    const issues = [document.createIssue(requiredValue(NAME, 'name is needed for the pod'))];
    return {kind: 'rejected', error: 'invalid pod: name is needed for the pod', issues};
  }
  try {
    const pod = prepare(document, objects);
    return {kind: 'prepared', desired: {uid: podRef(pod).uid, pod, origin: document.file}};
  } catch (error) {
    return toRejection(error, document);
  }
}

function toRejection(error: unknown, document: PodDocument): ManifestRejection {
  if (error instanceof PodValidationError) {
    const messages = error.issues.map(({message}) => message).join(' ');
    return {kind: 'rejected', error: `invalid pod: [${messages}]`, issues: error.issues};
  }
  if (error instanceof StaticReferenceError) {
    const issue = document.createIssue({path: new FieldPath(), message: error.reason});
    return {kind: 'rejected', error: error.reason, issues: [issue]};
  }
  throw error;
}
