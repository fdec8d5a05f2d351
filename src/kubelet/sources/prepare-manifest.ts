import {requiredValue, unsupportedValue, type FieldError} from '../../api/field-error.js';
import {FieldPath} from '../../api/field-path.js';
import {loadUnvalidatedManifest, type LoadedManifest} from '../../api/manifest/load-manifest.js';
import {serviceNotices} from '../../api/services/service-notices.js';
import {PodValidationError, type ManifestIssue} from '../../api/decoding/manifest-issue.js';
import type {
  DocumentLocation,
  ObjectDocument,
  PodDocument,
  WorkloadDocument,
} from '../../api/manifest/parse-manifest.js';
import type {Pod} from '../../api/types/v1-pod.js';
import {KcriError} from '../../base/errors.js';
import type {ApiObjects} from '../contract/api-objects.js';
import {podRef} from '../contract/pod-ref.js';
import type {DesiredPod} from '../contract/pod-update.js';
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
  /** Workloads with API defaults; their pods are validated like Pods. */
  readonly workloads: readonly WorkloadDocument[];
  readonly objects: readonly ObjectDocument[];
  /** Objects without effect, with one issue each. */
  readonly skipped: readonly ManifestIssue[];
  /** Fields unknown to the API; a kubelet ignores them. */
  readonly unknownFields: readonly ManifestIssue[];
  /** Keys that occur twice in a map; a kubelet takes the last. */
  readonly duplicateKeys: readonly ManifestIssue[];
  /** Names of the parts that an API server added and that were removed. */
  readonly removedFields: readonly string[];
}

/** Parts of a manifest to warn about, and what is done with them: `Skipping objects of`. */
export interface ManifestWarning {
  readonly action: string;
  /** Text of all issues. */
  readonly error: string;
  readonly issues: readonly ManifestIssue[];
}

/** Returns the warnings about a manifest; none for a kind of parts that it does not have. */
export function warningsOf({
  skipped,
  unknownFields,
  duplicateKeys,
}: DecodedManifest): readonly ManifestWarning[] {
  const warnings = [
    {action: 'Skipping objects of', issues: skipped},
    {action: 'Ignoring unknown fields of', issues: unknownFields},
    {action: 'Taking the last of duplicate keys of', issues: duplicateKeys},
  ];
  return warnings
    .filter(({issues}) => issues.length > 0)
    .map((warning) => ({...warning, error: warning.issues.map(({message}) => message).join(', ')}));
}

/** Options of readManifest. */
export interface ReadManifestOptions {
  /** True to accept workloads, and to skip objects without effect. A kubelet rejects both. */
  readonly acceptsWorkloads: boolean;
}

/**
 * Decodes a manifest. Unknown fields and duplicate keys are not an error, as with a kubelet (common.go
 * tryDecodeSinglePod).
 */
export function readManifest(
  text: string,
  file: string,
  {acceptsWorkloads}: ReadManifestOptions,
): DecodedManifest | ManifestRejection {
  try {
    const manifest = loadUnvalidatedManifest(text, {file, lenient: true});
    const {pods: documents, workloads, objects, issues} = manifest;
    const other = acceptsWorkloads ? undefined : findOther(manifest);
    if (other !== undefined) return createKindRejection(file, other);
    const removedFields = [...new Set(manifest.removed.flatMap(({names}) => names))];
    const skipped = describeSkipped(manifest);
    if (issues.length === 0) {
      const {warnings: unknownFields, duplicates: duplicateKeys} = manifest;
      const content = {documents, workloads, objects, skipped};
      return {kind: 'read', ...content, unknownFields, duplicateKeys, removedFields};
    }
    return createParseRejection(file, issues.map(({message}) => message).join(', '), issues);
  } catch (error) {
    if (!(error instanceof KcriError)) throw error;
    return createParseRejection(file, error.message, []);
  }
}

/** Returns one issue for each object without effect, and for each Service that cannot have one. */
function describeSkipped({
  skipped,
  objects,
}: Pick<LoadedManifest, 'skipped' | 'objects'>): readonly ManifestIssue[] {
  const kinds = skipped.map(({skipped: {skippedKind, name}, ...location}) => {
    const title = name === '' ? skippedKind : `${skippedKind} "${name}"`;
    const message = `skipping ${title}: objects of this kind have no effect here`;
    return {...location.createIssue({path: new FieldPath(), message}), message};
  });
  const services = objects.flatMap(({object, ...location}) =>
    object.kind === 'Service'
      ? serviceNotices(object, [])
          .filter(({isWarning}) => isWarning)
          .map((notice) => location.createIssue(notice))
      : [],
  );
  return [...kinds, ...services];
}

/** Kinds of objects that an API server has for a node of a cluster, other than those that its pods may need. */
const OF_CLUSTER: ReadonlySet<string> = new Set([
  'Service',
  'StorageClass',
  'VolumeAttributesClass',
  'CSIDriver',
  'ResourceClaim',
  'ResourceClaimTemplate',
  'DeviceClass',
  'ResourceSlice',
]);

/** Object that a kubelet cannot run. */
interface OtherObject extends DocumentLocation {
  readonly error: FieldError;
}

const KIND = new FieldPath(['kind']);

/** Returns the first object that a kubelet cannot run: a workload needs a controller, others have no effect. */
function findOther({
  workloads: [workload],
  skipped: [skipped],
  objects,
}: Pick<LoadedManifest, 'workloads' | 'skipped' | 'objects'>): OtherObject | undefined {
  if (workload !== undefined) {
    const {kind} = workload.workload;
    const message = `Unsupported value: "${kind}": a node of a cluster runs only Pods from manifests; create the ${kind} with kubectl`;
    return {...workload, error: {path: KIND, message}};
  }
  const other = objects.find(({object}) => OF_CLUSTER.has(object.kind));
  if (other !== undefined) return {...other, error: unsupportedValue(KIND, other.object.kind, ['Pod'])};
  return skipped && {...skipped, error: unsupportedValue(KIND, skipped.skipped.skippedKind, ['Pod'])};
}

function createKindRejection(file: string, other: OtherObject): ManifestRejection {
  const issue = other.createIssue(other.error);
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
    return {kind: 'prepared', desired: {uid: podRef(pod).uid, pod, origin: document.origin}};
  } catch (error) {
    return toRejection(error, document);
  }
}

function toRejection(error: unknown, document: PodDocument): ManifestRejection {
  if (error instanceof PodValidationError) return createRejection(error);
  if (error instanceof StaticReferenceError) {
    const issue = document.createIssue({path: new FieldPath(), message: error.reason});
    return {kind: 'rejected', error: error.reason, issues: [issue]};
  }
  throw error;
}

/** Returns the rejection of a manifest with an invalid Pod. */
export function createRejection({issues}: PodValidationError): ManifestRejection {
  const messages = issues.map(({message}) => message).join(' ');
  return {kind: 'rejected', error: `invalid pod: [${messages}]`, issues};
}
