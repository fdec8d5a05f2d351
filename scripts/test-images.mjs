// Makes the image that the demo and the tests run, from this machine's static busybox: no registry is needed.
// Usage: node scripts/test-images.mjs FILE.tar   (after `npm run build`)
import {execFile} from 'node:child_process';
import {readFile, writeFile} from 'node:fs/promises';
import {pathToFileURL} from 'node:url';
import {promisify} from 'node:util';
import {toOciArchitecture, buildOciArchive, buildOciImage} from '../dist/private-runtime/image/oci-image.js';

const BUSYBOX = '/bin/busybox';

/** The demo's manifest names the first, so that it also runs where the real one can be pulled. */
export const BUSYBOX_NAMES = ['docker.io/library/busybox:1.36', 'localhost:5000/busybox:1'];

/**
 * The busybox image as it goes into an archive: every applet as a link in /bin, root and nobody as users.
 *
 * @param {readonly string[]} names
 */
export async function busyboxSpec(names = BUSYBOX_NAMES) {
  const {stdout} = await promisify(execFile)(BUSYBOX, ['--list']);
  const applets = stdout
    .trim()
    .split('\n')
    .filter((applet) => applet !== 'busybox');
  const text = (path, lines) => ({type: 'file', path, data: Buffer.from(`${lines.join('\n')}\n`)});
  return {
    names,
    architecture: toOciArchitecture(process.arch),
    command: ['sh'],
    env: ['PATH=/bin'],
    files: [
      ...['bin', 'etc', 'home', 'root', 'var', 'var/www'].map((path) => ({type: 'directory', path})),
      {type: 'directory', path: 'tmp', mode: 0o1777},
      {type: 'file', path: 'bin/busybox', mode: 0o755, data: await readFile(BUSYBOX)},
      ...applets.map((applet) => ({type: 'symlink', path: `bin/${applet}`, target: 'busybox'})),
      text('etc/passwd', ['root:x:0:0:root:/root:/bin/sh', 'nobody:x:65534:65534:nobody:/home:/bin/false']),
      text('etc/group', ['root:x:0:', 'nogroup:x:65534:']),
    ],
  };
}

/** The parts of the busybox image, to be put into a registry. */
export const busyboxImage = async () => buildOciImage(await busyboxSpec());

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error('usage: node scripts/test-images.mjs FILE.tar');
  await writeFile(file, buildOciArchive(await busyboxSpec()));
}
