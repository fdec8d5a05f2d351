import {goUnquote} from '../../format/go-unquote.js';
import {tokenizeTemplate, type Token} from '../../format/go-template/lexer.js';

/** Text between actions, or an action as its tokens. */
type Part = string | readonly Token[];

/**
 * Returns the column headers of a table template, whose cells are separated by tabs: the name of the last field of each
 * action, such as `POD SANDBOX ID` for `{{.podSandboxId}}`, with the text around it. A cell with a condition or a loop has
 * only the name of its first field.
 */
export function templateHeaders(template: string): readonly string[] {
  return splitCells(partsOf(template)).map(cellHeader);
}

function partsOf(template: string): readonly Part[] {
  const parts: Part[] = [];
  let action: Token[] | undefined;
  for (const token of tokenizeTemplate(template))
    if (token.type === 'text') parts.push(token.value);
    else if (token.type === 'left-delimiter') action = [];
    else if (token.type === 'right-delimiter') {
      parts.push(action ?? []);
      action = undefined;
    } else action?.push(token);
  return parts;
}

function splitCells(parts: readonly Part[]): readonly (readonly Part[])[] {
  const cells: Part[][] = [[]];
  for (const part of parts)
    if (typeof part === 'string') {
      const [first = '', ...others] = part.split('\t');
      cells.at(-1)?.push(first);
      for (const other of others) cells.push([other]);
    } else cells.at(-1)?.push(part);
  return cells;
}

function cellHeader(parts: readonly Part[]): string {
  const isBranched = parts.some(
    (part) => typeof part !== 'string' && part.some(({type}) => type === 'keyword'),
  );
  const texts = parts.map((part) => (typeof part === 'string' ? part : actionHeader(part)));
  if (!isBranched) return texts.join('').trim();
  return parts.flatMap((part) => (typeof part === 'string' ? [] : [actionHeader(part)])).find(Boolean) ?? '';
}

/** Returns the name of the last field of an action, or of the key that it looks up with `index`. */
function actionHeader(tokens: readonly Token[]): string {
  const looksUp = tokens.some(({type, value}) => type === 'identifier' && value === 'index');
  const key = looksUp ? tokens.findLast(({type}) => type === 'string') : undefined;
  const name = key ?? tokens.findLast(({type}) => type === 'field');
  if (name === undefined) return '';
  return headerText(name === key ? (goUnquote(name.value) ?? '') : name.value.replace(/^.*\./s, ''));
}

/** Returns a camel-case name as words in capitals. */
function headerText(name: string): string {
  return name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').toUpperCase();
}
