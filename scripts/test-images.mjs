// Builds the image of the demo and the tests from this machine's static busybox, so that no registry is needed.
// Usage: node scripts/test-images.mjs FILE.tar   (after `npm run build`)
import {execFile} from 'node:child_process';
import {readFile, writeFile} from 'node:fs/promises';
import {pathToFileURL} from 'node:url';
import {promisify} from 'node:util';
import {toOciArchitecture, buildOciArchive} from '../dist/private-runtime/image/oci-image.js';

const BUSYBOX = '/bin/busybox';

/** Image names. The demo's manifest uses the first, so that it also works where the real image can be pulled. */
export const BUSYBOX_NAMES = ['docker.io/library/busybox:1.36', 'localhost:5000/busybox:1'];

/**
 * Returns the spec of the busybox image: every applet as a link in /bin, and the users root and nobody.
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error('usage: node scripts/test-images.mjs FILE.tar');
  await writeFile(file, buildOciArchive(await busyboxSpec()));
}
