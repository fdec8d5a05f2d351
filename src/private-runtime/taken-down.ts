import {stat} from 'node:fs/promises';
import {ifPresent, withFileErrors} from '../base/files.js';
import {canonicalEndpoint} from '../cri/endpoint.js';
import {recordPath} from './endpoint.js';
import {layoutOf} from './layout.js';
import {isContainerdWith, isShimOf, listProcesses} from './processes.js';
import {canonical} from './root-dir.js';

/**
 * True when `endpoint` (see canonicalEndpoint) is that of the root directory's private runtime and this one was
 * taken down: with it went all it ran. Of a runtime whose containerd has only died the pods go on: it isn't that.
 */
export async function isTakenDown(endpoint: string, rootDir: string): Promise<boolean> {
  const layout = layoutOf(await canonical(rootDir));
  if ((await canonicalEndpoint(layout.endpoint)) !== endpoint) return false;
  const record = recordPath(rootDir);
  if ((await withFileErrors('looking at', record, () => ifPresent(() => stat(record)))) !== undefined)
    return false;
  return !listProcesses().some(
    (candidate) => isContainerdWith(layout.configFile, candidate) || isShimOf(layout.socket, candidate),
  );
}
