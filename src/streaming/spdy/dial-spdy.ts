import type {StreamingAddress} from '../session/streaming-address.js';
import {StreamingError} from '../session/errors.js';
import type {DialOptions} from '../session/session.js';
import {upgrade} from '../socket/upgrade.js';
import {SpdyConnection} from './spdy-connection.js';

const VERSION_HEADER = 'x-stream-protocol-version';

/** SPDY connection and the negotiated protocol. */
export interface SpdyDialResult {
  readonly connection: SpdyConnection;
  readonly protocol: string;
}

/**
 * Opens a SPDY connection for a session and offers protocols in order of preference. Rejects with UpgradeRefusedError
 * if the server accepts none, with StreamingError if it is unreachable, or with the signal's reason.
 */
export async function dialSpdy(
  address: StreamingAddress,
  protocols: readonly string[],
  options: DialOptions,
): Promise<SpdyDialResult> {
  const {socket, headers} = await upgrade(
    address,
    {
      Connection: 'Upgrade',
      Upgrade: 'SPDY/3.1',
      'X-Stream-Protocol-Version': protocols.join(', '),
    },
    options,
  );
  const chosen = headers.get(VERSION_HEADER) ?? '';
  if (!protocols.includes(chosen)) {
    socket.destroy();
    throw new StreamingError(`the streaming server chose the protocol "${chosen}", which was not offered`);
  }
  socket.setNoDelay(true);
  return {connection: new SpdyConnection(socket), protocol: chosen};
}
