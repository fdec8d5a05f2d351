import {SystemError} from '../base/errors.js';

/** A containerd version as far as its configuration depends on it. */
export interface ContainerdVersion {
  readonly major: number;
  readonly minor: number;
  /** As containerd says it: `1.6.20~ds1`. */
  readonly text: string;
}

/** The `version` key of containerd's configuration file. */
export type ConfigVersion = 2 | 3 | 4;

/** Reads the output of `containerd --version`; throws SystemError when it has no version kcri can serve. */
export function parseContainerdVersion(output: string): ContainerdVersion {
  const match = /(?:^|\s)v?((\d+)\.(\d+)\.\d\S*)/.exec(output.replace(/github\.com\/\S+/g, ''));
  const [, text, major, minor] = match ?? [];
  if (text === undefined) throw new SystemError(`"containerd --version" says no version: "${output.trim()}"`);
  const version = {major: Number(major), minor: Number(minor), text};
  if (isBefore(version, 1, 6)) {
    throw new SystemError(`containerd ${text} is too old: kcri needs 1.6 or newer`, {
      hint: 'name another one with --containerd PATH',
    });
  }
  return version;
}

/** The newest configuration version that this containerd reads: 2 up to 1.7, 3 up to 2.3, 4 from 2.4. */
export function configVersionOf(version: ContainerdVersion): ConfigVersion {
  if (isBefore(version, 2, 0)) return 2;
  return isBefore(version, 2, 4) ? 3 : 4;
}

/** True for versions older than `major.minor`. */
export function isBefore(version: ContainerdVersion, major: number, minor: number): boolean {
  return version.major === major ? version.minor < minor : version.major < major;
}
