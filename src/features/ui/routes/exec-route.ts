import type {WebSocket} from 'ws';
import {onAbort} from '../../../base/async/abort-callbacks.js';
import {anySignal} from '../../../base/async/any-signal.js';
import type {Clock} from '../../../base/clock.js';
import {KcriError} from '../../../base/errors.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {acceptWebSocket} from '../../../http-server/accept-websocket.js';
import type {RemoteSession, TerminalSize} from '../../../streaming/session/session.js';
import {itemPlace} from '../../top/model/top-item.js';
import type {TerminalMessage} from '../protocol.js';
import {TERMINAL_PROTOCOL} from '../server/ui-app.js';
import type {UiRequest, UiRoute} from '../server/ui-request.js';
import {requireAllowed, type ChangeRouteOptions} from './change-routes.js';
import {RequestError} from '../server/request-error.js';
import {actionTarget, findTarget} from './find-target.js';
import {TerminalInput, TerminalOutput} from './terminal-streams.js';

const NORMAL_CLOSURE = 1000;
const MAX_CELLS = 1000;

/** Dependencies of the route of terminals. */
export interface ExecRouteOptions extends ChangeRouteOptions {
  /** Removes secrets and control characters from a message. */
  readonly safe: (text: string) => string;
  readonly clock: Clock;
}

/** Returns the route of terminals in containers. */
export function execRoute(options: ExecRouteOptions): UiRoute {
  return {
    method: 'GET',
    path: '/api/exec',
    isUpgrade: true,
    handle: async (request) => {
      requireAllowed(options.allowed, 'exec');
      return await Promise.resolve({
        kind: 'upgrade',
        serve: async (socket, head) => {
          const client = await acceptWebSocket(request.raw, {socket, head}, TERMINAL_PROTOCOL);
          if (client !== undefined) await serveClient(client, request, options);
        },
      });
    },
  };
}

/** Opens a terminal for a client. Browsers show the reason of a failure only if the connection was accepted. */
async function serveClient(client: WebSocket, request: UiRequest, options: ExecRouteOptions): Promise<void> {
  const {feed, report, safe} = options;
  // Nothing of what the client sends is lost while the session is opened.
  client.pause();
  try {
    const target = await findTarget(feed, request.query.get('key'));
    const start = await actionTarget(target);
    report(`kcri: terminal in ${itemPlace(target.item)}, as the page asked`);
    await serveTerminal(client, request, {
      ...options,
      open: async (signal) => await target.actions.startTerminal(start, signal),
    });
  } catch (error) {
    if (error instanceof RequestError) end(client, {kind: 'end', error: error.message});
    else if (error instanceof KcriError) end(client, {kind: 'end', error: safe(error.plainMessage)});
    else throw error;
  } finally {
    // The answer to the end is read.
    client.resume();
    client.close(NORMAL_CLOSURE);
  }
}

/** Options of a terminal. */
interface TerminalOptions extends Pick<ExecRouteOptions, 'safe' | 'clock'> {
  readonly open: (signal: AbortSignal) => Promise<RemoteSession>;
}

/** Connects a client with a session until one of them ends. Rejects with KcriError. */
async function serveTerminal(
  client: WebSocket,
  {query, signal}: UiRequest,
  {open, safe, clock}: TerminalOptions,
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
  onAbort(either.signal, disconnect);
  if (either.signal.aborted) disconnect();
  const size = parseSize({columns: Number(query.get('columns')), rows: Number(query.get('rows'))});
  if (size !== undefined) session.resize(size);
  const input = new TerminalInput(client, session.stdin, {clock, closed: either.signal});
  const output = new TerminalOutput(client, either.signal);
  client.on('message', (message, isBinary) => {
    // Always a Buffer, since binaryType is nodebuffer, the default.
    const data = message as Buffer;
    if (isBinary) input.write(data);
    else receive(data.toString(), session, output);
  });
  client.resume();
  try {
    await session.stdout?.pipeTo(output);
    const result = await session.result;
    if (result.kind === 'exited') end(client, {kind: 'end', exitCode: result.exitCode});
    else end(client, {kind: 'end', error: safe(result.message)});
  } catch (error) {
    if (!either.signal.aborted) throw error;
  } finally {
    session.close();
  }
}

/** Applies a message of the page. What is none is ignored. */
function receive(text: string, session: RemoteSession, output: TerminalOutput): void {
  const message = parseJsonObject(text);
  if (message['kind'] === 'flow') output.setPaused(message['isPaused'] === true);
  const size = parseSize(message);
  if (size !== undefined) session.resize(size);
}

function parseSize({columns, rows}: Readonly<Record<string, unknown>>): TerminalSize | undefined {
  return isCellCount(columns) && isCellCount(rows) ? {columns, rows} : undefined;
}

function isCellCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= MAX_CELLS;
}

function end(client: WebSocket, message: TerminalMessage): void {
  client.send(JSON.stringify(message), () => undefined);
}
