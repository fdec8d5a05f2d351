import {Composer, Lexer, Parser, isAlias, isMap, isNode, isScalar, isSeq, visit} from 'yaml';
import type {Alias, CST, Document, Node, Pair, ParsedNode, Scalar, YAMLMap} from 'yaml';
import type {ListNode, ManifestNode, MapEntry, MapNode, ScalarNode} from './manifest-node.js';
import {explainSyntax} from './explain-syntax.js';
import {keyText} from './key-text.js';
import {createLenientLexer} from './lenient-lexer.js';
import {resolvePlainScalar, type ScalarValue} from './plain-scalar.js';
import {splitJsonStream, type TextPart} from './split-json-stream.js';
import {resolveTaggedScalar} from './tagged-scalar.js';

/** A syntax error at an offset. */
export interface SyntaxProblem {
  readonly offset: number;
  readonly message: string;
  /** For a key that its map already has: the offset of the one before. The last one is in the tree. */
  readonly duplicateOf?: number;
}

/** One YAML document: its value, or undefined if it is empty or has a syntax error. */
export interface YamlDocument {
  readonly root: ManifestNode | undefined;
  readonly problems: readonly SyntaxProblem[];
}

/** Maximum nesting depth: more than any API object has, and far less than would exhaust the stack of a recursion. */
const DEEPEST = 200;
/** Maximum number of values with those of aliases, which multiply in aliases of aliases. */
const MOST_VALUES = 500_000;
/** Maximum number of entries copied by merge keys; more are an attack. */
const MOST_MERGED_ENTRIES = 100_000;
const CONTROL_CHARACTER = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

class YamlFault extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Parses a part of a text with a limit on depth; the parser has its own stack. */
function tokenize(text: string, {start, end}: TextPart, lexer: Lexer): CST.Token[] {
  const parser = new Parser();
  parser.offset = start;
  const tokens: CST.Token[] = [];
  for (const lexeme of lexer.lex(text.slice(start, end))) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > DEEPEST) throw new YamlFault(parser.offset, 'nested too deeply');
  }
  return [...tokens, ...parser.end()];
}

