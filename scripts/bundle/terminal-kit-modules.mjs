import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';

/** What kcri uses of terminal-kit, in place of the module that loads everything on demand: 16 colors, no images. */
const MAIN = `
const kit = {globalConfig: {}};
module.exports = kit;
const colors = (code) => Array.from({length: 16}, (_, index) => code(index));
class Palette {
  constructor({term}) {
    this.escape = colors((index) => term.str.color(index));
    this.bgEscape = colors((index) => term.str.bgColor(index));
  }
}
Object.assign(kit, require('./misc.js'), {
  image: {load() {}}, chroma: {distance: () => 0}, Palette, TextBuffer: class {},
});
kit.Rect = require('./Rect.js');
kit.Terminal = require('./Terminal.js');
kit.createTerminal = kit.Terminal.create;
kit.ScreenBuffer = require('./ScreenBuffer.js');`;

/** What terminal-kit uses of string-kit, whose main module contains the names of all emojis. */
const STRINGS = `
Object.assign(exports, require('./format.js'), {
  unicode: require('./unicode.js'), ansi: require('./ansi.js'), escape: require('./escape.js'),
  wordwrap: require('./wordwrap.js'),
});`;

/** What terminal-kit uses of tree-kit. */
const TREES = `exports.extend = require('./extend.js');`;

/** What terminal-kit uses of seventh without input fields and child processes. */
const PROMISES = `module.exports = class Seventh extends Promise {
  static resolveSafeTimeout(ms, value) { return new Promise((resolve) => setTimeout(resolve, ms, value)); }
};
module.exports.resolved = Promise.resolve();`;

/** Descriptions of terminals: TERM is one of these, or is treated as an xterm. */
const TERMINALS = ['xterm.generic', 'xterm-256color.generic', 'rxvt', 'rxvt-256color'];

/** Menus and forms of terminal-kit, and formats of its printf, that kcri does not use. */
const UNUSED =
  /\/(?:Proxy|inspect|StringNumber|naturalSort|yesOrNo|inputField|fileInput|singleLineMenu|singleColumnMenu|gridMenu|progressBar|bar|slowTyping|extClipboard)\.js$/;

/**
 * Returns an esbuild plugin that reduces terminal-kit to its terminal and its screen buffer, a fifth of the whole, and
 * replaces the modules that it chooses at run time by a table.
 *
 * @returns {import('esbuild').Plugin}
 */
export function terminalKitModules() {
  const replace = (build, filter, contents) =>
    build.onLoad({filter}, ({path}) => ({contents, resolveDir: dirname(path), loader: 'js'}));
  return {
    name: 'terminal-kit-modules',
    setup(build) {
      replace(build, /\/terminal-kit\/lib\/termkit\.js$/, MAIN);
      replace(build, /\/string-kit\/lib\/string\.js$/, STRINGS);
      replace(build, /\/tree-kit\/lib\/tree\.js$/, TREES);
      replace(build, /\/seventh\/lib\/seventh\.js$/, PROMISES);
      build.onLoad({filter: UNUSED}, ({path}) =>
        /\/(?:terminal-kit|string-kit|nextgen-events)\//.test(path) ? {contents: ''} : undefined,
      );
      build.onLoad({filter: /\/terminal-kit\/lib\/Terminal\.js$/}, ({path}) => ({
        contents: withTable(readFileSync(path, 'utf8')),
        resolveDir: dirname(path),
        loader: 'js',
      }));
    },
  };
}

const CHOSEN_AT_RUN_TIME = "require( './termconfig/' + term.termconfigFile )";
const PALETTE = "require( './colorScheme/' + palette + '.json' )";

/** Returns the source with the descriptions of terminals in a table. Throws if it has changed. */
function withTable(source) {
  for (const text of [CHOSEN_AT_RUN_TIME, PALETTE])
    if (!source.includes(text)) throw new Error(`terminal-kit does not contain "${text}" any more`);
  const rows = TERMINALS.map((name) => `'${name}.js': () => require('./${join('termconfig', name)}.js'),`);
  const table = `const terminalTable = {${rows.join('')}};`;
  return `${table}\n${source
    .replaceAll(CHOSEN_AT_RUN_TIME, 'terminalTable[term.termconfigFile]()')
    .replace(PALETTE, '{}')}`;
}
