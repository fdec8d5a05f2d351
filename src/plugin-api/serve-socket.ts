import {once} from 'node:events';
import {rm} from 'node:fs/promises';
import {createServer, type Socket} from 'node:net';
import {withFileErrors} from '../base/fs/files.js';
import type {GrpcServer, ServerOptions} from './grpc-server.js';
import type {ServedService} from './served-service.js';

/** Options of `serveSocket`. */
export interface SocketOptions extends ServerOptions {
  /** Receives errors of the socket after it was opened. */
  readonly onError: (error: Error) => void;
}

/** A socket that is served. */
export interface ServedSocket {
  /** Ends all connections, and removes the socket. Rejects with Error if it was closed before. */
  readonly close: () => Promise<void>;
}

/**
 * Serves services of the kubelet on a Unix socket, in the place of a socket that another process has left. Only the first
 * connection loads grpc-js. Rejects with SystemError.
 */
export async function serveSocket(
  path: string,
  services: readonly ServedService[],
  options: SocketOptions,
): Promise<ServedSocket> {
  const sockets = new Set<Socket>();
  let loading: Promise<GrpcServer> | undefined;
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined); // the peer is gone, and so is its connection
    loading ??= loadServer(services, options);
    loading.then(
      (server) => {
        if (!socket.destroyed) server.serve(socket);
      },
      (error: unknown) => {
        socket.destroy();
        options.onError(error as Error);
      },
    );
  });
  await withFileErrors('listening on', path, async () => {
    await rm(path, {force: true});
    listener.listen(path);
    await once(listener, 'listening');
  });
  listener.on('error', options.onError);
  return {
    close: async () => {
      const closed = once(listener, 'close');
      listener.close();
      for (const socket of sockets) socket.destroy();
      (await loading?.catch(() => undefined))?.close();
      await closed;
    },
  };
}

async function loadServer(services: readonly ServedService[], options: ServerOptions): Promise<GrpcServer> {
  const {createGrpcServer} = await import('./grpc-server.js');
  return createGrpcServer(services, options);
}