/** Resolves each alias to the last node before it with that anchor. */
function resolveAliases(document: Document.Parsed): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Alias: (_key, alias) => {
      const target = anchors.get(alias.source);
      if (target !== undefined) targets.set(alias, target);
    },
    Value: (_key, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

function offsetOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

function scalarValue(node: Scalar): ScalarValue {
  const written = String(node.value);
  if (node.tag === undefined) return node.type === 'PLAIN' ? resolvePlainScalar(written) : written;
  const tagged = resolveTaggedScalar(node.tag, written);
  if ('problem' in tagged) throw new YamlFault(offsetOf(node), tagged.problem);
  return tagged.value;
}

/** Names of numbers that JSON does not have, as Go writes them. */
const NOT_IN_JSON: Readonly<Record<string, string>> = {NaN: 'NaN', Infinity: '+Inf', '-Infinity': '-Inf'};

/** Number of values of a node, and its depth, with each alias replaced by its target. */
interface Extent {
  readonly values: number;
  readonly depth: number;
}

const SCALAR_EXTENT: Extent = {values: 1, depth: 1};

/**
 * Converts a parsed document into a tree: merge keys are resolved, aliases shared and errors collected. Limits size and
 * depth, so that the tree can be walked recursively.
 */
class TreeBuilder {
  readonly faults: SyntaxProblem[] = [];
  readonly #targets: ReadonlyMap<Alias, Node>;
  readonly #built = new Map<Node, ManifestNode>();
  readonly #open = new Set<Node>();
  readonly #extents = new Map<ManifestNode, Extent>();
  /** End of a last line without a line break; undefined if there is one. */
  readonly #openEnd: number | undefined;
  #merged = 0;

  constructor(document: Document.Parsed, text: string) {
    this.#targets = resolveAliases(document);
    this.#openEnd = /\S[ \t]*$/.test(text) ? text.length : undefined;
  }

  build(node: Node): ManifestNode {
    const built = this.#built.get(node);
    if (built !== undefined) return built;
    if (this.#open.has(node)) throw new YamlFault(offsetOf(node), 'an anchor may not contain its own alias');
    this.#open.add(node);
    const fresh = this.#buildFresh(node);
    if (fresh.kind !== 'scalar') this.#measure(fresh, offsetOf(node));
    this.#open.delete(node);
    this.#built.set(node, fresh);
    return fresh;
  }

  /** Records the extent of a list or map. Throws YamlFault if it is too large. */
  #measure(node: ListNode | MapNode, offset: number): void {
    if (this.#extents.has(node)) return;
    const children = node.kind === 'list' ? node.items : [...node.entries.values()].map(({value}) => value);
    const extents = children.map((child) => this.#extents.get(child) ?? SCALAR_EXTENT);
    const values = extents.reduce((sum, extent) => sum + extent.values, 1);
    const depth = extents.reduce((deepest, extent) => Math.max(deepest, extent.depth), 0) + 1;
    if (values > MOST_VALUES)
      throw new YamlFault(offset, `more than ${MOST_VALUES} values: document contains excessive aliasing`);
    if (depth > DEEPEST) throw new YamlFault(offset, 'nested too deeply');
    this.#extents.set(node, {values, depth});
  }

  #buildFresh(node: Node): ManifestNode {
    if (isAlias(node)) return this.#buildAlias(node);
    if (isScalar(node)) return this.#buildValue(node);
    const offset = offsetOf(node);
    if (isMap(node))
      return {kind: 'map', entries: this.#entries(node), offset, end: node.range?.[1] ?? offset};
    if (!isSeq(node)) throw new YamlFault(offset, 'unknown kind of value');
    return {kind: 'list', items: node.items.map((item) => this.#buildMember(item, offset)), offset};
  }

  #buildMember(item: unknown, parentOffset: number): ManifestNode {
    return isNode(item) ? this.build(item) : {kind: 'scalar', value: null, source: '', offset: parentOffset};
  }

  #buildScalar(node: Scalar): ScalarNode {
    const {range, source = '', type = ''} = node;
    const value = scalarValue(node);
    // The parser adds the line break that the last line of a block lacks.
    const isOpen = type.startsWith('BLOCK') && range?.[1] === this.#openEnd && typeof value === 'string';
    const exact = isOpen ? value.replace(/\n$/, '') : value;
    return {kind: 'scalar', value: exact, source, offset: offsetOf(node)};
  }

  /** Builds the scalar of a value, whose numbers JSON limits to finite ones. */
  #buildValue(node: Scalar): ScalarNode {
    const scalar = this.#buildScalar(node);
    if (typeof scalar.value === 'number' && !Number.isFinite(scalar.value))
      throw new YamlFault(scalar.offset, `unsupported value: ${NOT_IN_JSON[String(scalar.value)] ?? ''}`);
    return scalar;
  }

  #buildAlias(alias: Alias): ManifestNode {
    const target = this.#targets.get(alias);
    if (target === undefined) {
      throw new YamlFault(offsetOf(alias), `unknown anchor ${JSON.stringify(alias.source)} referenced`);
    }
    return this.build(target);
  }

  #entries(node: YAMLMap): ReadonlyMap<string, MapEntry> {
    const entries = new Map<string, MapEntry>();
    const written = new Map<string, MapEntry>();
    for (const pair of node.items) {
      const key = this.#key(pair, offsetOf(node));
      const value = this.#buildMember(pair.value, key.offset);
      if (key.source === '<<' && isScalar(pair.key) && pair.key.type === 'PLAIN') {
        this.#merge(entries, mergeSources(value));
      } else {
        const [name, entry] = this.#entry(written, key, value);
        written.set(name, entry);
        entries.set(name, entry);
      }
    }
    return entries;
  }

  #key(pair: Pair, parentOffset: number): ScalarNode {
    const key = isScalar(pair.key) ? this.#buildScalar(pair.key) : this.#buildMember(pair.key, parentOffset);
    if (key.kind !== 'scalar')
      throw new YamlFault(key.offset, 'a key must be a string, not a list or an object');
    return key;
  }

  /** Returns an entry with its name, and reports a key that is `written` twice. */
  #entry(
    written: ReadonlyMap<string, MapEntry>,
    key: ScalarNode,
    value: ManifestNode,
  ): readonly [name: string, entry: MapEntry] {
    const name = keyText(key.value);
    if (name === undefined)
      throw new YamlFault(
        key.offset,
        `unsupported key: ${key.value === null ? 'null' : 'a number above int64'}`,
      );
    const known = written.get(name);
    if (known !== undefined) {
      const message = `key ${JSON.stringify(name)} already set in map`;
      this.faults.push({offset: key.offset, message, duplicateOf: known.keyOffset});
    }
    return [name, {keyOffset: key.offset, value}];
  }

  /**
   * Merges maps, of which the first takes precedence. As in go-yaml 2, they replace the entries above the merge key; those
   * below it replace theirs.
   */
  #merge(entries: Map<string, MapEntry>, sources: readonly MapNode[]): void {
    for (const source of sources.toReversed()) {
      this.#merged += source.entries.size;
      if (this.#merged > MOST_MERGED_ENTRIES) throw new YamlFault(source.offset, 'too many merged entries');
      for (const [name, entry] of source.entries) entries.set(name, entry);
    }
  }
}

