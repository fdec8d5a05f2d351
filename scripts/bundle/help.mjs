import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {helpTopics} from './commands.mjs';

/** Key of crictl's list of commands. */
export const CRICTL_HELP = 'crictl';

/**
 * Resolves to all help texts by their words, joined with slashes, as the compiled dist/cli/help.js renders them: with
 * colors, packed, and with a placeholder for the program's name. Rejects if a text wraps differently for one of the
 * names of kcri.
 *
 * @param {string} root the checkout
 * @returns {Promise<ReadonlyMap<string, string>>}
 */
export async function helpTexts(root) {
  // oclif reads this variable when it is imported.
  process.env.FORCE_COLOR = '1';
  const load = (file) => import(pathToFileURL(join(root, 'dist/cli', file)).href);
  const {helpText} = await load('help.js');
  const {packHelp, unpackHelp, PROGRAM_PLACEHOLDER} = await load('bundled/help-blanks.js');
  const texts = new Map();
  for (const topic of helpTopics(root)) {
    const words = topic === '' ? [] : topic.split('/');
    const text = packHelp(await helpText(words, PROGRAM_PLACEHOLDER));
    // The list of commands is not the same.
    for (const program of words.length === 0 ? ['kcri'] : ['kcri', 'crictl'])
      if (unpackHelp(text, program) !== (await helpText(words, program)))
        throw new Error(`the help of "${words.join(' ')}" wraps differently for ${program}: shorten it`);
    texts.set(topic, text);
  }
  texts.set(CRICTL_HELP, packHelp(await helpText([], 'crictl')));
  return texts;
}
