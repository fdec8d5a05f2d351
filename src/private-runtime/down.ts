import {systemClock, type Clock} from '../base/clock.js';
import {canonicalEndpoint} from '../cri/endpoint.js';
import {layoutOf} from './layout.js';
import {readRecord} from './record.js';
import {canonical} from './root-dir.js';
import {tearDown} from './tear-down.js';
import {exclusively, requireRoot} from './exclusively.js';

/** How to take the private runtime down. */
export interface DownOptions {
  readonly rootDir: string;
  readonly progress?: ((step: string) => void) | undefined;
  readonly clock?: Clock | undefined;
  /**
   * Removes what the pods that were made at this endpoint (see canonicalEndpoint) have beside the runtime, such as
   * volumes. Called when nothing of them runs any more; what it throws ends the taking down.
   */
  readonly removePods?: ((endpoint: string) => Promise<void>) | undefined;
  /** Removes what is recorded of the images that were pulled there. Called when they are gone. */
  readonly forgetImages?: ((endpoint: string) => Promise<void>) | undefined;
}

/**
 * Ends every pod of the private runtime, at once, and its containerd, and removes all that it made: process,
 * shim, mount, network, cgroup, file. Works whether containerd runs or not, and does nothing when nothing is
 * there. Other containerds are never touched. Throws SystemError when something can't be ended or removed.
 */
export async function down(options: DownOptions, signal: AbortSignal): Promise<void> {
  requireRoot('taking a container runtime down');
  const rootDir = await canonical(options.rootDir);
  const layout = layoutOf(rootDir);
  const progress = options.progress ?? (() => undefined);
  await exclusively({lockFile: layout.lockFile, progress, signal}, async () => {
    const record = readRecord(rootDir);
    if (record !== undefined) progress('ending pods and containerd');
    // From here on nothing interrupts it: a half-removed runtime helps nobody.
    const {clock = systemClock} = options;
    const endpoint = await canonicalEndpoint(layout.endpoint);
    await tearDown({
      rootDir,
      layout,
      clock,
      removeRootDir: record?.madeRootDir ?? false,
      removePods: async () => options.removePods?.(endpoint),
      forgetImages: async () => options.forgetImages?.(endpoint),
    });
  });
}
