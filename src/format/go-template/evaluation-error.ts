import {goQuote} from '../go-quote.js';
import {TemplateError} from '../template-error.js';
import {nodeText, type Command, type Node, type Operand} from './nodes.js';
import type {ParsedTemplate} from './parser.js';

/** A node with a position in the text of a template. */
export type Located = Operand | Command | Node;

/** Returns the error of an evaluation in Go's form: with the position of the node and its text (ExecError). */
export function evaluationError(
  message: string,
  {
    template,
    name,
    node,
  }: {
    readonly template: Pick<ParsedTemplate, 'name' | 'text'>;
    /** Name of the template that is evaluated, which may be defined in another. */
    readonly name: string;
    /** Undefined before the first node. */
    readonly node: Located | undefined;
  },
): TemplateError {
  if (node === undefined) return new TemplateError(`template: ${template.name}: ${message}`);
  const before = template.text.slice(0, node.position);
  const line = before.split('\n').length;
  const column = Buffer.byteLength(before.slice(before.lastIndexOf('\n') + 1));
  return new TemplateError(
    `template: ${template.name}:${line}:${column}: executing ${goQuote(name)} at <${nodeText(node)}>: ${message}`,
  );
}
