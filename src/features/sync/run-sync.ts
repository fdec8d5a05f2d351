import {messageOf} from '../../base/errors.js';
import {containerId, type RuntimeService} from '../../cri/index.js';
import {
  ManagedByKubeletError,
  openPodRegistry,
  OtherRuntimeError,
  podRef,
  syncPods,
  type CriCall,
  type PodRegistry,
  type PodObserver,
  type ForegroundSyncResult,
  type PodRef,
  type SyncPodsOptions,
  type WaitFor,
} from '../../kubelet/index.js';
import type {CliContext} from '../../cli/process/context.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import type {SyncTimelines} from '../timeline/sync-timelines.js';
import type {LoadedPods} from '../manifests/load-pods.js';
import {exitCodeOf} from '../../cli/output/render-error.js';
import {
  describeEarlierRun,
  podExitCode,
  outcomeErrors,
  isOwnershipError,
  isUnfinished,
  createPodLeftError,
  type OutcomeErrorOptions,
} from './pod-outcome.js';
import {contentOf} from './manifest-content.js';
import {ProbeFailures} from './probe-failures.js';
import {StandingWarnings} from './standing-warnings.js';
import type {PruneScope} from './prune-scope.js';
import {removeReplacedPods} from './replaced-pods.js';
import {startServices} from './sync-services.js';
import {hasFailed} from './container-exit.js';
import {ContainerReports} from './report/container-reports.js';
import type {JunitTime, PodReport} from './report/junit-xml.js';
import {countResults, type SyncTotals} from './sync-counts.js';
import type {LogFollower} from './view/log-follower.js';
import {callSubject} from './view/pod-view.js';
import type {SyncRenderer} from './view/sync-renderer.js';
import {formatElapsed} from '../../format/duration.js';

/** Options of runSync. */
export interface RunSyncOptions {
  readonly runtime: RuntimeService;
  readonly wait: WaitFor;
  readonly timeoutMs: number | undefined;
  /** Time that a container without a readiness or startup probe must run before it counts as ready, in ms. */
  readonly minReadyMs: number;
  /** True to delete existing pods of the same names first, even if they are unchanged. */
  readonly replace: boolean;
  /** True to delete the pods when the sync ends, regardless of its outcome. */
  readonly remove: boolean;
  /** Pods of earlier syncs to delete at the end; undefined without --prune. */
  readonly prune?: PruneScope | undefined;
  /** True if the answer of `kcri why` follows the errors of pods that exist, so that these need no hints. */
  readonly isExplained: boolean;
  /** True if the pods are on kcri's own runtime. */
  readonly isPrivateRuntime: boolean;
  /** Writes the results as JUnit XML; undefined if not requested. Rejects with SystemError. */
  readonly junit?: ((xml: string) => Promise<void>) | undefined;
  readonly renderer: SyncRenderer;
  /** Masks secrets in a message of the runtime. */
  readonly mask: (text: string) => string;
  /** Adds texts to mask. */
  readonly hide: (texts: readonly string[]) => void;
  readonly warn: (message: string) => void;
  /** Follower of the container logs; undefined if logs are not requested. */
  readonly logs: LogFollower | undefined;
  /** Records the steps of the pods; undefined if they are not requested. */
  readonly timelines?: SyncTimelines | undefined;
  readonly context: Pick<CliContext, 'clock' | 'signal'>;
}

/** Options of the errors of a sync. */
type ReportingOptions = RunSyncOptions & Pick<OutcomeErrorOptions, 'probeFailures'>;

/** Result of a sync: the errors to report, and the exit code of the process. */
export interface SyncSummary {
  readonly exitCode: number;
  readonly errors: readonly unknown[];
  /** Pods that exist and have not met the wait condition in time. */
  readonly unmet: readonly PodRef[];
}

/** Number of lines of a failed container that are shown without its whole log. */
const LAST_LINES = 10;
/** Number of lines of each container in JUnit XML. */
const JUNIT_LINES = 200;

/**
 * Syncs all pods concurrently and shows the progress, until each pod meets the wait condition or cannot meet it, or the
 * signal aborts.
 */
