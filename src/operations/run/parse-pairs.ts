import {UsageError} from '../../base/errors.js';

/** Parses `KEY=VALUE` texts of a flag; a value may contain `=`. Throws UsageError for one without a key or a value. */
export function parsePairs(flag: string, texts: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (key === '') throw new UsageError(`invalid --${flag} "${text}": must be KEY=VALUE`);
      return [key, value];
    }),
  );
}
