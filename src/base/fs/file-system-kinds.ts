/** File systems whose calls ask another machine or a program, and wait for it forever. */
const REMOTE =
  /^(nfs\d?|cifs|smb3|ceph|glusterfs|lustre|beegfs|gpfs|orangefs|afs|9p|virtiofs|fuse(blk)?(\..*)?|autofs)$/;

/** File systems whose calls do not wait for another machine or a program. */
const LOCAL = [
  ...['bpf', 'btrfs', 'cgroup2?', 'configfs', 'debugfs', 'devpts', 'devtmpfs', 'efivarfs', 'erofs'],
  ...['ext[234]', 'f2fs', 'fusectl', 'hugetlbfs', 'iso9660', 'mqueue', 'nsfs', 'overlay', 'proc', 'pstore'],
  ...['ramfs', 'securityfs', 'selinuxfs', 'squashfs', 'sysfs', 'tmpfs', 'tracefs', 'vfat', 'xfs', 'zfs'],
];

/** File systems on block devices of the node whose usage is that of the device. */
const ON_DEVICE = /^(?:ext[234]|xfs|btrfs|f2fs)$/;

/**
 * Line of a mountinfo text (proc_pid_mountinfo(5)) whose file system is not known to be local. systemd mounts autofs for
 * binfmt_misc on most machines; any other automounter may wait for a server.
 */
const NOT_LOCAL = new RegExp(
  `^(?!\\S+ \\S+ \\S+ / /proc/sys/fs/binfmt_misc .* - autofs ).* - (?!(?:${LOCAL.join('|')}) )`,
  'm',
);

/** Reports whether reads of a kind of file system may never end. Of an unknown kind, they are taken to end. */
export const mayHang = (fileSystem: string): boolean => REMOTE.test(fileSystem);

/** Reports whether a kind of file system is on a block device of the node. */
export const isOnDevice = (fileSystem: string): boolean => ON_DEVICE.test(fileSystem);

/** Reports whether all mounts of a mountinfo text are known to be local. */
export function areAllLocal(mountInfo: string): boolean {
  return mountInfo !== '' && !NOT_LOCAL.test(mountInfo);
}
