import {readSync, writeSync} from 'node:fs';
import {createInterface} from 'node:readline';
import {Readable, Writable} from 'node:stream';
import {finished} from 'node:stream/promises';
import {systemClock, type Clock} from '../../../src/base/clock.js';
import type {CliContext} from '../../../src/cli/process/context.js';
import {interruption} from '../../../src/cli/process/interrupt.js';
import {main} from '../../../src/program/main.js';
import {
  TIME_FD,
  type FromWorker,
  type Interruption,
  type OutputName,
  type OutputShape,
  type StreamError,
  type ToWorker,
  type WorkerContext,
} from './messages.js';

/*
 * Executable like kcri, built in the same way, that runs command lines for the tests in the contexts that they send
 * (messages.ts). It exits at the end of its standard input.
 */

type RequestOf<Kind extends ToWorker['kind']> = Extract<ToWorker, {kind: Kind}>;
type OutgoingEvent = FromWorker extends infer Message
  ? Message extends FromWorker
    ? Omit<Message, 'run'>
    : never
  : never;

const runs = new Map<number, Run>();

function start({run: id, argv, context}: RequestOf<'start'>): void {
  const run = new Run(id, context);
  runs.set(id, run);
  void run.main(argv).finally(() => runs.delete(id));
}

/** Sends synchronously: the tests must have the message before this process blocks on a reply. */
function send(message: FromWorker): void {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  let written = 0;
  while (written < bytes.length) written += writeSync(1, bytes, written);
}

/** A run of one command line. */
class Run {
  readonly #id: number;
  readonly #controller = new AbortController();
  readonly #stdin: Readable;
  readonly #outputs: Record<OutputName, Writable>;
  readonly #context: CliContext;
  readonly #writes = new Map<OutputName, (error?: Error) => void>();
  readonly #sleeps = new Map<number, () => void>();
  #lastSleep = 0;

  constructor(
    id: number,
    {env, stdinIsTTY, stdout, stderr, systemClock: isSystemClock, ...rest}: WorkerContext,
  ) {
    this.#id = id;
    this.#stdin = Object.assign(new Readable({read: this.#startReading()}), stdinIsTTY && {isTTY: true});
    const first = this.#output('stdout', stdout);
    this.#outputs = {stdout: first, stderr: stderr === 'same' ? first : this.#output('stderr', stderr)};
    this.#context = {
      ...rest,
      ...this.#outputs,
      env,
      stdin: this.#stdin,
      clock: isSystemClock ? systemClock : this.#clock(),
      startedAtMs: systemClock.now(),
      signal: this.#controller.signal,
      cgroupMount: rest.cgroupMount ?? undefined,
    };
  }

  async main(argv: readonly string[]): Promise<void> {
    const exitCode = await main(argv, this.#context);
    for (const output of new Set(Object.values(this.#outputs))) await finishWrites(output);
    this.#send({kind: 'end', exitCode});
  }

  take(message: ToWorker): void {
    if (message.kind === 'input') this.#stdin.push(message.base64 && Buffer.from(message.base64, 'base64'));
    if (message.kind === 'written') this.#written(message);
    if (message.kind === 'slept') this.#sleeps.get(message.sleep)?.();
    if (message.kind === 'interrupt') this.#controller.abort(reasonOf(message.interruption));
  }

  #send(message: OutgoingEvent): void {
    send({run: this.#id, ...message});
  }

  /** Returns a `read` function that starts reading the test's stream at the first call. */
  #startReading(): () => void {
    let isStarted = false;
    return () => {
      if (!isStarted) this.#send({kind: 'read'});
      isStarted = true;
    };
  }

  /** Creates a stream whose writes complete when the test's stream has completed them. */
  #output(name: OutputName, shape: OutputShape): Writable {
    const stream = new Writable({
      decodeStrings: true,
      write: (chunk: Buffer, _encoding, done) => {
        this.#writes.set(name, done);
        this.#send({kind: 'write', name, base64: chunk.toString('base64')});
      },
    });
    return Object.assign(stream, shape);
  }

  #written({name, error}: RequestOf<'written'>): void {
    const done = this.#writes.get(name);
    this.#writes.delete(name);
    done?.(error && errorOf(error));
  }

  #clock(): Clock {
    const now = (): number => {
      this.#send({kind: 'now'});
      return receiveTime();
    };
    return {
      now,
      monotonic: now,
      sleep: async (ms, signal) => {
        await this.#sleep(ms, signal);
      },
    };
  }

  async #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const sleep = ++this.#lastSleep;
    const wake = (): void => {
      this.#send({kind: 'wake', sleep});
    };
    signal?.addEventListener('abort', wake, {once: true});
    await new Promise<void>((resolve) => {
      this.#sleeps.set(sleep, resolve);
      this.#send({kind: 'sleep', sleep, ms});
    });
    this.#sleeps.delete(sleep);
    signal?.removeEventListener('abort', wake);
    signal?.throwIfAborted();
  }
}

function receiveTime(): number {
  const bytes = Buffer.alloc(8);
  for (let read = 0; read < bytes.length;) read += readSync(TIME_FD, bytes, read, bytes.length - read, null);
  return bytes.readDoubleLE();
}

/** Resolves when everything written to a stream has been received by the tests, or has failed. */
async function finishWrites(stream: Writable): Promise<void> {
  stream.end();
  await finished(stream).catch(() => undefined);
}

function reasonOf(request: Interruption): Error {
  return request.signal === undefined
    ? new DOMException(request.message, request.name)
    : interruption(request.signal, request.options);
}

function errorOf({message, ...facts}: StreamError): Error {
  return Object.assign(new Error(message), facts);
}

for await (const line of createInterface({input: process.stdin})) {
  const message = JSON.parse(line) as ToWorker;
  if (message.kind === 'start') start(message);
  else runs.get(message.run)?.take(message);
}
process.exit();
