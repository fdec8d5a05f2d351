import type {EvictionSignal} from '../../contract/resources/eviction-settings.js';
import type {FilesystemLayout} from '../../contract/resources/node-signals.js';

/** Filesystem of a signal; undefined for memory and processes. */
function filesystemOf(signal: EvictionSignal): string | undefined {
  return /^(\w+fs)\./.exec(signal)?.[1];
}

/** Reports whether unused containers take the resource of a signal (buildSignalToNodeReclaimFuncs). */
export function reclaimsContainers(signal: EvictionSignal, layout: FilesystemLayout): boolean {
  const filesystem = filesystemOf(signal);
  if (filesystem === undefined) return false;
  if (!layout.dedicatedImageFs) return true;
  return layout.splitContainerFs ? filesystem !== 'imagefs' : filesystem !== 'nodefs';
}

/** Reports whether unused images take the resource of a signal (buildSignalToNodeReclaimFuncs). */
export function reclaimsImages(signal: EvictionSignal, layout: FilesystemLayout): boolean {
  const filesystem = filesystemOf(signal);
  if (filesystem === undefined) return false;
  if (!layout.dedicatedImageFs) return true;
  return filesystem === 'imagefs' || (!layout.splitContainerFs && filesystem === 'containerfs');
}
