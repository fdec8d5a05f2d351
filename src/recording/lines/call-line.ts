import {decode} from '../../cri/codec.js';
import type {MessageName} from '../../cri/gen/schema.js';
import type {HeaderField} from '../../cri/http2/hpack.js';
import {toJson} from '../../cri/proto-json.js';
import {WireError} from '../../cri/wire-format.js';
import type {JsonObject} from '../../format/json.js';
import type {CallEnd, Side, TappedCall} from '../tap/connection-tap.js';
import type {TappedMessage} from '../tap/message-collector.js';
import {methodOf, type CallMethod} from '../tap/method-table.js';

/** Masks the secrets of a message of a method, or of an object with the message of its error. */
export type MessageMask = (method: string, from: Side, message: JsonObject) => JsonObject;

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

/** Returns the line of a call that has ended, or that has not when the recording ended. */
export function callLine(
  recorded: RecordedMessages,
  end: CallEnd | undefined,
  mask: MessageMask,
): JsonObject {
  const {id, call, request, response, counts} = recorded;
  const method = methodOf(call.path);
  return {
    time: formatMicroseconds(call.startedAtMs),
    call: id,
    connection: call.connection,
    service: method.service,
    method: method.name,
    ...(end === undefined
      ? {open: true}
      : {code: end.code, durationMs: Math.round(end.durationMs * 1000) / 1000}),
    ...(end !== undefined && end.by !== 'status' && {endedBy: end.by}),
    ...(end !== undefined && isError(end) && mask(method.name, 'server', {error: end.message})),
    ...(call.timeoutMs !== undefined && {timeoutMs: call.timeoutMs}),
    ...metadataJson('metadata', call.metadata),
    ...content('request', {method, from: 'client', message: request, mask}),
    ...content('response', {method, from: 'server', message: response, mask}),
    ...metadataJson('responseMetadata', end?.metadata ?? []),
    ...(method.info === undefined && {requestBytes: counts.client.bytes, responseBytes: counts.server.bytes}),
    ...(method.info?.stream === true && {messages: counts.server.messages}),
  };
}

/** Reports whether a call has the message of an error. Some servers send one with a success, too. */
function isError({code, message}: CallEnd): boolean {
  return message !== '' && code !== 'OK';
}

/** Returns the line of a message of a stream. `nowMs` is its time, in ms since the epoch. */
export function messageLine(
  {id, call}: Pick<RecordedMessages, 'id' | 'call'>,
  message: TappedMessage,
  {nowMs, mask}: {readonly nowMs: number; readonly mask: MessageMask},
): JsonObject {
  const method = methodOf(call.path);
  return {
    time: formatMicroseconds(nowMs),
    call: id,
    method: method.name,
    ...content('message', {method, from: 'server', message, mask}),
  };
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
  readonly mask: MessageMask;
}

/** Returns a message as a member, or why it is not recorded. Messages of other interfaces may have unknown secrets. */
function content(name: string, {method: {info, name: rpc}, from, message, mask}: Content): JsonObject {
  if (message === undefined || info === undefined) return {};
  const omitted = (why: string): JsonObject => ({[`${name}Omitted`]: why, [`${name}Bytes`]: message.length});
  if (message.content === undefined) return omitted(message.omitted ?? 'not recorded');
  const decoded = decodedJson(from === 'client' ? info.request : info.response, message.content);
  return decoded === undefined ? omitted('malformed') : {[name]: mask(rpc, from, decoded)};
}

function decodedJson(name: MessageName, bytes: Buffer): JsonObject | undefined {
  try {
    return toJson(name, decode(name, bytes));
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** Pattern of metadata names whose values are credentials. */
const CREDENTIAL = /auth|token|cookie|secret|password|key/i;

function metadataJson(name: string, fields: readonly HeaderField[]): JsonObject {
  if (fields.length === 0) return {};
  const shown = fields.map(([field, value]) => [field, CREDENTIAL.test(field) ? '***' : value] as const);
  return {[name]: Object.fromEntries(shown)};
}
