import {anySignal} from '../../base/async/any-signal.js';
import {createDirectCalls} from '../../base/fs/direct-calls.js';
import {ConfigError} from '../../base/errors.js';
import {missingArgument} from '../../cli/flags/positional-arguments.js';
import {
  containerId,
  isNotFound,
  type Connection,
  type ContainerId,
  type ContainerStatus,
  type RuntimeService,
} from '../../cri/index.js';
import {isFullId} from '../../operations/filters/list-filters.js';
import {getContainerStatus, logPathOf, previousLogPath} from '../../operations/logs/container-log.js';
import {createLocalLogFiles} from '../../operations/logs/log-files.js';
import {distinctNames, keepNewestLogs} from '../../operations/logs/log-names.js';
import type {LogSelection} from '../../operations/logs/log-selection.js';
import {showLogs, type ShownLog} from '../../operations/logs/show-logs.js';
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

/** Selected container, and its status if the selection has read it. */
interface SelectedContainer {
  readonly id: ContainerId;
  readonly status?: ContainerStatus;
}

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
  const parse = () => strategy.parseSelection(flags, services.context.clock.now());
  const early = strategy.parsesFirst ? parse() : undefined;
  const connection = await services.connections.default();
  const {runtime} = connection;
  const selected = await select(services, connection, selection, {strategy, flags});
  checkLimit(selected.length, flags);
  if (flags.reopen) for (const {id} of selected) await reopen(services, runtime, id);
  const lines = early ?? parse();
  const found = await findLogs(services, runtime, selected, {strategy, previous: flags.previous});
  const chosen = selection.refs.length > 0 ? found : keepNewestLogs(found);
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
  count: number,
  {selector, follow, 'follow-restarts': restarts, 'max-log-requests': limit = Infinity}: LogsFlags,
): void {
  if (selector === undefined || !(follow || restarts) || count <= limit) return;
  throw new ConfigError(`cannot follow ${count} logs at once: --max-log-requests is ${limit}`, {
    hint: `use --max-log-requests=${count}, or a selector that matches fewer pods`,
  });
}

async function select(
  services: RuntimeContext & DialectContext & ResolvingContext,
  connection: Connection,
  selection: ContainerSelection,
  {strategy, flags: {container}}: LogsOptions,
): Promise<readonly SelectedContainer[]> {
  const known = await findByFullId(services, connection.runtime, selection, strategy);
  if (known !== undefined) return [known];
  const selected: SelectedContainer[] = [];
  const targets = await choosePodContainers(services, connection, selection, {container});
  await forEachTarget(services, targets, async (id) => {
    await Promise.resolve(selected.push({id}));
  });
  return selected;
}

/**
 * Returns the container with the full ID that is the only selection, by the call that also returns the path of its log: a
 * list first would be another one. Returns undefined if no container has this ID, which may be that of a pod.
 */
async function findByFullId(
  {dialect, signal}: DialectContext & SignalContext,
  runtime: RuntimeService,
  {refs: [ref = '', ...others], query, byPod}: ContainerSelection,
  strategy: LogsStrategy,
): Promise<SelectedContainer | undefined> {
  if (others.length > 0 || !isFullId(ref) || query !== undefined || byPod || dialect.takesOnlyIds)
    return undefined;
  const id = containerId(ref);
  const reading = getContainerStatus(runtime, id, signal).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
  const status = await strategy.withStatusContext(reading);
  return status && {id, status};
}

async function reopen(
  {report, signal}: ReportContext & SignalContext,
  runtime: RuntimeService,
  containerId: ContainerId,
): Promise<void> {
  await withContext('reopen container logs', runtime.reopenContainerLog({containerId}, {signal}));
  report.info('Container logs reopened');
}

/** Finds the logs of containers; one without a log is reported and does not hide the others. */
async function findLogs(
  services: DialectContext & ReportContext & SignalContext,
  runtime: RuntimeService,
  selected: readonly SelectedContainer[],
  {strategy, previous}: {readonly strategy: LogsStrategy; readonly previous: boolean},
): Promise<readonly ContainerLog[]> {
  const logs: ContainerLog[] = [];
  const statuses = new Map(selected.map(({id, status}) => [id, status]));
  const targets = selected.map(({id}) => ({kind: 'found' as const, ref: id, id}));
  await forEachTarget(services, targets, async (id) => {
    const status =
      statuses.get(id) ??
      (await strategy.withStatusContext(getContainerStatus(runtime, id, services.signal)));
    const path = logPathOf(status);
    if (status !== undefined) logs.push({id, status, path: previous ? previousLogPath(status) : path});
  });
  return logs;
}

/** Returns the presentation of each log; a single one needs no name. */
async function shownLogs(
  services: EnvironmentContext & OutputContext & SignalContext,
  runtime: RuntimeService,
  chosen: readonly ContainerLog[],
  {strategy, flags}: LogsOptions,
): Promise<readonly ShownLog[]> {
  const names = distinctNames(chosen.map(({status}) => status));
  const containers = chosen.map(({status}, index) => ({status, name: names[index] ?? ''}));
  const isFollowed =
    (flags.follow || flags['follow-restarts']) && (strategy.followsPrevious || !flags.previous);
  const prefixes = !flags['no-prefix'] && chosen.length > 1 ? await prefixesOf(services, names) : [];
  const follows = isFollowed ? await strategy.follow(services, runtime, containers, flags) : [];
  return chosen.map(({path}, index) => ({path, prefix: prefixes[index], follow: follows[index]}));
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
