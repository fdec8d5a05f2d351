import {connect} from 'node:net';
import {onAbort} from '../base/async/abort-callbacks.js';
import {anySignal} from '../base/async/any-signal.js';
import {createDeadline} from '../base/async/deadline.js';
import type {Clock} from '../base/clock.js';

/** Start of every HTTP/2 connection: the client's preface and empty settings (RFC 9113, section 3.4). */
const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0),
]);
/** Time for a server to answer, in ms. */
const ANSWER_TIMEOUT_MS = 5000;

/**
 * Reports whether a gRPC server answers behind a forwarded socket. ssh accepts every connection itself, and closes it
 * if nothing listens on the node.
 */
export async function probeListener(path: string, clock: Clock, signal: AbortSignal): Promise<boolean> {
  using limit = createDeadline(clock, ANSWER_TIMEOUT_MS);
  using either = anySignal(signal, limit.signal);
  const stopped = either.signal;
  return await new Promise((resolve) => {
    const socket = connect(path);
    const finish = (answered: boolean): void => {
      forget();
      socket.destroy();
      resolve(answered);
    };
    const stop = (): void => {
      finish(false);
    };
    const forget = onAbort(stopped, stop);
    socket.once('data', () => {
      finish(true);
    });
    socket.once('error', stop).once('close', stop);
    socket.write(PREFACE);
  });
}
