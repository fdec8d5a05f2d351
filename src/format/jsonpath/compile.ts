import {shorten} from '../../base/shorten.js';
import {goQuote} from '../go-quote.js';
import type {Json} from '../json.js';
import {TemplateError, withinLimits} from '../template-error.js';
import {evaluateJsonPath} from './evaluate.js';
import {parseJsonPath} from './parser.js';

/** Maximum length of a template in an error, since a template from a file may have any length. */
const LONGEST_SHOWN = 200;

/**
 * Compiles a template in kubectl's dialect of JSONPath; a bare path needs no braces. Throws TemplateError for an
 * invalid template; the returned function throws it when the data does not match.
 */
export function compileJsonPath(text: string): (data: Json) => string {
  const shown = shorten(text, LONGEST_SHOWN);
  const parts = explained(`error parsing jsonpath ${shown}, `, () => parseJsonPath(withBraces(text)));
  return (data) =>
    explained(`error executing jsonpath ${goQuote(shown)}: Error executing template: `, () =>
      withoutLineEnd(evaluateJsonPath(parts, data)),
    );
}

function withBraces(text: string): string {
  if (text.includes('{')) return text;
  return /^[.[$@]/.test(text) ? `{${text}}` : `{.${text}}`;
}

/** Removes the final newline of a template, because printing adds one. */
function withoutLineEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

function explained<T>(context: string, act: () => T): T {
  try {
    return withinLimits(act);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new TemplateError(context + error.message, {cause: error});
  }
}
