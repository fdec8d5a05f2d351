import {readFile} from 'node:fs/promises';

export const MAINTAINER = 'kcri maintainers <maintainers@kcri.invalid>';

export const SUMMARY = 'CRI client, replacement for crictl, and kubelet';

export const DESCRIPTION = [
  'kcri inspects and changes the pods, containers and images of a container',
  'runtime, with the commands of crictl. It also runs Pod manifests, and is a',
  'kubelet with and without a cluster.',
];

/** Names of the architectures of targets with packages, in Debian and in rpm. */
export const ARCHITECTURES = {
  'linux-x64': {debian: 'amd64', rpm: 'x86_64'},
  'linux-arm64': {debian: 'arm64', rpm: 'aarch64'},
};

/** Number of the packaging of a version. */
export const REVISION = '1';

/**
 * Returns a version as packages write it: those before a release sort before it.
 *
 * @param {string} version a semantic version
 * @returns {string}
 */
export function packageVersion(version) {
  return version.replace('-', '~').replaceAll('-', '.');
}

/**
 * Returns the version of glibc that an executable needs.
 *
 * @param {string} file
 * @returns {Promise<string>} such as `2.17`
 */
export async function neededGlibc(file) {
  const names = (await readFile(file, 'latin1')).matchAll(/\0GLIBC_2\.(\d+)/g);
  const minors = Array.from(names, ([, minor]) => Number(minor));
  if (minors.length === 0) throw new Error(`${file} does not say which version of glibc it needs`);
  return `2.${minors.reduce((a, b) => Math.max(a, b))}`;
}
