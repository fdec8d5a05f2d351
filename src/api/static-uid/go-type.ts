import {GO_TYPES} from './go-types.js';

/** A field of a Go struct. */
export interface GoField {
  readonly name: string;
  /** Name in JSON; undefined if the fields of the field's type are in the enclosing object. */
  readonly jsonName: string | undefined;
  readonly type: GoType;
}

/** A Go type, with its name as Go prints it. */
export type GoType = {readonly name: string} & (
  | {readonly kind: 'pointer' | 'slice' | 'map'; readonly element: GoType}
  | {readonly kind: 'struct'; readonly fields: readonly GoField[]}
  | {readonly kind: 'bool' | 'integer' | 'string' | 'quantity' | 'intOrString' | 'time' | 'rawJson'}
);

const LEAVES: Readonly<Record<string, Exclude<GoType['kind'], 'pointer' | 'slice' | 'map' | 'struct'>>> = {
  bool: 'bool',
  int32: 'integer',
  int64: 'integer',
  'resource.Quantity': 'quantity',
  'intstr.IntOrString': 'intOrString',
  'v1.Time': 'time',
  'v1.FieldsV1': 'rawJson',
};

/** Definitions by the names of their types, once they are needed. */
let definitions: ReadonlyMap<string, string> | undefined;
const types = new Map<string, GoType>();

/** Returns a Go type by its name, such as `[]core.Container`. */
export function goType(name: string): GoType {
  const known = types.get(name);
  if (known !== undefined) return known;
  const type = createType(name);
  types.set(name, type);
  return type;
}

function createType(name: string): GoType {
  if (name.startsWith('*')) return {name, kind: 'pointer', element: goType(name.slice(1))};
  if (name.startsWith('[]')) return {name, kind: 'slice', element: goType(name.slice(2))};
  const value = /^map\[[^\]]+\](.+)$/.exec(name)?.[1];
  if (value !== undefined) return {name, kind: 'map', element: goType(value)};
  definitions ??= readDefinitions();
  const definition = definitions.get(name);
  if (definition === undefined) return {name, kind: LEAVES[name] ?? 'string'};
  if (definition.startsWith('map[')) return {...goType(definition), name};
  return {name, kind: 'struct', fields: definition.split(', ').map(readField)};
}

function readDefinitions(): ReadonlyMap<string, string> {
  const lines = GO_TYPES.trim().replaceAll('\n  ', ' ').split('\n');
  return new Map(lines.map((line) => line.split(': ') as [string, string]));
}

function readField(text: string): GoField {
  const [names = '', type = ''] = text.split(' ');
  const [name = '', jsonName = `${name.charAt(0).toLowerCase()}${name.slice(1)}`] = names.split('=');
  return {name, jsonName: jsonName === '' ? undefined : jsonName, type: goType(type)};
}
