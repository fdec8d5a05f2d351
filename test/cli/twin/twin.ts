import {readSync, writeSync} from 'node:fs';
import {createInterface} from 'node:readline';
import {Readable, Writable} from 'node:stream';
import {finished} from 'node:stream/promises';
import {systemClock, type Clock} from '../../../src/base/clock.js';
import type {CliContext} from '../../../src/cli/context.js';
import {interruption} from '../../../src/cli/interrupt.js';
import {main} from '../../../src/cli/main.js';
import {
  TIME_FD,
  type FromTwin,
  type Interruption,
  type OutputName,
  type OutputShape,
  type StreamFault,
  type ToTwin,
  type TwinContext,
} from './messages.js';

/*
 * The twin of the executable: the same program, compiled in the same way, which runs the command lines that the tests
 * tell it to in contexts that they describe (messages.ts), and ends with its standard input.
 */

type Told<Kind extends ToTwin['kind']> = Extract<ToTwin, {kind: Kind}>;
type Said = FromTwin extends infer Message
  ? Message extends FromTwin
    ? Omit<Message, 'run'>
    : never
  : never;

const runs = new Map<number, Run>();

function start({run: id, argv, context}: Told<'start'>): void {
  const run = new Run(id, context);
  runs.set(id, run);
  void run.main(argv).finally(() => runs.delete(id));
}

/** Says it at once: the tests must know it before this process waits for an answer. */
function say(message: FromTwin): void {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  let written = 0;
  while (written < bytes.length) written += writeSync(1, bytes, written);
}

/** One command line that is run. */
class Run {
  readonly #id: number;
  readonly #controller = new AbortController();
  readonly #stdin: Readable;
  readonly #outputs: Record<OutputName, Writable>;
  readonly #context: CliContext;
  readonly #writes = new Map<OutputName, (error?: Error) => void>();
  readonly #sleeps = new Map<number, () => void>();
  #lastSleep = 0;

  constructor(id: number, {env, stdinIsTTY, stdout, stderr, systemClock: isSystems, ...rest}: TwinContext) {
    this.#id = id;
    this.#stdin = Object.assign(new Readable({read: this.#askForInput()}), stdinIsTTY && {isTTY: true});
    const first = this.#output('stdout', stdout);
    this.#outputs = {stdout: first, stderr: stderr === 'same' ? first : this.#output('stderr', stderr)};
    this.#context = {
      ...rest,
      ...this.#outputs,
      env,
      stdin: this.#stdin,
      clock: isSystems ? systemClock : this.#clock(),
      signal: this.#controller.signal,
      cgroupMount: rest.cgroupMount ?? undefined,
    };
  }

  async main(argv: readonly string[]): Promise<void> {
    const exitCode = await main(argv, this.#context);
    for (const output of new Set(Object.values(this.#outputs))) await ended(output);
    this.#say({kind: 'end', exitCode});
  }

  take(message: ToTwin): void {
    if (message.kind === 'input') this.#stdin.push(message.base64 && Buffer.from(message.base64, 'base64'));
    if (message.kind === 'written') this.#written(message);
    if (message.kind === 'slept') this.#sleeps.get(message.sleep)?.();
    if (message.kind === 'interrupt') this.#controller.abort(reasonOf(message.interruption));
  }

  #say(message: Said): void {
    say({run: this.#id, ...message});
  }

  /** The tests' stream is only looked at when the program reads. */
  #askForInput(): () => void {
    let isAsked = false;
    return () => {
      if (!isAsked) this.#say({kind: 'read'});
      isAsked = true;
    };
  }

  /** A write is over when the tests' stream has taken it. */
  #output(name: OutputName, shape: OutputShape): Writable {
    const stream = new Writable({
      decodeStrings: true,
      write: (chunk: Buffer, _encoding, done) => {
        this.#writes.set(name, done);
        this.#say({kind: 'write', name, base64: chunk.toString('base64')});
      },
    });
    return Object.assign(stream, shape);
  }

  #written({name, fault}: Told<'written'>): void {
    const done = this.#writes.get(name);
    this.#writes.delete(name);
    done?.(fault && errorOf(fault));
  }

  #clock(): Clock {
    return {
      now: () => {
        this.#say({kind: 'now'});
        return toldTime();
      },
      sleep: async (ms, signal) => {
        await this.#sleep(ms, signal);
      },
    };
  }

  async #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const sleep = ++this.#lastSleep;
    const wake = (): void => {
      this.#say({kind: 'wake', sleep});
    };
    signal?.addEventListener('abort', wake, {once: true});
    await new Promise<void>((resolve) => {
      this.#sleeps.set(sleep, resolve);
      this.#say({kind: 'sleep', sleep, ms});
    });
    this.#sleeps.delete(sleep);
    signal?.removeEventListener('abort', wake);
    signal?.throwIfAborted();
  }
}

function toldTime(): number {
  const bytes = Buffer.alloc(8);
  for (let read = 0; read < bytes.length;) read += readSync(TIME_FD, bytes, read, bytes.length - read, null);
  return bytes.readDoubleLE();
}

/** When all that was written to a stream is with the tests, or its error is. */
async function ended(stream: Writable): Promise<void> {
  stream.end();
  await finished(stream).catch(() => undefined);
}

function reasonOf(why: Interruption): Error {
  return why.signal === undefined
    ? new DOMException(why.message, why.name)
    : interruption(why.signal, why.options);
}

function errorOf({message, ...facts}: StreamFault): Error {
  return Object.assign(new Error(message), facts);
}

for await (const line of createInterface({input: process.stdin})) {
  const message = JSON.parse(line) as ToTwin;
  if (message.kind === 'start') start(message);
  else runs.get(message.run)?.take(message);
}
process.exit();
