import {fileURLToPath} from 'node:url';

/**
 * Command that starts the built kcri in its own process: bin/kcri.js on this Node.js, or the executable that
 * KCRI_TEST_PROGRAM names.
 */
export const KCRI_COMMAND: readonly [string, ...string[]] = commandOf(process.env['KCRI_TEST_PROGRAM']);

/**
 * The program file, which a link can give another name. It is the last word, after the interpreter if there is one.
 */
export const KCRI_FILE = KCRI_COMMAND.at(-1) ?? '';

/** Returns the same command, started through a link. */
export function throughLink(link: string): readonly [string, ...string[]] {
  const [first] = KCRI_COMMAND;
  return KCRI_COMMAND.length === 1 ? [link] : [first, link];
}

function commandOf(executable: string | undefined): readonly [string, ...string[]] {
  if (executable !== undefined) return [executable];
  return [process.execPath, fileURLToPath(new URL('../bin/kcri.js', import.meta.url))];
}
