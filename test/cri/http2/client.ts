import {CriError} from '../../../src/cri/errors.js';
import {unaryTransport, type UnaryTransport} from '../../../src/cri/unary/unary-transport.js';
import {answer, ScriptedPeer, settingsFrame, type PeerConnection, type Request} from './scripted-peer.js';

export type Script = (peer: PeerConnection) => unknown;

interface CallOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly metadata?: Record<string, string>;
}

/** Takes in a message as it is. */
export function collector() {
  const pieces: Buffer[] = [];
  return {
    // What is pushed is lent.
    push: (piece: Buffer): void => void pieces.push(Buffer.from(piece)),
    get bytes(): Buffer {
      return Buffer.concat(pieces);
    },
    get text(): string {
      return this.bytes.toString();
    },
  };
}

/** A client of a scripted peer; both end together. */
export interface Client extends AsyncDisposable {
  readonly peer: ScriptedPeer;
  readonly transport: UnaryTransport;
  /** A call's answer. */
  call(message?: string | Buffer, options?: CallOptions): Promise<string>;
  /** What a call fails with. */
  failure(message?: string | Buffer, options?: CallOptions): Promise<CriError>;
}

/** A transport to a peer with scripts, one a connection. */
export async function against(
  open: (endpoint: string) => UnaryTransport,
  ...scripts: readonly Script[]
): Promise<Client> {
  const peer = await ScriptedPeer.start(...scripts);
  const transport = open(peer.endpoint);
  const call: Client['call'] = async (message = 'request', options = {}) => {
    const defaults = {signal: undefined, timeoutMs: 10_000};
    const answered = await transport.unary('/test.Service/Method', Buffer.from(message), collector, {
      ...defaults,
      ...options,
    });
    return answered.text;
  };
  return {
    peer,
    transport,
    call,
    failure: async (...args) => {
      const error: unknown = await call(...args).catch((thrown: unknown) => thrown);
      if (error instanceof CriError) return error;
      throw new Error(`no CriError: ${String(error)}`);
    },
    [Symbol.asyncDispose]: async () => {
      transport.close();
      await peer[Symbol.asyncDispose]();
    },
  };
}

/** Our own transport to a peer with scripts. */
export async function againstOurs(...scripts: readonly Script[]): Promise<Client> {
  return await against(unaryTransport, ...scripts);
}

/** Begins as a server does and answers each request with what is given. */
export const serve =
  (
    respond: (request: Request, peer: PeerConnection) => Buffer,
    ...settings: readonly (readonly [setting: number, value: number])[]
  ): Script =>
  async (peer) => {
    peer.send(settingsFrame(...settings));
    for (;;) peer.send(respond(await peer.request(), peer));
  };

/** Answers each request with its message. */
export const echo = serve(({streamId, body}) => answer(streamId, body.subarray(5)));
