import {isObject} from '../../base/is-object.js';
import type {MethodInfo} from '../../cri/call-options.js';
import type {MessageName} from '../../cri/gen/schema.js';
import type {JsonObject} from '../../format/json.js';
import {isRead} from '../canonical/canonical-calls.js';
import {stringAt} from '../../base/string-at.js';
import {timesOf} from '../lines/call-times.js';
import {methodOf} from '../tap/method-table.js';
import {SharedObjects} from './shared-objects.js';

/** A recorded call that can be made again. */
export interface RecordedCall {
  /** Number of the call in the recording. */
  readonly number: number;
  readonly method: MethodInfo<MessageName>;
  /** Start and end, in ms since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
  /** Request in proto JSON. */
  readonly request: JsonObject;
  readonly response: JsonObject | undefined;
  readonly code: string;
  /** Message of the error; empty without one. */
  readonly error: string;
  /** True if the client canceled it, so that there is no answer to compare. */
  readonly isCanceled: boolean;
  /** Timeout that the client sent; undefined without one. */
  readonly timeoutMs: number | undefined;
  /** The recorded line. */
  readonly line: JsonObject;
}

/** A recorded call that is not made again. */
export interface SkippedCall {
  readonly number: number;
  readonly method: string;
  readonly reason: string;
  /** True if it changed something, so that a replay without it is not whole. */
  readonly matters: boolean;
}

/** Calls of a recording, in the order of their starts. */
export interface RecordedCalls {
  readonly calls: readonly RecordedCall[];
  readonly skipped: readonly SkippedCall[];
}

/** Methods that are not replayed, and why. */
const NOT_REPLAYED: Readonly<Record<string, string>> = {
  Exec: 'streaming sessions are not replayed',
  Attach: 'streaming sessions are not replayed',
  PortForward: 'streaming sessions are not replayed',
  UpdateRuntimeConfig: 'it changes the configuration of the runtime',
  CheckpointContainer: 'it writes files of the node',
  CheckpointPod: 'it writes files of the node',
  RestorePod: 'it reads files of the node',
};

/** Shortest duration of a call in ms, so that its end is after its start. */
const SHORTEST_MS = 0.001;

/** Reads the calls of a recording. What is damaged is among the skipped ones. */
export async function readCalls(lines: AsyncIterable<JsonObject>): Promise<RecordedCalls> {
  const calls: RecordedCall[] = [];
  const skipped: SkippedCall[] = [];
  const objects = new SharedObjects();
  for await (const line of lines) {
    // Messages of streams and sessions have none.
    if (line['service'] === undefined) continue;
    const {response} = line;
    const read = readCall(isObject(response) ? {...line, response: objects.share(response)} : line);
    if ('reason' in read) skipped.push(read);
    else calls.push(read);
  }
  calls.sort((a, b) => a.startMs - b.startMs || a.number - b.number);
  return withoutForeign(calls, skipped);
}

const DAMAGED = 'its line is damaged';

function readCall(line: JsonObject): RecordedCall | SkippedCall {
  const service = stringAt(line, 'service');
  const name = stringAt(line, 'method');
  const number = numberAt(line, 'call') ?? 0;
  if (service === undefined || name === undefined)
    return {number, method: 'unknown', reason: DAMAGED, matters: false};
  const {info} = methodOf(`/${service}/${name}`);
  if (info === undefined)
    return {number, method: name, reason: 'it is not a call of the CRI', matters: false};
  const reason = whyNot(info, line);
  const never = NOT_REPLAYED[info.rpc];
  if (never !== undefined || reason !== undefined)
    return {
      number,
      method: name,
      reason: never ?? reason ?? '',
      matters: never === undefined && !isRead(info.rpc),
    };
  return wholeCall(number, info, line);
}

function wholeCall(number: number, method: MethodInfo<MessageName>, line: JsonObject): RecordedCall {
  const {response} = line;
  const {startMs = 0, endMs = 0} = timesOf(line) ?? {};
  const code = stringAt(line, 'code') ?? '';
  const timeoutMs = numberAt(line, 'timeoutMs') ?? 0;
  return {
    number,
    method,
    startMs,
    endMs: Math.max(startMs + SHORTEST_MS, endMs),
    request: line['request'] as JsonObject,
    response: isObject(response) ? response : undefined,
    code,
    error: stringAt(line, 'error') ?? '',
    isCanceled: line['endedBy'] === 'cancellation' && code === 'CANCELLED',
    timeoutMs: timeoutMs > 0 ? timeoutMs : undefined,
    line,
  };
}

/** Returns why a call cannot be made again; undefined if it can. */
function whyNot({stream}: MethodInfo<MessageName>, line: JsonObject): string | undefined {
  const {request} = line;
  if (stream) return 'streams are not replayed';
  if (line['open'] === true) return 'it had not ended when the recording did';
  if (!isObject(request)) return `its request is not recorded${reasonOf(line['requestOmitted'])}`;
  if (timesOf(line)?.endMs === undefined || stringAt(line, 'code') === undefined) return DAMAGED;
  return isTruncated(request) ? 'a text of its request is truncated' : undefined;
}

function numberAt(line: JsonObject, name: string): number | undefined {
  const value = line[name];
  return typeof value === 'number' ? value : undefined;
}

function reasonOf(omitted: unknown): string {
  return typeof omitted === 'string' ? `: ${omitted}` : '';
}

/** Reports whether a message has a text that `maskSecrets` has truncated. */
function isTruncated(value: unknown): boolean {
  if (typeof value === 'string') return /\u2026 \(\d+ more characters\)$/.test(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(isTruncated);
}

/** Members of requests and of their filters that name a sandbox or a container. */
const REFERENCES: ReadonlySet<string> = new Set(['podSandboxId', 'containerId', 'id', 'targetId']);

/** Skips the calls on sandboxes and containers that existed before the recording. */
function withoutForeign(calls: readonly RecordedCall[], skipped: readonly SkippedCall[]): RecordedCalls {
  const made = new Set(calls.flatMap(({response}) => createdIds(response)));
  const known = new Map<string, boolean>();
  const isMade = (id: string): boolean => {
    const isKnown = known.get(id) ?? (made.has(id) || [...made].some((whole) => whole.startsWith(id)));
    known.set(id, isKnown);
    return isKnown;
  };
  const foreign = new Set(calls.filter(({request}) => !referencesOf(request).every(isMade)));
  const skippedToo = [...foreign].map(({number, method}): SkippedCall => {
    return {number, method: method.rpc, reason: 'its pod was created before the recording', matters: false};
  });
  return {calls: calls.filter((call) => !foreign.has(call)), skipped: [...skipped, ...skippedToo]};
}

/** Returns the IDs of the sandbox or the container that a response of RunPodSandbox or CreateContainer has. */
export function createdIds(response: JsonObject | undefined): readonly string[] {
  return ['podSandboxId', 'containerId'].flatMap((name) => stringAt(response, name) ?? []);
}

/** Returns the IDs of sandboxes and containers in a request, wherever they are. */
export function referencesOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'string'
      ? REFERENCES.has(name) && member !== ''
        ? [member]
        : []
      : referencesOf(member),
  );
}
