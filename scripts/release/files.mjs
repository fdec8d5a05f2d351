import {chmod, copyFile, mkdir, readdir, readFile, utimes, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {gunzipSync} from 'node:zlib';

/**
 * A file of a release: its text, or another file with its content. The mode is 0644 unless given.
 *
 * @typedef {{path: string, mode?: number} & ({text: string | Uint8Array} | {from: string})} ReleaseFile
 */

/**
 * Returns the files that are installed with the executable except for the executable itself and its documents, relative to
 * a prefix such as /usr/local.
 *
 * @param {string} root the built checkout
 * @param {string} zshFolder where zsh looks for completions
 * @returns {Promise<readonly ReleaseFile[]>}
 */
export async function sharedFiles(root, zshFolder) {
  const {COMPLETION_SCRIPTS: scripts} = await import(
    pathToFileURL(join(root, 'dist/features/completion/completion-scripts.js')).href
  );
  const pages = await readdir(join(root, 'dist/man'));
  return [
    {path: 'share/bash-completion/completions/kcri', text: scripts.bash('kcri')},
    {path: `${zshFolder}/_kcri`, text: scripts.zsh('kcri')},
    {path: 'share/fish/vendor_completions.d/kcri.fish', text: scripts.fish('kcri')},
    ...(await Promise.all(
      pages.map(async (name) => ({
        path: `share/man/man1/${name.replace(/\.gz$/, '')}`,
        text: gunzipSync(await readFile(join(root, 'dist/man', name))),
      })),
    )),
  ];
}

/**
 * Writes files below a directory, whose modes and times then depend on nothing else.
 *
 * @param {string} folder
 * @param {readonly ReleaseFile[]} files
 * @param {number} time seconds since the epoch
 */
export async function writeFiles(folder, files, time) {
  for (const {path, mode = 0o644, ...content} of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), {recursive: true});
    if (content.from === undefined) await writeFile(file, content.text);
    else await copyFile(content.from, file);
    await chmod(file, mode);
    await utimes(file, time, time);
  }
}
