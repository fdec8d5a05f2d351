import {stat} from 'node:fs/promises';
import {ifPresent, withFileErrors} from '../../base/fs/files.js';
import {canonicalEndpoint} from '../../cri/endpoint.js';
import {runtimeRecordPath} from '../private-endpoint.js';
import {computeRuntimeLayout} from '../private-runtime-layout.js';
import {isContainerdWithConfig, isShimOf, listProcesses} from '../process/processes.js';
import {canonicalDirectory} from '../root-dir.js';

/**
 * Reports whether `endpoint` (see canonicalEndpoint) belongs to the private runtime of the root directory and this
 * runtime was removed together with everything it ran. False if only its containerd died, because its pods keep
 * running.
 */
export async function isPrivateRuntimeRemoved(endpoint: string, rootDir: string): Promise<boolean> {
  const layout = computeRuntimeLayout(await canonicalDirectory(rootDir));
  if ((await canonicalEndpoint(layout.endpoint)) !== endpoint) return false;
  const record = runtimeRecordPath(rootDir);
  if ((await withFileErrors('checking', record, () => ifPresent(() => stat(record)))) !== undefined)
    return false;
  return !listProcesses().some(
    (candidate) => isContainerdWithConfig(layout.configFile, candidate) || isShimOf(layout.socket, candidate),
  );
}
