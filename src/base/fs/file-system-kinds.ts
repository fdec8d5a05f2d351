/** File systems whose calls ask another machine or a program, and wait for it forever. */
const REMOTE =
  /^(nfs\d?|cifs|smb3|ceph|glusterfs|lustre|beegfs|gpfs|orangefs|afs|9p|virtiofs|fuse(blk)?(\..*)?|autofs)$/;

/** File systems whose calls do not wait for another machine or a program. */
const LOCAL: ReadonlySet<string> = new Set([
  ...['bpf', 'btrfs', 'cgroup', 'cgroup2', 'configfs', 'debugfs', 'devpts', 'devtmpfs', 'efivarfs', 'erofs'],
  ...['ext2', 'ext3', 'ext4', 'f2fs', 'fusectl', 'hugetlbfs', 'iso9660', 'mqueue', 'nsfs', 'overlay', 'proc'],
  ...['pstore', 'ramfs', 'securityfs', 'selinuxfs', 'squashfs', 'sysfs', 'tmpfs', 'tracefs', 'vfat', 'xfs'],
  'zfs',
]);

/** File systems on block devices of the node whose usage is that of the device. */
const ON_DEVICE = /^(?:ext[234]|xfs|btrfs|f2fs)$/;

/** Precedes the kind of the file system; paths cannot contain it, since their spaces are escaped. */
const SEPARATOR = ' - ';

/** Reports whether reads of a kind of file system may never end. Of an unknown kind, they are taken to end. */
export const mayHang = (fileSystem: string): boolean => REMOTE.test(fileSystem);

/** Reports whether a kind of file system is on a block device of the node. */
export const isOnDevice = (fileSystem: string): boolean => ON_DEVICE.test(fileSystem);

/** Reports whether all mounts of a mountinfo text (proc_pid_mountinfo(5)) are known to be local. */
export function areAllLocal(mountInfo: string): boolean {
  // A regular expression takes a fiftieth of `logs`, of which most is its compilation.
  return mountInfo !== '' && mountInfo.trimEnd().split('\n').every(isLocal);
}

/** Reports whether a line of a mountinfo text is that of a mount that is known to be local. */
function isLocal(line: string): boolean {
  const from = line.indexOf(SEPARATOR) + SEPARATOR.length;
  const kind = line.slice(from, line.indexOf(' ', from));
  // systemd mounts autofs for binfmt_misc on most machines; any other automounter may wait for a server.
  return LOCAL.has(kind) || (kind === 'autofs' && line.includes(' / /proc/sys/fs/binfmt_misc '));
}
