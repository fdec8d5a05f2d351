import type {Duplex} from 'node:stream';
import {onAbort} from '../../base/async/abort-callbacks.js';
import {decodeResponseBody, parseResponseHead, type ResponseHead} from './http-response.js';

/** HTTP/1.1 request without a body. Its parts must not contain line breaks. */
export interface HeadRequest {
  readonly method: 'POST' | 'CONNECT';
  /** Path, or with CONNECT the address. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends a request and receives the head of its response. What follows it can be read from the socket, which is paused.
 * Rejects with the socket's error, with StreamingError if the response is not HTTP, or with the signal's reason.
 *
 * Not node:http: loading and using it for one request takes a seventh of the instructions that `exec` needs
 * beyond an empty script.
 */
export async function exchangeHeads(
  socket: Duplex,
  {method, target, headers}: HeadRequest,
  signal: AbortSignal,
): Promise<ResponseHead> {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${target} HTTP/1.1\r\n${fields.join('')}\r\n`);
  const received = await receive(socket, parseResponseHead, signal);
  if (received.value === undefined) throw connectionEnded();
  const {value, bytes} = received;
  if (bytes.length > value.length) socket.unshift(bytes.subarray(value.length));
  return value;
}

/** Reads the body after a head, at most about `maxBytes`, until its end, that of the connection, or the signal. */
export async function readBody(
  socket: Duplex,
  {headers}: ResponseHead,
  {maxBytes, signal}: {readonly maxBytes: number; readonly signal: AbortSignal},
): Promise<Buffer> {
  let content = Buffer.alloc(0);
  const untilEnd = (bytes: Buffer): true | undefined => {
    const body = decodeResponseBody(headers, bytes);
    content = Buffer.from(body.content.subarray(0, maxBytes));
    return body.isComplete || bytes.length > 2 * maxBytes ? true : undefined;
  };
  try {
    if (untilEnd(Buffer.alloc(0)) === undefined) await receive(socket, untilEnd, signal);
  } catch (error) {
    // A part of an error message is better than none.
    if (content.length === 0) throw error;
  }
  return content;
}

/** Result of `find`, undefined if the connection has ended before it had one, and all bytes received. */
interface Received<T> {
  readonly value: T | undefined;
  readonly bytes: Buffer;
}

/** Receives bytes until `find` returns a value for them, or the connection ends. Pauses the socket. */
async function receive<T extends object | true>(
  socket: Duplex,
  find: (bytes: Buffer) => T | undefined,
  signal: AbortSignal,
): Promise<Received<T>> {
  let bytes = Buffer.alloc(0);
  let stop = (): void => undefined;
  try {
    return await new Promise<Received<T>>((resolve, reject) => {
      const fail: (error: unknown) => void = reject;
      const onData = (chunk: Buffer): void => {
        try {
          bytes = Buffer.concat([bytes, chunk]);
          const value = find(bytes);
          if (value === undefined) return;
          // What arrives from now on stays in the socket.
          socket.off('data', onData).pause();
          resolve({value, bytes});
        } catch (error) {
          fail(error);
        }
      };
      const onEnd = (): void => {
        resolve({value: undefined, bytes});
      };
      const abort = (): void => {
        fail(signal.reason);
      };
      const forget = onAbort(signal, abort);
      stop = () => {
        socket.off('data', onData).off('error', fail).off('close', onEnd).off('end', onEnd);
        forget();
      };
      socket.on('data', onData).once('error', fail).once('close', onEnd).once('end', onEnd);
      if (signal.aborted) abort();
      socket.resume();
    });
  } finally {
    stop();
  }
}

/** Returns the error of Node.js for a connection that ends before a response. */
function connectionEnded(): Error {
  return Object.assign(new Error('socket hang up'), {code: 'ECONNRESET'});
}