export async function runSync(loaded: LoadedPods, options: RunSyncOptions): Promise<SyncSummary> {
  const {node, requests, objects, services} = loaded;
  const {renderer, context, logs, remove, junit, warn} = options;
  const {clock} = context;
  const [startedAtMs, start] = [clock.now(), clock.monotonic()];
  const elapsedMs = (): number => clock.monotonic() - start;
  const reports = createReports(options);
  const probeFailures = new ProbeFailures({
    isUnlimited: options.timeoutMs === undefined,
    elapsedMs,
    note: (pod, text) => {
      renderer.note(pod, text);
    },
  });
  const standing = new StandingWarnings({
    isUnlimited: options.timeoutMs === undefined,
    note: (pod, text) => {
      renderer.note(pod, text);
    },
  });
  const observer = observerFor(options, {reports, probeFailures, standing});
  const local = openPodRegistry(node, options.timelines?.observe(observer) ?? observer, objects);
  let totals: SyncTotals | undefined;
  renderer.content?.(contentOf(loaded));
  try {
    await using _hosts =
      services && (await startServices(local, {...loaded, services}, {warn, signal: context.signal}));
    const syncing = {...syncOptions(options, reports), services: services?.local};
    const all = await syncPods(local, requests, syncing, context.signal);
    reportUnready(all, {...options, probeFailures}, elapsedMs());
    const left = await Promise.all(
      all.map(async (outcome) => {
        if (!remove) return await leftOver(local, outcome);
        if (outcome.kind === 'interrupted')
          renderer.note(outcome.pod, 'is being deleted; interrupt again to leave it partially deleted');
        return await removePod(local, outcome);
      }),
    );
    if (remove) left.push(await reclaim(local, loaded, options));
    await logs?.end();
    const outcomes = all.filter(({isRetried}) => isRetried !== true);
    if (logs === undefined) await showLastOutput(outcomes, reports, renderer);
    const replaced = await removeReplacedPods(local, loaded, outcomes, options);
    totals = countResults(outcomes, elapsedMs());
    const summary = summarize(outcomes, [...left, replaced], {...options, probeFailures});
    if (junit === undefined) return summary;
    await Promise.all(all.map(async ({pod}) => reports.collect(pod)));
    const time = {startedAtMs, durationMs: totals.durationMs};
    return await withJunit(summary, junit, {
      pods: describePods(all, reports, {...options, probeFailures}),
      time,
    });
  } finally {
    renderer.end(totals);
  }
}

/** Shows why interrupted pods have not met the wait condition, as far as probes tell. */
function reportUnready(
  outcomes: readonly ForegroundSyncResult[],
  {wait, renderer, probeFailures}: ReportingOptions,
  elapsedMs: number,
): void {
  for (const outcome of outcomes) {
    const causes = outcome.kind === 'interrupted' ? probeFailures.of(outcome) : [];
    if (causes.length > 0)
      renderer.note(outcome.pod, [`not ${wait} after ${formatElapsed(elapsedMs)}`, ...causes].join('; '));
  }
}

function createReports({runtime, context: {clock}, junit}: RunSyncOptions): ContainerReports {
  return junit === undefined
    ? new ContainerReports({runtime, clock, scope: 'failed', lines: LAST_LINES})
    : new ContainerReports({runtime, clock, scope: 'all', lines: JUNIT_LINES});
}

/** Returns the reports on the pods, without the known secrets. */
function describePods(
  outcomes: readonly ForegroundSyncResult[],
  reports: ContainerReports,
  options: ReportingOptions,
): readonly PodReport[] {
  return outcomes.map((result) => ({
    result,
    containers: reports
      .of(result.pod)
      .map((report) => ({...report, output: report.output.map((line) => options.mask(line))})),
    error: outcomeErrors(result, options)[0],
  }));
}

/** Writes JUnit XML and returns the summary, with an error if that fails. */
async function withJunit(
  summary: SyncSummary,
  write: (xml: string) => Promise<void>,
  {pods, time}: {readonly pods: readonly PodReport[]; readonly time: JunitTime},
): Promise<SyncSummary> {
  const {formatJunit} = await import('./report/junit-xml.js');
  try {
    await write(formatJunit(pods, time));
    return summary;
  } catch (error) {
    const exitCode = summary.exitCode === EXIT.ok ? exitCodeOf(error) : summary.exitCode;
    return {...summary, exitCode, errors: [...summary.errors, error]};
  }
}

/** Shows the last lines of failed containers. */
async function showLastOutput(
  outcomes: readonly ForegroundSyncResult[],
  reports: ContainerReports,
  renderer: SyncRenderer,
): Promise<void> {
  for (const {pod, kind} of outcomes) {
    if (kind === 'interrupted' || kind === 'ready') continue;
    await reports.collect(pod);
    for (const {status, output} of reports.of(pod)) {
      const lines = output.slice(-LAST_LINES);
      if (hasFailed(status) && lines.length > 0) renderer.lastOutput(pod, status.name, lines);
    }
  }
}

function syncOptions(options: RunSyncOptions, reports: ContainerReports): SyncPodsOptions {
  const {runtime, wait, timeoutMs, minReadyMs, replace, renderer, logs, context} = options;
  return {
    ...{runtime, wait, timeoutMs, minReadyMs, replace},
    clock: context.clock,
    onStatus: (ref, status) => {
      renderer.status(ref, status);
      reports.setStatus(ref, status);
      logs?.followStarted(ref, status);
    },
    onResult: (result) => {
      if (result.hadEnded) renderer.note(result.pod, describeEarlierRun(result, context.clock.now()));
      renderer.result(result, podExitCode(result, wait));
    },
  };
}

