import {once} from 'node:events';
import {StreamingError} from '../../streaming/session/errors.js';
import {
  CRICTL_PORT_FORWARD_MESSAGES,
  crictlNotListeningText,
  nothingBoundText,
} from './crictl-port-forward-text.js';
import type {PortForwardStrategy} from './forward-ports.js';
import {checkCrictlClient} from '../sessions/crictl-streaming.js';

/** Port forwarding as in crictl: the first failed connection ends it. */
export const CRICTL_PORT_FORWARD: PortForwardStrategy = {
  messages: CRICTL_PORT_FORWARD_MESSAGES,
  parsesFirst: false,
  checkClient: (flags) => {
    checkCrictlClient(flags, {client: 'port forward: get dialer', spdyFiles: 'get SPDY round tripper: '});
  },
  waitForEnd: async ({signal}, {tunnel, connectionFailed}) => {
    await firstOf(signal, tunnel.lost, connectionFailed);
    throw new StreamingError('port forward: lost connection to pod');
  },
  reportUnbound: ({out}, bound) => {
    if (!bound.isComplete) out.stderr.write(`${crictlNotListeningText(bound)}\n`);
  },
  checkBound: (bound) => {
    throw new StreamingError(`port forward: ${nothingBoundText(bound)}`);
  },
};

/** Resolves with the first of several promises. Rejects with the signal's reason if the signal aborts first. */
async function firstOf(signal: AbortSignal, ...promises: readonly Promise<void>[]): Promise<void> {
  signal.throwIfAborted();
  const ended = new AbortController();
  const interrupted = once(signal, 'abort', {signal: ended.signal}).then(() => {
    signal.throwIfAborted();
  });
  try {
    await Promise.race([interrupted, ...promises]);
  } finally {
    ended.abort();
  }
}
