import {requiredValue} from '../../api/field-error.js';
import {FieldPath} from '../../api/field-path.js';
import {loadUncheckedPods} from '../../api/load-pods.js';
import {PodValidationError, type ManifestIssue} from '../../api/manifest-issue.js';
import type {ManifestDocument, ObjectDocument} from '../../api/manifest.js';
import type {Pod} from '../../api/v1.js';
import {KcriError} from '../../base/errors.js';
import type {ApiObjects} from '../container/api-objects.js';
import {podRef} from '../container/pod-ref.js';
import type {DesiredPod} from '../container/pod-update.js';
import {StaticReferenceError} from './static-pod.js';

/** Why a manifest is refused. */
export interface Refusal {
  readonly kind: 'refused';
  /** In the kubelet's words: `invalid pod: [spec.containers[0].name: Required value]`. */
  readonly error: string;
  readonly issues: readonly ManifestIssue[];
}

/** What a manifest holds. */
export interface ReadManifest {
  readonly kind: 'read';
  /** With the API's defaults; whether they are valid is told when they have their identity. */
  readonly documents: readonly ManifestDocument[];
  readonly objects: readonly ObjectDocument[];
  /** Fields that the API doesn't know: a kubelet passes over them. */
  readonly unknownFields: readonly ManifestIssue[];
}

/** Reads a manifest; unknown fields are no fault, as they are none for a kubelet (common.go tryDecodeSinglePod). */
export function readManifest(text: string, file: string): ReadManifest | Refusal {
  try {
    const {pods, objects, issues, warnings} = loadUncheckedPods(text, {file, lenient: true});
    if (issues.length === 0) return {kind: 'read', documents: pods, objects, unknownFields: warnings};
    return notParsed(file, issues.map(({message}) => message).join(', '), issues);
  } catch (error) {
    if (!(error instanceof KcriError)) throw error;
    return notParsed(file, error.message, []);
  }
}

function notParsed(file: string, reason: string, issues: readonly ManifestIssue[]): Refusal {
  const error = `${file}: couldn't parse as pod(${reason}), please check config file`;
  return {kind: 'refused', error, issues};
}

/**
 * Makes a manifest's Pod the one that runs. Throws PodValidationError and StaticReferenceError when it is none that
 * can, so that nothing is dropped in silence.
 */
export type PreparePod = (document: ManifestDocument, objects: ApiObjects) => Pod;

/** A Pod that is wanted. */
interface PreparedManifest {
  readonly kind: 'prepared';
  readonly desired: DesiredPod;
}

const NAME = new FieldPath(['metadata', 'name']);

/** Gives a manifest's Pod its identity, or tells why it can't run; in the order in which a kubelet looks. */
export function prepareManifest(
  document: ManifestDocument,
  prepare: PreparePod,
  objects: ApiObjects,
): PreparedManifest | Refusal {
  if ((document.pod.metadata.name ?? '') === '') {
    const issues = [document.issueAt(requiredValue(NAME, 'name is needed for the pod'))];
    return {kind: 'refused', error: 'invalid pod: name is needed for the pod', issues};
  }
  try {
    const pod = prepare(document, objects);
    return {kind: 'prepared', desired: {uid: podRef(pod).uid, pod, origin: document.file}};
  } catch (error) {
    return refusalOf(error, document);
  }
}

function refusalOf(error: unknown, document: ManifestDocument): Refusal {
  if (error instanceof PodValidationError) {
    const faults = error.issues.map(({message}) => message).join(' ');
    return {kind: 'refused', error: `invalid pod: [${faults}]`, issues: error.issues};
  }
  if (error instanceof StaticReferenceError) {
    const issue = document.issueAt({path: new FieldPath(), message: error.reason});
    return {kind: 'refused', error: error.reason, issues: [issue]};
  }
  throw error;
}
