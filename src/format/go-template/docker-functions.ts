import {formatCompactJson, isJsonList} from '../json.js';
import {CallError, FUNCTIONS, jsonOf, type TemplateFunction} from './functions.js';
import {kindOf, typeName, valueText, type Cell} from './values.js';

/** Functions of docker's --format (cli/templates): Go's and crictl's, with a `json` that adds no line break. */
export const DOCKER_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  ...FUNCTIONS,
  json: {
    parameters: ['any'],
    call: ([cell]) => formatCompactJson(jsonOf(cell?.value), {escapeHtml: false}),
  },
  join: {parameters: ['cell', 'string'], call: ([list, separator]) => joined(list, textOf(separator))},
  split: {
    parameters: ['string', 'string'],
    call: ([text, separator]) => textOf(text).split(textOf(separator)),
  },
  pad: {
    parameters: ['cell', 'cell', 'cell'],
    call: ([text, before, after]) => padded(textOf(text), countOf(before), countOf(after)),
  },
  truncate: {
    parameters: ['cell', 'cell'],
    call: ([text, length]) => Array.from(textOf(text)).slice(0, countOf(length)).join(''),
  },
};

function textOf(cell: Cell | undefined): string {
  return valueText(cell?.value);
}

function joined(list: Cell | undefined, separator: string): string {
  const value = list?.value;
  if (typeof value !== 'object' || value === null || kindOf(value) !== 'list')
    throw new CallError(`can't join item of type ${typeName(value)}`);
  return isJsonList(value as never) ? (value as readonly never[]).map(valueText).join(separator) : '';
}

/** Adds spaces around a text, unless it is empty. */
function padded(text: string, before: number, after: number): string {
  return text === '' ? text : ' '.repeat(before) + text + ' '.repeat(after);
}

/** Maximum number of spaces: more than any screen has. */
const MAX_COUNT = 10_000;

function countOf(cell: Cell | undefined): number {
  const value = cell?.value;
  const count = kindOf(value) === 'int' || kindOf(value) === 'number' ? Number(valueText(value)) : NaN;
  if (!Number.isSafeInteger(count) || count < 0 || count > MAX_COUNT)
    throw new CallError(`invalid number of characters: ${valueText(value)}`);
  return count;
}
