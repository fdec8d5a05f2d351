import {readdirSync} from 'node:fs';
import {basename, join} from 'node:path';
import {tryReadJson} from '../private-endpoint.js';
import type {PrivateRuntimeLayout} from '../private-runtime-layout.js';
import {tryReadFile} from '../process/running-process.js';

/** Data of one container in containerd's state directory. */
export interface Bundle {
  readonly id: string;
  /** cgroupsPath of the OCI spec: a path, or systemd's `slice:prefix:name`; undefined if there is none. */
  readonly cgroupsPath: string | undefined;
  /** Socket of the shim, which is outside the runtime's directories. */
  readonly shimSocket: string | undefined;
}

/** Returns the bundles of all containers in all namespaces. */
export function listBundles({stateDir}: PrivateRuntimeLayout): Bundle[] {
  const tasks = join(stateDir, 'io.containerd.runtime.v2.task');
  return entries(tasks).flatMap((namespace) =>
    entries(join(tasks, namespace)).map((id) => readBundle(join(tasks, namespace, id), id)),
  );
}

/**
 * Returns the container's cgroup as /proc/PID/cgroup shows it; undefined if it has none of its own. A task can be in
 * any cgroup of the machine; only one that is named after the container is certain to contain nothing else.
 */
export function bundleCgroup({id, cgroupsPath}: Bundle): string | undefined {
  if (cgroupsPath === undefined || cgroupsPath === '') return undefined;
  const [slice = '', prefix, name] = cgroupsPath.split(':');
  if (prefix !== undefined && name !== undefined)
    return name === id ? `${slicePath(slice)}/${prefix}-${name}.scope` : undefined;
  return basename(cgroupsPath) === id ? join('/', cgroupsPath) : undefined;
}

/** Returns the path of a systemd slice: `a-b.slice` is in `a.slice`. */
function slicePath(slice: string): string {
  const parts = slice.replace(/\.slice$/, '').split('-');
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('-')}.slice`).join('');
}

function readBundle(dir: string, id: string): Bundle {
  const spec = tryReadJson(join(dir, 'config.json')) as {linux?: {cgroupsPath?: string}} | undefined;
  return {id, cgroupsPath: spec?.linux?.cgroupsPath, shimSocket: shimSocketOf(dir)};
}

/** Parses the shim's address: plain text in containerd 1, a JSON object in containerd 2. */
function shimSocketOf(dir: string): string | undefined {
  const bootstrap = tryReadJson(join(dir, 'bootstrap.json')) as {address?: string} | undefined;
  const address = bootstrap?.address ?? tryReadFile(join(dir, 'address'))?.trim();
  return address?.replace(/^unix:\/\//, '');
}

function entries(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
