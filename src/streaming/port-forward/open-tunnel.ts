import {setMaxListeners} from 'node:events';
import {isSpdyUnsupported} from '../open-session.js';
import type {DialOptions, Transport} from '../session/session.js';
import {readTlsFiles} from '../socket/connect-socket.js';
import {SpdyTunnel} from './spdy-tunnel.js';
import type {PortForwardUrl, Tunnel} from './tunnel.js';

/**
 * Opens a tunnel to a pod. Over SPDY, the first connection is opened immediately; a WebSocket needs a port first.
 * Rejects with KcriError, or with the signal's reason.
 */
export async function openTunnel(
  url: PortForwardUrl,
  options: DialOptions & {readonly transport: Transport},
): Promise<Tunnel> {
  // Each connection attempt listens to the signal.
  setMaxListeners(0, options.signal);
  if (options.transport !== 'websocket') {
    const tunnel = new SpdyTunnel(url, options);
    try {
      await tunnel.probe();
      return tunnel;
    } catch (error) {
      if (options.transport === 'spdy' || !isSpdyUnsupported(error)) throw error;
    }
  }
  await readTlsFiles(options.tls);
  const {WebSocketTunnel} = await import('./websocket-tunnel.js');
  return new WebSocketTunnel(url, options);
}
