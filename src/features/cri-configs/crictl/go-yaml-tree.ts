import {keyText} from '../../../api/decoding/key-text.js';
import type {ManifestNode, MapEntry} from '../../../api/decoding/manifest-node.js';
import {INT64_LIMIT, resolvePlainScalar, type ScalarValue} from '../../../api/decoding/plain-scalar.js';
import {resolveTaggedScalar} from '../../../api/decoding/tagged-scalar.js';
import {ConfigError} from '../../../base/errors.js';
import {goQuote} from '../../../format/go-quote.js';
import type {GoYamlNode} from '../../../format/go-yaml/parser.js';

/** Maximum depth with aliases, with which a recursion does not exhaust the stack. */
const DEEPEST = 200;
/** Numbers of decoded values between which go-yaml reduces the part of them that aliases may have. */
const FEW = 400_000;
const MANY = 4_000_000;

const MERGE_TAG = 'tag:yaml.org,2002:merge';

type AliasNode = Extract<GoYamlNode, {kind: 'alias'}>;
type MapOfNodes = Extract<GoYamlNode, {kind: 'map'}>;

/** Keys of a map with their values as Go has them. */
type Entries = Map<string, MapEntry & {readonly key: ScalarValue}>;

/**
 * Decodes a document of go-yaml 2 as it decodes one without a type (decode.go), and checks the keys as
 * sigs.k8s.io/yaml. Throws ConfigError with their texts.
 */
export function decodeGoYaml(root: GoYamlNode): ManifestNode {
  const decoder = new Decoder();
  const node = decoder.decode(root);
  if (decoder.unsupported !== undefined) throw new ConfigError(decoder.unsupported);
  return node;
}

function fail(what: string): never {
  throw new ConfigError(`yaml: ${what}`);
}

function mostAliases(decoded: number): number {
  if (decoded <= FEW) return 0.99;
  return decoded >= MANY ? 0.1 : 0.99 - 0.89 * ((decoded - FEW) / (MANY - FEW));
}

class Decoder {
  /** Error about the first key that JSON cannot have, which is found after all others. */
  unsupported: string | undefined;
  #decoded = 0;
  #ofAliases = 0;
  #depth = 0;
  readonly #open = new Set<AliasNode>();

  decode(node: GoYamlNode): ManifestNode {
    this.#count();
    if (node.kind === 'alias') return this.#alias(node, () => this.decode(node.target));
    if (node.kind === 'scalar') return scalarNode(scalarValue(node));
    return this.#nested(() =>
      node.kind === 'list'
        ? {kind: 'list', items: node.items.map((item) => this.decode(item)), offset: 0}
        : this.#map(node),
    );
  }

  /** Counts values; fails if nearly all of many are repetitions by aliases. */
  #count(): void {
    this.#decoded++;
    if (this.#open.size > 0) this.#ofAliases++;
    if (
      this.#ofAliases > 100 &&
      this.#decoded > 1000 &&
      this.#ofAliases / this.#decoded > mostAliases(this.#decoded)
    )
      fail('document contains excessive aliasing');
  }

  #alias<Result>(alias: AliasNode, decode: () => Result): Result {
    if (this.#open.has(alias)) fail(`anchor '${alias.name}' value contains itself`);
    this.#open.add(alias);
    const result = decode();
    this.#open.delete(alias);
    return result;
  }

  #nested<Result>(decode: () => Result): Result {
    if (++this.#depth > DEEPEST) fail('nested too deeply');
    const result = decode();
    this.#depth--;
    return result;
  }

  #map(node: MapOfNodes): ManifestNode {
    const entries: Entries = new Map();
    this.#fill(entries, node);
    return {kind: 'map', entries, offset: 0, end: 0};
  }

  /** Sets the entries of a map in another; the last one of a key wins. */
  #fill(entries: Entries, {entries: given}: MapOfNodes): void {
    for (const [key, value] of given) {
      if (isMergeKey(key)) this.#merge(entries, value);
      else this.#set(entries, key, value);
    }
  }

  #set(entries: Entries, keyNode: GoYamlNode, valueNode: GoYamlNode): void {
    const key = this.decode(keyNode);
    if (key.kind !== 'scalar') fail(`invalid map key: ${goSyntax(key)}`);
    const value = this.decode(valueNode);
    const name = keyText(key.value);
    if (name === undefined) this.unsupported ??= unsupportedKey(key.value, value);
    else entries.set(name, {key: key.value, keyOffset: 0, value});
  }

  #merge(entries: Entries, source: GoYamlNode): void {
    const sources = source.kind === 'list' ? source.items.toReversed() : [source];
    for (const each of sources) this.#mergeMap(entries, each);
  }

  #mergeMap(entries: Entries, source: GoYamlNode): void {
    this.#count();
    const map = source.kind === 'alias' ? source.target : source;
    if (map.kind !== 'map') fail('map merge requires map or sequence of maps as the value');
    const fill = (): void => {
      this.#nested(() => {
        this.#fill(entries, map);
      });
    };
    if (source.kind === 'alias') this.#alias(source, fill);
    else fill();
  }
}

function isMergeKey(key: GoYamlNode): boolean {
  return key.kind === 'scalar' && key.value === '<<' && (key.isPlain || key.tag === MERGE_TAG);
}

function scalarNode(value: ScalarValue): Extract<ManifestNode, {kind: 'scalar'}> {
  return {kind: 'scalar', value, source: '', offset: 0};
}

function scalarValue({value, tag, isPlain}: Extract<GoYamlNode, {kind: 'scalar'}>): ScalarValue {
  if (tag === '') return isPlain ? resolvePlainScalar(value) : value;
  const tagged = resolveTaggedScalar(tag, value);
  return 'problem' in tagged ? fail(tagged.problem) : tagged.value;
}

function unsupportedKey(key: ScalarValue, value: ManifestNode): string {
  const isNull = value.kind === 'scalar' && value.value === null;
  const [type, text] = key === null ? ['%!s(<nil>)', '<nil>'] : ['uint64', goScalar(key)];
  return `unsupported map key of type: ${type}, key: ${text}, value: ${isNull ? '<nil>' : goSyntax(value)}`;
}

/** Formats a value as Go's `%#v`. */
function goSyntax(node: ManifestNode): string {
  if (node.kind === 'scalar') return goScalar(node.value);
  if (node.kind === 'list') return `[]interface {}{${node.items.map(goSyntax).join(', ')}}`;
  const entries = [...(node.entries as Entries).values()].map(
    ({key, value}) => `${goScalar(key)}:${goSyntax(value)}`,
  );
  return `map[interface {}]interface {}{${entries.toSorted().join(', ')}}`;
}

function goScalar(value: ScalarValue): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'bigint' && value >= INT64_LIMIT) return `0x${value.toString(16)}`;
  return String(value);
}
