import type {Connection, ContainerId} from '../../../cri/index.js';
import {getContainerStatus, logPathOf, previousLogPath} from '../../../operations/logs/container-log.js';
import {showLogs, type ShownLog} from '../../../operations/logs/show-logs.js';
import type {ConnectionContext, EnvironmentContext, SignalContext} from '../../../cli/command/contexts.js';
import {KCRI_LOGS, parseStreams, type LogsFlags} from '../../logs/log-strategy.js';
import {logFilesOf} from '../../logs/log-files-of.js';
import {LineSplitter, showLine} from './log-lines.js';

/** Number of lines that are shown of a log at first by default. */
const TAIL_LINES = 1000;

/** Container whose log is followed. */
export interface FollowedLog {
  readonly id: ContainerId;
  readonly name: string;
}

/** Options of followLogs and followEvents. */
export interface FollowOptions {
  readonly signal: AbortSignal;
  readonly onLines: (lines: readonly string[]) => void;
  /** Resolves when more lines are wanted. */
  readonly ready: () => Promise<void>;
}

/** Options of followLogs. */
export interface FollowLogsOptions extends FollowOptions {
  /** Number of last lines that are shown at first. */
  readonly tailLines?: number | undefined;
  /** True for the log of the attempt before, to its end. */
  readonly previous?: boolean;
}

const FLAGS: LogsFlags = {
  follow: true,
  'follow-restarts': true,
  previous: false,
  reopen: false,
  timestamps: false,
  'limit-bytes': -1,
  'no-prefix': false,
};

/**
 * Follows the logs of containers, also over their restarts, with the last lines first; the logs of previous attempts end. Lines
 * of several containers have their names before them. Rejects with KcriError, and with the signal's reason.
 */
export async function followLogs(
  services: ConnectionContext & EnvironmentContext & SignalContext,
  {runtime}: Connection,
  containers: readonly FollowedLog[],
  {signal, onLines, ready, tailLines = TAIL_LINES, previous = false}: FollowLogsOptions,
): Promise<void> {
  const {clock} = services.context;
  const found = await Promise.all(
    containers.map(async ({id, name}) => {
      const status = await getContainerStatus(runtime, id, signal);
      if (status === undefined) return [];
      return [{name, status, path: previous ? previousLogPath(status) : logPathOf(status)}];
    }),
  );
  const logs = found.flat();
  const follows = previous ? [] : await KCRI_LOGS.follow(services, runtime, logs, FLAGS);
  const width = Math.max(...logs.map(({name}) => name.length));
  const shown = logs.map(({name, path}, index): ShownLog => {
    const prefix = logs.length > 1 ? `${name.padEnd(width)} | ` : undefined;
    return {path, prefix, follow: follows[index]};
  });
  const splitters = {stdout: new LineSplitter(), stderr: new LineSplitter()};
  const notice = (text: string): void => {
    onLines([`--- ${showLine(text)}`]);
  };
  // An empty log is shown as such.
  onLines([]);
  await showLogs(
    shown,
    {
      streams: parseStreams(undefined),
      tailLines,
      strategy: await KCRI_LOGS.readStrategy(),
      files: await logFilesOf(services),
      clock,
      signal,
      onNotice: notice,
      onUnknownLines: (path, count) => {
        notice(`skipped ${count} lines of "${path}" in an unknown log format`);
      },
      onFailure: (error) => {
        throw error;
      },
    },
    {
      write: (stream, bytes) => {
        onLines(splitters[stream].add(bytes));
      },
      ready,
    },
  );
}
