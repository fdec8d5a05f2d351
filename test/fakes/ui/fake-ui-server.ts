import {readFile} from 'node:fs/promises';
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import {basename, join} from 'node:path';
import {WebSocketServer, type WebSocket} from 'ws';
import type {
  DoctorAnswer,
  LiveMessage,
  NodeDetails,
  PodParts,
  UiAction,
  UiHistory,
  UiNode,
  UiPod,
  UiUsage,
} from '../../../src/features/ui/protocol.js';
import {listenOnLoopback} from '../../base/listen-on-loopback.js';
import {aUiNode, UI_NOW_MS} from './ui-builders.js';

/** What the page gets. Tests replace any of it. */
export interface FakeUiContent {
  allowed: readonly UiAction[];
  nodes: readonly UiNode[];
  pods: readonly UiPod[];
  history: Readonly<Record<string, UiHistory>>;
  parts: PodParts;
  node: NodeDetails;
  doctor: DoctorAnswer;
  log: string;
}

/** The policy of `kcri ui`, with which the page must work. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const TYPES: Readonly<Record<string, string>> = {html: 'text/html', js: 'text/javascript', css: 'text/css'};

/** Server of the page of `kcri ui` with the content of a test, which has no nodes behind it. */
export class FakeUiServer implements AsyncDisposable {
  readonly content: FakeUiContent;
  /** Actions that the page requested, such as `delete pod web`. */
  readonly actions: string[] = [];
  /** Text that was typed into terminals. */
  typed = '';
  /** Last size of a terminal. */
  terminalSize = '';
  /** What terminals asked about the flow of output. */
  readonly flows: string[] = [];
  /** True to answer as after a restart, when no session is known. */
  hasForgotten = false;
  /** True to end connections without an answer. */
  isCut = false;
  /** Number of logs that are being followed. */
  openLogs = 0;
  readonly #server: Server;
  readonly #live = new Set<ServerResponse>();
  readonly #logs = new Set<ServerResponse>();
  readonly #terminals = new WebSocketServer({noServer: true, handleProtocols: ([first = '']) => first});
  #port = 0;
  #nowMs = UI_NOW_MS;

