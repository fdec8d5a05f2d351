import {byKey} from '../../base/compare.js';
import {goQuote} from '../go-quote.js';
import {memberOf, type Json, type JsonObject} from '../json.js';
import {evaluationError, type Located} from './evaluation-error.js';
import {CallError, type Parameter, type TemplateFunction} from './functions.js';
import {nodeText, type Branch, type Command, type Node, type Operand, type Pipeline} from './nodes.js';
import type {ParsedTemplate} from './parser.js';
import {MAX_TEXT, TextSink} from './text-sink.js';
import {
  boxed,
  cellType,
  goInt,
  GoNumber,
  isTrue,
  kindOf,
  plain,
  reflectText,
  typeName,
  valueText,
  type Cell,
  type Value,
} from './values.js';

/** Error thrown by `break` and `continue` through the nodes of a range's body. */
class Jump extends Error {
  readonly kind: 'break' | 'continue';

  constructor(kind: Jump['kind']) {
    super(kind);
    this.kind = kind;
  }
}

interface Variable {
  readonly name: string;
  cell: Cell;
}

/** Maximum depth of templates. Go allows 100,000, which exceeds JavaScript's stack. */
const MAX_DEPTH = 500;

/** Number of evaluated bodies from which a template counts as endless, because nothing else would stop it. */
const MAX_STEPS = 10_000_000;
const TOO_LONG = `the text is longer than ${MAX_TEXT} characters`;

/** Evaluates a template. A missing key of a map is an error. Throws TemplateError. */
export function evaluateTemplate(template: ParsedTemplate, data: Json): string {
  return new Evaluator(template).run(data);
}

/** Marker for the missing value of a preceding pipeline. */
const NOTHING = Symbol('nothing');
type Final = Cell | typeof NOTHING;

class Evaluator {
  readonly #template: ParsedTemplate;
  readonly #sink = new TextSink();
  #name: string;
  #variables: Variable[] = [];
  #depth = 0;
  #steps = 0;
  /** Current node, used in errors. */
  #node: Located | undefined;

  constructor(template: ParsedTemplate) {
    this.#template = template;
    this.#name = template.name;
  }

  run(data: Json): string {
    this.#body(this.#name, plain(data));
    return this.#sink.text();
  }

