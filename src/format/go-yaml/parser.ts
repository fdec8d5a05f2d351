import {GoYamlFault} from './cursor.js';
import {Scanner} from './scanner.js';
import type {Token} from './token.js';

/** A node of a document. Lines count from 0. */
export type GoYamlNode =
  | {
      readonly kind: 'scalar';
      readonly value: string;
      /** Long form of the tag; empty without one. */
      readonly tag: string;
      /** True if the value may be a number or another type: it is not quoted, or has the tag `!`. */
      readonly isPlain: boolean;
    }
  | {readonly kind: 'list'; readonly items: readonly GoYamlNode[]}
  | {readonly kind: 'map'; readonly entries: readonly (readonly [key: GoYamlNode, value: GoYamlNode])[]}
  | {readonly kind: 'alias'; readonly name: string; readonly target: GoYamlNode};

/** Version of go-yaml, whose errors differ. sigs.k8s.io/yaml uses 2 for objects, crictl 3 for its config file. */
export type GoYamlVersion = 2 | 3;

/** Maximum nesting depth, with which a recursion does not exhaust the stack. */
const DEEPEST = 200;

const EMPTY = {kind: 'scalar', value: '', tag: '', isPlain: true} as const;

/** Position of a node: whether a block collection is allowed there, and a block sequence without indentation. */
interface Place {
  readonly isBlock: boolean;
  readonly isIndentless: boolean;
}

/** Properties of a node: its anchor, its tag and the line of its first token. */
interface Properties {
  readonly line: number;
  readonly anchor: string | undefined;
  readonly tag: string;
}

type Kind = Token['kind'];

/** Builds the first document of a text in the order in which go-yaml does (parserc.go). Throws GoYamlFault. */
class Parser {
  readonly #scanner: Scanner;
  readonly #tagPrefixes = new Map<string, string>();
  readonly #anchors = new Map<string, GoYamlNode>();
  #depth = 0;

  constructor(text: string, version: GoYamlVersion) {
    this.#scanner = new Scanner(text, version === 2 ? 0 : 2);
  }

  document(): GoYamlNode | undefined {
    const first = this.#scanner.peek();
    if (first.kind === 'stream-end') return undefined;
    const isExplicit = this.#is('version-directive', 'tag-directive', 'document-start');
    this.#readDirectives();
    if (isExplicit) {
      if (!this.#accept('document-start')) this.#fail('did not find expected <document start>');
      if (this.#endsDocument()) return EMPTY;
    }
    const node = this.#node({isBlock: true, isIndentless: false});
    // The token behind the document is scanned, too, and may be an error.
    this.#scanner.peek();
    return node;
  }

  #endsDocument(): boolean {
    return this.#is('version-directive', 'tag-directive', 'document-start', 'document-end', 'stream-end');
  }

  #is(...kinds: readonly Kind[]): boolean {
    return kinds.includes(this.#scanner.peek().kind);
  }

  /** Takes the next token if it is of a kind. */
  #accept(kind: Kind): boolean {
    if (!this.#is(kind)) return false;
    this.#scanner.take();
    return true;
  }

  /** Throws the error of a problem at the next token in something that began on a line. */
  #fail(message: string, contextLine = 0): never {
    throw new GoYamlFault('parser', message, this.#scanner.peek().line, contextLine);
  }

  #readDirectives(): void {
    let hasVersion = false;
    for (;;) {
      const token = this.#scanner.peek();
      if (token.kind === 'version-directive') {
        if (hasVersion) this.#fail('found duplicate %YAML directive');
        if (!token.isSupported) this.#fail('found incompatible YAML document');
        hasVersion = true;
      } else if (token.kind === 'tag-directive') {
        if (this.#tagPrefixes.has(token.handle)) this.#fail('found duplicate %TAG directive');
        this.#tagPrefixes.set(token.handle, token.prefix);
      } else break;
      this.#scanner.take();
    }
    for (const [handle, prefix] of [
      ['!', '!'],
      ['!!', 'tag:yaml.org,2002:'],
    ] as const)
      if (!this.#tagPrefixes.has(handle)) this.#tagPrefixes.set(handle, prefix);
  }

  #node(place: Place): GoYamlNode {
    const token = this.#scanner.peek();
    if (token.kind === 'alias') return this.#alias(token.name);
    const properties = this.#properties();
    if (++this.#depth > DEEPEST) throw new GoYamlFault('other', 'nested too deeply');
    const node = this.#content(place, properties);
    this.#depth--;
    return node;
  }

  #alias(name: string): GoYamlNode {
    this.#scanner.take();
    const target = this.#anchors.get(name);
    if (target === undefined) throw new GoYamlFault('other', `unknown anchor '${name}' referenced`);
    return {kind: 'alias', name, target};
  }

  #properties(): Properties {
    const {line} = this.#scanner.peek();
    let anchor: string | undefined;
    let tag: {readonly handle: string; readonly suffix: string; readonly line: number} | undefined;
    for (;;) {
      const token = this.#scanner.peek();
      if (token.kind === 'anchor' && anchor === undefined) anchor = token.name;
      else if (token.kind === 'tag' && tag === undefined) tag = token;
      else break;
      this.#scanner.take();
    }
    return {line, anchor, tag: tag === undefined ? '' : this.#resolveTag(tag, line)};
  }

  #resolveTag(
    {handle, suffix, line}: {readonly handle: string; readonly suffix: string; readonly line: number},
    contextLine: number,
  ): string {
    if (handle === '') return suffix;
    const prefix = this.#tagPrefixes.get(handle);
    if (prefix === undefined)
      throw new GoYamlFault('parser', 'found undefined tag handle', line, contextLine);
    return prefix + suffix;
  }

