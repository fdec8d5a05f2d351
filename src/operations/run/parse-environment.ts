import {UsageError} from '../../base/errors.js';

/** Environment of this process. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** Text of an environment file. */
export interface EnvironmentFile {
  readonly file: string;
  readonly text: string;
}

/**
 * Returns the variables of environment files and then of `NAME=VALUE` and `NAME` words, the last of a name winning. A
 * name alone takes its value from `env`, and is left out if it is not set there. Throws UsageError.
 */
export function parseEnvironment(
  files: readonly EnvironmentFile[],
  words: readonly string[],
  env: ProcessEnvironment,
): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  const add = (word: string, where: string): void => {
    const [, name = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === '' || /\s/.test(name)) throw new UsageError(`invalid ${where}: must be NAME=VALUE or NAME`);
    const set = value ?? env[name];
    if (set !== undefined) variables.set(name, set);
  };
  for (const {file, text} of files)
    text.split('\n').forEach((line, index) => {
      const word = line.replace(/^\s+/, '').replace(/\r$/, '');
      if (word !== '' && !word.startsWith('#')) add(word, `variable in line ${index + 1} of "${file}"`);
    });
  // A value may be secret, so that errors quote only the name.
  for (const word of words) add(word, `--env "${word.replace(/=.*$/s, '=…')}"`);
  return variables;
}
