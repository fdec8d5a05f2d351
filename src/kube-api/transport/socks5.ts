import {isIPv4, isIPv6, type Socket} from 'node:net';
import {SystemError} from '../../base/errors.js';
import type {HostPort} from './open-socket.js';

/** User of a proxy; the name is empty without one. */
export interface ProxyUser {
  readonly name: string;
  readonly password: string;
}

const VERSION = 5;
const METHOD = {none: 0, password: 2} as const;
const ADDRESS = {ipv4: 1, name: 3, ipv6: 4} as const;
const CONNECT = 1;

/** Meaning of the replies of a SOCKS5 server (RFC 1928, section 6). */
const REPLIES: readonly string[] = [
  'succeeded',
  'general SOCKS server failure',
  'connection not allowed by ruleset',
  'network unreachable',
  'host unreachable',
  'connection refused',
  'TTL expired',
  'command not supported',
  'address type not supported',
];

/**
 * Asks a SOCKS5 server to connect to the target (RFC 1928; RFC 1929 for the user). The server resolves the name. Rejects with
 * SystemError, and with the error of the socket.
 */
export async function connectSocks5(socket: Socket, target: HostPort, user: ProxyUser): Promise<void> {
  const methods = user.name === '' ? [METHOD.none] : [METHOD.none, METHOD.password];
  socket.write(Buffer.from([VERSION, methods.length, ...methods]));
  const [version, method] = await readBytes(socket, 2);
  if (version !== VERSION) throw new SystemError('is not a SOCKS5 server');
  if (method === METHOD.password) await authenticate(socket, user);
  else if (method !== METHOD.none)
    throw new SystemError('accepts no authentication method that is available');
  const port = Buffer.alloc(2);
  port.writeUInt16BE(target.port);
  socket.write(Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), encodeHost(target.host), port]));
  const [, reply = 1, , type] = await readBytes(socket, 4);
  if (reply !== 0) throw new SystemError(`cannot connect: ${REPLIES[reply] ?? `reply ${reply}`}`);
  await readBytes(socket, (await boundAddressLength(socket, type)) + 2);
}

async function authenticate(socket: Socket, {name, password}: ProxyUser): Promise<void> {
  const fields = [name, password].map((text) => Buffer.from(text));
  if (fields.some(({length}) => length > 255))
    throw new SystemError('the user name or password has more than 255 bytes');
  socket.write(
    Buffer.concat([Buffer.from([1]), ...fields.flatMap((field) => [Buffer.from([field.length]), field])]),
  );
  const [, status] = await readBytes(socket, 2);
  if (status !== 0) throw new SystemError('rejected the user name or password');
}

function encodeHost(host: string): Buffer {
  if (isIPv4(host)) return Buffer.from([ADDRESS.ipv4, ...host.split('.').map(Number)]);
  if (isIPv6(host)) return Buffer.from([ADDRESS.ipv6, ...ipv6Bytes(host)]);
  const name = Buffer.from(host);
  return Buffer.concat([Buffer.from([ADDRESS.name, name.length]), name]);
}

/** Returns the bytes of an IPv6 address, which may have `::` and end with an IPv4 address. */
function ipv6Bytes(address: string): readonly number[] {
  const words = (text = ''): readonly number[] =>
    text.split(':').flatMap((part) => {
      if (part === '') return [];
      if (isIPv4(part)) return part.split('.').map(Number);
      const word = Number.parseInt(part, 16);
      return [word >> 8, word & 0xff];
    });
  const [before, after] = address.split('::').map(words);
  const [head, tail] = [before ?? [], after ?? []];
  return [...head, ...Array<number>(16 - head.length - tail.length).fill(0), ...tail];
}

/** Resolves with the length of the address in a reply, after its length byte if it is a name. */
async function boundAddressLength(socket: Socket, type: number | undefined): Promise<number> {
  if (type === ADDRESS.ipv4) return 4;
  if (type === ADDRESS.ipv6) return 16;
  if (type !== ADDRESS.name) throw new SystemError('sent an invalid reply');
  const [length = 0] = await readBytes(socket, 1);
  return length;
}

/** Resolves with the next bytes, and leaves later ones in the socket. Rejects if it ends or fails before. */
async function readBytes(socket: Socket, count: number): Promise<Buffer> {
  return await new Promise<Buffer>((resolve, reject) => {
    const settle = (): void => {
      socket.off('readable', read).off('error', fail).off('close', close);
    };
    const read = (): void => {
      const bytes = socket.read(count) as Buffer | null;
      if (bytes === null) return;
      settle();
      if (bytes.length === count) resolve(bytes);
      else reject(new SystemError('closed the connection'));
    };
    const fail = (error: Error): void => {
      settle();
      reject(error);
    };
    const close = (): void => {
      fail(new SystemError('closed the connection'));
    };
    socket.on('readable', read).on('error', fail).on('close', close);
    read();
  });
}
