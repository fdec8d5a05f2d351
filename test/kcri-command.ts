import {fileURLToPath} from 'node:url';

/**
 * What starts the built kcri in a process of its own: bin/kcri.js on this Node.js, or the executable that the variable
 * KCRI_TEST_PROGRAM names.
 */
export const KCRI_COMMAND: readonly [string, ...string[]] = commandOf(process.env['KCRI_TEST_PROGRAM']);

/** The program's file, which a link may give another name; it follows what runs it, if anything does. */
export const KCRI_FILE = KCRI_COMMAND.at(-1) ?? '';

/** The same command through a link. */
export function throughLink(link: string): readonly [string, ...string[]] {
  const [first] = KCRI_COMMAND;
  return KCRI_COMMAND.length === 1 ? [link] : [first, link];
}

function commandOf(executable: string | undefined): readonly [string, ...string[]] {
  if (executable !== undefined) return [executable];
  return [process.execPath, fileURLToPath(new URL('../bin/kcri.js', import.meta.url))];
}
