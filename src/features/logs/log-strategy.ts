import {UsageError} from '../../base/errors.js';
import type {LogStream, RuntimeService} from '../../cri/index.js';
import type {FollowOptions} from '../../operations/logs/follow/follow-options.js';
import {logTime, type LogSelection, type LogTime} from '../../operations/logs/log-selection.js';
import type {LogReadStrategy} from '../../operations/logs/log-read-strategy.js';
import {withContext} from '../../operations/with-context.js';
import type {EnvironmentContext, ReportContext, SignalContext} from '../../cli/command/contexts.js';
import type {FollowedContainer} from './follow-containers.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly logs: LogsStrategy;
  }
}

/** Values of the flags of `logs`. */
export interface LogsFlags {
  readonly follow: boolean;
  readonly 'follow-restarts': boolean;
  readonly previous: boolean;
  readonly reopen: boolean;
  readonly timestamps: boolean;
  readonly since?: string | undefined;
  readonly 'since-time'?: string | undefined;
  readonly until?: string | undefined;
  readonly stream?: string | undefined;
  readonly tail?: number | undefined;
  readonly 'limit-bytes': number;
  readonly 'no-prefix': boolean;
  /** Label selector of pods. */
  readonly selector?: string | undefined;
  /** Maximum number of logs of a selector that are followed at once. */
  readonly 'max-log-requests'?: number | undefined;
  /** Container of the named pod. */
  readonly container?: string | undefined;
}

/** Differences of `logs` between the dialects. */
export interface LogsStrategy {
  /** Throws UsageError for containers that cannot be shown together. */
  checkRefs(refs: readonly string[]): void;
  /** Returns the lines to show. Rejects with UsageError. */
  parseSelection(flags: LogsFlags, nowMs: number): Promise<LogSelection>;
  /** True if the selection is parsed before the runtime is called, rather than after the log was reopened. */
  readonly parsesFirst: boolean;
  /** True if the log of a previous attempt can be followed. */
  readonly followsPrevious: boolean;
  /** Waits for a container's status, with the dialect's error context. */
  withStatusContext<T>(reading: Promise<T>): Promise<T>;
  /** Returns how to follow containers: until they exit or, with --follow-restarts, over their restarts. */
  follow(
    services: EnvironmentContext & SignalContext,
    runtime: RuntimeService,
    containers: readonly FollowedContainer[],
    flags: LogsFlags,
  ): Promise<readonly FollowOptions[]>;
  /** Returns how log files are read. */
  readStrategy(): Promise<LogReadStrategy>;
  /** Reports lines of unknown format in a file. */
  reportUnknownLines(services: ReportContext, path: string, lines: number): void;
}

/** kcri's logs. */
export const KCRI_LOGS: LogsStrategy = {
  checkRefs: () => undefined,
  parseSelection: async (flags, nowMs) => {
    const timeOf = async (name: TimeFlag) => await parseTime(flags[name], nowMs, name);
    if (flags.since !== undefined && flags['since-time'] !== undefined)
      throw new UsageError('--since and --since-time are mutually exclusive');
    const since = (await timeOf('since')) ?? (await timeOf('since-time'));
    return {streams: parseStreams(flags.stream), since, until: await timeOf('until')};
  },
  parsesFirst: true,
  followsPrevious: false,
  withStatusContext: async (reading) => await withContext('getting container status', reading),
  follow: async (services, runtime, containers, flags) => {
    const {followContainers} = await import('./follow-containers.js');
    return await followContainers(services, runtime, containers, {restarts: flags['follow-restarts']});
  },
  readStrategy: async () => (await import('../../operations/logs/log-read-strategy.js')).KCRI_LOG_STRATEGY,
  reportUnknownLines: ({report}, path, lines) => {
    report.warn(`skipped ${lines} lines of "${path}" in an unknown log format`);
  },
};

type TimeFlag = 'since' | 'since-time' | 'until';

/** Returns the time of a flag, undefined for none. The code for times is only loaded for such flags. */
async function parseTime(
  text: string | undefined,
  nowMs: number,
  flag: TimeFlag,
): Promise<LogTime | undefined> {
  if (text === undefined) return undefined;
  const {parseSince} = await import('../../operations/logs/parse-since.js');
  return logTime(parseSince(text, nowMs, flag));
}

/** Names of the streams of a container. */
export const LOG_STREAMS = ['stdout', 'stderr'] as const satisfies readonly LogStream[];

/** Returns the streams that --stream selects. Throws UsageError. */
export function parseStreams(stream: string | undefined): ReadonlySet<LogStream> {
  if (stream === undefined || stream === '') return new Set(LOG_STREAMS);
  const known = LOG_STREAMS.find((name) => name === stream);
  if (known !== undefined) return new Set([known]);
  throw new UsageError(`invalid stream "${stream}", must be "stdout" or "stderr"`);
}
