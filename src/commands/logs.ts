import * as Flags from '@oclif/core/flags';
import {fstatSync} from 'node:fs';
import {UsageError} from '../base/errors.js';
import {containerArgs} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {choiceOf, chooseContainers, LONG_CHOICE_FLAGS, type Choice} from '../cli/choose-containers.js';
import {integerFlag} from '../cli/flags.js';
import type {Output} from '../cli/output.js';
import {ArgumentsError} from '../cli/usage-errors.js';
import type {Connection, ContainerId, ContainerStatus, LogStream, RuntimeService} from '../cri/index.js';
import {isRunning, logPathOf, previousLogPath, statusOf} from '../operations/logs/container-log.js';
import {distinctNames, newestAttempts} from '../operations/logs/log-names.js';
import type {FollowOptions} from '../operations/logs/log-source.js';
import {logTime, type LogSelection} from '../operations/logs/selection.js';
import {showLogs, type ShownLog, type ShowLogsOptions} from '../operations/logs/show-logs.js';
import {parseSince, parseSinceAsCrictl} from '../operations/logs/since.js';
import type {LogSink} from '../operations/logs/writer.js';
import {withContext} from '../operations/with-context.js';

const STREAMS = ['stdout', 'stderr'] as const satisfies readonly LogStream[];

/** A container that was chosen, and where its log is. */
interface ChosenLog {
  readonly id: ContainerId;
  readonly status: ContainerStatus;
  readonly path: string;
}

interface LogFlagValues {
  readonly since?: string | undefined;
  readonly 'since-time'?: string | undefined;
  readonly until?: string | undefined;
  readonly stream?: string | undefined;
  readonly tail?: number | undefined;
}

