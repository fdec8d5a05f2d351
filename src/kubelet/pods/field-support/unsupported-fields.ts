import {describeFieldError, forbidden, type FieldError} from '../../../api/field-error.js';
import {FieldPath} from '../../../api/field-path.js';
import {pod as podSchema} from '../../../api/types/v1-pod.js';
import type {AnySchema, FieldType} from '../../../api/schema/object-schema.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {SyncFailure} from '../../contract/sync-result.js';
import {FIELD_RULES, type FieldRule} from './field-rules.js';

/**
 * Fields, by type, that are refused in manifests and that an API server may set. Those of other operating systems are left to
 * the admission.
 */
const OF_API_SERVER: Readonly<Record<string, ReadonlySet<string>>> = {
  Pod: new Set(['metadata']),
  PodOS: new Set(['name']),
  PodSecurityContext: new Set(['windowsOptions']),
  PodSpec: new Set(['ephemeralContainers', 'schedulingGates']),
  SecurityContext: new Set(['windowsOptions']),
  Volume: new Set(['persistentVolumeClaim', 'ephemeral', 'csi']),
  VolumeProjection: new Set(['serviceAccountToken']),
};

/** Returns an error with its reason for each field of a Pod that kcri cannot honor and must not ignore, in the order of the Pod. */
export function unsupportedFields(pod: Pod): readonly FieldError[] {
  return [...inObject(podSchema, pod, {path: new FieldPath(), exempt: {}})];
}

/** Reason why a pod of an API server is not started. */
export type UnsupportedFeature = SyncFailure & {readonly reason: 'PodFeatureUnsupported'};

/**
 * Returns the failure of a pod of an API server that has fields that kcri does not support; manifests are checked when
 * they are read. Such a pod waits: its controller would replace a pod that fails at once.
 */
export function findUnsupportedFeature(pod: Pod): UnsupportedFeature | undefined {
  if (!FOUND.has(pod)) FOUND.set(pod, checkFields(pod));
  return FOUND.get(pod);
}

/** Results of findUnsupportedFeature, which each sync asks for. */
const FOUND = new WeakMap<Pod, UnsupportedFeature | undefined>();

function checkFields(pod: Pod): UnsupportedFeature | undefined {
  const fields = [...inObject(podSchema, pod, {path: new FieldPath(), exempt: OF_API_SERVER})];
  if (fields.length === 0) return undefined;
  return {reason: 'PodFeatureUnsupported', message: fields.map(describeFieldError).join('; ')};
}

interface Place {
  readonly path: FieldPath;
  /** Fields that are not checked, by type. */
  readonly exempt: typeof OF_API_SERVER;
}

function* inObject(schema: AnySchema, value: object, {path, exempt}: Place): Generator<FieldError> {
  const rules = FIELD_RULES[schema.name] ?? {};
  // Of the hundreds of fields that a pod can have, few are set.
  for (const [name, field] of Object.entries(value)) {
    const type = schema.fields[name]?.type;
    if (type === undefined || isAbsent(type, field) || exempt[schema.name]?.has(name) === true) continue;
    const place = {path: path.child(name), exempt};
    const reason = refusalOf(rules[name], field);
    if (reason !== undefined) yield forbidden(place.path, `not supported by kcri: ${reason}`);
    else if (rules[name]?.kind !== 'ignored') yield* inValue(type, field, place);
  }
}

/** Returns the reason why a field with this value is refused; undefined if it is not. */
function refusalOf(rule: FieldRule | undefined, value: unknown): string | undefined {
  return rule?.kind === 'refused' && rule.when(value as never) ? rule.reason : undefined;
}

function* inValue(type: FieldType, value: unknown, place: Place): Generator<FieldError> {
  if (type.kind === 'object') yield* inObject(type.schema, value as object, place);
  if (type.kind !== 'list') return;
  for (const [index, item] of (value as readonly unknown[]).entries())
    yield* inValue(type.item, item, {...place, path: place.path.index(index)});
}

/** Reports whether a field is unset: undefined, or an empty string, list or map. An empty object may be significant. */
function isAbsent({kind}: FieldType, value: unknown): boolean {
  if (value === undefined || value === '') return true;
  return (kind === 'list' || kind === 'map') && Object.keys(value as object).length === 0;
}
