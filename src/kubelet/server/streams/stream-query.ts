import type {IncomingHttpHeaders} from 'node:http';
import {goQuote} from '../../../format/go-quote.js';
import {HttpError} from '../answer.js';

/** Which of a process's streams a client wants. */
export interface StreamQuery {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** Of a query to exec or attach. Throws HttpError 400 in the kubelet's words (remotecommand.NewOptions). */
export function streamQuery(query: URLSearchParams): StreamQuery {
  const [stdin, stdout, stderr, tty] = ['input', 'output', 'error', 'tty'].map(
    (name) => query.get(name) === '1',
  ) as [boolean, boolean, boolean, boolean];
  // A terminal has one output.
  const asked = {stdin, stdout, stderr: stderr && !tty, tty};
  if (asked.stdin || asked.stdout || asked.stderr) return asked;
  throw new HttpError(400, 'you must specify at least 1 of stdin, stdout, stderr');
}

const MAX_PORT = 65_535;

/** Which ports a WebSocket carries; with SPDY each stream says its own. Throws HttpError 400 (portforward.NewV4Options). */
export function portQuery(query: URLSearchParams, headers: IncomingHttpHeaders): readonly number[] {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return [];
  const texts = query.getAll('port').flatMap((list) => list.split(','));
  if (texts.length === 0) throw new HttpError(400, 'query parameter "port" is required');
  return texts.map((text) => {
    const port = Number(text);
    if (!/^\d+$/.test(text) || port > MAX_PORT)
      throw new HttpError(400, `unable to parse ${goQuote(text)} as a port`);
    if (port === 0) throw new HttpError(400, `port ${goQuote(text)} must be > 0`);
    return port;
  });
}