export default class Logs extends BaseCommand {
  static override summary = 'Show what containers wrote';
  static override description =
    'What a container wrote to its standard error goes to standard error. Log files are read on this machine, with ' +
    'those that they were rotated into.\n\n' +
    "The lines of several containers are merged by time, each behind its container's name. Filters choose the newest " +
    'attempt of each container.\n\n' +
    '-f goes on when the log is rotated and when the container is started again; it ends with the container when ' +
    'nothing starts it again, and with 0 after Ctrl-C.';
  static override usage = 'logs [CONTAINER...] [OPTIONS]';
  static override examples = [
    '<%= config.bin %> logs -f web/nginx',
    '<%= config.bin %> logs --tail 20 --since 10m web',
    '<%= config.bin %> logs --pod shop/web -f',
    '<%= config.bin %> logs -t --label app=web --since-time 2026-11-20T14:00:00Z --until 2026-11-20T14:05:00Z',
    '<%= config.bin %> logs --previous web/nginx',
  ];
  static override args = containerArgs;
  static override flags = {
    ...LONG_CHOICE_FLAGS,
    follow: Flags.boolean({char: 'f', description: 'Go on with what is written, until the container ends.'}),
    previous: Flags.boolean({char: 'p', description: "The log of the container's previous attempt."}),
    reopen: Flags.boolean({char: 'r', description: 'Let the runtime reopen the log file first.'}),
    tail: integerFlag({helpValue: 'N', description: 'Only the last N lines of each log. [default: all]'}),
    'limit-bytes': integerFlag({
      default: -1,
      helpValue: 'N',
      description: 'Stop after N bytes. [default: no limit]',
    }),
    since: Flags.string({
      helpValue: 'TIME',
      description: 'Only what was written since: 10m, 2026-11-20T14:00:00Z, or Unix seconds.',
    }),
    'since-time': Flags.string({helpValue: 'TIME', description: "The same as --since, by kubectl's name."}),
    until: Flags.string({helpValue: 'TIME', description: 'Only what was written until then.'}),
    timestamps: Flags.boolean({char: 't', description: 'Put the time in front of each line.'}),
    stream: Flags.string({char: 's', helpValue: STREAMS.join('|'), description: 'Only this stream.'}),
    'no-prefix': Flags.boolean({description: "Don't put names in front of the lines of several containers."}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Logs);
    const choice = choiceOf(args.container, flags, {states: 'all'});
    this.#check(choice);
    const early = this.compat ? undefined : this.#selection(flags);
    const services = await this.cri();
    const ids = await this.#choose(services, choice);
    if (flags.reopen) for (const id of ids) await this.#reopen(services.runtime, id);
    // crictl looks at the other flags when it has reopened the log.
    const selection = early ?? this.#selection(flags);
    const found = await this.#find(services.runtime, ids, flags.previous);
    const chosen = choice.refs.length > 0 ? found : newestAttempts(found);
    const follow = flags.follow && (this.compat || !flags.previous);
    const logs = await this.#named(services.runtime, chosen, {follow, prefix: !flags['no-prefix']});
    await this.#show(logs, {
      ...selection,
      timestamps: flags.timestamps,
      limitBytes: unlessNegative(flags['limit-bytes']),
      tailLines: unlessNegative(flags.tail ?? -1),
    });
  }

  #check({refs, query}: Choice): void {
    if ((refs.length === 0 && query === undefined) || refs.includes(''))
      throw new UsageError('ID cannot be empty');
    if (this.compat && refs.length > 1) throw new ArgumentsError('one container at a time');
  }

  #selection(flags: LogFlagValues): LogSelection {
    const nowMs = this.context.clock.now();
    if (this.compat) {
      const since = parseSinceAsCrictl(flags.since ?? '', nowMs);
      const streams = streamsOf(flags.stream);
      if (flags.tail !== undefined && flags.stream !== undefined)
        throw new UsageError('--tail and --stream are mutually exclusive');
      return {streams, since};
    }
    const moment = (name: 'since' | 'since-time' | 'until') => {
      const text = flags[name];
      return text === undefined ? undefined : logTime(parseSince(text, nowMs, name));
    };
    if (flags.since !== undefined && flags['since-time'] !== undefined)
      throw new UsageError('--since and --since-time are the same: give one of them');
    const since = moment('since') ?? moment('since-time');
    return {streams: streamsOf(flags.stream), since, until: moment('until')};
  }

  async #choose(services: Connection, choice: Choice): Promise<readonly ContainerId[]> {
    const {signal, compat: literal} = this;
    const ids: ContainerId[] = [];
    const targets = await chooseContainers(services, choice, {signal, literal});
    await this.forEachTarget(targets, async (id) => {
      await Promise.resolve(ids.push(id));
    });
    return ids;
  }

  async #reopen(runtime: RuntimeService, containerId: ContainerId): Promise<void> {
    const reopened = runtime.reopenContainerLog({containerId}, {signal: this.signal});
    await withContext('reopen container logs', reopened);
    this.note('Container logs reopened');
  }

  /** A container without a log doesn't keep those of others from being shown. */
  async #find(
    runtime: RuntimeService,
    ids: readonly ContainerId[],
    previous: boolean,
  ): Promise<readonly ChosenLog[]> {
    const chosen: ChosenLog[] = [];
    const targets = ids.map((id) => ({kind: 'found' as const, ref: id, id}));
    await this.forEachTarget(targets, async (id) => {
      const asked = statusOf(runtime, id, this.signal);
      const status = this.compat ? await asked : await withContext('getting container status', asked);
      const path = logPathOf(status);
      if (status !== undefined) chosen.push({id, status, path: previous ? previousLogPath(status) : path});
    });
    return chosen;
  }

  /** What each log is shown with; a single one needs no name. */
  async #named(
    runtime: RuntimeService,
    chosen: readonly ChosenLog[],
    {follow, prefix}: {readonly follow: boolean; readonly prefix: boolean},
  ): Promise<readonly ShownLog[]> {
    const statuses = chosen.map(({status}) => status);
    const names = distinctNames(statuses);
    const prefixes = prefix && chosen.length > 1 ? await this.#prefixes(names) : [];
    const follows = follow ? await this.#follows(runtime, statuses, names) : [];
    return chosen.map(({path}, index) => ({path, prefix: prefixes[index], follow: follows[index]}));
  }

  async #prefixes(names: readonly string[]): Promise<readonly string[]> {
    const {logPrefixes} = await import('../cli/log-prefixes.js');
    return logPrefixes(names, this.colors);
  }

  async #follows(
    runtime: RuntimeService,
    statuses: readonly ContainerStatus[],
    names: readonly string[],
  ): Promise<readonly FollowOptions[]> {
    const {signal} = this;
    const {clock} = this.context;
    if (this.compat)
      return statuses.map(({id}) => ({
        clock,
        progress: async () => ({kind: (await isRunning(runtime, id, signal)) ? 'running' : 'ended'}),
      }));
    const {Restarts} = await import('../operations/logs/restarts.js');
    return statuses.map((status, index) => {
      const restarts = new Restarts(status, {runtime, clock, name: names[index] ?? '', signal});
      return {clock, progress: () => restarts.progress()};
    });
  }

  /** Ctrl-C and a reader that goes away end logs; neither is an error. */
  async #show(
    logs: readonly ShownLog[],
    options: Pick<ShowLogsOptions, 'streams' | 'since' | 'until' | 'timestamps' | 'limitBytes' | 'tailLines'>,
  ): Promise<void> {
    const signal = AbortSignal.any([this.signal, this.stdout.closed]);
    const manner = this.compat
      ? (await import('../operations/logs/crictl-manner.js')).CRICTL_MANNER
      : (await import('../operations/logs/manner.js')).OWN_MANNER;
    const told: Omit<ShowLogsOptions, keyof typeof options> = {
      manner,
      clock: this.context.clock,
      signal,
      notice: (text) => {
        this.note(`kcri: ${text}`);
      },
      // crictl tells of such lines in its debugging log only.
      leftOut: (path, lines) => {
        if (!this.compat) this.warn(`left out ${lines} lines of "${path}" that are in no known log format`);
      },
      failed: (error) => {
        this.fail(error);
      },
    };
    try {
      await showLogs(logs, {...options, ...told}, this.#sink(signal));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #sink(signal: AbortSignal): LogSink {
    const {stdout, stderr} = this;
    return {
      together: areOne(stdout, stderr),
      write: (stream, bytes) => {
        (stream === 'stdout' ? stdout : stderr).write(bytes);
      },
      ready: async () => {
        await stdout.ready(signal);
        await stderr.ready(signal);
      },
    };
  }
}

/** True for a terminal, and for `2>&1`. */
function areOne(...outputs: readonly Output[]): boolean {
  const places = outputs.map(({stream}) => {
    if (!('fd' in stream) || typeof stream.fd !== 'number') return undefined;
    const {dev, ino} = fstatSync(stream.fd);
    return `${dev} ${ino}`;
  });
  return places[0] !== undefined && places.every((place) => place === places[0]);
}

function streamsOf(stream: string | undefined): ReadonlySet<LogStream> {
  if (stream === undefined || stream === '') return new Set(STREAMS);
  const known = STREAMS.find((name) => name === stream);
  if (known !== undefined) return new Set([known]);
  throw new UsageError(`invalid stream "${stream}", must be "stdout" or "stderr"`);
}

function unlessNegative(value: number): number | undefined {
  return value < 0 ? undefined : value;
}
