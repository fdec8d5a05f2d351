import {access, stat} from 'node:fs/promises';
import {anySignal} from '../../base/async/any-signal.js';
import {SystemError} from '../../base/errors.js';
import {ifPresent} from '../../base/fs/files.js';
import type {ContainerId, RuntimeService} from '../../cri/index.js';
import {hasExited} from '../../operations/logs/follow/container-state.js';
import {pollForExit} from '../../operations/containers/wait-for-exit.js';
import {ExecFailedError} from '../../operations/exec/exec-errors.js';
import {startAttachSession} from '../../operations/exec/start-attach-session.js';
import {readLog} from '../../operations/logs/read-log.js';
import type {LogSink} from '../../operations/logs/buffered-log-writer.js';
import type {FollowOptions} from '../../operations/logs/follow/follow-options.js';
import type {DialectContext, OutputContext, RuntimeContext} from '../../cli/command/contexts.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import type {SessionFlagValues} from './session-flags.js';
import {createLogSink} from '../logs/log-sink.js';
import {
  EXIT_BROKEN_PIPE,
  runCommandSession,
  type CommandSessionOptions,
  type SessionResult,
  type SessionStreams,
} from './command-session.js';

/** Started container to whose main process a command connects. */
export interface StartedContainer {
  readonly id: ContainerId;
  /** Name for messages. */
  readonly name: string;
  /** Path of its log. */
  readonly logPath: string;
}

/** Options of connectMainProcess. */
export interface MainProcessOptions {
  /** Streams that the container was created with. */
  readonly streams: SessionStreams;
  readonly flags: SessionFlagValues;
}

/** End of the connection: the exit of the container, or its exit code for the command if it was left before. */
export type MainProcessEnd =
  | {readonly kind: 'exited'; readonly exitCode: number}
  | {readonly kind: 'left'; readonly exitCode: number};

/** Reports whether the user left the process running. */
export function isDetached(end: MainProcessEnd | undefined): boolean {
  return end?.kind === 'left' && end.exitCode === EXIT.ok;
}

/** Interval of the checks of a log's size and of an exit, number of checks of a log without growth, and of all. */
const QUIET_MS = 40;
const QUIET_ROUNDS = 4;
const MAX_ROUNDS = 50;

const MIN_POLL_MS = 20;
const MAX_POLL_MS = 1000;

/**
 * Connects this process's streams to the main process of a container that was just started, until it exits or the user
 * leaves it. Without a terminal, output is read from the log, since whatever the process writes before an attach would
 * be lost. Rejects with KcriError and the signal's reason.
 */
export async function connectMainProcess(
  services: RuntimeContext & DialectContext & OutputContext,
  runtime: RuntimeService,
  container: StartedContainer,
  options: MainProcessOptions,
): Promise<MainProcessEnd> {
  const connection = new MainProcess(services, runtime, container, options);
  const left = await connection.transfer();
  if (left !== undefined) return left;
  return {kind: 'exited', exitCode: await connection.exitCode()};
}

class MainProcess {
  readonly #services: RuntimeContext & DialectContext & OutputContext;
  readonly #runtime: RuntimeService;
  readonly #container: StartedContainer;
  readonly #options: MainProcessOptions;
  readonly #startedAtMs: number;
  /** Number of bytes of the log that were printed. */
  #printed = 0;

  constructor(
    services: RuntimeContext & DialectContext & OutputContext,
    runtime: RuntimeService,
    container: StartedContainer,
    options: MainProcessOptions,
  ) {
    this.#services = services;
    this.#runtime = runtime;
    this.#container = container;
    this.#options = options;
    this.#startedAtMs = services.context.clock.monotonic();
  }

