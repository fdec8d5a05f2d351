import {execFile} from 'node:child_process';
import {createHash} from 'node:crypto';
import {chmod, mkdir, readdir, readFile, utimes} from 'node:fs/promises';
import {join, relative} from 'node:path';
import {promisify} from 'node:util';
import {writeFiles} from '../files.mjs';
import {CONFIG_FILE, debianDocuments, MANIFEST_FOLDER, packageFiles} from './contents.mjs';
import {ARCHITECTURES, DESCRIPTION, MAINTAINER, packageVersion, REVISION, SUMMARY} from './identity.mjs';
import {DEBIAN_SCRIPTS} from './maintainer-scripts.mjs';

const run = promisify(execFile);

/** Returns the name of the package of a version for a target. */
export function debName(version, target) {
  return `kcri_${packageVersion(version)}-${REVISION}_${ARCHITECTURES[target].debian}.deb`;
}

/**
 * Writes the Debian package of a target to a directory. Equal input gives equal bytes.
 *
 * @param {import('./distribution.mjs').Packed} packed
 * @param {string} scratch an empty directory
 * @param {string} folder
 */
export async function writeDeb(packed, scratch, folder) {
  const {root, program, noticesText, manifest, target, time} = packed;
  const version = `${packageVersion(manifest.version)}-${REVISION}`;
  const documents = await debianDocuments({root, noticesText, changelog: changelog(version, packed)});
  const files = await packageFiles({root, program, documents, zshFolder: 'share/zsh/vendor-completions'});
  await writeFiles(scratch, files, time);
  await mkdir(join(scratch, MANIFEST_FOLDER.path), {recursive: true});
  const {sums, kibibytes} = await measure(scratch, files);
  const control = controlFile({...packed, version, kibibytes, architecture: ARCHITECTURES[target].debian});
  await writeFiles(
    scratch,
    [
      {path: 'DEBIAN/control', text: control},
      {path: 'DEBIAN/conffiles', text: `/${CONFIG_FILE}\n`},
      {path: 'DEBIAN/md5sums', text: sums},
      ...Object.entries(DEBIAN_SCRIPTS).map(([name, text]) => ({path: `DEBIAN/${name}`, text, mode: 0o755})),
    ],
    time,
  );
  await settleFolders(scratch, time);
  await run(
    'dpkg-deb',
    [
      '--root-owner-group',
      '-Zgzip',
      '-z6',
      '--build',
      scratch,
      join(folder, debName(manifest.version, target)),
    ],
    // Without it, the time of the build is in the archive.
    {env: {...process.env, SOURCE_DATE_EPOCH: String(time)}},
  );
}

function controlFile({version, architecture, kibibytes, glibc}) {
  return `Package: kcri
Version: ${version}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${kibibytes}
Depends: libc6 (>= ${glibc})
Suggests: containerd | containerd.io | cri-o, openssh-client
Section: admin
Priority: optional
Description: ${SUMMARY}
${DESCRIPTION.map((line) => ` ${line}\n`).join('')}`;
}

function changelog(version, {manifest, time}) {
  const date = new Date(time * 1000).toUTCString().replace('GMT', '+0000');
  return `kcri (${version}) unstable; urgency=medium

  * Release ${manifest.version}: see changelog.gz.

 -- ${MAINTAINER}  ${date}
`;
}

/** Returns the digests of files, as dpkg keeps them, and the size of the files as Debian computes it. */
async function measure(folder, files) {
  const lines = [];
  let kibibytes = 0;
  for (const path of files.map(({path}) => path).sort()) {
    const content = await readFile(join(folder, path));
    lines.push(`${createHash('md5').update(content).digest('hex')}  ${path}\n`);
    kibibytes += Math.ceil(content.length / 1024);
  }
  return {sums: lines.join(''), kibibytes};
}

/** Gives all directories the same modes and times, whatever the umask. */
async function settleFolders(folder, time) {
  const entries = await readdir(folder, {recursive: true, withFileTypes: true});
  const folders = entries.filter((entry) => entry.isDirectory());
  for (const path of [folder, ...folders.map((entry) => join(entry.parentPath ?? entry.path, entry.name))]) {
    await chmod(path, relative(folder, path) === MANIFEST_FOLDER.path ? MANIFEST_FOLDER.mode : 0o755);
    await utimes(path, time, time);
  }
}