  #content(place: Place, {line, anchor, tag}: Properties): GoYamlNode {
    const token = this.#scanner.peek();
    if (token.kind === 'scalar') {
      const isPlain = tag === '!' || (tag === '' && token.isPlain);
      const scalar: GoYamlNode = {kind: 'scalar', value: token.value, tag, isPlain};
      this.#anchor(anchor, scalar);
      this.#scanner.take();
      return scalar;
    }
    const collection = this.#collection(place, anchor);
    if (collection !== undefined) return collection;
    if (anchor === undefined && tag === '') this.#fail('did not find expected node content', line);
    const empty: GoYamlNode = {...EMPTY, tag, isPlain: tag === ''};
    this.#anchor(anchor, empty);
    return empty;
  }

  /** Reads a list or a map, if the next token begins one that is allowed at the place. */
  #collection({isBlock, isIndentless}: Place, anchor: string | undefined): GoYamlNode | undefined {
    const {kind} = this.#scanner.peek();
    if (kind === 'flow-sequence-start') return this.#list(anchor, () => this.#flowSequence());
    if (kind === 'flow-mapping-start') return this.#map(anchor, () => this.#flowMapping());
    if (isIndentless && kind === 'block-entry') return this.#list(anchor, () => this.#indentless());
    if (!isBlock) return undefined;
    if (kind === 'block-sequence-start') return this.#list(anchor, () => this.#blockSequence());
    return kind === 'block-mapping-start' ? this.#map(anchor, () => this.#blockMapping()) : undefined;
  }

  #anchor(name: string | undefined, node: GoYamlNode): void {
    if (name !== undefined) this.#anchors.set(name, node);
  }

  /** Builds a list that its own items may refer to. */
  #list(anchor: string | undefined, read: () => Generator<GoYamlNode, void, void>): GoYamlNode {
    const items: GoYamlNode[] = [];
    const node: GoYamlNode = {kind: 'list', items};
    this.#anchor(anchor, node);
    for (const item of read()) items.push(item);
    return node;
  }

  #map(
    anchor: string | undefined,
    read: () => Generator<readonly [GoYamlNode, GoYamlNode], void, void>,
  ): GoYamlNode {
    const entries: (readonly [GoYamlNode, GoYamlNode])[] = [];
    const node: GoYamlNode = {kind: 'map', entries};
    this.#anchor(anchor, node);
    for (const entry of read()) entries.push(entry);
    return node;
  }

  *#blockSequence(): Generator<GoYamlNode, void, void> {
    const {line} = this.#scanner.peek();
    this.#scanner.take();
    while (!this.#accept('block-end')) {
      if (!this.#accept('block-entry')) this.#fail("did not find expected '-' indicator", line);
      yield this.#nodeUnless({isBlock: true, isIndentless: false}, 'block-entry', 'block-end');
    }
  }

  *#indentless(): Generator<GoYamlNode, void, void> {
    while (this.#accept('block-entry'))
      yield this.#nodeUnless(
        {isBlock: true, isIndentless: false},
        'block-entry',
        'key',
        'value',
        'block-end',
      );
  }

  /** Reads a node, or returns an empty one at a token of these kinds. */
  #nodeUnless(place: Place, ...kinds: readonly Kind[]): GoYamlNode {
    return this.#is(...kinds) ? EMPTY : this.#node(place);
  }

  *#blockMapping(): Generator<readonly [GoYamlNode, GoYamlNode], void, void> {
    const {line} = this.#scanner.peek();
    const place = {isBlock: true, isIndentless: true};
    this.#scanner.take();
    while (!this.#accept('block-end')) {
      if (!this.#accept('key')) this.#fail('did not find expected key', line);
      const key = this.#nodeUnless(place, 'key', 'value', 'block-end');
      const value = this.#accept('value') ? this.#nodeUnless(place, 'key', 'value', 'block-end') : EMPTY;
      yield [key, value];
    }
  }

  *#flowSequence(): Generator<GoYamlNode, void, void> {
    const {line} = this.#scanner.peek();
    this.#scanner.take();
    for (let isFirst = true; !this.#is('flow-sequence-end'); isFirst = false) {
      if (!isFirst && !this.#accept('flow-entry')) this.#fail("did not find expected ',' or ']'", line);
      if (this.#accept('key')) yield this.#pair();
      else if (!this.#is('flow-sequence-end')) yield this.#node({isBlock: false, isIndentless: false});
      else break;
    }
    this.#scanner.take();
  }

  /** Reads a map of one entry without brackets, in a list. */
  #pair(): GoYamlNode {
    const place = {isBlock: false, isIndentless: false};
    const hasNoKey = this.#is('value', 'flow-entry', 'flow-sequence-end');
    const key = hasNoKey ? EMPTY : this.#node(place);
    // As in go-yaml, which takes the token that it finds in place of a key.
    if (hasNoKey) this.#scanner.take();
    const value = this.#accept('value') ? this.#nodeUnless(place, 'flow-entry', 'flow-sequence-end') : EMPTY;
    return {kind: 'map', entries: [[key, value]]};
  }

  *#flowMapping(): Generator<readonly [GoYamlNode, GoYamlNode], void, void> {
    const {line} = this.#scanner.peek();
    const place = {isBlock: false, isIndentless: false};
    this.#scanner.take();
    for (let isFirst = true; !this.#is('flow-mapping-end'); isFirst = false) {
      if (!isFirst && !this.#accept('flow-entry')) this.#fail("did not find expected ',' or '}'", line);
      if (this.#accept('key')) {
        const key = this.#nodeUnless(place, 'value', 'flow-entry', 'flow-mapping-end');
        const value = this.#accept('value')
          ? this.#nodeUnless(place, 'flow-entry', 'flow-mapping-end')
          : EMPTY;
        yield [key, value];
      } else if (!this.#is('flow-mapping-end')) yield [this.#node(place), EMPTY];
      else break;
    }
    this.#scanner.take();
  }
}

/** Returns the text of go-yaml for an error. */
function faultText({stage, message, line, contextLine}: GoYamlFault, version: GoYamlVersion): string {
  const isContext = version === 2 ? line === 0 : contextLine !== 0;
  const found = isContext ? contextLine : line;
  // The scanner's lines count from 1. In go-yaml 2 those of a context count from 0.
  const shown = stage === 'scanner' && !(version === 2 && isContext) ? found + 1 : found;
  return `yaml: ${found === 0 ? '' : `line ${shown}: `}${message}`;
}

/** Result of parseGoYaml: a document, undefined if there is none, or the text of its error. */
export type GoYamlResult = {readonly root: GoYamlNode | undefined} | {readonly error: string};

/** Parses the first document of a text as go-yaml. */
export function parseGoYaml(text: string, version: GoYamlVersion): GoYamlResult {
  try {
    return {root: new Parser(text, version).document()};
  } catch (error) {
    if (error instanceof GoYamlFault) return {error: faultText(error, version)};
    throw error;
  }
}
