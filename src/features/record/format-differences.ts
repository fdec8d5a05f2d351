import {shorten} from '../../base/shorten.js';
import type {JsonObject} from '../../format/json.js';
import type {FieldDifference, RunDifference} from '../../recording/canonical/compare-runs.js';

/** Maximum length of a value in the text. */
const LONGEST_VALUE = 200;

const SIGNS = {'only in A': '-', 'only in B': '+', different: '~'} as const;

/** Formats a difference as a line, and one for each side of each member. */
export function differenceText({pod, method, object, kind, fields}: RunDifference): string {
  const title = [SIGNS[kind], pod === '' ? '(no pod)' : pod, method, object].filter((word) => word !== '');
  const lines = fields.flatMap(({path, a, b}) => [
    `    ${path}`,
    ...(a === undefined ? [] : [`      - ${shorten(JSON.stringify(a), LONGEST_VALUE)}`]),
    ...(b === undefined ? [] : [`      + ${shorten(JSON.stringify(b), LONGEST_VALUE)}`]),
  ]);
  return `${[title.join(' '), ...lines].join('\n')}\n`;
}

/** Returns a difference as JSON, without the side that lacks a member. */
export function differenceJson({fields, ...rest}: RunDifference): JsonObject {
  return {...rest, fields: fields.map(fieldJson)};
}

function fieldJson({path, a, b}: FieldDifference): JsonObject {
  return {path, ...(a !== undefined && {a}), ...(b !== undefined && {b})};
}
