import {anySignal} from '../../base/async/any-signal.js';
import {createDirectCalls} from '../../base/fs/direct-calls.js';
import {ConfigError} from '../../base/errors.js';
import {missingArgument} from '../../cli/flags/positional-arguments.js';
import type {ContainerId, ContainerStatus, RuntimeService} from '../../cri/index.js';
import {getContainerStatus, logPathOf, previousLogPath} from '../../operations/logs/container-log.js';
import {createLocalLogFiles} from '../../operations/logs/log-files.js';
import type {LogSelection} from '../../operations/logs/log-selection.js';
import {showLogs, type ShownLog} from '../../operations/logs/show-logs.js';
import type {Target} from '../../operations/resolve/target.js';
import {withContext} from '../../operations/with-context.js';
import type {
  DialectContext,
  EnvironmentContext,
  OutputContext,
  ReportContext,
  ResolvingContext,
  RuntimeContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {logFilesOf} from './log-files-of.js';
import {forEachTarget} from '../../cli/command/for-each-target.js';
import {choosePodContainers, type ContainerSelection} from '../containers/select-containers.js';
import {createLogSink} from './log-sink.js';
import {KCRI_LOGS, type LogsFlags, type LogsStrategy} from './log-strategy.js';

/** Selected container and the path of its log. */
interface ContainerLog {
  readonly id: ContainerId;
  readonly status: ContainerStatus;
  readonly path: string;
}

/** Dialect and flags of the command. */
interface LogsOptions {
  readonly strategy: LogsStrategy;
  readonly flags: LogsFlags;
}

/** Prints the logs of the selected containers. Rejects with KcriError. */
export async function showContainerLogs(
  services: RuntimeContext & DialectContext & OutputContext & ResolvingContext,
  selection: ContainerSelection,
  flags: LogsFlags,
): Promise<void> {
  const strategy = await services.dialect.strategy('logs', KCRI_LOGS);
  checkSelection(selection, strategy);
  const parse = async () => await strategy.parseSelection(flags, services.context.clock.now());
  const early = strategy.parsesFirst ? await parse() : undefined;
  const connection = await services.connections.default();
  const {runtime} = connection;
  const {container} = flags;
  const targets = await choosePodContainers(services, connection, selection, {container});
  checkLimit(targets, flags);
  const selected = flags.reopen ? await reopenLogs(services, runtime, targets) : targets;
  const lines = early ?? (await parse());
  const found = await findLogs(services, runtime, selected, {strategy, previous: flags.previous});
  const chosen = selection.refs.length > 0 ? found : await newestOf(found);
  const logs = await shownLogs(services, runtime, chosen, {strategy, flags});
  await show(services, logs, {strategy, flags, lines});
}

/** Throws UsageError for an invalid selection. */
function checkSelection({refs, query, selector}: ContainerSelection, strategy: LogsStrategy): void {
  if ((refs.length === 0 && query === undefined && selector === undefined) || refs.includes(''))
    throw missingArgument('container or a pod');
  strategy.checkRefs(refs);
}

/** Throws ConfigError if more logs would be followed than kubectl follows by default: each costs a loop of reads. */
function checkLimit(
  targets: readonly Target<ContainerId>[],
  {selector, follow, 'follow-restarts': restarts, 'max-log-requests': limit = Infinity}: LogsFlags,
): void {
  const count = targets.filter(({kind}) => kind === 'found').length;
  if (selector === undefined || !(follow || restarts) || count <= limit) return;
  throw new ConfigError(`cannot follow ${count} logs at once: --max-log-requests is ${limit}`, {
    hint: `use --max-log-requests=${count}, or a selector that matches fewer pods`,
  });
}

/** Asks the runtime to reopen logs. Returns the containers whose logs were reopened; a failure does not stop the others. */
async function reopenLogs(
  services: DialectContext & ReportContext & SignalContext,
  runtime: RuntimeService,
  targets: readonly Target<ContainerId>[],
): Promise<readonly Target<ContainerId>[]> {
  const {report, signal} = services;
  const reopened: Target<ContainerId>[] = [];
  await forEachTarget(services, targets, async (id, ref) => {
    await withContext('reopen container logs', runtime.reopenContainerLog({containerId: id}, {signal}));
    report.info('Container logs reopened');
    reopened.push({kind: 'found', ref, id});
  });
  return reopened;
}

/** Finds the logs of containers; one without a log is reported and does not hide the others. */
async function findLogs(
  services: DialectContext & ReportContext & SignalContext,
  runtime: RuntimeService,
  targets: readonly Target<ContainerId>[],
  {strategy, previous}: {readonly strategy: LogsStrategy; readonly previous: boolean},
): Promise<readonly ContainerLog[]> {
  const logs: ContainerLog[] = [];
  await forEachTarget(services, targets, async (id) => {
    const status = await strategy.withStatusContext(getContainerStatus(runtime, id, services.signal));
    const path = logPathOf(status);
    if (status !== undefined) logs.push({id, status, path: previous ? previousLogPath(status) : path});
  });
  return logs;
}

/** Returns the logs of the newest attempts of several containers. */
async function newestOf(logs: readonly ContainerLog[]): Promise<readonly ContainerLog[]> {
  if (logs.length < 2) return logs;
  const {keepNewestLogs} = await import('../../operations/logs/log-names.js');
  return keepNewestLogs(logs);
}

/** Returns the presentation of each log; a single one needs no name. */
async function shownLogs(
  services: EnvironmentContext & OutputContext & SignalContext,
  runtime: RuntimeService,
  chosen: readonly ContainerLog[],
  {strategy, flags}: LogsOptions,
): Promise<readonly ShownLog[]> {
  const names = await namesOf(chosen);
  const containers = chosen.map(({status}, index) => ({status, name: names[index] ?? ''}));
  const isFollowed =
    (flags.follow || flags['follow-restarts']) && (strategy.followsPrevious || !flags.previous);
  const prefixes = !flags['no-prefix'] && chosen.length > 1 ? await prefixesOf(services, names) : [];
  const follows = isFollowed ? await strategy.follow(services, runtime, containers, flags) : [];
  return chosen.map(({path}, index) => ({path, prefix: prefixes[index], follow: follows[index]}));
}

/** Returns unique names of the containers. */
async function namesOf(chosen: readonly ContainerLog[]): Promise<readonly string[]> {
  if (chosen.length < 2) return chosen.map(({status}) => status.metadata?.name ?? '');
  const {distinctNames} = await import('../../operations/logs/log-names.js');
  return distinctNames(chosen.map(({status}) => status));
}

async function prefixesOf({out}: OutputContext, names: readonly string[]): Promise<readonly string[]> {
  const {formatLogPrefixes} = await import('./log-prefixes.js');
  return formatLogPrefixes(names, out.colors);
}

/** Calls on log files that need no other thread: those of two short logs. */
const DIRECT_CALLS = 32;

/** Number of last lines of each pod of a selector, as in kubectl. */
const SELECTED_TAIL = 10;

interface ShowOptions extends LogsOptions {
  readonly lines: LogSelection;
}

/** Prints the logs. Ctrl-C and a closed pipe end the output without an error. */
async function show(
  services: RuntimeContext & DialectContext & OutputContext,
  logs: readonly ShownLog[],
  {strategy, flags, lines}: ShowOptions,
): Promise<void> {
  const {context, out, report} = services;
  using either = anySignal(services.signal, out.stdout.closed);
  const {signal} = either;
  const options = {
    ...lines,
    timestamps: flags.timestamps,
    limitBytes: unlessNegative(flags['limit-bytes']),
    tailLines: unlessNegative(flags.tail ?? (flags.selector === undefined ? -1 : SELECTED_TAIL)),
    strategy: await strategy.readStrategy(),
    clock: context.clock,
    signal,
    files: (await logFilesOf(services, report.info)) ?? createLocalLogFiles(createDirectCalls(DIRECT_CALLS)),
    onNotice: (text: string) => {
      report.info(`kcri: ${text}`);
    },
    onUnknownLines: (path: string, count: number) => {
      strategy.reportUnknownLines(services, path, count);
    },
    onFailure: report.fail,
  };
  try {
    await showLogs(logs, options, createLogSink(services, signal));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function unlessNegative(value: number): number | undefined {
  return value < 0 ? undefined : value;
}
