import http from 'node:http';
import type {Socket} from 'node:net';
import type {SecureContext} from 'node:tls';
import {startTimer} from '../../base/async/timer.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../base/errors.js';
import {joinHostPort} from '../../base/net/join-host-port.js';
import {hostPortOf, openTcp, openTls, type HostPort} from './open-socket.js';
import {connectSocks5, type ProxyUser} from './socks5.js';

/** Time limit for the answer of a proxy, in ms. */
const PROXY_MS = 30_000;

/** TLS settings of the connection to an https proxy. */
export interface ProxyTls {
  readonly rejectUnauthorized: boolean;
  readonly context: () => Promise<SecureContext>;
}

/**
 * Opens a connection to the target through a proxy: with CONNECT for http and https, or with SOCKS5. Rejects with
 * SystemError, whose message names the proxy.
 */
export async function openTunnel(
  proxy: URL,
  target: HostPort,
  {rejectUnauthorized, context}: ProxyTls,
): Promise<Socket> {
  const at = proxyAddress(proxy);
  const fail = (error: unknown): never => {
    rethrowUnexpected(error);
    throw new SystemError(`proxy ${joinHostPort(at)}: ${messageOf(error)}`, {cause: error});
  };
  const plain = await openTcp(at).catch(fail);
  let cancelTimer = (): void => undefined;
  try {
    const socket =
      proxy.protocol === 'https:'
        ? await openTls(plain, {
            ...{host: at.host, rejectUnauthorized, context: await context(), protocols: ['http/1.1']},
          })
        : plain;
    cancelTimer = startTimer(PROXY_MS, () => {
      plain.destroy(new SystemError(`no answer within ${PROXY_MS / 1000} s`));
    });
    const user = userOf(proxy);
    if (proxy.protocol === 'socks5:') await connectSocks5(socket, target, user);
    else await connectHttp(socket, target, user);
    return socket;
  } catch (error) {
    plain.destroy();
    return fail(error);
  } finally {
    cancelTimer();
  }
}

function userOf({username, password}: URL): ProxyUser {
  try {
    return {name: decodeURIComponent(username), password: decodeURIComponent(password)};
  } catch (cause) {
    throw new SystemError('the user name or password in its URL has an invalid escape', {cause});
  }
}

const SOCKS_PORT = 1080;

function proxyAddress(proxy: URL): HostPort {
  const {host, port} = hostPortOf(proxy);
  return {host, port: proxy.protocol === 'socks5:' && proxy.port === '' ? SOCKS_PORT : port};
}

async function connectHttp(socket: Socket, target: HostPort, {name, password}: ProxyUser): Promise<void> {
  const path = joinHostPort(target);
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  const request = http.request({
    method: 'CONNECT',
    path,
    headers: {host: path, ...(name !== '' && {'proxy-authorization': authorization})},
    createConnection: () => socket,
  });
  await new Promise<void>((resolve, reject) => {
    request.once('error', reject);
    request.once('connect', ({statusCode = 0, statusMessage = ''}, _socket, head) => {
      if (statusCode !== 200) {
        reject(new SystemError(`answered CONNECT with ${statusCode} ${statusMessage}`.trimEnd()));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      resolve();
    });
    request.end();
  });
}
