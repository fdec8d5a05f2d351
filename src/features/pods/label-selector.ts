import {UsageError} from '../../base/errors.js';

/** Condition on labels. */
type Requirement = (labels: Readonly<Record<string, string>>) => boolean;

const KEY = String.raw`([A-Za-z0-9][\w./-]*)`;
const SET = new RegExp(String.raw`^${KEY}\s+(in|notin)\s*\(([^()]*)\)$`);
const EQUAL = new RegExp(String.raw`^${KEY}\s*(==|=|!=)\s*([\w.-]*)$`);
const EXISTS = new RegExp(String.raw`^(!?)\s*${KEY}$`);

/**
 * Parses a label selector of kubectl's `-l`: `app=web,tier!=db`, `env in (a,b)`, `env notin (c)`, `key`, `!key`. Throws
 * UsageError.
 */
export function parseLabelSelector(text: string): Requirement {
  // Commas inside parentheses separate the values of a set.
  const requirements = text
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => requirement(part, text));
  return (labels) => requirements.every((holds) => holds(labels));
}

function requirement(part: string, text: string): Requirement {
  const set = SET.exec(part);
  if (set !== null) {
    const [, key = '', operator, list = ''] = set;
    const values = list.split(',').map((value) => value.trim());
    const isIn: Requirement = (labels) => values.includes(labels[key] ?? '') && Object.hasOwn(labels, key);
    return operator === 'in' ? isIn : (labels) => !isIn(labels);
  }
  const equal = EQUAL.exec(part);
  if (equal !== null) {
    const [, key = '', operator, value = ''] = equal;
    return (labels) => (labels[key] === value) === (operator !== '!=');
  }
  const [, not, key = ''] = EXISTS.exec(part) ?? [];
  if (not === undefined)
    throw new UsageError(`invalid label selector "${text}" at "${part}"`, {
      hint: 'use KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY or !KEY, separated by commas',
    });
  return (labels) => Object.hasOwn(labels, key) !== (not === '!');
}