function observerFor(
  {renderer, logs, mask, hide}: RunSyncOptions,
  {
    reports,
    probeFailures,
    standing,
  }: {
    readonly reports: ContainerReports;
    readonly probeFailures: ProbeFailures;
    readonly standing: StandingWarnings;
  },
): PodObserver {
  const names = new Map<string, string>();
  return {
    event: (event) => {
      renderer.event(podRef(event.pod), event);
      probeFailures.observe(event);
      standing.observe(event);
    },
    call: (ref, begun, ended) => {
      if (ended === undefined) {
        renderer.callStarted(ref, begun);
        return;
      }
      renderer.callFinished(
        ref,
        ended.error === undefined ? ended : {...ended, error: mask(messageOf(ended.error))},
      );
      if (logs !== undefined && ended.error === undefined) followStarted(logs, names, ref, ended);
    },
    containersStopped: async (ref) => {
      await logs?.endPod(ref);
      await reports.collect(ref);
    },
    secret: hide,
    waitingForLock: (ref, pid) => {
      renderer.note(ref, `waiting for another kcri process (PID ${pid}) to release this pod`);
    },
    recordingFailed: (ref, error) => {
      renderer.note(ref, `cannot record events: ${messageOf(error)}`);
    },
    linkFailed: (ref, error) => {
      renderer.note(ref, `log collectors will not find this log: ${messageOf(error)}`);
    },
  };
}

function followStarted(logs: LogFollower, names: Map<string, string>, ref: PodRef, call: CriCall): void {
  const name = callSubject(call, names);
  if (call.method === 'CreateContainer') names.set(String(call.response?.['containerId']), name);
  if (call.method === 'StartContainer')
    logs.follow(ref, name, containerId(String(call.request['containerId'])));
}

/** Deletes the volumes that drivers have created for the claims of the manifests; returns the errors to report. */
async function reclaim(
  local: PodRegistry,
  {objects}: LoadedPods,
  {context}: RunSyncOptions,
): Promise<readonly unknown[]> {
  if (context.signal.aborted) return [];
  const {reclaimVolumes} = await import('./reclaim-volumes.js');
  const isUnwanted = (claim: string): boolean => {
    const [namespace = '', name = ''] = claim.split('/');
    return objects.claimSpec?.(namespace, name) !== undefined;
  };
  const {errors} = await reclaimVolumes(local, isUnwanted, context.signal);
  return errors;
}

/** Deletes the synced pod in any state; returns the errors to report if the deletion fails. */
async function removePod(local: PodRegistry, outcome: ForegroundSyncResult): Promise<readonly unknown[]> {
  const {pod} = outcome;
  if (outcome.kind === 'failed' && isOwnershipError(outcome.error)) return [];
  try {
    await local.locks.withPodLock(pod, undefined, async () => {
      await local.rejected.delete(pod.uid);
      const record = await local.findByName(pod);
      if (record?.uid === pod.uid) await local.remover.deletePod(record);
    });
    return [];
  } catch (error) {
    return [error, createPodLeftError(pod, 'is partially deleted')];
  }
}

/**
 * Returns errors about the remains of a pod that did not meet the wait condition, with a hint on how to delete them.
 */
async function leftOver(local: PodRegistry, outcome: ForegroundSyncResult): Promise<readonly unknown[]> {
  const {kind, pod} = outcome;
  if (!isUnfinished(kind) || (kind === 'failed' && isUnchanged(outcome.error))) return [];
  const record = await local.findByName(pod);
  if (record === undefined) return [];
  if (kind === 'failed' && outcome.removalError !== undefined)
    return [createPodLeftError(pod, `cannot be deleted: ${messageOf(outcome.removalError)}`)];
  try {
    const {containers} = (await local.createSyncer(record.pod, record.place).observe()).runtime;
    return [createPodLeftError(pod, `was kept; ${describeRunning(containers)}`)];
  } catch (error) {
    return [createPodLeftError(pod, `was kept; cannot list its containers: ${messageOf(error)}`)];
  }
}

/** Reports whether the sync failed without changes to the pod. */
function isUnchanged(error: unknown): boolean {
  return error instanceof OtherRuntimeError || error instanceof ManagedByKubeletError;
}

function describeRunning(containers: readonly {readonly name: string; readonly state: string}[]): string {
  const running = containers.filter(({state}) => state === 'CONTAINER_RUNNING').map(({name}) => `"${name}"`);
  return running.length === 0 ? 'none of its containers is running' : `still running: ${running.join(', ')}`;
}

function summarize(
  outcomes: readonly ForegroundSyncResult[],
  left: readonly (readonly unknown[])[],
  options: ReportingOptions,
): SyncSummary {
  const {wait} = options;
  const explained = outcomes.flatMap((outcome) => outcomeErrors(outcome, options));
  // Report an interruption once, even if it affects several pods.
  const errors = [...new Set([...explained, ...left.flat()])];
  const codes = [...outcomes.map((outcome) => podExitCode(outcome, wait)), ...errors.map(exitCodeOf)];
  const unmet = options.remove ? [] : outcomes.filter(({kind}) => kind === 'timeout').map(({pod}) => pod);
  return {exitCode: codes.find((code) => code !== EXIT.ok) ?? EXIT.ok, errors, unmet};
}
