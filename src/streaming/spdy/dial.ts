import type {StreamingAddress} from '../address.js';
import {StreamingError} from '../errors.js';
import type {DialOptions} from '../session.js';
import {upgrade} from '../upgrade.js';
import {SpdyConnection} from './connection.js';

const VERSION_HEADER = 'x-stream-protocol-version';

/** A SPDY connection, and which of the protocols that were offered is spoken over it. */
export interface Dialled {
  readonly connection: SpdyConnection;
  readonly protocol: string;
}

/**
 * Opens a SPDY connection for a session, offering protocols in the order of preference. Rejects with
 * UpgradeRefusedError when the server takes none of them, with StreamingError when it can't be reached, or with
 * the signal's reason.
 */
export async function dialSpdy(
  address: StreamingAddress,
  protocols: readonly string[],
  options: DialOptions,
): Promise<Dialled> {
  const {socket, headers} = await upgrade(
    address,
    {
      Connection: 'Upgrade',
      Upgrade: 'SPDY/3.1',
      'X-Stream-Protocol-Version': protocols.join(', '),
    },
    options,
  );
  const chosen = String(headers[VERSION_HEADER] ?? '');
  if (!protocols.includes(chosen)) {
    socket.destroy();
    throw new StreamingError(`the streaming server chose the protocol "${chosen}", which was not offered`);
  }
  socket.setNoDelay(true);
  return {connection: new SpdyConnection(socket), protocol: chosen};
}
