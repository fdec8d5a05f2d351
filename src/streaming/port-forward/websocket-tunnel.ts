import {streamingAddress} from '../address.js';
import {boundedText} from '../bounded-text.js';
import type {DialOptions} from '../session.js';
import {dialChannels, V4_CHANNELS, type Channels} from '../websocket-channels.js';
import type {FarEnd, FarFailure, PortForwardUrl, Tunnel} from './tunnel.js';

/** The channels of the first port, which is the only one here. */
const CHANNEL = {data: 0, error: 1} as const;
/** What containerd gives the other direction when one has ended. */
const QUIET_MS = 1000;

/**
 * Port-forward over WebSocket: a connection for each that is forwarded. Its protocol can't tell of the end of
 * one direction: what the local side sends last is followed by nothing.
 */
export class WebSocketTunnel implements Tunnel {
  /** Never: nothing is open that nobody uses. */
  readonly lost = new Promise<never>(() => undefined);
  readonly #url: PortForwardUrl;
  readonly #options: DialOptions;
  readonly #open = new Set<Channels>();

  constructor(url: PortForwardUrl, options: DialOptions) {
    this.#url = url;
    this.#options = options;
  }

  async connect(port: number): Promise<FarEnd> {
    const address = streamingAddress(await this.#url([port]));
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
      // Rejects when the connection has ended by itself.
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

  /** The local side has sent its last, which the server can't be told: then what it says for a while is all. */
  async #closeWhenQuiet(channels: Channels, signal: AbortSignal): Promise<void> {
    const data = channels.channel(CHANNEL.data);
    for (let seen = -1; seen !== data.bytesReceived;) {
      seen = data.bytesReceived;
      await this.#options.clock.sleep(QUIET_MS, signal);
    }
    channels.close();
  }

  close(): void {
    for (const channels of this.#open) channels.close();
  }
}

/** The server ends the connection without a word when the pod has ended its own. */
async function failureOf(channels: Channels): Promise<FarFailure | undefined> {
  const message = await boundedText(channels.channel(CHANNEL.error));
  return message === '' ? undefined : {kind: 'refused', message};
}
