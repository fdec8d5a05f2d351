import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {helpTopics} from './commands.mjs';

/**
 * The help of everything, by its words with slashes between, as the compiled dist/cli/help.js gives it: with colours,
 * packed, and with blanks for what depends on how and where kcri runs. Fails when a text is not the same for both names that
 * kcri goes by, but for the name.
 *
 * @param {string} root the checkout
 * @returns {Promise<ReadonlyMap<string, string>>}
 */
export async function helpTexts(root) {
  // oclif's colours decide when they are loaded.
  process.env.FORCE_COLOR = '1';
  const load = (file) => import(pathToFileURL(join(root, 'dist/cli', file)).href);
  const {helpText} = await load('help.js');
  const {filledIn, packedHelp, HELP_BLANKS} = await load('bundled/help-blanks.js');
  const texts = new Map();
  for (const topic of helpTopics(root)) {
    const words = topic === '' ? [] : topic.split('/');
    const text = packedHelp(await helpText(words, HELP_BLANKS.program, HELP_BLANKS.agent));
    for (const program of ['kcri', 'crictl'])
      if (filledIn(text, program) !== (await helpText(words, program)))
        throw new Error(
          `the help of "${words.join(' ')}" has other line ends for ${program}: write it shorter`,
        );
    texts.set(topic, text);
  }
  return texts;
}
