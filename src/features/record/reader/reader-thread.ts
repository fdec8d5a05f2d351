import {setImmediate as nextTurn} from 'node:timers/promises';
import {parentPort, workerData} from 'node:worker_threads';
import {messageOf} from '../../../base/errors.js';
import {CallRecorder} from '../../../recording/lines/call-recorder.js';
import {CallSummary} from '../../../recording/lines/call-summary.js';
import {ByteBudget} from '../../../recording/tap/byte-budget.js';
import {ENTRY, RingReader, type RingEntry} from '../../../recording/tap/byte-ring.js';
import {ConnectionTap, type TapClock} from '../../../recording/tap/connection-tap.js';
import {joinSinks} from './join-sinks.js';
import {createMessageMask} from '../mask-messages.js';
import type {ReaderMessage, ReaderRequest, ReaderThreadData} from './thread-messages.js';

/*
 * Program of the thread that reads what a recorder has relayed: HTTP/2, messages, masks, lines and counts. It is bundled to one text
 * (scripts/bundle/reader-thread.mjs), since executables have no files beside them.
 */

/** Length of joined lines after which they are sent, in bytes. */
const SENT_BYTES = 256 * 1024;
/** Length from which a line is sent with its own memory, in bytes. */
const LONG_BYTES = 64 * 1024;
/** Bytes that are read before further requests are looked at. */
const SLICE_BYTES = 4 * 1024 * 1024;

const {memory, makesLines, maxMessageBytes, budgetBytes, mask} = workerData as ReaderThreadData;
const ring = new RingReader(memory);
const limits = {maxMessageBytes: makesLines ? maxMessageBytes : 0, budget: new ByteBudget(budgetBytes)};
const summary = new CallSummary();
const taps = new Map<number, ConnectionTap>();
/** Connections that cannot be read. */
const unreadable = new Set<number>();
let lines: Buffer[] = [];
let linesLength = 0;
/** Entry that is being read: its times are those of the calls. */
let current: Pick<RingEntry, 'nowMs' | 'sinceMs'> = {nowMs: 0, sinceMs: 0};
const clock: TapClock = {now: () => current.nowMs, monotonic: () => current.sinceMs};
const recorder = new CallRecorder({
  write: (line) => {
    if (line.length > LONG_BYTES) {
      sendLines();
      sendBlock(line as Buffer<ArrayBuffer>, [line.length]);
      return;
    }
    lines.push(line);
    linesLength += line.length;
    if (linesLength > SENT_BYTES) sendLines();
  },
  mask: createMessageMask(mask),
  limits,
  queue: {
    clock,
    push: (run) => {
      run();
    },
    finish: () => undefined,
  },
});
const sink = makesLines ? joinSinks(summary, recorder) : summary;

function send(message: ReaderMessage, transfer: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}

function sendBlock(bytes: Uint8Array<ArrayBuffer>, lengths: readonly number[]): void {
  send({kind: 'lines', bytes, lengths}, [bytes.buffer]);
}

function sendLines(): void {
  if (lines.length === 0) return;
  const bytes = new Uint8Array(linesLength);
  let at = 0;
  for (const line of lines) {
    bytes.set(line, at);
    at += line.length;
  }
  sendBlock(
    bytes,
    lines.map(({length}) => length),
  );
  lines = [];
  linesLength = 0;
}

function readEntry(entry: RingEntry, chunk: Buffer): void {
  const {kind, connection} = entry;
  current = entry;
  if (kind === ENTRY.close) {
    taps.get(connection)?.close();
    taps.delete(connection);
    unreadable.delete(connection);
  } else if (!unreadable.has(connection)) readBytes(connection, kind === ENTRY.client, chunk);
}

function readBytes(connection: number, isClient: boolean, chunk: Buffer): void {
  const tap = taps.get(connection) ?? new ConnectionTap(connection, {sink, limits, clock});
  taps.set(connection, tap);
  try {
    tap.read(isClient ? 'client' : 'server', chunk);
  } catch (error) {
    tap.close();
    taps.delete(connection);
    unreadable.add(connection);
    send({kind: 'unreadable', connection, message: messageOf(error)});
  }
}

async function handle(request: ReaderRequest): Promise<void> {
  while (ring.drain(readEntry, SLICE_BYTES)) {
    sendLines();
    await nextTurn();
  }
  if (request.kind === 'finish') recorder.finish();
  sendLines();
  if (request.kind === 'read') return;
  const open = request.kind === 'has open calls' && (await taps.get(request.connection)?.hasOpenUnaryCalls());
  const methods = request.kind === 'summarize' || request.kind === 'finish' ? summary.methods() : [];
  send({kind: 'answer', id: request.id, answer: {methods, hasOpenCalls: open === true}});
}

parentPort?.on('message', (request: ReaderRequest) => {
  // A rejection ends the thread, which the recorder reports.
  void handle(request);
});
