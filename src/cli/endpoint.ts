import {existsSync} from 'node:fs';
import {connect} from 'node:net';
import {join} from 'node:path';
import {ConfigError, hasErrno} from '../base/errors.js';
import {socketPath} from '../cri/endpoint.js';
import type {CriError} from '../cri/errors.js';
import {findPrivateEndpoint} from '../private-runtime/endpoint.js';

/**
 * The endpoint to use when none is given: that of the kubelet that runs with the root directory, so that what it keeps
 * is what is seen; else the first of the well-known sockets that somebody listens on, then kcri's own private runtime. A
 * socket that this user may not open counts as found, so that the error that
 * follows names it. Throws ConfigError when there is none.
 */
export async function discoverEndpoint(wellKnown: readonly string[], rootDir: string): Promise<string> {
  const kept = await kubeletEndpoint(rootDir);
  if (kept !== undefined) return kept;
  for (const endpoint of wellKnown) {
    if (await somebodyListens(socketPath(endpoint))) return endpoint;
  }
  const own = findPrivateEndpoint(rootDir);
  if (own !== undefined) return own;
  throw new ConfigError(`no container runtime found; looked for ${wellKnown.map(socketPath).join(', ')}`, {
    hint: 'start one with "kcri runtime up", or name its socket with --runtime-endpoint',
  });
}

/** Who has never run a kubelet doesn't wait for what finds one. */
async function kubeletEndpoint(rootDir: string): Promise<string | undefined> {
  if (!existsSync(join(rootDir, 'kubelet.json'))) return undefined;
  const {findKubelet} = await import('../kubelet/kubelet-file.js');
  return (await findKubelet(rootDir))?.endpoint;
}

/** The endpoint that the user gave. Throws ConfigError for one that is empty. */
export function givenEndpoint(endpoint: string): string {
  if (endpoint !== '') return endpoint;
  throw new ConfigError('--runtime-endpoint is not set', {
    hint: 'CONTAINER_RUNTIME_ENDPOINT or --runtime-endpoint is empty; give it a socket, or unset it to look for one',
  });
}

/** What somebody who waits for a runtime is told before the next attempt. */
export function retryText({plainMessage}: CriError, attempt: number, delayMs: number): string {
  return `${plainMessage}; trying again in ${delayMs / 1000}s (${attempt})`;
}

/** Opens the socket and closes it: a file left behind by a dead runtime refuses. No call is made. */
async function somebodyListens(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => {
      resolve(hasErrno(error, 'EACCES', 'EPERM', 'EAGAIN'));
    });
  });
}
