import {goQuote} from '../go-quote.js';
/** Position in a template, with the text for errors. */
interface SourcePosition {
  /** Offset in the template. */
  readonly position: number;
}

/** Operand of a command. */
export type Operand =
  | (SourcePosition & {readonly kind: 'dot'})
  | (SourcePosition & {readonly kind: 'nil'})
  | (SourcePosition & {readonly kind: 'bool'; readonly value: boolean})
  | (SourcePosition & {readonly kind: 'number'; readonly text: string; readonly number: NumberConstant})
  | (SourcePosition & {readonly kind: 'string'; readonly quoted: string; readonly text: string})
  | (SourcePosition & {readonly kind: 'identifier'; readonly name: string})
  | (SourcePosition & {readonly kind: 'field'; readonly names: readonly string[]})
  | (SourcePosition & {readonly kind: 'variable'; readonly name: string; readonly fields: readonly string[]})
  | (SourcePosition & {readonly kind: 'chain'; readonly operand: Operand; readonly fields: readonly string[]})
  | Pipeline;

/** Number constant with its type: `3` is an int in Go and `3.0` is a float64. */
export type NumberConstant =
  | {readonly type: 'int'; readonly value: bigint}
  /** An integer above int64, which can be parsed, but not evaluated. */
  | {readonly type: 'uint64'}
  | {readonly type: 'float64'; readonly value: number};

export interface Command extends SourcePosition {
  readonly kind: 'command';
  readonly operands: readonly [Operand, ...Operand[]];
}

export interface Pipeline extends SourcePosition {
  readonly kind: 'pipeline';
  /** Assigned variables, such as `$i, $e`. */
  readonly variables: readonly string[];
  /** True if the operator is `=` rather than `:=`. */
  readonly assigns: boolean;
  readonly commands: readonly Command[];
}

export type Node =
  | (SourcePosition & {readonly kind: 'text'; readonly text: string})
  | (SourcePosition & {readonly kind: 'action'; readonly pipeline: Pipeline})
  | (SourcePosition & {readonly kind: 'break' | 'continue'})
  | (SourcePosition & {
      readonly kind: 'template';
      readonly name: string;
      readonly pipeline: Pipeline | undefined;
    })
  | Branch;

export interface Branch extends SourcePosition {
  readonly kind: 'if' | 'range' | 'with';
  readonly pipeline: Pipeline;
  readonly body: readonly Node[];
  readonly otherwise: readonly Node[] | undefined;
}

/** Formats a node like Go in its errors. */
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

/** Formats an operand of a command; a pipeline is in parentheses. */
function operandText(operand: Operand): string {
  return operand.kind === 'pipeline' ? `(${pipelineText(operand)})` : plainOperandText(operand);
}

function pipelineText({variables, assigns, commands}: Pipeline): string {
  const declaration = variables.length === 0 ? '' : `${variables.join(', ')} ${assigns ? '=' : ':='} `;
  return declaration + commands.map(nodeText).join(' | ');
}
