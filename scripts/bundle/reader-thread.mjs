import {gzipSync} from 'node:zlib';
import {build} from 'esbuild';

/**
 * Returns the program of the thread that reads what `kcri record` relays, as one text: a thread is started from it wherever the program is.
 *
 * @param {string} root the checkout
 */
export async function readerThreadText(root) {
  const {outputFiles} = await build({
    absWorkingDir: root,
    entryPoints: ['src/features/record/reader/reader-thread.ts'],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    minify: true,
    logLevel: 'warning',
  });
  // The text of a thread has no require() in every runtime.
  return `(function(require){${outputFiles[0].text}})(process.getBuiltinModule);`;
}

/**
 * Returns the source of the module that has this text, compressed.
 *
 * @param {string} root the checkout
 */
export async function readerThreadModule(root) {
  const text = gzipSync(await readerThreadText(root), {level: 9}).toString('base64');
  return `import {gunzipSync} from 'node:zlib';
    export const readerThreadSource = () => gunzipSync(Buffer.from(${JSON.stringify(text)}, 'base64')).toString();`;
}
