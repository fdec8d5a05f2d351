import {FieldPath} from '../../api/field-path.js';
import type {DocumentPlace, ObjectDocument} from '../../api/manifest.js';
import {objectKey} from '../container/api-objects.js';
import {podRef} from '../container/pod-ref.js';
import type {DesiredPod} from '../container/pod-update.js';
import {sourceReport} from './pod-source.js';
import type {Problems} from './told-problems.js';

/** A pod that a file wants, and where the file says so. */
export interface PlacedPod {
  readonly desired: DesiredPod;
  readonly place: DocumentPlace;
}

/**
 * Of several pods of one name, or one UID, the last one: so the files of a directory overwrite each other in a
 * kubelet, which keeps them by name. The others are problems.
 */
export function lastPods(pods: readonly PlacedPod[], problems: Problems): readonly DesiredPod[] {
  const byUid = lastOf(pods, ({desired}) => `the pod UID "${desired.uid}"`, placeOf, problems);
  return lastOf(byUid, fullName, placeOf, problems).map(({desired}) => desired);
}

function fullName({desired}: PlacedPod): string {
  const {name, namespace} = podRef(desired.pod);
  return `Pod/${namespace}/${name}`;
}

const placeOf = ({place}: PlacedPod): DocumentPlace => place;

/** Of several objects of one kind, namespace and name the last one; the others are problems. */
export function lastObjects(
  objects: readonly ObjectDocument[],
  problems: Problems,
): readonly ObjectDocument[] {
  return lastOf(
    objects,
    ({object}) => objectKey(object),
    (document) => document,
    problems,
  );
}

function lastOf<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  placeOf: (item: T) => DocumentPlace,
  problems: Problems,
): readonly T[] {
  const last = new Map(items.map((item) => [keyOf(item), item]));
  return items.filter((item) => {
    const winner = last.get(keyOf(item));
    if (winner === item || winner === undefined) return true;
    const [place, other] = [placeOf(item), placeOf(winner)];
    const error = `${keyOf(item)} is defined again in ${other.file}:${other.line}, which counts`;
    const issues = [place.issueAt({path: new FieldPath(), message: error})];
    const report = sourceReport('file', 'Could not process manifest file', {
      error,
      fields: {path: place.file},
      issues,
    });
    problems.set(`${place.file}:${place.line} ${error}`, report);
    return false;
  });
}
