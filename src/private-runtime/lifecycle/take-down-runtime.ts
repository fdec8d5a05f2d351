import {systemClock, type Clock} from '../../base/clock.js';
import {canonicalEndpoint} from '../../cri/endpoint.js';
import {computeRuntimeLayout} from '../private-runtime-layout.js';
import {readRuntimeRecord} from '../private-runtime-record.js';
import {canonicalDirectory} from '../root-dir.js';
import {tearDown} from './tear-down.js';
import {withLock, requireRoot} from '../host/with-lock.js';

/** Options to remove the private runtime. */
export interface TakeDownOptions {
  readonly rootDir: string;
  readonly onProgress?: ((step: string) => void) | undefined;
  readonly clock?: Clock | undefined;
  /**
   * Removes resources of the endpoint's pods outside the runtime, such as volumes (see canonicalEndpoint). Called when
   * none of their processes runs; an error ends the removal.
   */
  readonly removePods?: ((endpoint: string) => Promise<void>) | undefined;
  /** Removes the records of the runtime's images. Called after the images were removed. */
  readonly removeImageRecords?: ((endpoint: string) => Promise<void>) | undefined;
}

/**
 * Kills every pod of the private runtime and its containerd, and removes everything it created: processes, shims,
 * mounts, network, cgroups and files. Works whether containerd runs or not, and does nothing without a runtime. Never
 * touches other containerds. Rejects with SystemError if something cannot be killed or removed.
 */
export async function takeDownRuntime(options: TakeDownOptions, signal: AbortSignal): Promise<void> {
  requireRoot('stopping the container runtime');
  const rootDir = await canonicalDirectory(options.rootDir);
  const layout = computeRuntimeLayout(rootDir);
  const progress = options.onProgress ?? (() => undefined);
  await withLock({lockFile: layout.lockFile, onProgress: progress, signal}, async () => {
    const record = readRuntimeRecord(rootDir);
    if (record !== undefined) progress('stopping pods and containerd');
    // Not interruptible from here on, because a partially removed runtime cannot be used.
    const {clock = systemClock} = options;
    const endpoint = await canonicalEndpoint(layout.endpoint);
    await tearDown({
      rootDir,
      layout,
      clock,
      removeRootDir: record?.madeRootDir ?? false,
      removePods: async () => options.removePods?.(endpoint),
      removeImageRecords: async () => options.removeImageRecords?.(endpoint),
    });
  });
}
