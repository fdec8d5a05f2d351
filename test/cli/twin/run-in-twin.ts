import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';
import type {Readable, Writable} from 'node:stream';
import {systemClock} from '../../../src/base/clock.js';
import {KcriError} from '../../../src/base/errors.js';
import type {CliContext} from '../../../src/cli/context.js';
import type {OutputStream} from '../../../src/cli/output/standard-output.js';
import {InterruptedError} from '../../../src/cli/interrupt.js';
import {
  TIME_FD,
  type FromTwin,
  type Interruption,
  type OutputShape,
  type StreamFault,
  type ToTwin,
  type TwinContext,
} from './messages.js';

type Said<Kind extends FromTwin['kind']> = Extract<FromTwin, {kind: Kind}>;
type Told = ToTwin extends infer Message ? (Message extends ToTwin ? Omit<Message, 'run'> : never) : never;

/** Runs a command line in the twin of the executable, which is one process for all that this one runs. */
export async function runInTwin(argv: readonly string[], context: CliContext): Promise<number> {
  twin ??= startTwin(process.env['KCRI_TEST_TWIN'] ?? '');
  return await twin.run(argv, context);
}

let twin: Twin | undefined;

/** Its process. */
export function twinPid(): number | undefined {
  return twin?.pid;
}

interface Twin {
  readonly pid: number | undefined;
  run(argv: readonly string[], context: CliContext): Promise<number>;
}

function startTwin(file: string): Twin {
  const child = spawn(file, {stdio: ['pipe', 'pipe', 'inherit', 'pipe']});
  const stdin = child.stdin!;
  const stdout = child.stdout!;
  const time = child.stdio[TIME_FD] as Writable;
  const runs = new Map<number, Run>();
  const died = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the twin of the executable has ended: ${String(code ?? signal)}`);
  });
  died.catch(() => undefined);
  // It ends with this process, which does not wait for it.
  for (const handle of [child, stdin, stdout, time]) (handle as {unref?: () => void}).unref?.();
  createInterface({input: stdout}).on('line', (line) => {
    const message = JSON.parse(line) as FromTwin;
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

/** One command line that the twin runs. */
class Run {
  readonly #context: CliContext;
  readonly #time: Writable;
  readonly #tell: (message: Told) => void;
  readonly #sleeps = new Map<number, AbortController>();
  #end: (exitCode: number) => void = ignored;

  constructor(context: CliContext, time: Writable, tell: (message: Told) => void) {
    this.#context = context;
    this.#time = time;
    this.#tell = tell;
  }

  async main(argv: readonly string[]): Promise<number> {
    const {signal, stdout, stderr} = this.#context;
    // The callback of a write is told of it.
    for (const stream of [stdout, stderr]) stream.on('error', ignored);
    const ended = new Promise<number>((resolve) => (this.#end = resolve));
    this.#tell({kind: 'start', argv, context: described(this.#context)});
    const interrupt = (): void => {
      this.#tell({kind: 'interrupt', interruption: interruptionOf(signal.reason)});
    };
    if (signal.aborted) interrupt();
    signal.addEventListener('abort', interrupt);
    try {
      return await ended;
    } finally {
      signal.removeEventListener('abort', interrupt);
    }
  }

  take(message: FromTwin): void {
    if (message.kind === 'read') this.#read(this.#context.stdin);
    if (message.kind === 'write') this.#write(message);
    if (message.kind === 'now') this.#sayNow();
    if (message.kind === 'sleep') void this.#sleep(message);
    if (message.kind === 'wake') this.#sleeps.get(message.sleep)?.abort();
    if (message.kind === 'end') this.#end(message.exitCode);
  }

  #read(stdin: Readable): void {
    stdin.on('data', (chunk: Buffer | string) => {
      this.#tell({kind: 'input', base64: Buffer.from(chunk as string).toString('base64')});
    });
    stdin.on('end', () => {
      this.#tell({kind: 'input', base64: null});
    });
  }

  #write({name, base64}: Said<'write'>): void {
    const stream = this.#context[name];
    stream.write(Buffer.from(base64, 'base64'), (error) => {
      this.#tell({kind: 'written', name, ...(error != null && {fault: faultOf(error)})});
    });
  }

  #sayNow(): void {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(this.#context.clock.now());
    this.#time.write(bytes);
  }

  async #sleep({sleep, ms}: Said<'sleep'>): Promise<void> {
    const controller = new AbortController();
    this.#sleeps.set(sleep, controller);
    // Woken early, the twin knows why.
    await this.#context.clock.sleep(ms, controller.signal).catch(ignored);
    this.#sleeps.delete(sleep);
    this.#tell({kind: 'slept', sleep});
  }
}

const ignored = (): void => undefined;

function described(context: CliContext): TwinContext {
  const {env, stdin, stdout, stderr, clock, cgroupMount, swapsFile, program, compat} = context;
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
    compat,
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

function faultOf({message, code, errno, syscall}: NodeJS.ErrnoException): StreamFault {
  return {
    message,
    ...(code !== undefined && {code}),
    ...(errno !== undefined && {errno}),
    ...(syscall !== undefined && {syscall}),
  };
}