function mergeSources(value: ManifestNode): readonly MapNode[] {
  const sources = value.kind === 'list' ? value.items : [value];
  return sources.map((source) => {
    if (source.kind === 'map') return source;
    throw new YamlFault(value.offset, 'map merge requires map or sequence of maps as the value');
  });
}

function buildDocument(document: Document.Parsed, text: string): YamlDocument {
  const [error, ...consequences] = document.errors;
  if (error !== undefined)
    return {root: undefined, problems: [explainSyntax(text, [error, ...consequences])]};
  const contents: ParsedNode | null = document.contents;
  if (contents === null) return {root: undefined, problems: []};
  const builder = new TreeBuilder(document, text);
  try {
    const root = builder.build(contents);
    const empty = root.kind === 'scalar' && root.value === null;
    return {root: empty ? undefined : root, problems: builder.faults};
  } catch (fault) {
    if (!(fault instanceof YamlFault)) throw fault;
    return {root: undefined, problems: [...builder.faults, {offset: fault.offset, message: fault.message}]};
  }
}

function parsePart(text: string, part: TextPart): readonly YamlDocument[] {
  const strict = compose(text, part, new Lexer());
  // The errors are those of the strict parser, which finds brackets and quotes that are not closed.
  const isValid = (documents: readonly Document.Parsed[]): boolean =>
    documents.every(({errors}) => errors.length === 0);
  const lenient = isValid(strict) ? strict : compose(text, part, createLenientLexer());
  return (isValid(lenient) ? lenient : strict).map((document) => buildDocument(document, text));
}

function compose(text: string, part: TextPart, lexer: Lexer): readonly Document.Parsed[] {
  const composer = new Composer({
    version: '1.1',
    schema: 'failsafe',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  return [...composer.compose(tokenize(text, part, lexer))];
}

function unparsed(...problems: readonly SyntaxProblem[]): YamlDocument {
  return {root: undefined, problems};
}

/**
 * Parses YAML or JSON as Kubernetes does (sigs.k8s.io/yaml); documents are separated by `---`, or are JSON objects one
 * after the other. Never throws for invalid text: errors, including duplicate keys, are part of the result.
 */
export function parseYaml(text: string): readonly YamlDocument[] {
  const control = CONTROL_CHARACTER.exec(text);
  if (control !== null)
    return [unparsed({offset: control.index, message: 'control characters are not allowed'})];
  const {parts, problem} = splitJsonStream(text);
  try {
    const documents = parts.flatMap((part) => parsePart(text, part));
    return problem === undefined ? documents : [...documents, unparsed(problem)];
  } catch (fault) {
    if (!(fault instanceof YamlFault)) throw fault;
    return [unparsed({offset: fault.offset, message: fault.message})];
  }
}
