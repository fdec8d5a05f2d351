import {stateDirectory} from '../../base/fs/state-directory.js';
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {ConfigError, hasErrno} from '../../base/errors.js';
import {socketPath} from '../../cri/endpoint.js';
import type {CriError} from '../../cri/errors.js';
import {findPrivateEndpoint} from '../../private-runtime/private-endpoint.js';

/**
 * Returns the endpoint to use without a configured one: that of the kubelet that runs with the root directory; else the
 * first well-known socket with a listener; else kcri's private runtime. A socket without permission counts as found, so
 * that the error names it. Rejects with ConfigError without any endpoint.
 */
export async function discoverEndpoint(wellKnown: readonly string[], rootDir: string): Promise<string> {
  const ofKubelet = await kubeletEndpoint(rootDir);
  if (ofKubelet !== undefined) return ofKubelet;
  for (const endpoint of wellKnown) {
    if (await hasListener(socketPath(endpoint))) return endpoint;
  }
  const own = findPrivateEndpoint(rootDir);
  if (own !== undefined) return own;
  throw new ConfigError(`no container runtime found; looked for ${wellKnown.map(socketPath).join(', ')}`, {
    hint: 'start one with "kcri runtime up", or set --runtime-endpoint to its socket',
  });
}

/**
 * Returns the endpoint of the running kubelet. Checks for its file first, so that the discovery is loaded only if
 * needed.
 */
async function kubeletEndpoint(rootDir: string): Promise<string | undefined> {
  if (!existsSync(join(stateDirectory(rootDir), 'kubelet.json'))) return undefined;
  const {findKubelet} = await import('../../kubelet/pods/registry/running-kubelet.js');
  return (await findKubelet(rootDir))?.endpoint;
}

/** Returns the endpoint given by the user. Throws ConfigError if it is empty. */
export function requireEndpoint(endpoint: string): string {
  if (endpoint !== '') return endpoint;
  throw new ConfigError('--runtime-endpoint is not set', {
    hint: 'CONTAINER_RUNTIME_ENDPOINT or --runtime-endpoint is empty; set it to a socket, or unset it to detect one',
  });
}

/** Formats the message before the next connection attempt. */
export function formatRetryMessage({plainMessage}: CriError, attempt: number, delayMs: number): string {
  return `${plainMessage}; trying again in ${delayMs / 1000}s (${attempt})`;
}

/**
 * Reports whether a socket has a listener, by connecting and closing: the socket of a dead runtime refuses connections.
 * Makes no call.
 */
async function hasListener(path: string): Promise<boolean> {
  const {connectUnixSocket} = await import('../../base/net/connect-unix-socket.js');
  return await new Promise((resolve) => {
    const socket = connectUnixSocket(path, {
      onConnect: () => {
        resolve(true);
        socket.destroy();
      },
      onRead: () => undefined,
      onDrain: () => undefined,
      onLost: (error) => {
        resolve(hasErrno(error, 'EACCES', 'EPERM', 'EAGAIN'));
      },
    });
  });
}
