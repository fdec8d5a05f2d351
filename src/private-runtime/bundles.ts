import {readdirSync} from 'node:fs';
import {basename, join} from 'node:path';
import {readJson} from './endpoint.js';
import type {Layout} from './layout.js';
import {readIfThere} from './process-identity.js';

/** What containerd's state directory tells of one container. */
export interface Bundle {
  readonly id: string;
  /** As the OCI spec has it: a path, or systemd's `slice:prefix:name`; undefined when it has none. */
  readonly cgroupsPath: string | undefined;
  /** The shim's socket, which lies outside the runtime's own directories. */
  readonly shimSocket: string | undefined;
}

/** The bundles of all containers, in every namespace. */
export function listBundles({stateDir}: Layout): Bundle[] {
  const tasks = join(stateDir, 'io.containerd.runtime.v2.task');
  return entries(tasks).flatMap((namespace) =>
    entries(join(tasks, namespace)).map((id) => readBundle(join(tasks, namespace, id), id)),
  );
}

/**
 * The container's cgroup, as /proc/PID/cgroup shows it; undefined when it has none to itself: a task can be put
 * into any cgroup of the machine, and only one that is named after the container is certain to hold nothing else.
 */
export function cgroupOf({id, cgroupsPath}: Bundle): string | undefined {
  if (cgroupsPath === undefined || cgroupsPath === '') return undefined;
  const [slice = '', prefix, name] = cgroupsPath.split(':');
  if (prefix !== undefined && name !== undefined)
    return name === id ? `${slicePath(slice)}/${prefix}-${name}.scope` : undefined;
  return basename(cgroupsPath) === id ? join('/', cgroupsPath) : undefined;
}

/** Where systemd keeps a slice: `a-b.slice` lies in `a.slice`. */
function slicePath(slice: string): string {
  const parts = slice.replace(/\.slice$/, '').split('-');
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('-')}.slice`).join('');
}

function readBundle(dir: string, id: string): Bundle {
  const spec = readJson(join(dir, 'config.json')) as {linux?: {cgroupsPath?: string}} | undefined;
  return {id, cgroupsPath: spec?.linux?.cgroupsPath, shimSocket: shimSocketOf(dir)};
}

/** containerd 1 writes the address alone, containerd 2 a JSON object. */
function shimSocketOf(dir: string): string | undefined {
  const bootstrap = readJson(join(dir, 'bootstrap.json')) as {address?: string} | undefined;
  const address = bootstrap?.address ?? readIfThere(join(dir, 'address'))?.trim();
  return address?.replace(/^unix:\/\//, '');
}

function entries(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