  /** Transfers the streams until the output ends; resolves with the end if the user left before. */
  async transfer(): Promise<MainProcessEnd | undefined> {
    const {streams} = this.#options;
    if (streams.tty || !(await this.#isLogReadable())) return await this.#attach();
    const input = new AbortController();
    const feeding = streams.stdin ? this.#feedInput(input.signal) : Promise.resolve();
    try {
      return await Promise.race([
        this.#followLog(),
        feeding.then(async () => await new Promise<never>(() => undefined)),
      ]);
    } finally {
      input.abort();
      await feeding.catch(() => undefined);
    }
  }

  async exitCode(): Promise<number> {
    const {context, signal} = this.#services;
    return await pollForExit(this.#runtime, this.#container.id, {
      clock: context.clock,
      pollMs: this.#pollMs,
      signal,
    });
  }

  /** Interval of status calls: short at first, since most commands are. */
  readonly #pollMs = (): number => {
    const elapsedMs = this.#services.context.clock.monotonic() - this.#startedAtMs;
    return Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, elapsedMs / 8));
  };

  /** Reports whether the log is a file on this machine: the runtime may run on another one. */
  async #isLogReadable(): Promise<boolean> {
    return await access(this.#container.logPath).then(
      () => true,
      () => false,
    );
  }

  /** Connects all streams, after printing what the process wrote before. */
  async #attach(): Promise<MainProcessEnd | undefined> {
    const {streams} = this.#options;
    const opened = new AbortController();
    try {
      const end = await this.#runSession({streams}, async () => {
        opened.abort();
        // Before the terminal is raw: the runtime removes the carriage return from each line of the log.
        await this.#printLog();
      });
      if (end.kind !== 'failed') return end.kind === 'left' ? end : undefined;
      if (!(await this.#exitsSoon())) throw new ExecFailedError(end.message);
      // It has exited between the opening of the session and the attachment.
      await this.#waitForQuietLog();
      await this.#printLog();
      return undefined;
    } catch (error) {
      if (opened.signal.aborted || !(await this.#exitsSoon())) throw error;
      await this.#printLog();
      return undefined;
    }
  }

  /** Connects standard input only. A container that has exited needs none. */
  async #feedInput(signal: AbortSignal): Promise<void> {
    try {
      await this.#runSession(
        {streams: this.#options.streams, takesOutput: false, signal},
        async () => undefined,
      );
    } catch (error) {
      if (!signal.aborted && !(await this.#exitsSoon(signal))) throw error;
    }
  }

  async #runSession(
    options: Pick<CommandSessionOptions, 'streams' | 'takesOutput' | 'signal'>,
    onOpen: () => Promise<void>,
  ): Promise<SessionResult> {
    const {id, name: containerName} = this.#container;
    return await runCommandSession(this.#services, {
      ...options,
      containerName,
      flags: this.#options.flags,
      open: async (streams, dialOptions) => {
        const session = await startAttachSession(this.#runtime, id, streams, dialOptions);
        await onOpen();
        return session;
      },
    });
  }

  async #hasExited(): Promise<boolean> {
    return await hasExited(this.#runtime, this.#container.id, this.#services.signal);
  }

  /**
   * Reports whether the container has exited or does so within 50 status calls: containerd removes the task, to which
   * nothing can be attached from then on, before it reports the exit. A busy runtime makes the wait longer.
   */
  async #exitsSoon(signal = this.#services.signal): Promise<boolean> {
    const {clock} = this.#services.context;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (await this.#hasExited()) return true;
      await clock.sleep(QUIET_MS, signal);
    }
    return false;
  }

  async #followLog(): Promise<MainProcessEnd | undefined> {
    const {context} = this.#services;
    const progress = async () => {
      if (!(await this.#hasExited())) return {kind: 'running'} as const;
      await this.#waitForQuietLog();
      return {kind: 'ended'} as const;
    };
    return await this.#readLog({clock: context.clock, progress, pollMs: this.#pollMs});
  }

  /**
   * Waits until the log no longer grows: containerd reports the exit shortly before it has written the last lines. A status
   * call in each round makes the wait longer if the runtime is busy.
   */
  async #waitForQuietLog(): Promise<void> {
    const {context, signal} = this.#services;
    let size = -1;
    for (let quiet = 0, round = 0; quiet < QUIET_ROUNDS && round < MAX_ROUNDS; round += 1) {
      const found = (await ifPresent(() => stat(this.#container.logPath)))?.size ?? 0;
      quiet = found === size ? quiet + 1 : 0;
      size = found;
      await context.clock.sleep(QUIET_MS, signal);
      await this.#hasExited();
    }
  }

  /** Prints what the log contains now and was not printed before, if it can be read. */
  async #printLog(): Promise<void> {
    try {
      await this.#readLog(undefined);
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
    }
  }

  async #readLog(follow: FollowOptions | undefined): Promise<MainProcessEnd | undefined> {
    const {out} = this.#services;
    using either = anySignal(this.#services.signal, out.stdout.closed);
    const {signal} = either;
    const sink = this.#skipPrinted(createLogSink(this.#services, signal));
    try {
      await readLog(this.#container.logPath, {streams: new Set(['stdout', 'stderr']), follow, signal}, sink);
      return undefined;
    } catch (error) {
      if (this.#services.signal.aborted || !out.stdout.closed.aborted) throw error;
      return {kind: 'left', exitCode: EXIT_BROKEN_PIPE};
    }
  }

  /** Returns a sink that drops what was printed when the log was read before. */
  #skipPrinted(sink: LogSink): LogSink {
    let skip = this.#printed;
    return {
      ...sink,
      write: (stream, bytes) => {
        const rest = bytes.subarray(Math.min(skip, bytes.length));
        skip -= bytes.length - rest.length;
        this.#printed += rest.length;
        if (rest.length > 0) sink.write(stream, rest);
      },
    };
  }
}
