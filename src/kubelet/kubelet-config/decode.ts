import {dirname} from 'node:path';
import {Decoder, type DecodeProblem} from '../../api/decode.js';
import {unsupportedValue} from '../../api/field-error.js';
import {FieldPath} from '../../api/field-path.js';
import type {ManifestIssue} from '../../api/manifest-issue.js';
import {locate, type ManifestNode, type MapNode} from '../../api/manifest-tree.js';
import {text, type AnyField, type AnySchema} from '../../api/schema.js';
import {SourceText} from '../../api/source-text.js';
import {parseYaml} from '../../api/yaml-tree.js';
import {CONFIG_FIELDS, CONFIG_PATHS, type ConfigPath} from './fields.js';
import type {ConfigField} from './field.js';

/** What a file says of one field, and where. */
export interface GivenField {
  readonly value: unknown;
  /** What is wrong with it, at its place. */
  readonly issue: (message: string) => ManifestIssue;
}

/** What a file says, and what is wrong with it; only without issues is it fit for use. */
export interface DecodedConfig {
  readonly given: ReadonlyMap<ConfigPath, GivenField>;
  readonly issues: readonly ManifestIssue[];
}

const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
const KIND = 'KubeletConfiguration';

/** The table's places as objects within objects: `authentication.x509.clientCAFile` is a field of two groups. */
function schemaOf(name: string, paths: readonly (readonly string[])[], at: string): AnySchema {
  const names = [...new Set(paths.map(([first = '']) => first))];
  const fields = names.map((field): readonly [string, AnyField] => {
    const below = paths.filter(([first]) => first === field).map(([, ...rest]) => rest);
    const path = `${at}${field}`;
    const own = CONFIG_FIELDS[path as ConfigPath] as (typeof CONFIG_FIELDS)[ConfigPath] | undefined;
    if (own !== undefined) return [field, own.type.schema];
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

/** Reads a KubeletConfiguration, YAML or JSON; unknown fields are faults, as they are for the kubelet's strict decoder. */
export function decodeConfig(content: string, file: string): DecodedConfig {
  const plain = content.replace(/^\uFEFF/, '');
  const [document, ...others] = parseYaml(plain);
  const source = new SourceText(file, plain, []);
  const faults = (document?.faults ?? []).map(({offset, message}) =>
    source.issue(offset, '', `yaml: ${message}`),
  );
  const root = document?.root;
  if (others.length > 0) faults.push(source.issue(0, '', `only one ${KIND} is possible in a file`));
  if (faults.length > 0) return {given: new Map(), issues: faults};
  if (root?.kind !== 'map')
    return {given: new Map(), issues: [source.issue(root?.offset ?? 0, '', `no ${KIND} is in the file`)]};
  return decodeRoot(root, source, dirname(file));
}

function decodeRoot(root: MapNode, source: SourceText, directory: string): DecodedConfig {
  const decoder = new Decoder();
  requireKind(root, decoder);
  const decoded = decoder.decode(CONFIGURATION, root, new FieldPath());
  const given = new Map<ConfigPath, GivenField>();
  for (const path of CONFIG_PATHS) {
    const names = path.split('.');
    const value = valueAt(decoded, names);
    if (value === undefined) continue;
    const offset = locate(root, new FieldPath(names));
    given.set(path, {
      value: meantIn(directory, path, value),
      issue: (message) => source.issue(offset, path, message),
    });
  }
  const toIssue = ({offset, path, message}: DecodeProblem): ManifestIssue =>
    source.issue(offset, path.toString(), message);
  return {given, issues: decoder.problems.map(toIssue)};
}

function meantIn(directory: string, path: ConfigPath, value: unknown): unknown {
  const {type}: ConfigField = CONFIG_FIELDS[path];
  return type.inDirectory === undefined ? value : type.inDirectory(value, directory);
}

function requireKind(root: MapNode, decoder: Decoder): void {
  for (const [name, wanted] of [
    ['apiVersion', API_VERSION],
    ['kind', KIND],
  ] as const) {
    const node: ManifestNode | undefined = root.entries.get(name)?.value;
    const found = node?.kind === 'scalar' ? String(node.value) : '';
    const path = new FieldPath([name]);
    if (found !== wanted) decoder.report(unsupportedValue(path, found, [wanted]), locate(root, path));
  }
}

function valueAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  return valueAt((value as Readonly<Record<string, unknown>>)[name], rest);
}
