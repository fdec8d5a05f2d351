import {parseStreamingAddress} from '../session/streaming-address.js';
import {readBoundedText} from '../session/read-bounded-text.js';
import type {DialOptions} from '../session/session.js';
import {dialChannels, V4_CHANNELS, type Channels} from '../websocket/websocket-channels.js';
import type {RemoteEnd, RemoteFailure, PortForwardUrl, Tunnel} from './tunnel.js';

/** Channels of the first port, the only one used. */
const CHANNEL = {data: 0, error: 1} as const;
/** Time without data after which the other direction counts as ended, in ms; as in containerd. */
const QUIET_MS = 1000;

/**
 * Tunnel over WebSocket with one connection per forwarded connection. The protocol has no half-close, so the end of the
 * local side's data is not sent.
 */
export class WebSocketTunnel implements Tunnel {
  /** Promise that never resolves, because no idle connections are open. */
  readonly lost = new Promise<never>(() => undefined);
  readonly #url: PortForwardUrl;
  readonly #options: DialOptions;
  readonly #open = new Set<Channels>();

  constructor(url: PortForwardUrl, options: DialOptions) {
    this.#url = url;
    this.#options = options;
  }

  async connect(port: number): Promise<RemoteEnd> {
    const address = parseStreamingAddress(await this.#url([port]));
    const request = {protocols: [V4_CHANNELS], channels: Object.values(CHANNEL), greeted: true};
    const channels = await dialChannels(address, request, this.#options);
    this.#open.add(channels);
    const ended = new AbortController();
    const done = failureOf(channels).finally(() => {
      ended.abort();
      this.#open.delete(channels);
    });
    const data = channels.channel(CHANNEL.data);
    data.once('finish', () => {
      // Rejects when the connection has ended.
      this.#closeWhenQuiet(channels, ended.signal).catch(() => undefined);
    });
    return {
      data,
      done,
      close: () => {
        channels.close();
      },
    };
  }

  /**
   * Closes the connection after the local side has ended and the server has sent nothing for QUIET_MS: the protocol
   * cannot signal the end.
   */
  async #closeWhenQuiet(channels: Channels, signal: AbortSignal): Promise<void> {
    const data = channels.channel(CHANNEL.data);
    for (let received = -1; received !== data.bytesReceived;) {
      received = data.bytesReceived;
      await this.#options.clock.sleep(QUIET_MS, signal);
    }
    channels.close();
  }

  close(): void {
    for (const channels of this.#open) channels.close();
  }
}

/** Returns the failure of a connection. The server closes it without a message when the pod has closed its end. */
async function failureOf(channels: Channels): Promise<RemoteFailure | undefined> {
  const message = await readBoundedText(channels.channel(CHANNEL.error));
  return message === '' ? undefined : {kind: 'refused', message};
}
