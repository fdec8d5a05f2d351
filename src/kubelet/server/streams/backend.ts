import {request as httpRequest, type IncomingHttpHeaders, type IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import {networkInterfaces} from 'node:os';
import type {Clock} from '../../../base/clock.js';
import {authority, isLoopback, streamingAddress, type StreamingAddress} from '../../../streaming/address.js';
import {connectSocket} from '../../../streaming/connect-socket.js';
import {StreamingError} from '../../../streaming/errors.js';
import {refusal} from '../../../streaming/upgrade.js';
import {answerLimit} from '../../../streaming/upgrade.js';

/** A runtime's streaming server that has agreed to speak another protocol. */
export interface Backend {
  readonly socket: Socket;
  /** What it has sent already. */
  readonly head: Buffer;
  /** The headers of its 101, names and values in turn. */
  readonly rawHeaders: readonly string[];
}

/** What of a client's request the runtime has to know; nothing else, such as who the client is, is passed on. */
const PASSED_ON = [
  'upgrade',
  'x-stream-protocol-version',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-protocol',
  'sec-websocket-extensions',
] as const;

/** What a session is asked for with. */
export interface BackendRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Connects to the streaming URL that a runtime gave and asks for what the client asks for. The URL must be of this
 * machine: whatever gave it, kcri connects to nothing else. Rejects with UpgradeRefusedError when the server doesn't
 * agree, with StreamingError, or with the signal's reason.
 */
export async function openBackend(
  url: string,
  asked: BackendRequest,
  {clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal},
): Promise<Backend> {
  const address = streamingAddress(url);
  if (!isThisMachine(address.host))
    throw new StreamingError(`the runtime's streaming server ${authority(address)} is not on this machine`, {
      hint: "let the runtime's streaming server listen on 127.0.0.1",
    });
  // As crictl and the kubelet: the certificate of a server on this machine is its own.
  const socket = await connectSocket(address, {clock, signal, tls: {insecure: true}, env: {}});
  using limit = answerLimit(address, clock);
  const both = AbortSignal.any([signal, limit.signal]);
  const cut = (): void => {
    socket.destroy();
  };
  both.addEventListener('abort', cut, {once: true});
  try {
    return await upgraded(socket, address, asked);
  } catch (error) {
    socket.destroy();
    both.throwIfAborted();
    throw error;
  } finally {
    both.removeEventListener('abort', cut);
  }
}

function isThisMachine(host: string): boolean {
  if (isLoopback(host)) return true;
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({address}) => address === host),
  );
}

async function upgraded(
  socket: Socket,
  address: StreamingAddress,
  {method, headers}: BackendRequest,
): Promise<Backend> {
  return await new Promise((resolve, reject) => {
    const request = httpRequest({
      createConnection: () => socket,
      method,
      path: address.path,
      headers: {host: authority(address), connection: 'Upgrade', ...passedOn(headers)},
    });
    request.once('error', (cause) => {
      reject(new StreamingError(`opening a stream at ${authority(address)}: ${cause.message}`, {cause}));
    });
    request.once('upgrade', ({rawHeaders}: IncomingMessage, upgradedSocket: Socket, head: Buffer) => {
      resolve({socket: upgradedSocket, head, rawHeaders});
    });
    request.once('response', (response) => void refusal(response).then(reject, reject));
    request.end();
  });
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
