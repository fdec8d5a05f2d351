import {UsageError} from '../../base/errors.js';

/** Default detach keys, as in docker and crictl. */
export const DETACH_KEYS = 'ctrl-p,ctrl-q';

/**
 * Parses a key sequence in docker's format: characters and `ctrl-X` separated by commas, where X is a letter or one of
 * `@[\]^_`. An empty text disables detaching. Throws UsageError.
 */
export function parseDetachKeys(text: string): readonly number[] {
  return text === '' ? [] : text.split(',').map(keyCode);
}

function keyCode(key: string): number {
  const [, control] = /^ctrl-([a-z@[\\\]^_])$/i.exec(key) ?? [];
  if (control !== undefined) return control.toUpperCase().charCodeAt(0) & 0x1f;
  if (/^[\x21-\x7e]$/.test(key)) return key.charCodeAt(0);
  throw new UsageError(`invalid --detach-keys: "${key}" is not a key`, {
    hint: 'use single characters or ctrl-X, separated by commas, such as ctrl-p,ctrl-q',
  });
}
