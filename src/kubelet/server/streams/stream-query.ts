import {goQuote} from '../../../format/go-quote.js';
import {HttpError, type KubeletRequest} from '../kubelet-response.js';

/** Streams of a process that a client requests. */
export interface StreamQuery {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** Parses the query of exec or attach. Throws HttpError 400 with the kubelet's message (remotecommand.NewOptions). */
export function parseStreamQuery(query: URLSearchParams): StreamQuery {
  const [stdin, stdout, stderr, tty] = ['input', 'output', 'error', 'tty'].map(
    (name) => query.get(name) === '1',
  ) as [boolean, boolean, boolean, boolean];
  // A TTY has a single output stream.
  const streams = {stdin, stdout, stderr: stderr && !tty, tty};
  if (streams.stdin || streams.stdout || streams.stderr) return streams;
  throw new HttpError(400, 'you must specify at least 1 of stdin, stdout, stderr');
}

const MAX_PORT = 65_535;

/**
 * Parses the ports of a port-forward over WebSocket; with SPDY, each stream has its own port, and the result is empty.
 * Throws HttpError 400 with the kubelet's message (portforward.NewV4Options).
 */
export function parsePortQuery({query, raw, canUpgrade}: KubeletRequest): readonly number[] {
  if (!canUpgrade || raw.headers.upgrade?.toLowerCase() !== 'websocket') return [];
  const lists = query.getAll('port');
  if (lists.length === 0) throw new HttpError(400, 'query parameter "port" is required');
  return lists.flatMap((list) => {
    if (list === '') throw new HttpError(400, 'query parameter "port" cannot be empty');
    return list.split(',').map((text) => parsePort(text, list));
  });
}

function parsePort(text: string, list: string): number {
  const isNumber = /^\d+$/.test(text);
  const port = Number(text);
  if (!isNumber || port > MAX_PORT) {
    const reason = isNumber ? 'value out of range' : 'invalid syntax';
    throw new HttpError(
      400,
      `unable to parse ${goQuote(list)} as a port: strconv.ParseUint: parsing ${goQuote(text)}: ${reason}`,
    );
  }
  if (port === 0) throw new HttpError(400, `port ${goQuote(list)} must be > 0`);
  return port;
}
