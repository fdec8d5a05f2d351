import {decode} from '../../cri/codec.js';
import type {HeaderField} from '../../cri/http2/hpack.js';
import {toJson} from '../../cri/proto-json.js';
import {WireError} from '../../cri/wire-format.js';
import type {JsonObject} from '../../format/json.js';
import type {CallEnd, Side, TappedCall} from '../tap/connection-tap.js';
import type {TappedMessage} from '../tap/message-collector.js';
import {JsonBuffer} from './json-buffer.js';
import {MessageJson, type PartMask} from './message-json.js';
import {methodOf, type CallMethod} from '../tap/method-table.js';

/** Masks the secrets of messages. */
export interface MessageMask {
  /** Masks a message of a method, or an object with the message of its error. */
  message(method: string, from: Side, message: JsonObject): JsonObject;
  /** Masks the parts of messages of a method; undefined if masks depend on where a part is. */
  parts(method: string, from: Side): PartMask | undefined;
}

/** A call with what it sent, as far as that is recorded. */
export interface RecordedMessages {
  /** Number of the call in this recording. */
  readonly id: number;
  readonly call: TappedCall;
  readonly request: TappedMessage | undefined;
  /** Response of a call that is not a stream. */
  readonly response: TappedMessage | undefined;
  /** Number and total length of the messages of each side. */
  readonly counts: Readonly<Record<Side, {readonly messages: number; readonly bytes: number}>>;
}

/** Makes the lines of calls and messages, without their line breaks. */
export class LineMaker {
  readonly #mask: MessageMask;
  readonly #target = new JsonBuffer();
  readonly #writers = new Map<PartMask, MessageJson>();

  constructor(mask: MessageMask) {
    this.#mask = mask;
  }

  /** Returns the line of a call that has ended, or that has not when the recording ended. */
  call(recorded: RecordedMessages, end: CallEnd | undefined): Buffer {
    const {id, call, request, response, counts} = recorded;
    const method = methodOf(call.path);
    this.#add({
      time: formatMicroseconds(call.startedAtMs),
      call: id,
      connection: call.connection,
      service: method.service,
      method: method.name,
      ...(end === undefined
        ? {open: true}
        : {code: end.code, durationMs: Math.round(end.durationMs * 1000) / 1000}),
      ...(end !== undefined && end.by !== 'status' && {endedBy: end.by}),
      ...(end !== undefined &&
        isError(end) &&
        this.#mask.message(method.name, 'server', {error: end.message})),
      ...(call.timeoutMs !== undefined && {timeoutMs: call.timeoutMs}),
      ...metadataJson('metadata', call.metadata),
    });
    this.#addContent('request', {method, from: 'client', message: request});
    this.#addContent('response', {method, from: 'server', message: response});
    this.#add({
      ...metadataJson('responseMetadata', end?.metadata ?? []),
      ...(method.info === undefined && {
        requestBytes: counts.client.bytes,
        responseBytes: counts.server.bytes,
      }),
      ...(method.info?.stream === true && {messages: counts.server.messages}),
    });
    return this.#take();
  }

  /** Returns the line of a message of a stream. `nowMs` is its time, in ms since the epoch. */
  message({id, call}: Pick<RecordedMessages, 'id' | 'call'>, message: TappedMessage, nowMs: number): Buffer {
    const method = methodOf(call.path);
    this.#add({time: formatMicroseconds(nowMs), call: id, method: method.name});
    this.#addContent('message', {method, from: 'server', message});
    return this.#take();
  }

  /** Adds members. */
  #add(members: JsonObject): void {
    const text = JSON.stringify(members);
    if (text === '{}') return;
    this.#target.text(`${this.#target.length === 0 ? '{' : ','}${text.slice(1, -1)}`);
  }

  /** Adds a message as a member, or why it is not recorded. Messages of other interfaces may have unknown secrets. */
  #addContent(name: string, {method: {info, name: rpc}, from, message}: Content): void {
    if (message === undefined || info === undefined) return;
    const omit = (why: string): void => {
      this.#add({[`${name}Omitted`]: why, [`${name}Bytes`]: message.length});
    };
    if (message.content === undefined) {
      omit(message.omitted ?? 'not recorded');
      return;
    }
    const before = this.#target.length;
    const type = from === 'client' ? info.request : info.response;
    try {
      this.#target.text(`,"${name}":`);
      const parts = this.#mask.parts(rpc, from);
      if (parts !== undefined) this.#writerOf(parts).write(type, message.content);
      else {
        const json = this.#mask.message(rpc, from, toJson(type, decode(type, message.content)));
        this.#target.text(JSON.stringify(json));
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#target.truncate(before);
      omit('malformed');
    }
  }

  #writerOf(parts: PartMask): MessageJson {
    const known = this.#writers.get(parts) ?? new MessageJson(parts, this.#target);
    this.#writers.set(parts, known);
    return known;
  }

  #take(): Buffer {
    this.#target.text('}');
    return this.#target.take();
  }
}

/** Formats a time in ms since the epoch with microseconds, from which the order of calls can be read. */
export function formatMicroseconds(ms: number): string {
  const microseconds = String(Math.floor(ms * 1000) % 1000).padStart(3, '0');
  return new Date(Math.floor(ms)).toISOString().replace('Z', `${microseconds}Z`);
}

interface Content {
  readonly method: CallMethod;
  readonly from: Side;
  readonly message: TappedMessage | undefined;
}

/** Pattern of metadata names whose values are credentials. */
const CREDENTIAL = /auth|token|cookie|secret|password|key/i;

function metadataJson(name: string, fields: readonly HeaderField[]): JsonObject {
  if (fields.length === 0) return {};
  const shown = fields.map(([field, value]) => [field, CREDENTIAL.test(field) ? '***' : value] as const);
  return {[name]: Object.fromEntries(shown)};
}

/** Reports whether a call has the message of an error. Some servers send one with a success, too. */
function isError({code, message}: CallEnd): boolean {
  return message !== '' && code !== 'OK';
}
