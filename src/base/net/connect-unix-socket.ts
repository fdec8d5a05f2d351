import {getBun} from '../bun.js';
import {BunSocket} from './bun-socket.js';
import {NodeSocket} from './node-socket.js';
import type {SocketHandlers, UnixSocket} from './unix-socket.js';

/**
 * Connects to the Unix socket at `path`. Uses Bun's own API in the executable: the module node:net, with the streams on
 * which it is built, takes a quarter of a short command's time to load there.
 */
export function connectUnixSocket(path: string, handlers: SocketHandlers): UnixSocket {
  const bun = getBun();
  return bun === undefined ? new NodeSocket(path, handlers) : new BunSocket(bun, path, handlers);
}
