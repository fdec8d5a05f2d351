import {forbidden, type FieldError} from '../../api/field-error.js';
import {FieldPath} from '../../api/field-path.js';
import {canonicalJson} from '../../api/container-hash.js';
import {compareQuantities} from '../../api/quantity.js';
import type {Pod, PodSpec} from '../../api/types/v1-pod.js';
import type {ResourceList} from '../../api/types/v1-meta.js';
import type {RuntimeClass} from '../../api/types/v1-objects.js';
import type {ApiObjects} from '../contract/api-objects.js';

const SPEC = new FieldPath(['spec']);

/**
 * Adds the overhead, node selector and tolerations of the Pod's RuntimeClass, as the API server does at admission
 * (plugin runtimeclass). Returns the Pod unchanged if the RuntimeClass is missing; its sandbox cannot be created then.
 */
export function applyRuntimeClass(pod: Pod, objects: ApiObjects): Pod {
  const runtimeClass = runtimeClassOf(pod, objects);
  if (runtimeClass === undefined) return pod;
  const {overhead, scheduling} = runtimeClass;
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(overhead?.podFixed && {overhead: overhead.podFixed}),
      ...(scheduling?.nodeSelector && {nodeSelector: {...pod.spec.nodeSelector, ...scheduling.nodeSelector}}),
      ...(scheduling?.tolerations && {
        tolerations: mergeUnique(pod.spec.tolerations, scheduling.tolerations),
      }),
    },
  };
}

/** Returns the fields of the Pod that conflict with its RuntimeClass, with the API server's messages. */
export function findRuntimeClassConflicts(pod: Pod, objects: ApiObjects): readonly FieldError[] {
  const runtimeClass = runtimeClassOf(pod, objects);
  if (runtimeClass === undefined) return [];
  return [...overheadConflicts(pod.spec, runtimeClass), ...selectorConflicts(pod.spec, runtimeClass)];
}

function runtimeClassOf({spec}: Pod, objects: ApiObjects): RuntimeClass | undefined {
  const {runtimeClassName = ''} = spec;
  return runtimeClassName === '' ? undefined : objects.runtimeClass(runtimeClassName);
}

function mergeUnique<T>(own: readonly T[] = [], added: readonly T[]): readonly T[] {
  const known = new Set(own.map(canonicalJson));
  return [...own, ...added.filter((item) => !known.has(canonicalJson(item)))];
}

function overheadConflicts({overhead}: PodSpec, runtimeClass: RuntimeClass): readonly FieldError[] {
  if (overhead === undefined) return [];
  const defined = runtimeClass.overhead?.podFixed;
  if (defined !== undefined && areEqual(overhead, defined)) return [];
  const problem =
    defined === undefined
      ? 'Pod Overhead set without corresponding RuntimeClass defined Overhead'
      : "Pod's Overhead doesn't match RuntimeClass's defined Overhead";
  return [forbidden(SPEC.child('overhead'), `pod rejected: ${problem}`)];
}

function areEqual(a: ResourceList, b: ResourceList): boolean {
  const names = Object.keys({...a, ...b});
  return names.every((name) => {
    const [one, other] = [a[name], b[name]];
    return one !== undefined && other !== undefined && compareQuantities(one, other) === 0;
  });
}

function selectorConflicts({nodeSelector = {}}: PodSpec, {scheduling}: RuntimeClass): readonly FieldError[] {
  return Object.entries(scheduling?.nodeSelector ?? {}).flatMap(([key, value]) => {
    const own = (Object.hasOwn(nodeSelector, key) ? nodeSelector[key] : undefined) ?? '';
    if (own === '' || own === value) return [];
    const problem = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`;
    return [forbidden(SPEC.child('nodeSelector').key(key), problem)];
  });
}
