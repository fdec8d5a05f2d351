import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, readdir, rename, rm} from 'node:fs/promises';
import {execFile} from 'node:child_process';
import {join} from 'node:path';
import {promisify} from 'node:util';

const run = promisify(execFile);

/** Packages of sshd that the machine may lack: the server, its SFTP server, and a library. */
const PACKAGES = ['openssh-server', 'openssh-sftp-server', 'libwrap0'];

/**
 * Returns the directory of an unpacked sshd of this machine's Debian release. Nothing is installed, since the package
 * would start a server on all addresses, and unpacked files are reused.
 *
 * @param {string} cache the directory to unpack into
 * @returns {Promise<string>}
 * @throws {Error} if the packages cannot be downloaded
 */
export async function ensureSshServer(cache) {
  const target = join(cache, 'ssh-server');
  if (existsSync(target)) return target;
  await mkdir(cache, {recursive: true});
  const scratch = await mkdtemp(join(cache, '.fetch-'));
  try {
    await run('apt-get', ['-qq', '-o', 'APT::Sandbox::User=', 'download', ...PACKAGES], {cwd: scratch});
    const unpacked = join(scratch, 'unpacked');
    for (const deb of (await readdir(scratch)).filter((file) => file.endsWith('.deb')))
      await run('dpkg-deb', ['-x', join(scratch, deb), unpacked]);
    // Another process may have finished first: its copy is as good.
    await rename(unpacked, target).catch((error) => {
      if (!existsSync(target)) throw error;
    });
  } finally {
    await rm(scratch, {recursive: true, force: true});
  }
  return target;
}
