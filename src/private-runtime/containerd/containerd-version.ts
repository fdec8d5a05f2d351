import {SystemError} from '../../base/errors.js';

/** The parts of a containerd version that its configuration depends on. */
export interface ContainerdVersion {
  readonly major: number;
  readonly minor: number;
  /** Full version text, such as `1.6.20~ds1`. */
  readonly text: string;
}

/** Value of the `version` key of containerd's configuration file. */
export type ConfigVersion = 2 | 3 | 4;

/** Parses the output of `containerd --version`. Throws SystemError for an unsupported version. */
export function parseContainerdVersion(output: string): ContainerdVersion {
  const match = /(?:^|\s)v?((\d+)\.(\d+)\.\d\S*)/.exec(output.replace(/github\.com\/\S+/g, ''));
  const [, text, major, minor] = match ?? [];
  if (text === undefined)
    throw new SystemError(`unexpected output of "containerd --version": "${output.trim()}"`);
  const version = {major: Number(major), minor: Number(minor), text};
  if (isVersionBefore(version, 1, 6)) {
    throw new SystemError(`containerd ${text} is too old: kcri requires 1.6 or later`, {
      hint: 'set --containerd to a newer one',
    });
  }
  return version;
}

/** Returns the newest configuration version that this containerd reads: 2 up to 1.7, 3 up to 2.3, 4 since 2.4. */
export function configVersionOf(version: ContainerdVersion): ConfigVersion {
  if (isVersionBefore(version, 2, 0)) return 2;
  return isVersionBefore(version, 2, 4) ? 3 : 4;
}

/** Reports whether the version is older than `major.minor`. */
export function isVersionBefore(version: ContainerdVersion, major: number, minor: number): boolean {
  return version.major === major ? version.minor < minor : version.major < major;
}
