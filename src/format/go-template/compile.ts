import type {Json} from '../json.js';
import {evaluateTemplate} from './evaluate.js';
import {FUNCTIONS} from './functions.js';
import {withinLimits} from '../template-error.js';
import {parseTemplate} from './parser.js';

const NAMES: ReadonlySet<string> = new Set(Object.keys(FUNCTIONS));

/**
 * A template of Go's text/template with crictl's functions and missingkey=error, ready to be filled in. `name` is
 * what errors call it. Throws TemplateError when the template is wrong, and when it does not fit the data.
 */
export function compileGoTemplate(text: string, name = 'template'): (data: Json) => string {
  const template = withinLimits(() => parseTemplate(name, text, NAMES));
  return (data) => withinLimits(() => evaluateTemplate(template, data));
}
