import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {gzipSync} from 'node:zlib';
import {sharedFiles} from '../files.mjs';

export const CONFIG_FILE = 'etc/kcri/kubelet.yaml';
/** Static pods, whose manifests may contain Secrets. */
export const MANIFEST_FOLDER = {path: 'etc/kcri/manifests', mode: 0o700};

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const compressed = (text) => gzipSync(text, {level: 9});

/**
 * Returns the files of a package, relative to /.
 *
 * @param {object} options
 * @param {string} options.root the built checkout
 * @param {string} options.program the executable
 * @param {string} options.zshFolder where the distribution's zsh looks for completions of packages, below /usr
 * @param {readonly import('../files.mjs').ReleaseFile[]} options.documents
 * @returns {Promise<readonly import('../files.mjs').ReleaseFile[]>}
 */
export async function packageFiles({root, program, zshFolder, documents}) {
  const shared = await sharedFiles(root, zshFolder);
  return [
    {path: 'usr/bin/kcri', from: program, mode: 0o755},
    {path: CONFIG_FILE, from: here('kubelet.yaml')},
    {path: 'usr/lib/systemd/system/kcri.service', text: await serviceUnit(root)},
    ...shared.map(({path, text}) =>
      path.startsWith('share/man/')
        ? {path: `usr/${path}.gz`, text: compressed(text)}
        : {path: `usr/${path}`, text},
    ),
    ...documents,
  ];
}

/** Returns the unit that `kcri kubelet --config=/etc/kcri/kubelet.yaml --print-unit` prints. */
async function serviceUnit(root) {
  const {formatKubeletUnit} = await import(
    pathToFileURL(join(root, 'dist/features/kubelet/systemd/systemd-unit.js')).href
  );
  const argv = [`--config=/${CONFIG_FILE}`];
  return formatKubeletUnit('kcri', {program: ['/usr/bin/kcri'], argv, directory: '/', env: {}});
}

/** Returns the documents of a Debian package. */
export async function debianDocuments({root, noticesText, changelog}) {
  const folder = 'usr/share/doc/kcri';
  return [
    {path: `${folder}/copyright`, from: here('copyright')},
    {path: `${folder}/changelog.gz`, text: compressed(await readFile(join(root, 'CHANGELOG.md')))},
    {path: `${folder}/changelog.Debian.gz`, text: compressed(changelog)},
    {path: `${folder}/README.md`, from: join(root, 'README.md')},
    {path: `${folder}/THIRD-PARTY-NOTICES.txt`, text: noticesText},
  ];
}

/** Returns the documents of an rpm package. */
export function rpmDocuments({root, noticesText}) {
  return [
    {path: 'usr/share/licenses/kcri/LICENSE', from: join(root, 'LICENSE')},
    {path: 'usr/share/licenses/kcri/THIRD-PARTY-NOTICES.txt', text: noticesText},
    ...['README.md', 'CHANGELOG.md'].map((name) => ({
      path: `usr/share/doc/kcri/${name}`,
      from: join(root, name),
    })),
  ];
}
