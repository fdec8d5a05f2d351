import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {helpTopics} from './commands.mjs';

/** Start of the keys of crictl's own texts. */
export const CRICTL_HELP = 'crictl';

/**
 * Resolves to all help texts by their words, joined with slashes, as the compiled dist/program/help.js renders them: with
 * colors, packed, and with a placeholder for the program's name. Texts of crictl's commands are also there for crictl.
 * Rejects if another text wraps differently for one of the names of kcri.
 *
 * @param {string} root the checkout
 * @returns {Promise<ReadonlyMap<string, string>>}
 */
export async function helpTexts(root) {
  // oclif reads this variable when it is imported.
  process.env.FORCE_COLOR = '1';
  const load = (file) => import(pathToFileURL(join(root, 'dist', file)).href);
  const {helpText} = await load('program/help.js');
  const {isCrictlCommand} = await load('cli/crictl/crictl-commands.js');
  const {packHelp, unpackHelp, PROGRAM_PLACEHOLDER} = await load('program/bundled/help-blanks.js');
  const texts = new Map();
  for (const topic of helpTopics(root)) {
    const words = topic === '' ? [] : topic.split('/');
    const text = packHelp(await helpText(words, PROGRAM_PLACEHOLDER));
    const isCrictls = words.length === 0 || isCrictlCommand(words.join(' '));
    if (isCrictls) texts.set([CRICTL_HELP, ...words].join('/'), packHelp(await helpText(words, 'crictl')));
    for (const program of isCrictls ? ['kcri'] : ['kcri', 'crictl'])
      if (unpackHelp(text, program) !== (await helpText(words, program)))
        throw new Error(`the help of "${words.join(' ')}" wraps differently for ${program}: shorten it`);
    texts.set(topic, text);
  }
  return texts;
}
