import {request, type ClientRequest, type IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import {anySignal} from '../../base/async/any-signal.js';
import type {Clock} from '../../base/clock.js';
import {createDeadline, type Deadline} from '../../base/async/deadline.js';
import {joinHostPort} from '../../base/net/join-host-port.js';
import {type StreamingAddress} from '../session/streaming-address.js';
import {abortableRequest, connectSocket} from './connect-socket.js';
import {StreamingError, UpgradeRefusedError} from '../session/errors.js';
import {BufferReusingSocket} from './buffer-reusing-socket.js';
import {openingError} from './tls-errors.js';
import type {DialOptions} from '../session/session.js';

/** Time for a streaming server to respond to an upgrade request, in ms. */
const UPGRADE_TIMEOUT_MS = 30_000;
/** Maximum number of characters to read of an error response. */
const MAX_ERROR_CHARACTERS = 4096;

/** Socket after the protocol upgrade, and the server's response headers. */
export interface UpgradedSocket {
  readonly socket: Socket;
  readonly headers: IncomingMessage['headers'];
}

/**
 * Connects to a streaming server and requests a protocol upgrade. Rejects with UpgradeRefusedError for any other
 * response, with StreamingError for none, or with the signal's reason.
 */
export async function upgrade(
  address: StreamingAddress,
  headers: Readonly<Record<string, string>>,
  options: DialOptions,
): Promise<UpgradedSocket> {
  const socket = await connectSocket(address, options, () => new BufferReusingSocket());
  using limit = createUpgradeDeadline(address, options.clock);
  const clientRequest = request({
    createConnection: () => socket,
    method: 'POST',
    path: address.path,
    headers: {Host: joinHostPort(address), 'Content-Length': '0', ...headers},
  });
  try {
    using either = anySignal(options.signal, limit.signal);
    const {signal} = either;
    return await abortableRequest(upgradeResponse(clientRequest, address, options), clientRequest, signal);
  } catch (error) {
    socket.destroy();
    options.signal.throwIfAborted();
    // An incomplete error response still counts as one.
    if (!(error instanceof UpgradeRefusedError)) limit.signal.throwIfAborted();
    throw error;
  }
}

/** Returns the deadline for the response to an upgrade request. */
export function createUpgradeDeadline(address: StreamingAddress, clock: Clock): Deadline {
  return createDeadline(
    clock,
    UPGRADE_TIMEOUT_MS,
    () => new StreamingError(`cannot open a stream at ${joinHostPort(address)}: no response`),
  );
}

async function upgradeResponse(
  clientRequest: ClientRequest,
  address: StreamingAddress,
  {tls}: DialOptions,
): Promise<UpgradedSocket> {
  return await new Promise((resolve, reject) => {
    clientRequest.once('error', (cause) => {
      const operation = `cannot open a stream at ${joinHostPort(address)}`;
      reject(openingError(operation, cause, {secure: address.secure, tls}));
    });
    clientRequest.once('upgrade', (response, socket: Socket, head: Buffer) => {
      if (head.length > 0) socket.unshift(head);
      resolve({socket, headers: response.headers});
    });
    clientRequest.once('response', (response) => void readRefusal(response).then(reject, reject));
    clientRequest.end();
  });
}

/** Reads an error response. */
export async function readRefusal(response: IncomingMessage): Promise<UpgradeRefusedError> {
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += String(chunk);
      if (text.length > MAX_ERROR_CHARACTERS) break;
    }
  } catch (error) {
    text ||= String(error);
  }
  const {statusCode = 0, statusMessage = ''} = response;
  const message = printable(text).slice(0, 200) || printable(statusMessage);
  return new UpgradeRefusedError(
    statusCode,
    `the streaming server refused the session: ${statusCode}${message === '' ? '' : `: ${message}`}`,
  );
}

/** Replaces control characters, so that the text is one line and cannot control a terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
}
