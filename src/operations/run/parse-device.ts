import {isAbsolute} from 'node:path';
import {UsageError} from '../../base/errors.js';
import type {Device, Init} from '../../cri/index.js';

/** Parses `HOST[:CONTAINER][:PERMISSIONS]`, docker's `--device`; permissions are some of r, w and m. Throws UsageError. */
export function parseDevice(text: string): Init<Device> {
  const [hostPath = '', ...rest] = text.split(':');
  const permissions = /^[rwm]+$/.test(rest.at(-1) ?? '') ? rest.pop() : undefined;
  const [containerPath = hostPath, surplus] = rest;
  if (!isAbsolute(hostPath) || !isAbsolute(containerPath) || surplus !== undefined)
    throw new UsageError(`invalid --device "${text}": must be HOST[:CONTAINER][:rwm] with absolute paths`);
  return {hostPath, containerPath, permissions: permissions ?? 'rwm'};
}
