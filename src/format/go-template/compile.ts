import type {Json} from '../json.js';
import {withinLimits} from '../template-error.js';
import {evaluateTemplate} from './evaluate.js';
import {FUNCTIONS} from './functions.js';
import {parseTemplate} from './parser.js';

/**
 * Compiles a template of Go's text/template with missingkey=error, by default with crictl's functions. `name` is used in
 * errors. Throws TemplateError for an invalid template; the returned function throws it when the data does not match.
 */
export function compileGoTemplate(
  text: string,
  name = 'template',
  functions = FUNCTIONS,
): (data: Json) => string {
  const template = withinLimits(() => parseTemplate(name, text, functions));
  return (data) => withinLimits(() => evaluateTemplate(template, data));
}
