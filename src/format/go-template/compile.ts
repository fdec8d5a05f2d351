import type {Json} from '../json.js';
import {evaluateTemplate} from './evaluate.js';
import {FUNCTIONS} from './functions.js';
import {withinLimits} from '../template-error.js';
import {parseTemplate} from './parser.js';

const NAMES: ReadonlySet<string> = new Set(Object.keys(FUNCTIONS));

/**
 * Compiles a template of Go's text/template with crictl's functions and missingkey=error. `name` is used in errors.
 * Throws TemplateError for an invalid template; the returned function throws it when the data does not match.
 */
export function compileGoTemplate(text: string, name = 'template'): (data: Json) => string {
  const template = withinLimits(() => parseTemplate(name, text, NAMES));
  return (data) => withinLimits(() => evaluateTemplate(template, data));
}
