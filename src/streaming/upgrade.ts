import {request, type ClientRequest, type IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import type {Clock} from '../base/clock.js';
import {timeLimit, type TimeLimit} from '../base/time-limit.js';
import {authority, type StreamingAddress} from './address.js';
import {cancellable, connectSocket} from './connect-socket.js';
import {StreamingError, UpgradeRefusedError} from './errors.js';
import {ReusingSocket} from './reusing-socket.js';
import type {DialOptions} from './session.js';

/** Asked for a session, a streaming server answers at once. */
const ANSWER_LIMIT_MS = 30_000;
/** More of a refusal than this nobody reads. */
const MAX_REFUSAL = 4096;

/** A socket that speaks another protocol from now on, and what the server answered. */
export interface Upgraded {
  readonly socket: Socket;
  readonly headers: IncomingMessage['headers'];
}

/**
 * Connects to a streaming server and asks it to go over to another protocol. Rejects with UpgradeRefusedError
 * when it answers anything else, with StreamingError when it doesn't, or with the signal's reason.
 */
export async function upgrade(
  address: StreamingAddress,
  headers: Readonly<Record<string, string>>,
  options: DialOptions,
): Promise<Upgraded> {
  const socket = await connectSocket(address, options, () => new ReusingSocket());
  using limit = answerLimit(address, options.clock);
  const asked = request({
    createConnection: () => socket,
    method: 'POST',
    path: address.path,
    headers: {Host: authority(address), 'Content-Length': '0', ...headers},
  });
  try {
    const signal = AbortSignal.any([options.signal, limit.signal]);
    return await cancellable(answer(asked, address), asked, signal);
  } catch (error) {
    socket.destroy();
    options.signal.throwIfAborted();
    // A refusal that doesn't come to its end is one all the same.
    if (!(error instanceof UpgradeRefusedError)) limit.signal.throwIfAborted();
    throw error;
  }
}

/** How long a server may take to agree or to refuse. */
export function answerLimit(address: StreamingAddress, clock: Clock): TimeLimit {
  return timeLimit(
    clock,
    ANSWER_LIMIT_MS,
    () => new StreamingError(`opening a stream at ${authority(address)}: no answer`),
  );
}

async function answer(asked: ClientRequest, address: StreamingAddress): Promise<Upgraded> {
  return await new Promise((resolve, reject) => {
    asked.once('error', (cause) => {
      reject(new StreamingError(`opening a stream at ${authority(address)}: ${cause.message}`, {cause}));
    });
    asked.once('upgrade', (response, socket: Socket, head: Buffer) => {
      if (head.length > 0) socket.unshift(head);
      resolve({socket, headers: response.headers});
    });
    asked.once('response', (response) => void refusal(response).then(reject, reject));
    asked.end();
  });
}

/** What an answer other than 101 says. */
export async function refusal(response: IncomingMessage): Promise<UpgradeRefusedError> {
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += String(chunk);
      if (text.length > MAX_REFUSAL) break;
    }
  } catch (error) {
    text ||= String(error);
  }
  const {statusCode = 0, statusMessage = ''} = response;
  const said = printable(text).slice(0, 200) || printable(statusMessage);
  return new UpgradeRefusedError(
    statusCode,
    `the streaming server refused the session: ${statusCode}${said === '' ? '' : `: ${said}`}`,
  );
}

/** One line that can't move a terminal's cursor. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
}
