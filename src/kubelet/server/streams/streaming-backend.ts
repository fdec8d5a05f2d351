import {request as httpRequest, type IncomingHttpHeaders, type IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import {onAbort} from '../../../base/async/abort-callbacks.js';
import {anySignal} from '../../../base/async/any-signal.js';
import {joinHostPort} from '../../../base/net/join-host-port.js';
import {createBackendDialOptions, resolveBackendAddress} from '../../../streaming/session/local-backend.js';
import type {StreamingAddress} from '../../../streaming/session/streaming-address.js';
import {connectSocket} from '../../../streaming/socket/connect-socket.js';
import {readBoundedText} from '../../../streaming/session/read-bounded-text.js';
import {StreamingError} from '../../../streaming/session/errors.js';
import type {DialOptions} from '../../../streaming/session/session.js';
import {createUpgradeDeadline} from '../../../streaming/socket/upgrade.js';
import {HttpError} from '../kubelet-response.js';

/** Upgraded connection to a runtime's streaming server. */
export interface StreamingBackend {
  readonly socket: Socket;
  /** First bytes of the upgraded stream. */
  readonly head: Buffer;
  /** Headers of the 101 response, names and values alternating. */
  readonly rawHeaders: readonly string[];
}

/** Request headers that are forwarded to the runtime; others, such as credentials of the client, are not. */
const FORWARDED_HEADERS = [
  'upgrade',
  'x-stream-protocol-version',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-protocol',
  'sec-websocket-extensions',
] as const;

/** Method and headers of the client's request. */
export interface StreamingBackendRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Connects to the streaming URL that a runtime returned and requests the client's upgrade. Rejects with HttpError if
 * the server refuses, with StreamingError if the connection fails, or with the signal's reason.
 */
export async function openBackend(
  url: string,
  request: StreamingBackendRequest,
  {clock, signal}: Pick<DialOptions, 'clock' | 'signal'>,
): Promise<StreamingBackend> {
  const address = resolveBackendAddress(url);
  const socket = await connectSocket(address, createBackendDialOptions({clock, signal}));
  using limit = createUpgradeDeadline(address, clock);
  using either = anySignal(signal, limit.signal);
  const combined = either.signal;
  const forget = onAbort(combined, () => {
    socket.destroy();
  });
  try {
    return await upgrade(socket, address, request);
  } catch (error) {
    socket.destroy();
    combined.throwIfAborted();
    throw error;
  } finally {
    forget();
  }
}

async function upgrade(
  socket: Socket,
  address: StreamingAddress,
  {method, headers}: StreamingBackendRequest,
): Promise<StreamingBackend> {
  return await new Promise((resolve, reject) => {
    const request = httpRequest({
      createConnection: () => socket,
      method,
      path: address.path,
      headers: {host: joinHostPort(address), connection: 'Upgrade', ...forwardedHeaders(headers)},
    });
    request.once('error', (cause) => {
      reject(
        new StreamingError(`cannot open a stream at ${joinHostPort(address)}: ${cause.message}`, {cause}),
      );
    });
    request.once('upgrade', ({rawHeaders}: IncomingMessage, upgradedSocket: Socket, head: Buffer) => {
      upgradedSocket.on('error', () => undefined); // 'close' follows
      resolve({socket: upgradedSocket, head, rawHeaders});
    });
    request.once('response', (response) => void toRefusal(response).then(reject, reject));
    request.end();
  });
}

/** Converts the server's response to the client's. A status below 400 is invalid here and becomes a 500. */
async function toRefusal(response: IncomingMessage): Promise<HttpError> {
  const {statusCode = 0, headers} = response;
  response.on('error', () => undefined); // the body up to the error is used
  const body = await readBoundedText(response);
  if (statusCode < 400) return new HttpError(500, `invalid upgrade response: status code ${statusCode}\n`);
  const versions = headers['x-accepted-stream-protocol-versions'];
  return new HttpError(
    statusCode,
    body,
    versions === undefined ? {} : {'x-accepted-stream-protocol-versions': String(versions)},
  );
}

function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    FORWARDED_HEADERS.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
