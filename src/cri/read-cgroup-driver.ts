import {isUnimplemented} from './errors.js';
import type {RuntimeService} from './gen/services.js';

/**
 * Reads the cgroup driver with RuntimeConfig or, for older versions of containerd, from the verbose status. Rejects
 * with CriError.
 */
export async function readCgroupDriver(
  runtime: Pick<RuntimeService, 'runtimeConfig' | 'status'>,
  signal: AbortSignal | undefined,
): Promise<'systemd' | 'cgroupfs'> {
  try {
    const {linux} = await runtime.runtimeConfig({}, {signal});
    return linux?.cgroupDriver === 'SYSTEMD' ? 'systemd' : 'cgroupfs';
  } catch (error) {
    if (!isUnimplemented(error)) throw error;
  }
  const {info} = await runtime.status({verbose: true}, {signal});
  return /"SystemdCgroup":\s*true/.test(info['config'] ?? '') ? 'systemd' : 'cgroupfs';
}
