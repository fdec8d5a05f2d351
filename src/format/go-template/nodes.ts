import {goQuote} from '../go-quote.js';
/** A place in a template, with the text that errors name it by. */
interface Place {
  /** Offset in the template. */
  readonly position: number;
}

/** What can stand as a word of a command. */
export type Operand =
  | (Place & {readonly kind: 'dot'})
  | (Place & {readonly kind: 'nil'})
  | (Place & {readonly kind: 'bool'; readonly value: boolean})
  | (Place & {readonly kind: 'number'; readonly text: string; readonly number: NumberConstant})
  | (Place & {readonly kind: 'string'; readonly quoted: string; readonly text: string})
  | (Place & {readonly kind: 'identifier'; readonly name: string})
  | (Place & {readonly kind: 'field'; readonly names: readonly string[]})
  | (Place & {readonly kind: 'variable'; readonly name: string; readonly fields: readonly string[]})
  | (Place & {readonly kind: 'chain'; readonly operand: Operand; readonly fields: readonly string[]})
  | Pipeline;

/** A number as its text says: Go takes `3` for an int and `3.0` for a float64. */
export type NumberConstant =
  {readonly type: 'int'; readonly value: bigint} | {readonly type: 'float64'; readonly value: number};

export interface Command extends Place {
  readonly kind: 'command';
  readonly operands: readonly [Operand, ...Operand[]];
}

export interface Pipeline extends Place {
  readonly kind: 'pipeline';
  /** The variables that take the value, `$i, $e`. */
  readonly variables: readonly string[];
  /** True for `=`, false for `:=`. */
  readonly assigns: boolean;
  readonly commands: readonly Command[];
}

export type Node =
  | (Place & {readonly kind: 'text'; readonly text: string})
  | (Place & {readonly kind: 'action'; readonly pipeline: Pipeline})
  | (Place & {readonly kind: 'break' | 'continue'})
  | (Place & {readonly kind: 'template'; readonly name: string; readonly pipeline: Pipeline | undefined})
  | Branch;

export interface Branch extends Place {
  readonly kind: 'if' | 'range' | 'with';
  readonly pipeline: Pipeline;
  readonly body: readonly Node[];
  readonly otherwise: readonly Node[] | undefined;
}

/** A node as Go writes it in its errors. */
export function nodeText(node: Operand | Command | Node): string {
  switch (node.kind) {
    case 'command':
      return node.operands.map(operandText).join(' ');
    case 'text':
      return node.text;
    case 'action':
      return `{{${pipelineText(node.pipeline)}}}`;
    case 'template':
      return `{{template ${[goQuote(node.name), ...texts(node.pipeline)].join(' ')}}}`;
    case 'if':
    case 'range':
    case 'with':
      return pipelineText(node.pipeline);
    case 'break':
    case 'continue':
      return `{{${node.kind}}}`;
    default:
      return plainOperandText(node);
  }
}

function texts(pipeline: Pipeline | undefined): readonly string[] {
  return pipeline === undefined ? [] : [pipelineText(pipeline)];
}

function plainOperandText(node: Operand): string {
  switch (node.kind) {
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
    case 'bool':
      return String(node.value);
    case 'number':
      return node.text;
    case 'string':
      return node.quoted;
    case 'identifier':
      return node.name;
    case 'field':
      return node.names.map((name) => `.${name}`).join('');
    case 'variable':
      return [node.name, ...node.fields].join('.');
    case 'chain':
      return [operandText(node.operand), ...node.fields].join('.');
    case 'pipeline':
      return pipelineText(node);
  }
}

/** An operand among others: pipelines are in parentheses. */
function operandText(operand: Operand): string {
  return operand.kind === 'pipeline' ? `(${pipelineText(operand)})` : plainOperandText(operand);
}

function pipelineText({variables, assigns, commands}: Pipeline): string {
  const declaration = variables.length === 0 ? '' : `${variables.join(', ')} ${assigns ? '=' : ':='} `;
  return declaration + commands.map(nodeText).join(' | ');
}
