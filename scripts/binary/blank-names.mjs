import {readFile, writeFile} from 'node:fs/promises';

/**
 * Names of environment variables, or parts of them, by which Bun runs code from outside the executable: options such as
 * `--preload`, the whole of Bun in place of kcri, the debugger, and functions that replace the program's own.
 */
export const CODE_LOADING_NAMES = ['BUN_OPTIONS', 'BUN_BE_BUN', 'BUN_INSPECT', 'functionOverrides'];

/**
 * Overwrites names in an executable with zeros, so that no environment variable has such a name any more. Bun has no
 * option that makes a compiled program ignore them.
 *
 * @param {string} file
 * @param {readonly string[]} names
 * @returns {Promise<void>}
 * @throws {Error} when a name is not in the file, since another version of Bun may store it in another form
 */
export async function blankNames(file, names) {
  const content = await readFile(file);
  for (const name of names) {
    if (blank(content, Buffer.from(name)) === 0)
      throw new Error(
        `${file} does not contain "${name}": check how this version of Bun reads the environment`,
      );
  }
  await writeFile(file, content);
}

function blank(content, name) {
  let count = 0;
  for (let at = content.indexOf(name); at !== -1; at = content.indexOf(name, at)) {
    content.fill(0, at, at + name.length);
    count++;
  }
  return count;
}
