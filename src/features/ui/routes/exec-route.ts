import {Writable} from 'node:stream';
import type {RawData, WebSocket} from 'ws';
import {anySignal} from '../../../base/async/any-signal.js';
import {KcriError} from '../../../base/errors.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {acceptWebSocket} from '../../../http-server/accept-websocket.js';
import type {RemoteSession, TerminalSize} from '../../../streaming/session/session.js';
import {itemPlace} from '../../top/model/top-item.js';
import type {TerminalMessage} from '../protocol.js';
import {TERMINAL_PROTOCOL} from '../server/ui-app.js';
import type {UiRequest, UiRoute} from '../server/ui-request.js';
import {requireAllowed, type ChangeRouteOptions} from './change-routes.js';
import {actionTarget, findTarget} from './find-target.js';

const NORMAL_CLOSURE = 1000;
const MAX_CELLS = 1000;

/** Returns the route of terminals in containers. */
export function execRoute({
  feed,
  allowed,
  report,
  safe,
}: ChangeRouteOptions & {readonly safe: (text: string) => string}): UiRoute {
  return {
    method: 'GET',
    path: '/api/exec',
    isUpgrade: true,
    handle: async (request) => {
      requireAllowed(allowed, 'exec');
      const target = await findTarget(feed, request.query.get('key'));
      const start = await actionTarget(target);
      return {
        kind: 'upgrade',
        serve: async (socket, head) => {
          const client = await acceptWebSocket(request.raw, {socket, head}, TERMINAL_PROTOCOL);
          if (client === undefined) return;
          report(`kcri: terminal in ${itemPlace(target.item)}, as the page asked`);
          // Nothing of what the client sends is lost while the session is opened.
          client.pause();
          try {
            await serveTerminal(client, request, async (signal) => {
              const command = request.query.getAll('command');
              return await target.actions.startTerminal(start, {command, signal});
            });
          } catch (error) {
            if (!(error instanceof KcriError)) throw error;
            end(client, {kind: 'end', error: safe(error.plainMessage)});
          } finally {
            client.close(NORMAL_CLOSURE);
          }
        },
      };
    },
  };
}

/** Connects a client with a session until one of them ends. Rejects with KcriError. */
async function serveTerminal(
  client: WebSocket,
  {query, signal}: UiRequest,
  open: (signal: AbortSignal) => Promise<RemoteSession>,
): Promise<void> {
  const closed = new AbortController();
  client.once('close', () => {
    closed.abort();
  });
  using either = anySignal(signal, closed.signal);
  const session = await open(either.signal).catch((error: unknown) => {
    if (either.signal.aborted) return undefined;
    throw error;
  });
  if (session === undefined) return;
  const disconnect = (): void => {
    session.close();
  };
  either.signal.addEventListener('abort', disconnect, {once: true});
  if (either.signal.aborted) disconnect();
  const size = parseSize({columns: Number(query.get('columns')), rows: Number(query.get('rows'))});
  if (size !== undefined) session.resize(size);
  client.on('message', (message, isBinary) => {
    receive(client, session, message, isBinary);
  });
  client.resume();
  try {
    await session.stdout?.pipeTo(outputOf(client));
    const result = await session.result;
    if (result.kind === 'exited') end(client, {kind: 'end', exitCode: result.exitCode});
    else end(client, {kind: 'end', error: result.message});
  } catch (error) {
    if (!either.signal.aborted) throw error;
  } finally {
    session.close();
  }
}

/** Forwards input, and applies a resize. What is neither is ignored. */
function receive(client: WebSocket, session: RemoteSession, message: RawData, isBinary: boolean): void {
  // Always a Buffer, since binaryType is nodebuffer, the default.
  const data = message as Buffer;
  if (!isBinary) {
    const size = parseSize(parseJsonObject(data.toString()));
    if (size !== undefined) session.resize(size);
    return;
  }
  const {stdin} = session;
  if (stdin === undefined || stdin.writableEnded || stdin.destroyed || stdin.write(data)) return;
  client.pause();
  stdin.once('drain', () => {
    client.resume();
  });
}

function parseSize({columns, rows}: Readonly<Record<string, unknown>>): TerminalSize | undefined {
  return isCellCount(columns) && isCellCount(rows) ? {columns, rows} : undefined;
}

function isCellCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= MAX_CELLS;
}

/** Returns a stream that sends output as fast as the client takes it; output for a closed connection is discarded. */
function outputOf(client: WebSocket): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      client.send(chunk, () => {
        done();
      });
    },
  });
}

function end(client: WebSocket, message: TerminalMessage): void {
  client.send(JSON.stringify(message), () => undefined);
}
