import {randomBytes} from 'node:crypto';
import {request as httpsRequest, type RequestOptions} from 'node:https';
import type {Duplex} from 'node:stream';
import {text} from 'node:stream/consumers';

/** Client certificate of an API server. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A request to the kubelet's server as the recordings describe it. */
export interface ServerRequest {
  readonly method: string;
  /** Path with its query. */
  readonly target: string;
  /** Protocol to change to; empty for a plain request. */
  readonly upgrade: string;
  readonly offered: string;
  /** Data for the standard input of the container. */
  readonly input?: string | undefined;
}

/** Answer of the kubelet's server. */
export interface ServerAnswer {
  readonly code: number;
  /** Subprotocol that the server has chosen; empty without one. */
  readonly protocol: string;
  readonly body: string;
}

/** Sends a request as the API server does. Resolves at the end of the answer or of the session. */
export async function requestKubelet(
  url: string,
  {method, target, upgrade, offered, input}: ServerRequest,
  certificate: ClientCertificate,
): Promise<ServerAnswer> {
  const headers = upgrade === '' ? {} : upgradeHeaders(upgrade, offered);
  const options: RequestOptions = {...certificate, method, headers, rejectUnauthorized: false, agent: false};
  return await new Promise((resolve, reject) => {
    const request = httpsRequest(`${url}${target}`, options);
    request.on('error', reject);
    request.on('response', (response) => {
      text(response).then((body) => {
        resolve({code: response.statusCode ?? 0, protocol: '', body});
      }, reject);
    });
    request.on('upgrade', (response, socket) => {
      const protocol = response.headers['sec-websocket-protocol'] ?? '';
      runSession(socket, target, input).then(() => {
        resolve({code: response.statusCode ?? 0, protocol, body: ''});
      }, reject);
    });
    request.end();
  });
}

function upgradeHeaders(upgrade: string, offered: string): Readonly<Record<string, string>> {
  return {
    connection: 'Upgrade',
    upgrade,
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    'sec-websocket-protocol': offered,
  };
}

/** Sends the input and its end. Resolves when the server ends the session; that of a port forward ends at once. */
async function runSession(socket: Duplex, target: string, input: string | undefined): Promise<void> {
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.on('close', resolve));
  if (target.includes('input=1')) {
    if (input !== undefined) socket.write(frame(Buffer.from(`\0${input}`)));
    // Closes the channel of the standard input, in version 5 of the protocol.
    socket.write(frame(Buffer.from([255, 0])));
  }
  if (target.startsWith('/portForward')) socket.end();
  socket.resume();
  socket.on('end', () => socket.end());
  await closed;
}

/** Returns a binary frame of a client, whose mask is zero. */
function frame(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x82, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}