  private constructor(content: FakeUiContent) {
    this.content = content;
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.on('upgrade', (request, socket, head) => {
      this.#terminals.handleUpgrade(request, socket, head, (terminal) => {
        this.#serveTerminal(terminal, request);
      });
    });
  }

  static async start(content: Partial<FakeUiContent> = {}): Promise<FakeUiServer> {
    const server = new FakeUiServer({...emptyContent(), ...content});
    server.#port = await listenOnLoopback(server.#server);
    return server;
  }

  /** The link with its token. */
  get link(): string {
    return `http://127.0.0.1:${this.#port}/#token=one-time`;
  }

  /** Sends an update with what changed. */
  update(change: {
    readonly nodes?: readonly UiNode[];
    readonly pods?: readonly UiPod[];
    readonly usage?: Readonly<Record<string, UiUsage>>;
    readonly removed?: readonly string[];
  }): void {
    const {pods = [], removed = []} = change;
    const changed = new Set([...removed, ...pods.map(({key}) => key)]);
    this.content.pods = [...this.content.pods.filter(({key}) => !changed.has(key)), ...pods];
    this.#nowMs += 2000;
    this.#send({kind: 'update', nowMs: this.#nowMs, ...change});
  }

  /** Adds text to the logs that are followed. */
  log(text: string): void {
    for (const response of this.#logs) response.write(text);
  }

  /** Writes output to all terminals. */
  print(text: string): void {
    for (const terminal of this.#terminals.clients) terminal.send(Buffer.from(text));
  }

  /** Ends all connections of the page. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const terminal of this.#terminals.clients) terminal.terminate();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #send(message: LiveMessage): void {
    for (const response of this.#live) response.write(`${JSON.stringify(message)}\n`);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const {pathname, searchParams} = new URL(request.url ?? '/', 'http://fake');
    if (this.isCut) request.destroy();
    else if (!pathname.startsWith('/api/')) await sendFile(pathname, response);
    else if (pathname === '/api/session') this.#openSession(await bodyOf(request), response);
    else if (this.hasForgotten || request.headers.authorization !== 'Bearer session-key')
      sendError(response, 401, 'this session has ended');
    else if (request.method === 'POST') await this.#act(pathname.slice('/api/'.length), request, response);
    else if (pathname === '/api/live') this.#serveLive(response);
    else if (pathname === '/api/logs') this.#serveLog(response);
    else sendJson(response, this.#detailsOf(pathname, searchParams.get('part')));
  }

  #detailsOf(pathname: string, part: string | null): unknown {
    const {parts, node, doctor} = this.content;
    if (pathname === '/api/pod') return parts[part as keyof PodParts];
    return pathname === '/api/node' ? node : doctor;
  }

  #openSession(body: string, response: ServerResponse): void {
    const {token} = JSON.parse(body) as {readonly token: string};
    if (token !== 'one-time') sendError(response, 401, 'the link has been used');
    else sendJson(response, {key: 'session-key', version: '1.0.0', allowed: this.content.allowed});
  }

  #serveLive(response: ServerResponse): void {
    const {nodes, pods, history} = this.content;
    this.#live.add(response);
    response.on('close', () => this.#live.delete(response));
    response.writeHead(200, {'Content-Type': 'application/jsonl'});
    response.write(`${JSON.stringify({kind: 'state', nowMs: this.#nowMs, nodes, pods, history})}\n`);
  }

  #serveLog(response: ServerResponse): void {
    this.#logs.add(response);
    this.openLogs += 1;
    response.on('close', () => {
      this.#logs.delete(response);
      this.openLogs -= 1;
    });
    response.writeHead(200, {'Content-Type': 'text/plain; charset=utf-8'});
    response.write(this.content.log);
  }

  async #act(action: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const {key} = JSON.parse(await bodyOf(request)) as {readonly key: string};
    if (this.content.allowed.some((each) => each === action)) {
      this.actions.push(`${action} ${key}`);
      response.writeHead(204).end();
    } else sendError(response, 403, `${action} is not allowed`);
  }

  #serveTerminal(terminal: WebSocket, request: IncomingMessage): void {
    terminal.send(
      Buffer.from(`shell of ${new URL(request.url ?? '', 'http://fake').searchParams.get('key')}\r\n# `),
    );
    terminal.on('message', (data: Buffer, isBinary: boolean) => {
      const text = data.toString();
      if (!isBinary) {
        if (text.includes('"flow"')) this.flows.push(text);
        else this.terminalSize = text;
        return;
      }
      this.typed += text;
      terminal.send(data);
      if (text === '\u0004') terminal.send(JSON.stringify({kind: 'end', exitCode: 0}));
    });
  }
}

function emptyContent(): FakeUiContent {
  return {
    allowed: [],
    nodes: [aUiNode()],
    pods: [],
    history: {},
    parts: {
      status: {text: 'Name: web'},
      why: {text: 'The pod runs.'},
      events: {events: []},
      timeline: {missing: 'No timeline is known'},
      manifest: {lines: [{text: 'kind: Pod'}]},
    },
    node: {text: 'Name: node-1'},
    doctor: {checks: []},
    log: '',
  };
}

async function sendFile(pathname: string, response: ServerResponse): Promise<void> {
  const name = pathname === '/' ? 'index.html' : pathname.slice(1);
  const data = await readFile(join(import.meta.dirname, '../../../dist/ui', basename(name)));
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? '';
  response.writeHead(200, {'Content-Type': type, 'Content-Security-Policy': POLICY}).end(data);
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, {'Content-Type': 'application/json'}).end(JSON.stringify(body));
}

function sendError(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, {'Content-Type': 'application/json'}).end(JSON.stringify({error}));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
