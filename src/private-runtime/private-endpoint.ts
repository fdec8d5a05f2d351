import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {isRunning, type ProcessIdentity} from './process/running-process.js';

/** Path of the record of `kcri runtime up` below kcri's root directory. */
export function runtimeRecordPath(rootDir: string): string {
  return join(rootDir, 'runtime', 'record.json');
}

/**
 * Returns the CRI endpoint of kcri's private runtime if its containerd runs, otherwise undefined. It needs three small
 * file reads and loads almost nothing, because the start of every command may call it.
 */
export function findPrivateEndpoint(rootDir: string): string | undefined {
  const record = tryReadJson(runtimeRecordPath(rootDir)) as
    | {endpoint?: string; process?: ProcessIdentity}
    | undefined;
  if (record?.endpoint === undefined || record.process === undefined) return undefined;
  return isRunning(record.process) ? record.endpoint : undefined;
}

/**
 * Returns the file's content; undefined if it does not exist, cannot be read or is not JSON: no runtime is running
 * then.
 */
export function tryReadJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
