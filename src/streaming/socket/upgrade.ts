import type {IncomingMessage} from 'node:http';
import type {Duplex} from 'node:stream';
import {anySignal} from '../../base/async/any-signal.js';
import type {Clock} from '../../base/clock.js';
import {createDeadline, type Deadline} from '../../base/async/deadline.js';
import {joinHostPort} from '../../base/net/join-host-port.js';
import {type StreamingAddress} from '../session/streaming-address.js';
import {connectReusingSocket} from './connect-socket.js';
import {StreamingError, UpgradeRefusedError} from '../session/errors.js';
import {exchangeHeads, readBody} from './http-exchange.js';
import type {ResponseHead} from './http-response.js';
import type {ReusingSocket} from './read-state.js';
import {openingError} from './tls-errors.js';
import type {DialOptions} from '../session/session.js';

/** Time for a streaming server to respond to an upgrade request, in ms. */
const UPGRADE_TIMEOUT_MS = 30_000;
/** Maximum number of characters to read of an error response. */
const MAX_ERROR_CHARACTERS = 4096;

/** Socket of a connection, which reuses its read buffers where that is possible. */
export type UpgradableSocket = Duplex &
  Pick<ReusingSocket, 'setNoDelay'> &
  Partial<Pick<ReusingSocket, 'takeOver'>>;

/** Socket after the protocol upgrade, and the server's response headers. */
export interface UpgradedSocket {
  readonly socket: UpgradableSocket;
  readonly headers: ResponseHead['headers'];
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
  const socket: UpgradableSocket = await connectReusingSocket(address, options);
  using limit = createUpgradeDeadline(address, options.clock);
  try {
    using either = anySignal(options.signal, limit.signal);
    return {
      socket,
      headers: await upgradedHeaders(socket, {address, headers}, {...options, signal: either.signal}),
    };
  } catch (error) {
    socket.on('error', () => undefined).destroy();
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

interface UpgradeRequest {
  readonly address: StreamingAddress;
  readonly headers: Readonly<Record<string, string>>;
}

/** Requests the upgrade, and returns the headers of the response. */
async function upgradedHeaders(
  socket: Duplex,
  {address, headers}: UpgradeRequest,
  {signal, tls}: DialOptions,
): Promise<ResponseHead['headers']> {
  const host = joinHostPort(address);
  const request = {
    method: 'POST',
    target: address.path,
    headers: {Host: host, 'Content-Length': '0', ...headers},
  } as const;
  try {
    const head = await exchangeHeads(socket, request, signal);
    if (head.status === 101) return head.headers;
    const body = await readBody(socket, head, {maxBytes: MAX_ERROR_CHARACTERS, signal});
    throw refusal(head.status, head.reason, body.toString());
  } catch (error) {
    if (error instanceof UpgradeRefusedError) throw error;
    throw openingError(`cannot open a stream at ${host}`, error, {secure: address.secure, tls});
  }
}

/** Reads an error response of another HTTP client. */
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
  return refusal(response.statusCode ?? 0, response.statusMessage ?? '', text);
}

function refusal(status: number, reason: string, text: string): UpgradeRefusedError {
  const message = printable(text).slice(0, 200) || printable(reason);
  return new UpgradeRefusedError(
    status,
    `the streaming server refused the session: ${status}${message === '' ? '' : `: ${message}`}`,
  );
}

/** Replaces control characters, so that the text is one line and cannot control a terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
}
