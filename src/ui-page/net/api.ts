import type {
  ActionRequest,
  DoctorAnswer,
  NodeDetails,
  PodParts,
  Session,
} from '../../features/ui/protocol.js';
import type {ConfirmedAction} from '../model/table-state.js';
import {checkResponse, readAnswer, RequestError} from './read-answer.js';

/** What is to be read of a log. */
export interface LogRequest {
  readonly key: string;
  readonly container?: string | undefined;
  readonly previous: boolean;
  /** Number of lines from the end. */
  readonly tail: number;
}

/** Requests to the server with the key of a session. All reject with RequestError, or the reason of their signal. */
export class Api {
  readonly session: Session;

  constructor(session: Session) {
    this.session = session;
  }

  /** Opens the stream of live messages. */
  async live(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    return bodyOf(await this.#send('live', {}, {signal}));
  }

  /** Opens a log that is followed. */
  async logs(
    {key, container, previous, tail}: LogRequest,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const query = {
      key,
      tail: String(tail),
      ...(container !== undefined && {container}),
      ...(previous && {previous: 'true'}),
    };
    return bodyOf(await this.#send('logs', query, {signal}));
  }

  async podPart<Part extends keyof PodParts>(
    key: string,
    part: Part,
    signal: AbortSignal,
  ): Promise<PodParts[Part]> {
    return await readAnswer(await this.#send('pod', {key, part}, {signal}));
  }

  async node(key: string, signal: AbortSignal): Promise<NodeDetails> {
    return await readAnswer(await this.#send('node', {key}, {signal}));
  }

  async doctor(key: string, signal: AbortSignal): Promise<DoctorAnswer> {
    return await readAnswer(await this.#send('doctor', {key}, {signal}));
  }

  /** Resolves when a pod or container is restarted or deleted. */
  async act(action: ConfirmedAction, key: string): Promise<void> {
    await checkResponse(
      await this.#send(
        action,
        {},
        {
          method: 'POST',
          headers: {'Content-Type': 'application/json'},
          body: JSON.stringify({key} satisfies ActionRequest),
        },
      ),
    );
  }

  /** Opens a terminal in a container. */
  exec(key: string, {columns, rows}: {readonly columns: number; readonly rows: number}): WebSocket {
    const query = new URLSearchParams({key, columns: String(columns), rows: String(rows)});
    const url = new URL(`api/exec?${query}`, location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    return new WebSocket(url, ['kcri.terminal', `kcri.session.${this.session.key}`]);
  }

  async #send(path: string, query: Readonly<Record<string, string>>, init: PlainRequest): Promise<Response> {
    const search = new URLSearchParams(query).toString();
    const headers = {...init.headers, Authorization: `Bearer ${this.session.key}`};
    try {
      const response = await fetch(`api/${path}${search === '' ? '' : `?${search}`}`, {...init, headers});
      return await checkResponse(response);
    } catch (error) {
      if (error instanceof RequestError || init.signal?.aborted === true) throw error;
      throw new RequestError('kcri ui does not answer', 0);
    }
  }
}

/** Options of a request, with headers as an object. */
type PlainRequest = Omit<RequestInit, 'headers'> & {readonly headers?: Readonly<Record<string, string>>};

function bodyOf({body}: Response): ReadableStream<Uint8Array> {
  if (body === null) throw new RequestError('the answer has no body', 0);
  return body;
}
