import {isIPv6} from 'node:net';
import {ConfigError} from '../base/errors.js';

/** Node to reach through ssh, and the socket of its runtime. */
export interface SshEndpoint {
  readonly user: string | undefined;
  /** Host name, IP address without brackets, or alias of ssh's configuration. */
  readonly host: string;
  readonly port: number | undefined;
  /** Path of the socket on the node; undefined to search the well-known ones. */
  readonly socketPath: string | undefined;
}

const FORM = 'ssh://[user@]host[:port][/path/to/socket]';
const PARTS = /^ssh:\/\/(?:([^@/]*)@)?(\[[^\]/]*\]|[^:/@[\]]*)(?::([^/]*))?(\/.*)?$/s;
/** Without leading "-", which ssh would read as an option, and without characters that ssh or a shell interprets. */
const USER = /^\w[\w.+-]*\$?$/;
const HOST = /^\w[\w.-]*$/;
const ZONED_IPV6 = /^([\da-f:.]+)(%[\w.-]+)?$/i;
/** ssh splits forwardings at ":" and expands "%" and "$" in paths. */
const SOCKET_PATH = /^\/[\w.@+,=~/-]*$/;

/** Parses an endpoint `ssh://[user@]host[:port][/path]`. Throws ConfigError, which never contains a password. */
export function parseSshEndpoint(endpoint: string): SshEndpoint {
  const [, user, bracketed = '', port, path] = PARTS.exec(endpoint) ?? [];
  if (/^ssh:\/\/[^/]*:[^/]*@/.test(endpoint))
    throw new ConfigError('the ssh endpoint must not contain a password', {
      hint: 'use a key, an agent, or let ssh ask for the password',
    });
  const host = bracketed.replace(/^\[(.*)\]$/s, '$1');
  const checks = [
    {part: 'host', isValid: host === bracketed ? isSafeHost(host) : isIpv6(host)},
    {part: 'user', isValid: user === undefined || USER.test(user)},
    {part: 'port', isValid: port === undefined || isPort(port)},
    {part: 'socket path', isValid: path === undefined || SOCKET_PATH.test(path)},
  ];
  const wrong = checks.find(({isValid}) => !isValid);
  if (wrong !== undefined)
    throw new ConfigError(`the endpoint ${JSON.stringify(endpoint)} has an invalid ${wrong.part}`, {
      hint: `use ${FORM}, with a path of letters, digits and . _ - / @ + , = ~`,
    });
  return {
    user,
    host,
    port: port === undefined ? undefined : Number(port),
    socketPath: path === '/' ? undefined : path,
  };
}

/** Formats an endpoint as a URL. */
export function formatSshEndpoint({user, host, port, socketPath}: SshEndpoint): string {
  const login = user === undefined ? '' : `${user}@`;
  const address = host.includes(':') ? `[${host}]` : host;
  return `ssh://${login}${address}${port === undefined ? '' : `:${port}`}${socketPath ?? ''}`;
}

/** Reports whether ssh takes the text as a host name or IP address and nothing else. */
export function isSafeHost(host: string): boolean {
  return HOST.test(host) || isIpv6(host);
}

function isIpv6(host: string): boolean {
  return isIPv6(ZONED_IPV6.exec(host)?.[1] ?? '');
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}
