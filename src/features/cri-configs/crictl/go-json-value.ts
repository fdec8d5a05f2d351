import {formatFloat32} from '../../../api/decoding/key-text.js';
import type {ManifestNode, MapNode, ScalarNode} from '../../../api/decoding/manifest-node.js';
import {byKey} from '../../../base/compare.js';
import {ConfigError} from '../../../base/errors.js';
import {
  CRI_SCHEMAS,
  type FieldSchema,
  type FieldType,
  type MessageType,
} from '../../../cri/message-schema.js';

/** JSON with exact integers and with the keys of objects sorted, as Go writes maps. */
export type GoJson = string | bigint | number | boolean | null | readonly GoJson[] | GoObject;
export interface GoObject {
  readonly entries: readonly (readonly [key: string, value: GoJson])[];
}

/** Type that a value is decoded into; undefined for the value of an unknown field. */
export type Target =
  | Exclude<FieldType, MessageType>
  | Pick<MessageType, 'kind' | 'name'>
  | {readonly kind: 'list'; readonly item: FieldType}
  | undefined;

/** Returns what a field holds. */
export function targetOf({repeated, type}: FieldSchema): NonNullable<Target> {
  return repeated ? {kind: 'list', item: type} : type;
}

/** The message that decodes itself, so that its numbers do not become strings. */
export const SELF_DECODING = 'KeyValue';

/**
 * Converts YAML to the JSON that sigs.k8s.io/yaml makes of it for a target: a number or a boolean becomes a string
 * where the target is one. Throws ConfigError for a number that JSON does not have.
 */
export function toGoJson(node: ManifestNode, target: Target): GoJson {
  if (node.kind === 'scalar') return scalarJson(node, target);
  if (node.kind === 'list') {
    const item = target?.kind === 'list' ? target.item : undefined;
    return node.items.map((each) => toGoJson(each, item));
  }
  return {entries: entriesOf(node, target).sort(byKey)};
}

function entriesOf(node: MapNode, target: Target): [string, GoJson][] {
  return Array.from(node.entries, ([key, {value}]) => [key, toGoJson(value, memberTarget(target, key))]);
}

function memberTarget(target: Target, key: string): Target {
  if (target?.kind === 'map') return {kind: 'string'};
  if (target?.kind !== 'message' || target.name === SELF_DECODING) return undefined;
  const field = fieldOf(target.name, key);
  return field === undefined ? undefined : targetOf(field);
}

/** Returns the field of a message that Go's JSON decodes a key into: its exact name, or one that differs in case. */
export function fieldOf(message: string, key: string): FieldSchema | undefined {
  const {fields} = CRI_SCHEMAS.message(message);
  const folded = key.toLowerCase();
  return (
    fields.find(({protoName}) => protoName === key) ??
    fields.find(({protoName}) => protoName.toLowerCase() === folded)
  );
}

function scalarJson({value}: ScalarNode, target: Target): GoJson {
  if (target?.kind === 'string' && value !== null && typeof value !== 'string')
    return typeof value === 'number' ? formatFloat32(value) : String(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new ConfigError(`json: unsupported value: ${formatFloat32(value)}`);
  return value;
}
