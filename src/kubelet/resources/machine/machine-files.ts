/** Files of /proc and /sys. */
export interface MachineFiles {
  /** Returns the text of a file; undefined if it cannot be read. */
  read(path: string): string | undefined;
  /** Returns the sorted names in a directory; none if it cannot be read. */
  list(directory: string): readonly string[];
}

/** Directory of the CPUs. */
export const CPUS_DIR = '/sys/devices/system/cpu';

/** Returns the number at the start of a file, as Go's Sscanf reads it; undefined if it cannot be read. */
export function readNumber(files: MachineFiles, path: string): number | undefined {
  const digits = /^\s*([+-]?\d+)/.exec(files.read(path) ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}
