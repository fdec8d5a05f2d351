import {goQuote} from '../go-quote.js';
import {goUnquote} from '../go-unquote.js';
import type {TemplateFunction} from './functions.js';
import {tokenizeTemplate, type Token, type TokenType} from './lexer.js';
import {parseNumber} from './literals.js';
import type {Branch, Command, Node, NumberConstant, Operand, Pipeline} from './nodes.js';
import {nodeText} from './nodes.js';
import {TokenReader} from './token-reader.js';

/** Functions of a template by name. */
export type TemplateFunctions = Readonly<Record<string, TemplateFunction>>;

/** Parsed template: its body, and the templates that it defines, by name. */
export interface ParsedTemplate {
  readonly name: string;
  readonly text: string;
  readonly functions: TemplateFunctions;
  readonly bodies: ReadonlyMap<string, readonly Node[]>;
}

/** Terminator of a list of nodes. */
type Ending = {readonly kind: 'end'} | {readonly kind: 'else'; readonly position: number};

/** Maximum nesting of parentheses: enough in practice, and safe for the stack. */
const MAX_PARENTHESES = 1000;

/** Maximum nesting of blocks; each `{{else if …}}` adds one. */
const MAX_BLOCKS = 1000;

/** Parses a template of Go's text/template. Throws TemplateError with Go's message. */
export function parseTemplate(name: string, text: string, functions: TemplateFunctions): ParsedTemplate {
  const parser = new Parser(name, text, new Set(Object.keys(functions)));
  return {name, text, functions, bodies: parser.parse()};
}

class Parser extends TokenReader {
  readonly #functions: ReadonlySet<string>;
  readonly #bodies = new Map<string, readonly Node[]>();
  #variables = ['$'];
  #ranges = 0;
  #parentheses = 0;
  #blocks = 0;

  constructor(name: string, text: string, functions: ReadonlySet<string>) {
    super(name, tokenizeTemplate(text));
    this.#functions = functions;
  }

  parse(): ReadonlyMap<string, readonly Node[]> {
    const nodes: Node[] = [];
    while (this.peek().type !== 'eof') {
      if (this.peek().type === 'left-delimiter' && this.isKeyword(this.afterSpaces(1), 'define')) {
        this.#definition();
        continue;
      }
      const node = this.#textOrAction();
      if (node.kind === 'end' || node.kind === 'else') this.fail(`unexpected {{${node.kind}}}`);
      nodes.push(node);
    }
    this.#define(this.name, nodes);
    return this.#bodies;
  }

