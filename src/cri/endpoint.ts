import {existsSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {ConfigError, isSystemCallError} from '../base/errors.js';
import {shellQuote} from '../base/shell-quote.js';

/** Default endpoints of the known runtimes, in crictl's order. */
export const WELL_KNOWN_ENDPOINTS = [
  'unix:///run/containerd/containerd.sock',
  'unix:///run/crio/crio.sock',
  'unix:///var/run/cri-dockerd.sock',
] as const;

/**
 * Returns the socket path of an endpoint: `unix:///path` or an absolute path. Throws ConfigError for anything else,
 * with a hint at the right form.
 */
export function socketPath(endpoint: string): string {
  if (endpoint.startsWith('/')) return endpoint;
  const scheme = /^([a-z]+):/.exec(endpoint)?.[1];
  if (scheme === 'unix') return unixPath(endpoint);
  throw new ConfigError(
    scheme === undefined
      ? `the endpoint "${endpoint}" is not an absolute path or a unix:// URL`
      : `the endpoint "${endpoint}" has the unsupported protocol "${scheme}"`,
    {hint: 'use unix:///run/containerd/containerd.sock'},
  );
}

/**
 * Returns the canonical form of an endpoint, by which two can be compared: `unix://` and the socket path with
 * symbolic links resolved as far as the path exists; that of the runtime for the socket of a recorder. Endpoints of
 * remote and saved nodes are returned as they are. Throws ConfigError as socketPath does.
 */
export async function canonicalEndpoint(endpoint: string): Promise<string> {
  if (/^(ssh|archive):/.test(endpoint)) return endpoint;
  const path = await canonicalPath(socketPath(endpoint));
  return `unix://${(await recordedPath(path)) ?? path}`;
}

/** Returns the canonical form of an endpoint as canonicalEndpoint does, but leaves the socket of a recorder. */
export async function connectedEndpoint(endpoint: string): Promise<string> {
  return `unix://${await canonicalPath(socketPath(endpoint))}`;
}

/** Returns the path of the link beside the socket of a recorder. */
export function recorderLink(path: string): string {
  return `${path}.kcri-recorded`;
}

/** Returns the second name of a runtime's own socket while a recorder's is in its place. */
export function swappedName(path: string): string {
  return `${path}.kcri-runtime`;
}

/** Returns a hint at the runtime's own socket, which a killed recorder has left under another name; undefined without one. */
export function swappedSocketHint(path: string): string | undefined {
  const own = swappedName(path);
  return existsSync(own)
    ? `a killed "kcri record --swap" has left the runtime's own socket at ${own}; put it back with: mv ${shellQuote(own)} ${shellQuote(path)}`
    : undefined;
}

/** Returns what the link leads to: the inode of the recorder's socket, which a later socket has not, and the runtime's path. */
export function recorderTarget(inode: number, runtimePath: string): string {
  return `${inode}:${runtimePath}`;
}

/** Reports whether a link leads to what recorderTarget returns. */
export function isRecorderTarget(target: string): boolean {
  return /^\d+:\//.test(target);
}

/** Returns the path of the runtime behind the socket of a recorder, if its owner has left the link; else undefined. */
async function recordedPath(path: string): Promise<string | undefined> {
  try {
    const {lstat, readlink, stat} = await import('node:fs/promises');
    const link = recorderLink(path);
    const target = await readlink(link);
    const [own, {uid}] = [await stat(path), await lstat(link)];
    const prefix = recorderTarget(own.ino, '');
    return own.uid === uid && target.startsWith(`${prefix}/`) ? target.slice(prefix.length) : undefined;
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    return undefined;
  }
}

async function canonicalPath(path: string): Promise<string> {
  try {
    const {realpath} = await import('node:fs/promises');
    return await realpath(path);
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    // The connection reports what is wrong with the path.
    return join(await canonicalPath(dirname(path)), basename(path));
  }
}

function unixPath(endpoint: string): string {
  const path = endpoint.slice('unix:'.length).replace(/^\/\/(?=\/)/, '');
  if (path.startsWith('//'))
    throw new ConfigError(`the endpoint "${endpoint}" must not contain a host`, {
      hint: `did you mean unix:///${path.slice(2)}?`,
    });
  if (!path.startsWith('/'))
    throw new ConfigError(`the endpoint "${endpoint}" is not an absolute path`, {
      hint: 'use unix:///run/containerd/containerd.sock',
    });
  return path;
}

/** Scheme of the endpoints of saved nodes. */
const ARCHIVE = 'archive:';

/** Returns the endpoint of a saved node: commands reach it as they reach a remote one. */
export const archiveEndpoint = (file: string): string => `${ARCHIVE}${file}`;

/** Returns the file of a saved node; undefined for the endpoint of a runtime. */
export function archiveFile(endpoint: string): string | undefined {
  return endpoint.startsWith(ARCHIVE) ? endpoint.slice(ARCHIVE.length) : undefined;
}

/** Returns the name of a saved node: that of its file. */
export function archiveName(file: string): string {
  return file.replace(/^.*\//, '').replace(/\.(tgz|tar\.gz)$/, '');
}
