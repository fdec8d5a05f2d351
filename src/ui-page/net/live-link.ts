import type {LiveMessage} from '../../features/ui/protocol.js';
import {backOffMs} from '../model/back-off.js';
import type {Api} from './api.js';
import {RequestError} from './read-answer.js';
import {readLines} from './read-lines.js';
import {waitFor} from './waiting.js';

/** State of the connection to the server. */
export type LinkState =
  | {readonly kind: 'connecting'}
  | {readonly kind: 'connected'}
  | {readonly kind: 'waiting'; readonly reason: string; readonly retryAtMs: number}
  | {readonly kind: 'ended'; readonly reason: string};

/** What a link reports. */
export interface LinkListener {
  readonly onMessage: (message: LiveMessage) => void;
  readonly onState: (state: LinkState) => void;
}

/**
 * Time without a message after which a connection counts as lost, in ms: behind a tunnel, a lost one may never end. Samples
 * are at most half a minute apart, and those of a slow node take as long.
 */
const SILENCE_MS = 120_000;

/**
 * Reads live messages until the signal is aborted or the session has ended, and connects again after a pause when the
 * connection is lost.
 */
export async function followLive(api: Api, listener: LinkListener, signal: AbortSignal): Promise<void> {
  let failures = 0;
  listener.onState({kind: 'connecting'});
  for (;;) {
    const reason = await readOnce(api, listener, signal, () => {
      failures = 0;
    });
    if (signal.aborted) return;
    if (reason.status === 401) {
      listener.onState({kind: 'ended', reason: reason.message});
      return;
    }
    failures += 1;
    const pauseMs = backOffMs(failures);
    listener.onState({kind: 'waiting', reason: reason.message, retryAtMs: Date.now() + pauseMs});
    await pauseOrOnline(pauseMs, signal);
  }
}

/** Reads one stream to its end, and returns why it ended. */
async function readOnce(
  api: Api,
  {onMessage, onState}: LinkListener,
  signal: AbortSignal,
  onOpen: () => void,
): Promise<RequestError> {
  const silence = new AbortController();
  const expectMessage = (): ReturnType<typeof setTimeout> => setTimeout(() => silence.abort(), SILENCE_MS);
  let timer = expectMessage();
  try {
    for await (const line of readLines(await api.live(AbortSignal.any([signal, silence.signal])))) {
      clearTimeout(timer);
      timer = expectMessage();
      const message = JSON.parse(line) as LiveMessage;
      if (message.kind === 'state') {
        onOpen();
        onState({kind: 'connected'});
      }
      onMessage(message);
    }
    return new RequestError('the connection was closed', 0);
  } catch (error) {
    if (silence.signal.aborted) return new RequestError(`kcri sent nothing for ${SILENCE_MS / 1000} s`, 0);
    return error instanceof RequestError ? error : new RequestError('the connection was lost', 0);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits, or until the machine is online again. */
async function pauseOrOnline(ms: number, signal: AbortSignal): Promise<void> {
  await waitFor(signal, (done) => {
    const timer = setTimeout(done, ms);
    window.addEventListener('online', done);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('online', done);
    };
  });
}
