import {dirname} from 'node:path';
import {Decoder, type DecodeProblem} from '../../api/decoding/decoder.js';
import {unsupportedValue} from '../../api/field-error.js';
import {FieldPath} from '../../api/field-path.js';
import type {ManifestIssue} from '../../api/decoding/manifest-issue.js';
import {findFieldOffset, type ManifestNode, type MapNode} from '../../api/decoding/manifest-node.js';
import {text, type AnyField, type AnySchema} from '../../api/schema/object-schema.js';
import {SourceText, type TextRange} from '../../api/decoding/source-text.js';
import {parseYaml} from '../../api/decoding/parse-yaml.js';
import {CONFIG_FIELDS, CONFIG_PATHS, type ConfigPath} from './fields-and-defaults/kubelet-config-defaults.js';
import type {ConfigField} from './config-field.js';

/** Value of a field in a file. */
export interface DecodedField {
  /** Null to remove the value of an earlier file. */
  readonly value: unknown;
  /** Creates an issue at the position of the field. */
  readonly issue: (message: string) => ManifestIssue;
}

/** Fields of a configuration file; valid only without issues. */
export interface DecodedKubeletConfig {
  readonly fields: ReadonlyMap<ConfigPath, DecodedField>;
  /** Paths of fields that are not known, and the issue that each of them is for a strict decoder. */
  readonly unknown: ReadonlyMap<string, ManifestIssue>;
  readonly issues: readonly ManifestIssue[];
}

const NO_FIELDS = {fields: new Map(), unknown: new Map()} as const;

const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
const KIND = 'KubeletConfiguration';

/** Builds a nested schema from dotted paths such as `authentication.x509.clientCAFile`. */
function schemaOf(name: string, paths: readonly (readonly string[])[], at: string): AnySchema {
  const names = [...new Set(paths.map(([first = '']) => first))];
  const fields = names.map((field): readonly [string, AnyField] => {
    const below = paths.filter(([first]) => first === field).map(([, ...rest]) => rest);
    const path = `${at}${field}`;
    const leaf = CONFIG_FIELDS[path as ConfigPath] as (typeof CONFIG_FIELDS)[ConfigPath] | undefined;
    if (leaf !== undefined) return [field, leaf.type.schema];
    return [field, {type: {kind: 'object', schema: schemaOf(path, below, `${path}.`)}, required: false}];
  });
  return {name, fields: Object.fromEntries(fields)};
}

const CONFIGURATION: AnySchema = (() => {
  const {name, fields} = schemaOf(
    KIND,
    CONFIG_PATHS.map((path) => path.split('.')),
    '',
  );
  return {name, fields: {apiVersion: text, kind: text, ...fields}};
})();

/** Top-level fields that may contain credentials. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(
  CONFIG_PATHS.filter((path) => CONFIG_FIELDS[path].type.redaction !== undefined).map(
    (path) => path.split('.')[0] ?? '',
  ),
);

/** Decodes a KubeletConfiguration in YAML or JSON. */
export function decodeKubeletConfig(content: string, file: string): DecodedKubeletConfig {
  const plain = content.replace(/^\uFEFF/, '');
  const [document, ...others] = parseYaml(plain);
  const root = document?.root;
  const source = new SourceText(file, plain, secretRanges(root, plain));
  const issues = (document?.problems ?? []).map((problem) => source.createSyntaxIssue(problem));
  if (others.length > 0) issues.push(source.createIssue(0, '', `must contain only one ${KIND}`));
  if (issues.length > 0) return {...NO_FIELDS, issues};
  if (root?.kind !== 'map')
    return {
      ...NO_FIELDS,
      issues: [source.createIssue(root?.offset ?? 0, '', `must contain a ${KIND}`)],
    };
  return decodeRoot(root, source, dirname(file));
}

/**
 * Returns the ranges of the fields that may contain credentials, from the key to the next one. A text with such a field
 * that cannot be parsed is one range.
 */
function secretRanges(root: ManifestNode | undefined, content: string): readonly TextRange[] {
  if (root?.kind !== 'map') {
    const isSecret = [...SECRET_FIELDS].some((name) => content.includes(name));
    return isSecret ? [{start: 0, end: content.length}] : [];
  }
  const entries = [...root.entries];
  return entries.flatMap(([name, {keyOffset}], index) =>
    SECRET_FIELDS.has(name) ? [{start: keyOffset, end: entries[index + 1]?.[1].keyOffset ?? root.end}] : [],
  );
}

function decodeRoot(root: MapNode, source: SourceText, directory: string): DecodedKubeletConfig {
  const decoder = new Decoder();
  requireKind(root, decoder);
  const toIssue = ({offset, path, message}: DecodeProblem): ManifestIssue =>
    source.createIssue(offset, path.toString(), message);
  // Another kind of file: its fields are not to be quoted.
  if (decoder.problems.length > 0) return {...NO_FIELDS, issues: decoder.problems.map(toIssue)};
  const decoded = decoder.decode(CONFIGURATION, root, new FieldPath());
  const fields = new Map<ConfigPath, DecodedField>();
  for (const path of CONFIG_PATHS) {
    const names = path.split('.');
    const value = valueAt(decoded, names) ?? (isNullAt(root, names) ? null : undefined);
    if (value === undefined) continue;
    const offset = findFieldOffset(root, new FieldPath(names));
    fields.set(path, {
      value: resolveIn(directory, path, value),
      issue: (message) => source.createIssue(offset, path, message),
    });
  }
  const isUnknown = ({kind}: DecodeProblem): boolean => kind === 'unknown-field';
  return {
    fields,
    unknown: new Map(
      decoder.problems.filter(isUnknown).map((problem) => [problem.path.toString(), toIssue(problem)]),
    ),
    issues: decoder.problems.filter((problem) => !isUnknown(problem)).map(toIssue),
  };
}

function isNullAt(node: ManifestNode | undefined, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return node?.kind === 'scalar' && node.value === null;
  return node?.kind === 'map' && isNullAt(node.entries.get(name)?.value, rest);
}

function resolveIn(directory: string, path: ConfigPath, value: unknown): unknown {
  const {type}: ConfigField = CONFIG_FIELDS[path];
  return type.inDirectory === undefined || value === null ? value : type.inDirectory(value, directory);
}

function requireKind(root: MapNode, decoder: Decoder): void {
  for (const [name, expected] of [
    ['apiVersion', API_VERSION],
    ['kind', KIND],
  ] as const) {
    const node: ManifestNode | undefined = root.entries.get(name)?.value;
    const found = node?.kind === 'scalar' ? String(node.value) : '';
    const path = new FieldPath([name]);
    if (found !== expected)
      decoder.report(unsupportedValue(path, found, [expected]), findFieldOffset(root, path));
  }
}

function valueAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  return valueAt((value as Readonly<Record<string, unknown>>)[name], rest);
}
