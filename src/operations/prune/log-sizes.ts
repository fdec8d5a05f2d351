import {lstat, readdir} from 'node:fs/promises';
import {basename, dirname, isAbsolute, join} from 'node:path';
import {forEachLimit} from '../../base/async/for-each-limit.js';
import {isSystemCallError} from '../../base/errors.js';
import {isNotFound, type Container, type RuntimeService} from '../../cri/index.js';

const AT_ONCE = 16;

/**
 * Returns the sizes of the logs in bytes, rotated files included, by container. Logs that are not on this machine or cannot
 * be examined are missing. Rejects with CriError.
 */
export async function readLogSizes(
  runtime: RuntimeService,
  containers: readonly Container[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, bigint>> {
  const sizes = new Map<string, bigint>();
  await forEachLimit(containers, AT_ONCE, async ({id}) => {
    try {
      const {status} = await runtime.containerStatus({containerId: id}, {signal});
      const size = await logSize(status?.logPath ?? '');
      if (size !== undefined) sizes.set(id, size);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  });
  return sizes;
}

async function logSize(path: string): Promise<bigint | undefined> {
  if (!isAbsolute(path)) return undefined;
  const [directory, log] = [dirname(path), basename(path)];
  let size: bigint | undefined;
  try {
    for (const name of await readdir(directory)) {
      if (name !== log && !name.startsWith(`${log}.`)) continue;
      const stats = await lstat(join(directory, name));
      if (stats.isFile()) size = (size ?? 0n) + BigInt(stats.size);
    }
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
  }
  return size;
}
