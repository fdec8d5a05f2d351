import {getBun} from '../bun.js';
import {BunSocket} from './bun-socket.js';
import {NodeSocket} from './node-socket.js';
import {PipeSocket} from './pipe-socket.js';
import {getSocketBinding} from './socket-binding.js';
import type {SocketHandlers, UnixSocket} from './unix-socket.js';

/**
 * Connects to the Unix socket at `path`, without node:net where possible: this module, with the streams on which it is
 * built, takes a quarter of a short command's time to load.
 */
export function connectUnixSocket(path: string, handlers: SocketHandlers): UnixSocket {
  const bun = getBun();
  if (bun !== undefined) return new BunSocket(bun, path, handlers);
  const binding = getSocketBinding();
  return binding === undefined ? new NodeSocket(path, handlers) : new PipeSocket(binding, path, handlers);
}
