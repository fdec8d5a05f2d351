import type {AnyField, AnySchema, FieldType} from '../../api/schema/object-schema.js';
import {findClosestMatch} from '../../base/closest-match.js';
import {ConfigError} from '../../base/errors.js';
import type {FieldRule} from '../../kubelet/index.js';

/** Rules of the support of fields, by the names of their types and their own. */
export type FieldRules = Readonly<Record<string, Readonly<Record<string, FieldRule>>>>;

/** Types from which on fields are those of a Pod, so that the rules apply to them. */
const POD_TYPES = new Set(['Pod', 'PodTemplateSpec']);

const NAMES = {
  text: 'string',
  secretText: 'string',
  bytes: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
  quantity: 'Quantity',
  time: 'Time',
  intOrString: 'IntOrString',
  enumeration: 'string',
  anything: 'Object',
} as const;

/** A field found by its path. */
interface FoundField {
  readonly name: string;
  readonly field: AnyField | undefined;
  /** Schema of the object that the field contains. */
  readonly schema: AnySchema | undefined;
  /** True below a Pod. */
  readonly isOfPod: boolean;
  /** Support of the field, or of the one above it that is not honored. */
  readonly support: string | undefined;
}

/** Returns the type of a field as kubectl explain writes it: `[]Container`, `map[string]string`. */
export function typeName(type: FieldType): string {
  switch (type.kind) {
    case 'list':
      return `[]${typeName(type.item)}`;
    case 'map':
      return `map[string]${typeName(type.value)}`;
    case 'object':
      return type.schema.name;
    default:
      return NAMES[type.kind];
  }
}

/**
 * Returns the text that explains an object, or the field that the path names: kubectl's, without descriptions, and
 * whether kcri honors, ignores or rejects each field of a Pod. With `recursive`, the fields of all objects below are
 * listed too. Throws ConfigError if there is no such field.
 */
export function explainField(
  root: AnySchema,
  path: readonly string[],
  {rules, recursive}: {readonly rules: FieldRules; readonly recursive: boolean},
): string {
  const found = findField(root, path, rules);
  const {field, schema} = found;
  const values = field === undefined ? undefined : enumerationValues(field.type);
  const version = root.fields['apiVersion'];
  return [
    `KIND:       ${root.name}`,
    `VERSION:    ${version === undefined ? '' : (enumerationValues(version.type)?.[0] ?? '')}`,
    '',
    ...(field === undefined ? [] : [`FIELD: ${fieldLine(found.name, field).replace('\t', ' ')}`, '']),
    ...(values === undefined ? [] : [`ENUM:       ${values.join(', ')}`, '']),
    ...(found.support === undefined ? [] : [`SUPPORT:    ${found.support}`, '']),
    ...(schema === undefined
      ? []
      : ['FIELDS:', ...fieldLines(found, schema, {rules, recursive, depth: 1}), '']),
  ].join('\n');
}

function findField(root: AnySchema, path: readonly string[], rules: FieldRules): FoundField {
  let found: FoundField = {
    name: root.name,
    field: undefined,
    schema: root,
    isOfPod: POD_TYPES.has(root.name),
    support: undefined,
  };
  for (const [index, name] of path.entries()) {
    const {schema} = found;
    const field = schema?.fields[name];
    if (schema === undefined || field === undefined) {
      const parent = [root.name.toLowerCase(), ...path.slice(0, index)].join('.');
      const closest = findClosestMatch(name, Object.keys(schema?.fields ?? {}));
      throw new ConfigError(`field "${name}" does not exist in "${parent}"`, {
        hint:
          closest === undefined
            ? `run "kcri explain ${parent}" to list its fields`
            : `did you mean "${closest}"?`,
      });
    }
    found = below(found, schema, name, {field, rules});
  }
  return found;
}

/** Returns a field of the object of another. Below a field that is not honored, none is. */
function below(
  {isOfPod, support}: FoundField,
  schema: AnySchema,
  name: string,
  {field, rules}: {readonly field: AnyField; readonly rules: FieldRules},
): FoundField {
  const inner = objectOf(field.type);
  const own = isOfPod ? supportText(rules[schema.name]?.[name]) : undefined;
  return {
    name,
    field,
    schema: inner,
    isOfPod: isOfPod || (inner !== undefined && POD_TYPES.has(inner.name)),
    support: support === undefined || support.startsWith(HONORED) ? own : support,
  };
}

const HONORED = 'honored';

function supportText(rule: FieldRule | undefined): string {
  if (rule === undefined || rule.kind === 'honored') return HONORED;
  if (rule.kind === 'ignored') return `ignored: ${rule.reason}`;
  // A rule that looks at the value rejects only some.
  return rule.when.length > 0
    ? `${HONORED}; some values are rejected: ${rule.reason}`
    : `rejected: ${rule.reason}`;
}

interface ListOptions {
  readonly rules: FieldRules;
  readonly recursive: boolean;
  readonly depth: number;
}

function fieldLines(parent: FoundField, schema: AnySchema, options: ListOptions): readonly string[] {
  const {rules, recursive, depth} = options;
  const indent = '  '.repeat(depth);
  return Object.entries(schema.fields).flatMap(([name, field]) => {
    const found = below(parent, schema, name, {field, rules});
    const values = enumerationValues(field.type);
    return [
      `${indent}${fieldLine(name, field)}`,
      ...(values === undefined ? [] : [`${indent}  enum: ${values.join(', ')}`]),
      ...(isWorthNoting(found, parent) ? [`${indent}  ${found.support ?? ''}`] : []),
      ...(recursive && found.schema !== undefined
        ? fieldLines(found, found.schema, {...options, depth: depth + 1})
        : []),
    ];
  });
}

/** Reports whether the support of a field is neither the usual one nor that of the field above. */
function isWorthNoting({support}: FoundField, parent: FoundField): boolean {
  return support !== undefined && support !== HONORED && support !== parent.support;
}

function fieldLine(name: string, {type, required}: AnyField): string {
  return `${name}\t<${typeName(type)}>${required ? ' -required-' : ''}`;
}

function enumerationValues(type: FieldType): readonly string[] | undefined {
  if (type.kind === 'list') return enumerationValues(type.item);
  return type.kind === 'enumeration' ? type.values : undefined;
}

function objectOf(type: FieldType): AnySchema | undefined {
  if (type.kind === 'list') return objectOf(type.item);
  if (type.kind === 'map') return objectOf(type.value);
  return type.kind === 'object' ? type.schema : undefined;
}
