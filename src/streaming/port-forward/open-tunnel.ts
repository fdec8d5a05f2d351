import {setMaxListeners} from 'node:events';
import {takesNoSpdy} from '../open-session.js';
import type {DialOptions, Transport} from '../session.js';
import {SpdyTunnel} from './spdy-tunnel.js';
import type {PortForwardUrl, Tunnel} from './tunnel.js';

/**
 * Opens a way into a pod. Over SPDY a first connection is made at once; over WebSocket there is nothing to
 * connect to before there is a port to. Rejects with KcriError, or with the signal's reason.
 */
export async function openTunnel(
  url: PortForwardUrl,
  options: DialOptions & {readonly transport: Transport},
): Promise<Tunnel> {
  // Each connection that is being made listens to it.
  setMaxListeners(0, options.signal);
  if (options.transport !== 'websocket') {
    const tunnel = new SpdyTunnel(url, options);
    try {
      await tunnel.probe();
      return tunnel;
    } catch (error) {
      if (options.transport === 'spdy' || !takesNoSpdy(error)) throw error;
    }
  }
  const {WebSocketTunnel} = await import('./websocket-tunnel.js');
  return new WebSocketTunnel(url, options);
}
