import {readFileSync} from 'node:fs';

/**
 * Kinds of file systems whose calls do not wait for another machine or a program. systemd mounts autofs for
 * binfmt_misc on most machines.
 */
const LOCAL = [
  ...['autofs', 'bpf', 'btrfs', 'cgroup2?', 'configfs', 'debugfs', 'devpts', 'devtmpfs', 'efivarfs', 'erofs'],
  ...['ext[234]', 'f2fs', 'fusectl', 'hugetlbfs', 'iso9660', 'mqueue', 'nsfs', 'overlay', 'proc', 'pstore'],
  ...['ramfs', 'securityfs', 'selinuxfs', 'squashfs', 'sysfs', 'tmpfs', 'tracefs', 'vfat', 'xfs', 'zfs'],
];
const OTHER = new RegExp(`^.* - (?!(?:${LOCAL.join('|')}) )`, 'm');

/** Reports whether all mounts of a mountinfo text (proc_pid_mountinfo(5)) are of local file systems. */
export function areAllLocal(mountInfo: string): boolean {
  return mountInfo !== '' && !OTHER.test(mountInfo);
}

/**
 * Returns a function that reports whether the next call on a file may be made on the thread that also handles signals.
 * That saves starting the threads for such calls, which takes a tenth of a short command. It is true for the first
 * `calls` calls, since signals wait meanwhile, and only if all mounts are local: a call on a file of an unreachable server
 * would wait for ever, and only reading the mounts does not.
 */
export function createDirectCalls(calls: number, readMounts = readMountInfo): () => boolean {
  let left: number | undefined;
  return () => {
    left ??= areAllLocal(readMounts()) ? calls : 0;
    left -= 1;
    return left >= 0;
  };
}

function readMountInfo(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'latin1');
  } catch {
    return ''; // not on Linux, or without /proc
  }
}
