import {UsageError} from '../../base/errors.js';
import type {Init, Mount} from '../../cri/index.js';
import {parseVolume} from './parse-volume.js';

/** Names of the fields of `--mount`, with docker's other spellings. */
const FIELDS: Readonly<Record<string, string>> = {
  type: 'type',
  source: 'source',
  src: 'source',
  target: 'target',
  destination: 'target',
  dst: 'target',
  readonly: 'readonly',
  ro: 'readonly',
  'bind-propagation': 'propagation',
};

/** Parses `type=bind,source=HOST,target=CONTAINER[,readonly]`, docker's `--mount`. Throws UsageError. */
export function parseMount(text: string, cwd: string): Init<Mount> {
  const {type = 'volume', source = '', target = '', readonly, propagation} = parseFields(text);
  if (type !== 'bind')
    throw invalid(
      text,
      `type "${type}" is not supported`,
      'CRI has only bind mounts: use type=bind,source=…',
    );
  for (const [name, path] of Object.entries({source, target})) {
    if (path === '') throw invalid(text, `${name} is missing`);
    if (path.includes(':')) throw invalid(text, 'a path cannot contain a colon');
  }
  const isReadOnly = readonly !== undefined && !/^(false|0)$/i.test(readonly);
  const options = [isReadOnly ? 'ro' : '', propagation ?? ''];
  return parseVolume(`${source}:${target}:${options.join(',')}`, cwd, `--mount "${text}"`);
}

function parseFields(text: string): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    text.split(',').map((word) => {
      const [, key = '', value = ''] = /^([^=]*)(?:=(.*))?$/s.exec(word.trim()) ?? [];
      const field = FIELDS[key.toLowerCase()];
      if (field !== undefined) return [field, value];
      throw invalid(text, `unknown field "${key}"`, 'use type, source, target, readonly or bind-propagation');
    }),
  );
}

function invalid(text: string, reason: string, hint?: string): UsageError {
  return new UsageError(`invalid --mount "${text}": ${reason}`, {hint});
}
