import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/base-command.js';
import {integerFlag} from '../cli/flags.js';
import type {ContainerId, RuntimeService} from '../cri/index.js';
import {isRunning, logPathOf, previousLogPath} from '../operations/logs/container-log.js';
import type {LogStream} from '../cri/index.js';
import {readLog} from '../operations/logs/read-log.js';
import {parseSince} from '../operations/logs/since.js';
import type {LogSink} from '../operations/logs/writer.js';
import {resolveContainer} from '../operations/resolve.js';
import {withContext} from '../operations/with-context.js';

const STREAMS = ['stdout', 'stderr'] as const satisfies readonly LogStream[];

export default class Logs extends BaseCommand {
  static override summary = 'Show what a container wrote';
  static override description =
    'What it wrote to its standard error goes to standard error. Reads the log file on this machine.';
  static override usage = 'logs CONTAINER [OPTIONS]';
  static override args = {
    container: Args.string({ignoreStdin: true, description: 'Id, beginning of an id, name, or POD/NAME.'}),
  };
  static override flags = {
    follow: Flags.boolean({char: 'f', description: 'Go on until the container ends.'}),
    previous: Flags.boolean({char: 'p', description: "The log of the container's previous attempt."}),
    reopen: Flags.boolean({char: 'r', description: 'Let the runtime reopen the log file first.'}),
    tail: integerFlag({default: -1, helpValue: 'N', description: 'Only the last N lines. [default: all]'}),
    'limit-bytes': integerFlag({
      default: -1,
      helpValue: 'N',
      description: 'Stop after N bytes. [default: no limit]',
    }),
    since: Flags.string({
      helpValue: 'TIME',
      description: 'Only what was written since: 10m, 2026-11-20T14:00:00Z, or Unix seconds.',
    }),
    timestamps: Flags.boolean({char: 't', description: 'Put the time in front of each line.'}),
    stream: Flags.string({char: 's', helpValue: STREAMS.join('|'), description: 'Only this stream.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Logs);
    if ((args.container ?? '') === '') throw new UsageError('ID cannot be empty');
    const options = {
      streams: streamsOf(flags.stream),
      since: flags.since === undefined ? undefined : parseSince(flags.since, this.context.clock.now()),
      timestamps: flags.timestamps,
      limitBytes: unlessNegative(flags['limit-bytes']),
      tailLines: unlessNegative(flags.tail),
    };
    const {runtime} = await this.cri();
    const {signal} = this;
    const containerId = await resolveContainer(runtime, args.container ?? '', {signal});
    if (flags.reopen) await this.#reopen(runtime, containerId);
    const status = await logPathOf(runtime, containerId, signal);
    await this.#read(flags.previous ? previousLogPath(status) : status.logPath, {
      ...options,
      follow: flags.follow
        ? {clock: this.context.clock, isRunning: async () => await isRunning(runtime, containerId, signal)}
        : undefined,
    });
  }

  async #reopen(runtime: RuntimeService, containerId: ContainerId): Promise<void> {
    const reopened = runtime.reopenContainerLog({containerId}, {signal: this.signal});
    await withContext('reopen container logs', reopened);
    this.note('Container logs reopened');
  }

  /** Ctrl-C and a reader that goes away end a log; neither is an error. */
  async #read(path: string, options: Omit<Parameters<typeof readLog>[1], 'signal'>): Promise<void> {
    const {stdout, stderr} = this;
    const signal = AbortSignal.any([this.signal, stdout.closed]);
    const sink: LogSink = {
      write: (stream, bytes) => {
        (stream === 'stdout' ? stdout : stderr).write(bytes);
      },
      ready: async () => {
        await stdout.ready(signal);
        await stderr.ready(signal);
      },
    };
    try {
      const unknown = await readLog(path, {...options, signal}, sink);
      if (unknown > 0) this.warn(`left out ${unknown} lines of "${path}" that are in no known log format`);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

function streamsOf(stream: string | undefined): ReadonlySet<LogStream> {
  if (stream === undefined) return new Set(STREAMS);
  const known = STREAMS.find((name) => name === stream);
  if (known !== undefined) return new Set([known]);
  throw new UsageError(`invalid stream "${stream}", must be "stdout" or "stderr"`);
}

function unlessNegative(value: number): number | undefined {
  return value < 0 ? undefined : value;
}
