import {FieldPath} from '../../api/field-path.js';
import type {DocumentLocation, ObjectDocument} from '../../api/manifest/parse-manifest.js';
import {workloadRef} from '../../api/workloads/workload-of-pod.js';
import {getObjectKey} from '../contract/api-objects.js';
import {podRef} from '../contract/pod-ref.js';
import type {DesiredWorkload, DesiredPod} from '../contract/pod-update.js';
import {createSourceReport} from './pod-source.js';
import type {Problems} from './problem-deduplicator.js';

/** Desired workload and the location of its manifest. */
export interface LocatedWorkload {
  readonly desired: DesiredWorkload;
  readonly location: DocumentLocation;
}

/** Desired pod and the location of its manifest. */
export interface LocatedPod {
  readonly desired: DesiredPod;
  readonly location: DocumentLocation;
}

/**
 * Returns the last of several pods with the same name or UID; a kubelet, which stores a directory's pods by name, lets
 * later files overwrite earlier ones. Adds a problem for each of the others.
 */
export function dropDuplicatePods(pods: readonly LocatedPod[], problems: Problems): readonly DesiredPod[] {
  const byUid = lastOf(pods, ({desired}) => `pod UID "${desired.uid}"`, locationOf, problems);
  return lastOf(byUid, fullName, locationOf, problems).map(({desired}) => desired);
}

function fullName({desired}: LocatedPod): string {
  const {name, namespace} = podRef(desired.pod);
  return `Pod/${namespace}/${name}`;
}

const locationOf = ({location}: LocatedPod): DocumentLocation => location;

/**
 * Returns the last of several workloads with the same kind, namespace and name. Adds a problem for each of the others.
 */
export function dropDuplicateWorkloads(
  workloads: readonly LocatedWorkload[],
  problems: Problems,
): readonly DesiredWorkload[] {
  const title = ({desired: {workload}}: LocatedWorkload): string => {
    const {kind, namespace, name} = workloadRef(workload);
    return `${kind}/${namespace}/${name}`;
  };
  return lastOf(workloads, title, ({location}) => location, problems).map(({desired}) => desired);
}

/**
 * Returns the last of several objects with the same kind, namespace and name. Adds a problem for each of the others.
 */
export function dropDuplicateObjects(
  objects: readonly ObjectDocument[],
  problems: Problems,
): readonly ObjectDocument[] {
  return lastOf(
    objects,
    ({object}) => getObjectKey(object),
    (document) => document,
    problems,
  );
}

function lastOf<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  locationOf: (item: T) => DocumentLocation,
  problems: Problems,
): readonly T[] {
  const last = new Map(items.map((item) => [keyOf(item), item]));
  return items.filter((item) => {
    const winner = last.get(keyOf(item));
    if (winner === item || winner === undefined) return true;
    const [location, other] = [locationOf(item), locationOf(winner)];
    const error = `${keyOf(item)} is also defined in ${other.file}:${other.line}, which takes precedence`;
    const issues = [location.createIssue({path: new FieldPath(), message: error})];
    const report = createSourceReport('file', 'Could not process manifest file', {
      error,
      fields: {path: location.file},
      issues,
    });
    problems.set(`${location.file}:${location.line} ${error}`, report);
    return false;
  });
}
