import {UsageError} from '../../base/errors.js';
import type {Json} from '../../format/json.js';
import {TemplateError} from '../../format/template-error.js';
import {compileGoRegexp, type TextPattern} from '../../operations/filters/go-regexp.js';

/** Condition that `wait` waits for. */
export type WaitCondition =
  | {readonly kind: 'condition'; readonly type: string; readonly value: string}
  | {
      readonly kind: 'jsonpath';
      readonly path: string;
      /** Expected text; undefined for any value. */
      readonly value: string | undefined;
      /** Returns the text of the field; undefined if the object does not have it. */
      readonly read: (object: Json) => string | undefined;
    }
  | {readonly kind: 'log'; readonly text: string; readonly pattern: TextPattern}
  | {readonly kind: 'exit'}
  | {readonly kind: 'create'}
  | {readonly kind: 'delete'};

const HINT = 'use condition=NAME[=VALUE], jsonpath=PATH[=VALUE], exit, log=REGEX, create or delete';

/** Parses the value of `--for`. Rejects with UsageError. */
export async function parseWaitCondition(text: string): Promise<WaitCondition> {
  if (text === 'exit' || text === 'create' || text === 'delete') return {kind: text};
  const [, kind = '', value = ''] = /^(condition|jsonpath|log)=(.+)$/s.exec(text) ?? [];
  if (kind === 'condition') return parseCondition(value);
  if (kind === 'log') return {kind: 'log', text: value, pattern: await compileGoRegexp(value)};
  if (kind === 'jsonpath') return await parseJsonPathCondition(value);
  throw new UsageError(`invalid --for "${text}"`, {hint: HINT});
}

function parseCondition(text: string): WaitCondition {
  const [, type = '', value = 'True'] = /^([^=]+)(?:=(.+))?$/.exec(text) ?? [];
  if (type === '') throw new UsageError(`invalid --for "condition=${text}"`, {hint: HINT});
  return {kind: 'condition', type, value};
}

/** Parses kubectl's `{.status.phase}=Running`, with or without quotes and braces. */
async function parseJsonPathCondition(text: string): Promise<WaitCondition> {
  const [, path = '', value] = /^'?(\{.*\}|\{[^}]*|[^={]+)'?(?:=(.*))?$/s.exec(text) ?? [];
  if (path === '' || value === '') throw new UsageError(`invalid --for "jsonpath=${text}"`, {hint: HINT});
  const {compileJsonPath} = await import('../../format/jsonpath/compile.js');
  const render = compileJsonPath(path);
  const read = (object: Json): string | undefined => {
    try {
      return render(object);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return undefined; // the field does not exist yet
    }
  };
  return {kind: 'jsonpath', path, value, read};
}

/** Returns the condition as in the command line, for messages. */
export function formatWaitCondition(condition: WaitCondition): string {
  switch (condition.kind) {
    case 'condition':
      return `condition ${condition.type}=${condition.value}`;
    case 'jsonpath':
      return `${condition.path}${condition.value === undefined ? '' : `=${condition.value}`}`;
    case 'log':
      return `a log line that matches "${condition.text}"`;
    case 'exit':
      return 'the exit';
    case 'create':
      return 'the creation';
    case 'delete':
      return 'the deletion';
  }
}
