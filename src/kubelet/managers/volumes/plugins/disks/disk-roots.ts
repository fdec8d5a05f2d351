/** Directories of the node in which disks appear. */
export interface DiskRoots {
  /** Links to disks by path and ID, which udev makes. */
  readonly links: string;
  readonly sys: string;
}

/** Directories of this machine. */
export const SYSTEM_DISK_ROOTS: DiskRoots = {links: '/dev/disk', sys: '/sys'};