  #body(name: string, dot: Cell): void {
    this.#variables = [{name: '$', cell: dot}];
    this.#list(dot, this.#template.bodies.get(name) ?? []);
  }

  #list(dot: Cell, nodes: readonly Node[]): void {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) this.#fail(`the template takes more than ${MAX_STEPS} steps`);
    for (const node of nodes) this.#walk(dot, node);
  }

  #walk(dot: Cell, node: Node): void {
    this.#node = node;
    switch (node.kind) {
      case 'text':
        this.#write(node.text);
        return;
      case 'action':
        this.#action(dot, node.pipeline);
        return;
      case 'if':
      case 'with':
        this.#ifOrWith(dot, node);
        return;
      case 'range':
        this.#range(dot, node);
        return;
      case 'template':
        this.#invoke(dot, node);
        return;
      default:
        throw new Jump(node.kind);
    }
  }

  #write(text: string): void {
    if (!this.#sink.write(text)) this.#fail(TOO_LONG);
  }

  /** Evaluates an action. A declaration prints nothing; its variable exists until the end of the block. */
  #action(dot: Cell, pipeline: Pipeline): void {
    const {value} = this.#pipeline(dot, pipeline);
    if (pipeline.variables.length === 0) this.#write(value === undefined ? '<no value>' : valueText(value));
  }

  #ifOrWith(dot: Cell, {kind, pipeline, body, otherwise = []}: Branch): void {
    const mark = this.#variables.length;
    const cell = this.#pipeline(dot, pipeline);
    if (isTrue(cell.value)) this.#list(kind === 'with' ? cell : dot, body);
    else this.#list(dot, otherwise);
    this.#variables.length = mark;
  }

  #range(dot: Cell, node: Branch): void {
    const mark = this.#variables.length;
    const {value} = this.#pipeline(dot, node.pipeline);
    let empty = true;
    try {
      for (const [index, element] of this.#items(value, node)) {
        empty = false;
        this.#iteration(node, index, element);
      }
    } catch (error) {
      if (!(error instanceof Jump) || error.kind !== 'break') throw error;
    }
    if (empty) this.#list(dot, node.otherwise ?? []);
    this.#variables.length = mark;
  }

  /** Returns the items of a range as pairs of index or key and element. */
  #items(value: Value, {pipeline}: Branch): Iterable<readonly [Cell, Cell]> {
    switch (kindOf(value)) {
      case 'none':
        return [];
      case 'list':
        return (value as readonly Json[]).map((item, index) => [plain(goInt(BigInt(index))), boxed(item)]);
      case 'map':
        return Object.entries(value as JsonObject)
          .sort(byKey)
          .map(([key, item]) => [plain(key), boxed(item)]);
      case 'int':
      case 'uint':
        if (pipeline.variables.length > 1)
          this.#fail(`can't use ${valueText(value)} to iterate over more than one variable`);
        return counted(Number((value as GoNumber).value));
      default:
        return this.#fail(`range can't iterate over ${valueText(value)}`);
    }
  }

  #iteration({pipeline, body}: Branch, index: Cell, element: Cell): void {
    const {variables, assigns} = pipeline;
    const cells = variables.length > 1 ? [index, element] : [element];
    const first = this.#variables.length - variables.length;
    variables.forEach((name, at) => {
      const cell = cells[at] ?? element;
      const declared = this.#variables[first + at];
      if (assigns) this.#assign(name, cell);
      else if (declared !== undefined) declared.cell = cell;
    });
    const mark = this.#variables.length;
    try {
      this.#list(element, body);
    } catch (error) {
      if (!(error instanceof Jump) || error.kind !== 'continue') throw error;
    }
    this.#variables.length = mark;
  }

  #invoke(dot: Cell, node: Node & {kind: 'template'}): void {
    if (!this.#template.bodies.has(node.name)) this.#fail(`template ${goQuote(node.name)} not defined`);
    if (this.#depth === MAX_DEPTH) this.#fail(`exceeded maximum template depth (${MAX_DEPTH})`);
    const cell = node.pipeline === undefined ? plain(undefined) : this.#pipeline(dot, node.pipeline);
    const [name, variables] = [this.#name, this.#variables];
    this.#name = node.name;
    this.#depth += 1;
    this.#body(node.name, cell);
    [this.#name, this.#variables] = [name, variables];
    this.#depth -= 1;
  }

  #pipeline(dot: Cell, pipeline: Pipeline): Cell {
    this.#node = pipeline;
    let result: Final = NOTHING;
    for (const command of pipeline.commands) result = plain(this.#command(dot, command, result).value);
    const cell = result === NOTHING ? plain(undefined) : result;
    for (const name of pipeline.variables)
      if (pipeline.assigns) this.#assign(name, cell);
      else this.#variables.push({name, cell});
    return cell;
  }

  #command(dot: Cell, command: Command, final: Final): Cell {
    const [first, ...args] = command.operands;
    switch (first.kind) {
      case 'identifier':
        return this.#function(dot, first, {at: command, args, final});
      case 'field':
      case 'variable':
      case 'chain':
        return this.#chain(dot, first, args.length > 0 || final !== NOTHING);
      case 'pipeline':
        this.#takesNothing(first, args, final);
        return this.#pipeline(dot, first);
      case 'nil':
        this.#node = first;
        this.#takesNothing(first, args, final);
        return this.#fail('nil is not a command');
      default:
        this.#node = first;
        this.#takesNothing(first, args, final);
        return this.#constant(dot, first);
    }
  }

  #takesNothing(node: Operand, args: readonly Operand[], final: Final): void {
    if (args.length > 0 || final !== NOTHING)
      this.#fail(`can't give argument to non-function ${nodeText(node)}`);
  }

  #constant(dot: Cell, node: Operand & {kind: 'dot' | 'nil' | 'bool' | 'number' | 'string'}): Cell {
    switch (node.kind) {
      case 'dot':
        return dot;
      case 'bool':
        return plain(node.value);
      case 'number':
        return plain(this.#number(node));
      case 'string':
        return plain(node.text);
      default:
        return plain(undefined);
    }
  }

  #number(node: Operand & {kind: 'number'}): GoNumber {
    const {text, number} = node;
    if (number.type !== 'uint64') return new GoNumber(number.type, number.value);
    this.#node = node;
    return this.#fail(`${text} overflows int`);
  }

  /** Evaluates fields of the dot, of a variable or of a preceding term. */
  #chain(dot: Cell, node: Operand & {kind: 'field' | 'variable' | 'chain'}, hasArgs: boolean): Cell {
    this.#node = node;
    if (node.kind === 'variable' && node.fields.length === 0) {
      if (hasArgs) this.#fail(`can't give argument to non-function ${nodeText(node)}`);
      return this.#variable(node.name);
    }
    if (node.kind === 'field') return this.#fields(dot, node.names, hasArgs);
    const receiver =
      node.kind === 'variable' ? this.#variable(node.name) : this.#argument(dot, node.operand, 'cell');
    return this.#fields(receiver, node.fields, hasArgs);
  }

  #fields(receiver: Cell, names: readonly string[], hasArgs: boolean): Cell {
    return names.reduce(
      (cell, name, index) => this.#field(cell, name, hasArgs && index === names.length - 1),
      receiver,
    );
  }

  #field(receiver: Cell, name: string, hasArgs: boolean): Cell {
    const {value} = receiver;
    if (value === undefined) return this.#fail(`nil data; no entry for key ${goQuote(name)}`);
    if (value === null) return this.#fail(`nil pointer evaluating ${cellType(receiver)}.${name}`);
    if (kindOf(value) !== 'map')
      return this.#fail(`can't evaluate field ${name} in type ${cellType(receiver)}`);
    if (hasArgs) this.#fail(`${name} is not a method but has arguments`);
    const found = memberOf(value as JsonObject, name);
    return found === undefined ? this.#fail(`map has no entry for key ${goQuote(name)}`) : boxed(found);
  }

  #variable(name: string): Cell {
    return this.#find(name).cell;
  }

  #assign(name: string, cell: Cell): void {
    this.#find(name).cell = cell;
  }

  #find(name: string): Variable {
    return (
      this.#variables.findLast((variable) => variable.name === name) ??
      this.#fail(`undefined variable: ${name}`)
    );
  }

  #function(
    dot: Cell,
    node: Operand & {kind: 'identifier'},
    {at, args, final}: {readonly at: Located; readonly args: readonly Operand[]; readonly final: Final},
  ): Cell {
    this.#node = node;
    const {name} = node;
    const target = this.#template.functions[name] ?? this.#fail(`${goQuote(name)} is not a defined function`);
    const given = args.length + (final === NOTHING ? 0 : 1);
    this.#checkCount(name, target, args.length, given);
    if (name === 'and' || name === 'or') return this.#shortCircuit(dot, name === 'or', args, final);
    const cells = args.map((arg, index) => this.#argument(dot, arg, parameterOf(target, index)));
    if (final !== NOTHING) cells.push(this.#checked(final, parameterOf(target, given - 1)));
    const [callee] = args;
    const nameOfCallee = (): string =>
      callee === undefined ? reflectText(cells[0]?.value) : nodeText(callee);
    return plain(this.#call(name, () => target.call(cells, nameOfCallee), at));
  }

  #call(name: string, call: () => Value, at: Located): Value {
    try {
      const result = call();
      if (typeof result === 'string' && result.length > MAX_TEXT) throw new CallError(TOO_LONG);
      return result;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      this.#node = at;
      return this.#fail(`error calling ${name}: ${error.message}`);
    }
  }

  #checkCount(name: string, {parameters, rest}: TemplateFunction, args: number, given: number): void {
    const wanted = parameters.length;
    if (rest !== undefined && given < wanted)
      this.#fail(`wrong number of args for ${name}: want at least ${wanted} got ${args}`);
    if (rest === undefined && given !== wanted)
      this.#fail(`wrong number of args for ${name}: want ${wanted} got ${given}`);
  }

  /** Evaluates `and` and `or` as far as needed. */
  #shortCircuit(dot: Cell, stopAt: boolean, args: readonly Operand[], final: Final): Cell {
    let cell = plain(undefined);
    for (const arg of args) {
      cell = this.#argument(dot, arg, 'cell');
      if (isTrue(cell.value) === stopAt) return cell;
    }
    return final === NOTHING ? cell : final;
  }

  #argument(dot: Cell, node: Operand, parameter: Parameter): Cell {
    this.#node = node;
    switch (node.kind) {
      case 'nil':
        return parameter === 'string' ? this.#fail('cannot assign nil to string') : plain(undefined);
      case 'field':
      case 'variable':
      case 'chain':
        return this.#checked(this.#chain(dot, node, false), parameter);
      case 'pipeline':
        return this.#checked(this.#pipeline(dot, node), parameter);
      case 'identifier':
        return this.#checked(this.#function(dot, node, {at: node, args: [], final: NOTHING}), parameter);
      case 'dot':
        return this.#checked(dot, parameter);
      default:
        if (parameter === 'string' && node.kind !== 'string')
          return this.#fail(`expected string; found ${nodeText(node)}`);
        return this.#constant(dot, node);
    }
  }

  #checked(cell: Cell, parameter: Parameter): Cell {
    if (parameter !== 'string' || typeof cell.value === 'string') return cell;
    if (cell.value === undefined) return this.#fail('invalid value; expected string');
    const type = cell.value === null ? cellType(cell) : typeName(cell.value);
    return this.#fail(`wrong type for value; expected string; got ${type}`);
  }

  #fail(message: string): never {
    throw evaluationError(message, {template: this.#template, name: this.#name, node: this.#node});
  }
}

function parameterOf({parameters, rest = 'any'}: TemplateFunction, index: number): Parameter {
  return parameters[index] ?? rest;
}

/** Yields 0, 1, 2 … below a number, as ints, without indexes. */
function* counted(end: number): Generator<readonly [Cell, Cell]> {
  for (let index = 0; index < end; index += 1) yield [plain(undefined), plain(goInt(BigInt(index)))];
}
