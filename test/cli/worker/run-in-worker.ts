import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';
import type {Readable, Writable} from 'node:stream';
import {systemClock} from '../../../src/base/clock.js';
import {KcriError} from '../../../src/base/errors.js';
import type {CliContext} from '../../../src/cli/process/context.js';
import type {OutputStream} from '../../../src/cli/process/standard-output.js';
import {waitForWorkOf} from '../../fakes/fake-clock.js';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import {
  TIME_FD,
  type FromWorker,
  type Interruption,
  type OutputShape,
  type StreamError,
  type ToWorker,
  type WorkerContext,
} from './messages.js';

type EventOf<Kind extends FromWorker['kind']> = Extract<FromWorker, {kind: Kind}>;
type Request = ToWorker extends infer Message
  ? Message extends ToWorker
    ? Omit<Message, 'run'>
    : never
  : never;

/** Runs a command line in the worker, one process for all runs of this test process, and returns its exit code. */
export async function runInWorker(argv: readonly string[], context: CliContext): Promise<number> {
  worker ??= startWorker(process.env['KCRI_TEST_WORKER'] ?? '');
  return await worker.run(argv, context);
}

let worker: Worker | undefined;

/** Returns the PID of the worker. */
export function workerPid(): number | undefined {
  return worker?.pid;
}

interface Worker {
  readonly pid: number | undefined;
  run(argv: readonly string[], context: CliContext): Promise<number>;
}

function startWorker(file: string): Worker {
  const child = spawn(file, {stdio: ['pipe', 'pipe', 'inherit', 'pipe']});
  if (child.pid !== undefined) waitForWorkOf(child.pid);
  const stdin = child.stdin!;
  const stdout = child.stdout!;
  const time = child.stdio[TIME_FD] as Writable;
  const runs = new Map<number, Run>();
  const died = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the test worker has exited: ${String(code ?? signal)}`);
  });
  died.catch(() => undefined);
  // The worker exits when this process does, and must not keep it alive.
  for (const handle of [child, stdin, stdout, time]) (handle as {unref?: () => void}).unref?.();
  createInterface({input: stdout}).on('line', (line) => {
    const message = JSON.parse(line) as FromWorker;
    runs.get(message.run)?.take(message);
  });
  let last = 0;
  return {
    pid: child.pid,
    run: async (argv, context) => {
      const id = ++last;
      const run = new Run(context, time, (message) =>
        stdin.write(`${JSON.stringify({run: id, ...message})}\n`),
      );
      runs.set(id, run);
      return await Promise.race([run.main(argv), died]).finally(() => runs.delete(id));
    },
  };
}

/** A run of one command line in the worker. */
class Run {
  readonly #context: CliContext;
  readonly #time: Writable;
  readonly #send: (message: Request) => void;
  readonly #sleeps = new Map<number, AbortController>();
  #end: (exitCode: number) => void = ignored;

  constructor(context: CliContext, time: Writable, send: (message: Request) => void) {
    this.#context = context;
    this.#time = time;
    this.#send = send;
  }

  async main(argv: readonly string[]): Promise<number> {
    const {signal, stdout, stderr} = this.#context;
    // Errors are passed to the callbacks of the writes.
    for (const stream of [stdout, stderr]) stream.on('error', ignored);
    const ended = new Promise<number>((resolve) => (this.#end = resolve));
    this.#send({kind: 'start', argv, context: describeContext(this.#context)});
    const interrupt = (): void => {
      this.#send({kind: 'interrupt', interruption: interruptionOf(signal.reason)});
    };
    if (signal.aborted) interrupt();
    signal.addEventListener('abort', interrupt);
    try {
      return await ended;
    } finally {
      signal.removeEventListener('abort', interrupt);
    }
  }

  take(message: FromWorker): void {
    if (message.kind === 'read') this.#read(this.#context.stdin);
    if (message.kind === 'write') this.#write(message);
    if (message.kind === 'now') this.#sendTime();
    if (message.kind === 'sleep') void this.#sleep(message);
    if (message.kind === 'wake') this.#sleeps.get(message.sleep)?.abort();
    if (message.kind === 'end') this.#end(message.exitCode);
  }

  #read(stdin: Readable): void {
    stdin.on('data', (chunk: Buffer | string) => {
      this.#send({kind: 'input', base64: Buffer.from(chunk as string).toString('base64')});
    });
    stdin.on('end', () => {
      this.#send({kind: 'input', base64: null});
    });
  }

  #write({name, base64}: EventOf<'write'>): void {
    const stream = this.#context[name];
    stream.write(Buffer.from(base64, 'base64'), (error) => {
      this.#send({kind: 'written', name, ...(error != null && {error: streamErrorOf(error)})});
    });
  }

  #sendTime(): void {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(this.#context.clock.now());
    this.#time.write(bytes);
  }

  async #sleep({sleep, ms}: EventOf<'sleep'>): Promise<void> {
    const controller = new AbortController();
    this.#sleeps.set(sleep, controller);
    // After an early wake-up the worker knows the reason.
    await this.#context.clock.sleep(ms, controller.signal).catch(ignored);
    this.#sleeps.delete(sleep);
    this.#send({kind: 'slept', sleep});
  }
}

const ignored = (): void => undefined;

function describeContext(context: CliContext): WorkerContext {
  const {env, stdin, stdout, stderr, clock, cgroupMount, swapsFile, program, calledAs} = context;
  return {
    env: Object.fromEntries(
      Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
    stdinIsTTY: stdin.isTTY === true,
    stdout: shapeOf(stdout),
    stderr: stderr === stdout ? 'same' : shapeOf(stderr),
    systemClock: clock === systemClock,
    wellKnownEndpoints: context.wellKnownEndpoints,
    defaultConfigFile: context.defaultConfigFile,
    cgroupMount: cgroupMount ?? null,
    swapsFile,
    program,
    calledAs,
  };
}

function shapeOf({isTTY, columns, rows}: OutputStream): OutputShape {
  return {
    ...(isTTY !== undefined && {isTTY}),
    ...(columns !== undefined && {columns}),
    ...(rows !== undefined && {rows}),
  };
}

function interruptionOf(reason: unknown): Interruption {
  if (reason instanceof InterruptedError)
    return {signal: reason.exitCode === 143 ? 'SIGTERM' : 'SIGINT', options: {compat: false}};
  if (reason instanceof KcriError) return {signal: 'SIGINT', options: {compat: true}};
  const {name, message} = reason as Error;
  return {name, message};
}

function streamErrorOf({message, code, errno, syscall}: NodeJS.ErrnoException): StreamError {
  return {
    message,
    ...(code !== undefined && {code}),
    ...(errno !== undefined && {errno}),
    ...(syscall !== undefined && {syscall}),
  };
}
