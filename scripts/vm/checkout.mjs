import {execFile} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {ROOT} from '../bootstrap/run.mjs';

const run = promisify(execFile);
const MAX_OUTPUT = 64 * 1024 * 1024;

/**
 * Archives the checkout with what is built, but without executables and ignored files. The archive also has the file
 * `vm-command`, a shell script.
 *
 * @param {string} archive path of the file to write
 * @param {string} scratch an empty directory
 * @param {string} command content of `vm-command`
 */
export async function archiveCheckout(archive, scratch, command) {
  const {stdout} = await run('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: ROOT,
    maxBuffer: MAX_OUTPUT,
  });
  const list = join(scratch, 'files');
  await writeFile(list, `${stdout}dist\0`);
  await writeFile(join(scratch, 'vm-command'), command);
  await run('tar', [
    // Files that are deleted but not committed are listed, too.
    ...['--ignore-failed-read', '--exclude=dist/binary', '--exclude=dist/release', '--owner=0', '--group=0'],
    ...['-cf', archive, '--null', '-C', ROOT, '-T', list, '-C', scratch, 'vm-command'],
  ]);
}

/** Writes an archive that the virtual machine has written to a disk to a directory. Rejects if it has written none. */
export async function extractResults(disk, directory) {
  await run('tar', ['-xf', disk, '-C', directory]);
}
