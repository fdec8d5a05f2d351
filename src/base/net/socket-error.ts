/** Peer of a connection: a path, or an IP address with a port. */
export interface SocketPeer {
  readonly address?: string | undefined;
  readonly port?: number;
}

/** Returns the error that node:net reports for a failed system call. `status` is its negated error number. */
export function socketError(syscall: string, status: number, peer: SocketPeer = {}): Error {
  const code = process.getBuiltinModule('node:util').getSystemErrorName(status);
  const {address, port} = peer;
  const place = address === undefined ? '' : ` ${address}${port === undefined ? '' : `:${port}`}`;
  return Object.assign(new Error(`${syscall} ${code}${place}`), {errno: status, code, syscall, ...peer});
}
