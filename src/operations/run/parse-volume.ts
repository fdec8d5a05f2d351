import {isAbsolute, resolve} from 'node:path';
import {UsageError} from '../../base/errors.js';
import type {Init, Mount, MountPropagation} from '../../cri/index.js';

const PROPAGATIONS: Readonly<Record<string, MountPropagation>> = {
  private: 'PROPAGATION_PRIVATE',
  rprivate: 'PROPAGATION_PRIVATE',
  rslave: 'PROPAGATION_HOST_TO_CONTAINER',
  rshared: 'PROPAGATION_BIDIRECTIONAL',
};

/**
 * Parses `HOST:CONTAINER[:OPTIONS]`, docker's `-v`. Relative host paths start with a dot and are relative to `cwd`.
 * Options are ro, rw, z, Z, private, rslave and rshared, separated by commas. Throws UsageError, with `flag` in its text.
 */
export function parseVolume(text: string, cwd: string, flag = `--volume "${text}"`): Init<Mount> {
  const invalid = (reason: string, hint?: string): UsageError =>
    new UsageError(`invalid ${flag}: ${reason}`, {hint});
  const [host = '', containerPath, options = '', ...rest] = text.split(':');
  if (containerPath === undefined || rest.length > 0)
    throw invalid('must be HOST:CONTAINER or HOST:CONTAINER:OPTIONS');
  if (!isAbsolute(host) && !/^\.{1,2}(\/|$)/.test(host))
    throw invalid(
      'the host path must be absolute or start with "./"',
      `for a directory of the working directory, use ./${host}; CRI has no named volumes`,
    );
  if (!isAbsolute(containerPath)) throw invalid('the path in the container must be absolute');
  const mount = {hostPath: resolve(cwd, host), containerPath};
  return options
    .split(',')
    .filter((option) => option !== '')
    .reduce<Init<Mount>>((partial, option) => {
      const change = optionChange(option);
      if (change === undefined)
        throw invalid(`unknown option "${option}"`, 'use ro, rw, z, private, rslave or rshared');
      return {...partial, ...change};
    }, mount);
}

function optionChange(option: string): Init<Mount> | undefined {
  if (option === 'ro' || option === 'rw') return {readonly: option === 'ro'};
  if (option === 'z' || option === 'Z') return {selinuxRelabel: true};
  const propagation = PROPAGATIONS[option];
  return propagation && {propagation};
}
