/** File systems that ask another machine or a process, and wait for it forever. */
const REMOTE = /^(nfs\d?|cifs|smb3|ceph|glusterfs|lustre|afs|9p|virtiofs|fuse(\..*)?|autofs)$/;
/** Reports whether reads of a file system may never end. */
export const mayHang = (fileSystem: string): boolean => REMOTE.test(fileSystem);
