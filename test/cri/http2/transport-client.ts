import {CriError} from '../../../src/cri/errors.js';
import {unaryTransport, type UnaryTransport} from '../../../src/cri/unary/unary-transport.js';
import {answer, ScriptedPeer, settingsFrame, type PeerConnection, type Request} from './scripted-peer.js';

export type Script = (peer: PeerConnection) => unknown;

interface CallOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly metadata?: Record<string, string>;
}

/** Collects a message. */
export function collector() {
  const chunks: Buffer[] = [];
  return {
    // The chunk is only valid during the call.
    push: (chunk: Buffer): void => void chunks.push(Buffer.from(chunk)),
    get bytes(): Buffer {
      return Buffer.concat(chunks);
    },
    get text(): string {
      return this.bytes.toString();
    },
  };
}

/** A client of a scripted peer; disposing of it closes both. */
export interface Client extends AsyncDisposable {
  readonly peer: ScriptedPeer;
  readonly transport: UnaryTransport;
  /** Sends a message and returns the response. */
  call(message?: string | Buffer, options?: CallOptions): Promise<string>;
  /** Sends a message and returns the error. */
  failure(message?: string | Buffer, options?: CallOptions): Promise<CriError>;
}

/** Connects a transport to a peer with one script per connection. */
export async function against(
  open: (endpoint: string) => UnaryTransport,
  ...scripts: readonly Script[]
): Promise<Client> {
  const peer = await ScriptedPeer.start(...scripts);
  const transport = open(peer.endpoint);
  const call: Client['call'] = async (message = 'request', options = {}) => {
    const defaults = {signal: undefined, timeoutMs: 10_000};
    const response = await transport.unary('/test.Service/Method', Buffer.from(message), collector, {
      ...defaults,
      ...options,
    });
    return response.text;
  };
  return {
    peer,
    transport,
    call,
    failure: async (...args) => {
      const error: unknown = await call(...args).catch((thrown: unknown) => thrown);
      if (error instanceof CriError) return error;
      throw new Error(`not a CriError: ${String(error)}`);
    },
    [Symbol.asyncDispose]: async () => {
      transport.close();
      await peer[Symbol.asyncDispose]();
    },
  };
}

/** Connects kcri's own transport to a peer with scripts. */
export async function againstOurs(...scripts: readonly Script[]): Promise<Client> {
  return await against(unaryTransport, ...scripts);
}

/** Returns a script that sends the settings and responds to each request. */
export const serve =
  (
    respond: (request: Request, peer: PeerConnection) => Buffer,
    ...settings: readonly (readonly [setting: number, value: number])[]
  ): Script =>
  async (peer) => {
    peer.send(settingsFrame(...settings));
    for (;;) peer.send(respond(await peer.request(), peer));
  };

/** Responds to each request with its message. */
export const echo = serve(({streamId, body}) => answer(streamId, body.subarray(5)));
