import {shorten} from '../../base/shorten.js';
import {goQuote} from '../go-quote.js';
import type {Json} from '../json.js';
import {TemplateError, withinLimits} from '../template-error.js';
import {evaluateJsonPath, IndexError, selectJsonPath} from './evaluate.js';
import type {Part} from './nodes.js';
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

/**
 * Compiles a path of kubectl's custom columns, `{.a.b}`, `{a.b}`, `.a.b` or `a.b`, into a function that returns the
 * selected values; missing keys and indexes select nothing. Throws TemplateError like compileJsonPath.
 */
export function compileJsonPathValues(path: string): (data: Json) => readonly Json[] {
  const [, braced, bare = braced] = /^\{([^{}]+)\}$|^([^{}]+)$/.exec(path) ?? [];
  if (bare === undefined)
    throw new TemplateError(
      `invalid path ${goQuote(shorten(path, LONGEST_SHOWN))}: must be a path such as .a.b`,
    );
  const relative = bare.replace(/^\.(?!\.)/, '');
  const text = relative === '' ? '{@}' : /^[.[$@]/.test(relative) ? `{${relative}}` : `{.${relative}}`;
  const shown = shorten(path, LONGEST_SHOWN);
  const parts = explained(`error parsing jsonpath ${shown}, `, () => parseJsonPath(text));
  return (data) => explained(`error executing jsonpath ${goQuote(shown)}: `, () => valuesOrNone(parts, data));
}

function valuesOrNone(parts: readonly Part[], data: Json): readonly Json[] {
  try {
    return selectJsonPath(parts, data);
  } catch (error) {
    if (error instanceof IndexError) return [];
    throw error;
  }
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
