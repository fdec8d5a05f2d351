import {request as httpRequest, type IncomingHttpHeaders, type IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import {networkInterfaces} from 'node:os';
import {authority, isLoopback, streamingAddress, type StreamingAddress} from '../../../streaming/address.js';
import {connectSocket} from '../../../streaming/connect-socket.js';
import {boundedText} from '../../../streaming/bounded-text.js';
import {StreamingError} from '../../../streaming/errors.js';
import type {DialOptions} from '../../../streaming/session.js';
import {answerLimit} from '../../../streaming/upgrade.js';
import {HttpError} from '../answer.js';

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
 * The address in a streaming URL that a runtime gave. It must be of this machine: whatever gave it, kcri connects to
 * nothing else. Throws StreamingError.
 */
export function backendAddress(url: string): StreamingAddress {
  const address = streamingAddress(url);
  if (isThisMachine(address.host)) return address;
  throw new StreamingError(`the runtime's streaming server ${authority(address)} is not on this machine`, {
    hint: "let the runtime's streaming server listen on 127.0.0.1",
  });
}

/** How it is reached. As crictl and the kubelet: the certificate of a server on this machine is its own. */
export function backendDial(given: Pick<DialOptions, 'clock' | 'signal'>): DialOptions {
  return {...given, tls: {insecure: true}, env: {}};
}

/**
 * Connects to the streaming URL that a runtime gave and asks for what the client asks for. Rejects with
 * HttpError when the server doesn't agree, with StreamingError, or with the signal's reason.
 */
export async function openBackend(
  url: string,
  asked: BackendRequest,
  {clock, signal}: Pick<DialOptions, 'clock' | 'signal'>,
): Promise<Backend> {
  const address = backendAddress(url);
  const socket = await connectSocket(address, backendDial({clock, signal}));
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
      upgradedSocket.on('error', () => undefined); // 'close' tells
      resolve({socket: upgradedSocket, head, rawHeaders});
    });
    request.once('response', (response) => void refused(response).then(reject, reject));
    request.end();
  });
}

/** The server's answer, which is the client's then; one that is no refusal has no sense. */
async function refused(response: IncomingMessage): Promise<HttpError> {
  const {statusCode = 0, headers} = response;
  response.on('error', () => undefined); // what came until then is shown
  const body = await boundedText(response);
  if (statusCode < 400) return new HttpError(500, `invalid upgrade response: status code ${statusCode}\n`);
  const versions = headers['x-accepted-stream-protocol-versions'];
  return new HttpError(
    statusCode,
    body,
    versions === undefined ? {} : {'x-accepted-stream-protocol-versions': String(versions)},
  );
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
