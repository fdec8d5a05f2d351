/** Returns `host:port`, with an IPv6 address in brackets, as in URLs and Host headers (net.JoinHostPort). */
export function joinHostPort({host, port}: {readonly host: string; readonly port: number}): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
