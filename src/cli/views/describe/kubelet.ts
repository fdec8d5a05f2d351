import {goQuote} from '../../../format/go-quote.js';
import {ageOf, shortDuration} from '../../../format/short-duration.js';
import type {KubeletPodReport, KubeletReport, ProbeReport} from '../../../kubelet/index.js';
import {alignedText, indented} from './lines.js';

type WorkerReport = KubeletPodReport['worker'];
type ContainerReport = KubeletPodReport['containers'][number];

/** What the kubelet that keeps a pod knows of it beyond its status, to stand behind what kubectl describes. */
export function kubeletSection(report: KubeletReport, pod: KubeletPodReport): string {
  // By its own clock.
  const now = Date.parse(report.now);
  const {source, worker, containers} = pod;
  return alignedText([
    'Kubelet:',
    ...indented(1, [
      `PID:\t${report.pid} (up ${ageOf(report.startedAt, now)})`,
      ...report.errors.map((error) => `Not Syncing:\t${error}`),
      `Runtime:\t${runtimeText(report, now)}`,
      `Source:\t${source ?? 'none wants it any more'}`,
      `Worker:\t${workerText(worker, now)}`,
      `Last Sync:\t${worker.lastSyncAt === undefined ? 'none yet' : `${ageOf(worker.lastSyncAt, now)} ago`}`,
      ...(worker.error === undefined ? [] : [`Last Error:\t${worker.error}`]),
      ...(worker.nextSyncAt === undefined ? [] : [`Next Sync:\t${timeTo(worker.nextSyncAt, now)}`]),
      ...containers.flatMap((container) => containerLines(container, now)),
    ]),
  ]);
}

/** How a kubelet hears of changes in the runtime. */
export function runtimeText({pleg: {mode, relistedAt}}: KubeletReport, nowMs: number): string {
  const manner = mode === 'events' ? 'its events are followed' : 'listed each second';
  return relistedAt === undefined
    ? `${manner}, never yet`
    : `${manner}, last listed ${ageOf(relistedAt, nowMs)} ago`;
}

/** What a worker does, or waits for. */
function workerText(
  {state, isWorking, waitsFor, terminatingAt, ...rest}: WorkerReport,
  nowMs: number,
): string {
  const {gracePeriodSeconds = 0} = rest;
  const since = terminatingAt === undefined ? '' : ` for ${ageOf(terminatingAt, nowMs)}`;
  const states = {
    none: 'yet to begin',
    rejected: 'none: the node does not take the pod',
    sync: isWorking ? 'syncing' : 'idle',
    terminating: `terminating${since}, with a grace period of ${gracePeriodSeconds}s`,
    terminated: 'terminated, cleaning up',
    finished: 'finished',
  } as const satisfies Record<WorkerReport['state'], string>;
  const waits = {
    turn: ', waits for another pod of its name to end',
    status: ', waits for the runtime to tell how the pod is',
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
  return [`${name}:`, ...indented(1, lines)];
}

function backOffText(
  {reason, until, seconds}: NonNullable<ContainerReport['backOff']>,
  nowMs: number,
): string {
  const step = seconds === undefined ? '' : ` (back-off ${shortDuration(seconds * 1000)})`;
  return `${reason}, started again ${timeTo(until, nowMs)}${step}`;
}

/** In kubectl's order. */
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
  const before = last === undefined ? '' : `; last ${last.result} ${ageOf(last.at, nowMs)} ago${run}`;
  const output = last?.output.trim() ?? '';
  return [
    `${title}:\t${counts}${before}; ${nextProbe(probe, nowMs)}`,
    ...(output === '' ? [] : [`  Output:\t${goQuote(output)}`]),
  ];
}

function nextProbe({waitsFor, nextAt}: Pick<ProbeReport, 'waitsFor' | 'nextAt'>, nowMs: number): string {
  if (waitsFor === 'another instance') return 'next when the container is started again';
  if (waitsFor === 'its time') return 'not due yet';
  return nextAt === undefined ? 'next now' : `next ${timeTo(nextAt, nowMs)}`;
}

/** When something is to be: `in 7s`. */
function timeTo(time: string, nowMs: number): string {
  const ms = Date.parse(time) - nowMs;
  return ms <= 0 ? 'now' : `in ${shortDuration(Math.ceil(ms / 1000) * 1000)}`;
}
