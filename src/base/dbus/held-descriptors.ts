import {readdir, readFile} from 'node:fs/promises';
import {ifPresent} from '../fs/files.js';

const DESCRIPTORS = '/proc/self/fdinfo';

/**
 * Counts the sockets of this process that have file descriptors in their unread messages. Undefined if the kernel does not tell
 * (before Linux 5.5).
 */
export async function countHeldDescriptors(): Promise<number | undefined> {
  const names = await readdir(DESCRIPTORS);
  const texts = await Promise.all(
    names.map((name) => ifPresent(() => readFile(`${DESCRIPTORS}/${name}`, 'utf8'))),
  );
  const counts = texts.flatMap((text) => /^scm_fds:\s*(\d+)$/m.exec(text ?? '')?.[1] ?? []);
  return counts.length === 0 ? undefined : counts.filter((count) => count !== '0').length;
}