  #definition(): void {
    this.take();
    this.takeWord();
    const name = this.#templateName(this.takeWord(), 'define clause');
    this.expect('right-delimiter', 'define clause');
    this.#define(name, this.#ownBody('define clause'));
  }

  /** Parses the body of a separate template, which does not see outer variables. */
  #ownBody(context: string): readonly Node[] {
    const [variables, ranges] = [this.#variables, this.#ranges];
    this.#variables = ['$'];
    this.#ranges = 0;
    this.#enter();
    const [nodes, ending] = this.#list();
    this.#blocks -= 1;
    if (ending.kind !== 'end') this.fail(`unexpected {{else}} in ${context}`);
    this.#variables = variables;
    this.#ranges = ranges;
    return nodes;
  }

  #enter(): void {
    if (this.#blocks >= MAX_BLOCKS) this.fail(`blocks are nested too deeply (more than ${MAX_BLOCKS})`);
    this.#blocks += 1;
  }

  /** Defines a template. Only an empty template may be redefined. */
  #define(name: string, nodes: readonly Node[]): void {
    const known = this.#bodies.get(name);
    if (known === undefined || known.every(isBlank)) this.#bodies.set(name, nodes);
    else if (!nodes.every(isBlank)) this.fail(`template: multiple definition of template ${goQuote(name)}`);
  }

  #list(): [readonly Node[], Ending] {
    const nodes: Node[] = [];
    while (this.peekWord().type !== 'eof') {
      const node = this.#textOrAction();
      if (node.kind === 'end' || node.kind === 'else') return [nodes, node];
      nodes.push(node);
    }
    return this.fail('unexpected EOF');
  }

  #textOrAction(): Node | Ending {
    const token = this.takeWord();
    if (token.type === 'text') return {kind: 'text', text: token.value, position: token.position};
    if (token.type !== 'left-delimiter') this.unexpected(token, 'input');
    this.actionLine = token.line;
    const node = this.#action();
    this.actionLine = 0;
    return node;
  }

  #action(): Node | Ending {
    const token = this.peekWord();
    if (token.type !== 'keyword') {
      const pipeline = this.#pipeline('command', 'right-delimiter');
      return {kind: 'action', pipeline, position: token.position};
    }
    this.takeWord();
    switch (token.value) {
      case 'if':
      case 'range':
      case 'with':
        return this.#branch(token.value);
      case 'end':
        this.expect('right-delimiter', 'end');
        return {kind: 'end'};
      case 'else':
        return this.#otherwise();
      case 'template':
        return this.#invocation();
      case 'block':
        return this.#block();
      case 'break':
      case 'continue':
        return this.#jump(token.value, token.position);
      default:
        return this.unexpected(token, 'command');
    }
  }

  #jump(kind: 'break' | 'continue', position: number): Node {
    const token = this.takeWord();
    if (token.type !== 'right-delimiter') this.unexpected(token, `{{${kind}}}`);
    if (this.#ranges === 0) this.fail(`{{${kind}}} outside {{range}}`);
    return {kind, position};
  }

  /**
   * Parses the end of a branch. `{{else if …}}` is `{{else}}{{if …}}` with a shared `{{end}}`: the caller parses the
   * `if`.
   */
  #otherwise(): Ending {
    const token = this.peekWord();
    if (this.isKeyword(token, 'if') || this.isKeyword(token, 'with'))
      return {kind: 'else', position: token.position};
    return {kind: 'else', position: this.expect('right-delimiter', 'else').position};
  }

  #branch(kind: Branch['kind']): Branch {
    const known = this.#variables.length;
    this.#enter();
    const pipeline = this.#pipeline(kind, 'right-delimiter');
    if (kind === 'range') this.#ranges += 1;
    const [body, ending] = this.#list();
    if (kind === 'range') this.#ranges -= 1;
    const otherwise = ending.kind === 'else' ? this.#elseBody(kind) : undefined;
    this.#variables.length = known;
    this.#blocks -= 1;
    return {kind, pipeline, body, otherwise, position: pipeline.position};
  }

  #elseBody(kind: Branch['kind']): readonly Node[] {
    if (kind !== 'range' && this.isKeyword(this.peek(), kind)) {
      this.take();
      return [this.#branch(kind)];
    }
    const [nodes, ending] = this.#list();
    if (ending.kind !== 'end') this.fail('expected end; found {{else}}');
    return nodes;
  }

  #invocation(): Node {
    const token = this.takeWord();
    const name = this.#templateName(token, 'template clause');
    const empty = this.peekWord().type === 'right-delimiter';
    if (empty) this.takeWord();
    const pipeline = empty ? undefined : this.#pipeline('template clause', 'right-delimiter');
    return {kind: 'template', name, pipeline, position: token.position};
  }

  #block(): Node {
    const token = this.takeWord();
    const name = this.#templateName(token, 'block clause');
    const pipeline = this.#pipeline('block clause', 'right-delimiter');
    this.#define(name, this.#ownBody('block clause'));
    return {kind: 'template', name, pipeline, position: token.position};
  }

  #templateName(token: Token, context: string): string {
    if (token.type !== 'string') this.unexpected(token, context);
    return this.#unquote(token.value);
  }

  #pipeline(context: string, end: TokenType): Pipeline {
    const {position} = this.peekWord();
    const {variables, assigns} = this.#declarations(context);
    const commands: Command[] = [];
    for (;;) {
      const token = this.peekWord();
      if (token.type === end) break;
      if (!STARTS_OPERAND.has(token.type)) {
        this.takeWord();
        this.unexpected(token, context);
      }
      commands.push(this.#command());
    }
    this.takeWord();
    this.#checkCommands(commands, context);
    return {kind: 'pipeline', position, variables, assigns, commands};
  }

  /** Parses `$x :=`, `$x =`, and in a range `$i, $x :=`. */
  #declarations(context: string): Pick<Pipeline, 'variables' | 'assigns'> {
    const variables: string[] = [];
    for (;;) {
      const variable = this.peekWord();
      if (variable.type !== 'variable') return {variables, assigns: false};
      const next = this.afterSpaces(1);
      const isComma = next.type === 'char' && next.value === ',';
      if (next.type !== 'assign' && next.type !== 'declare' && !isComma) return {variables, assigns: false};
      this.takeWord();
      this.takeWord();
      variables.push(variable.value);
      this.#variables.push(variable.value);
      if (!isComma) return {variables, assigns: next.type === 'assign'};
      if (context !== 'range' || variables.length > 1) this.fail(`too many declarations in ${context}`);
      if (!['variable', 'right-delimiter', 'right-paren'].includes(this.peekWord().type))
        this.fail('range can only initialize variables');
    }
  }

  #checkCommands(commands: readonly Command[], context: string): void {
    if (commands.length === 0) this.fail(`missing value for ${context}`);
    const wrong = commands.findIndex(({operands: [first]}, index) => index > 0 && CONSTANTS.has(first.kind));
    if (wrong > 0) this.fail(`non executable command in pipeline stage ${wrong + 1}`);
  }

  #command(): Command {
    const {position} = this.peekWord();
    const operands: Operand[] = [];
    for (;;) {
      this.skipSpaces();
      const operand = this.#operand();
      if (operand !== undefined) operands.push(operand);
      const token = this.take();
      if (token.type === 'space') continue;
      if (token.type === 'right-delimiter' || token.type === 'right-paren') this.next -= 1;
      else if (token.type !== 'pipe') this.unexpected(token, 'operand');
      break;
    }
    const [first, ...rest] = operands;
    if (first === undefined) return this.fail('empty command');
    return {kind: 'command', position, operands: [first, ...rest]};
  }

  /** Parses a term with its fields. */
  #operand(): Operand | undefined {
    const term = this.#term();
    const {type, position} = this.peek();
    if (term === undefined || type !== 'field') return term;
    const fields: string[] = [];
    while (this.peek().type === 'field') fields.push(this.take().value.slice(1));
    if (term.kind === 'field') return {...term, names: [...term.names, ...fields], position};
    if (term.kind === 'variable') return {...term, fields, position};
    if (CONSTANTS.has(term.kind)) this.fail(`unexpected . after term ${goQuote(nodeText(term))}`);
    return {kind: 'chain', operand: term, fields, position};
  }

  #term(): Operand | undefined {
    const {type, value, position} = this.peekWord();
    if (!STARTS_OPERAND.has(type)) return undefined;
    this.takeWord();
    switch (type) {
      case 'identifier':
        return {kind: 'identifier', name: this.#functionName(value), position};
      case 'variable':
        return {kind: 'variable', name: this.#variableName(value), fields: [], position};
      case 'field':
        return {kind: 'field', names: [value.slice(1)], position};
      case 'bool':
        return {kind: 'bool', value: value === 'true', position};
      case 'number':
        return {kind: 'number', text: value, number: this.#number(parseNumber(value)), position};
      case 'char-constant':
        return {kind: 'number', text: value, number: this.#character(value), position};
      case 'string':
        return {kind: 'string', quoted: value, text: this.#unquote(value), position};
      case 'left-paren':
        return this.#parenthesized();
      default:
        return {kind: type === 'nil' ? 'nil' : 'dot', position};
    }
  }

  #functionName(name: string): string {
    return this.#functions.has(name) ? name : this.fail(`function ${goQuote(name)} not defined`);
  }

  #variableName(name: string): string {
    return this.#variables.includes(name) ? name : this.fail(`undefined variable ${goQuote(name)}`);
  }

  #parenthesized(): Pipeline {
    if (this.#parentheses >= MAX_PARENTHESES) this.fail('max expression depth exceeded');
    this.#parentheses += 1;
    const pipeline = this.#pipeline('parenthesized pipeline', 'right-paren');
    this.#parentheses -= 1;
    return pipeline;
  }

  #number(parsed: NumberConstant | string): NumberConstant {
    return typeof parsed === 'string' ? this.fail(parsed) : parsed;
  }

  #character(literal: string): NumberConstant {
    const [char = '', ...more] = goUnquote(literal) ?? '';
    if (char === '') this.fail('invalid syntax');
    if (more.length > 0) this.fail(`malformed character constant: ${literal}`);
    return {type: 'int', value: BigInt(char.codePointAt(0) ?? 0)};
  }

  #unquote(literal: string): string {
    return goUnquote(literal) ?? this.fail('invalid syntax');
  }
}

const STARTS_OPERAND: ReadonlySet<TokenType> = new Set([
  'bool',
  'char-constant',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'string',
  'variable',
  'left-paren',
] as const);

/** Operands that cannot be called and have no fields. */
const CONSTANTS: ReadonlySet<Operand['kind']> = new Set(['bool', 'dot', 'nil', 'number', 'string'] as const);

function isBlank(node: Node): boolean {
  return node.kind === 'text' && node.text.trim() === '';
}
