import {goQuote} from '../../format/go-quote.js';
import {formatAgeSince, formatAge} from '../../format/age.js';
import type {KubeletPodReport, KubeletReport, ProbeReport} from '../../kubelet/index.js';
import {alignLines, indentLines} from '../../cli/output/views/aligned-lines.js';

type WorkerReport = KubeletPodReport['worker'];
type ContainerReport = KubeletPodReport['containers'][number];

/**
 * Returns the section with the details that the kubelet of a pod reports, to follow the output of `kubectl describe`.
 */
export function kubeletSection(report: KubeletReport, pod: KubeletPodReport): string {
  // Times are relative to the clock of the kubelet.
  const now = Date.parse(report.now);
  const {source, worker, containers} = pod;
  return alignLines([
    'Kubelet:',
    ...indentLines(1, [
      ...processLines(report, now),
      `Source:\t${source ?? '<none>'}`,
      `Worker:\t${workerText(worker, now)}`,
      `Last Sync:\t${worker.lastSyncAt === undefined ? 'none yet' : `${formatAgeSince(worker.lastSyncAt, now)} ago`}`,
      ...(worker.error === undefined ? [] : [`Last Error:\t${worker.error}`]),
      ...(worker.nextSyncAt === undefined ? [] : [`Next Sync:\t${timeTo(worker.nextSyncAt, now)}`]),
      ...containers.flatMap((container) => containerLines(container, now)),
    ]),
  ]);
}

/** Describes the process of the kubelet, and whether it can sync. */
export function processLines(report: KubeletReport, nowMs: number): readonly string[] {
  return [
    `PID:\t${report.pid} (up ${formatAgeSince(report.startedAt, nowMs)})`,
    ...report.errors.map((error) => `Not Syncing:\t${error}`),
    `Runtime:\t${formatRuntimeMode(report, nowMs)}`,
  ];
}

/** Describes how the kubelet observes the runtime. */
export function formatRuntimeMode({pleg: {mode, relistedAt}}: KubeletReport, nowMs: number): string {
  const mechanism = mode === 'events' ? 'evented PLEG' : 'generic PLEG';
  return relistedAt === undefined
    ? `${mechanism}, no relist yet`
    : `${mechanism}, last relist ${formatAgeSince(relistedAt, nowMs)} ago`;
}

/** Describes the state of a pod worker and the reason for its wait. */
function workerText(
  {state, isWorking, waitsFor, terminatingAt, ...rest}: WorkerReport,
  nowMs: number,
): string {
  const {gracePeriodSeconds = 0} = rest;
  const since = terminatingAt === undefined ? '' : ` for ${formatAgeSince(terminatingAt, nowMs)}`;
  const states = {
    none: 'not started',
    rejected: 'none, the pod was rejected by admission',
    sync: isWorking ? 'syncing' : 'idle',
    terminating: `terminating${since}, grace period ${gracePeriodSeconds}s`,
    terminated: 'terminated, cleaning up',
    finished: 'finished',
  } as const satisfies Record<WorkerReport['state'], string>;
  const waits = {
    turn: ', waiting for another pod with the same name to terminate',
    status: ', waiting for the runtime status of the pod',
  } as const satisfies Record<NonNullable<WorkerReport['waitsFor']>, string>;
  return `${states[state]}${waitsFor === undefined ? '' : waits[waitsFor]}`;
}

function containerLines({name, backOff, probes}: ContainerReport, nowMs: number): readonly string[] {
  const lines = [
    ...(backOff === undefined ? [] : [`Back-off:\t${backOffText(backOff, nowMs)}`]),
    ...PROBES.flatMap(([kind, title]) =>
      probes.filter((probe) => probe.kind === kind).flatMap((probe) => probeLines(title, probe, nowMs)),
    ),
  ];
  return [`${name}:`, ...indentLines(1, lines)];
}

function backOffText(
  {reason, until, seconds}: NonNullable<ContainerReport['backOff']>,
  nowMs: number,
): string {
  const step = seconds === undefined ? '' : ` (back-off ${formatAge(seconds * 1000)})`;
  return `${reason}, next start ${timeTo(until, nowMs)}${step}`;
}

/** Probe kinds, in the order of kubectl. */
const PROBES = [
  ['liveness', 'Liveness'],
  ['readiness', 'Readiness'],
  ['startup', 'Startup'],
] as const satisfies readonly (readonly [ProbeReport['kind'], string])[];

function probeLines(
  title: string,
  {counts = 'Unknown', last, ...probe}: ProbeReport,
  nowMs: number,
): readonly string[] {
  const {inARow, threshold} = probe;
  const run =
    inARow === 0 ? '' : inARow < threshold ? `, ${inARow} of ${threshold} in a row` : `, ${inARow} in a row`;
  const before =
    last === undefined ? '' : `; last ${last.result} ${formatAgeSince(last.at, nowMs)} ago${run}`;
  const output = last?.output.trim() ?? '';
  return [
    `${title}:\t${counts}${before}; ${nextProbe(probe, nowMs)}`,
    ...(output === '' ? [] : [`  Output:\t${goQuote(output)}`]),
  ];
}

function nextProbe({waitsFor, nextAt}: Pick<ProbeReport, 'waitsFor' | 'nextAt'>, nowMs: number): string {
  if (waitsFor === 'another instance') return 'next after the container restarts';
  if (waitsFor === 'its time') return 'not due yet';
  return nextAt === undefined ? 'next now' : `next ${timeTo(nextAt, nowMs)}`;
}

/** Formats the time until a point in time: `in 7s`. */
function timeTo(time: string, nowMs: number): string {
  const ms = Date.parse(time) - nowMs;
  return ms <= 0 ? 'now' : `in ${formatAge(Math.ceil(ms / 1000) * 1000)}`;
}
