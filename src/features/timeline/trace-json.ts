import {phaseTitle, endOf, type Phase, type Timeline} from './phase.js';

/** Row of the phases of the pod itself. */
const POD_ROW = 'pod';

/** Returns timelines in the trace event format, which Perfetto and chrome://tracing show: a process for each pod. */
export function formatTrace(timelines: readonly Timeline[]): string {
  const traceEvents = timelines.flatMap((timeline, index) => podEvents(timeline, index + 1));
  return `${JSON.stringify({traceEvents, displayTimeUnit: 'ms'})}\n`;
}

function podEvents({namespace, name, uid, phases, nowMs}: Timeline, pid: number): readonly object[] {
  const rows = [...new Set([POD_ROW, ...phases.map(rowOf)])];
  const metadata = (event: string, tid: number, label: string): object => ({
    ...{name: event, ph: 'M', pid, tid},
    args: {name: label},
  });
  return [
    metadata('process_name', 0, `${namespace}/${name}`),
    ...rows.map((row, tid) => metadata('thread_name', tid, row)),
    ...phases.map((phase) => phaseEvent(phase, {pid, tid: rows.indexOf(rowOf(phase)), uid, nowMs})),
  ];
}

/** Phases of one row must contain each other or not overlap. */
function rowOf({name, subject}: Phase): string {
  if (name === 'failure') return 'warnings';
  return name === 'pull' ? `pull ${subject ?? ''}` : (subject ?? POD_ROW);
}

function phaseEvent(
  phase: Phase,
  {
    pid,
    tid,
    uid,
    nowMs,
  }: {readonly pid: number; readonly tid: number; readonly uid: string; readonly nowMs: number},
): object {
  const {name, startMs, endMs, source, inferred, isFailed = false, note} = phase;
  return {
    ...{name: phaseTitle(phase), cat: name, ph: 'X', pid, tid},
    // Both in microseconds.
    ts: Math.round(startMs * 1000),
    dur: Math.max(0, Math.round((endOf(phase, nowMs) - startMs) * 1000)),
    args: {
      ...{uid, source, exact: inferred === undefined, ...(inferred !== undefined && {inferred})},
      ...(isFailed && {failed: true}),
      ...(endMs === undefined && {open: true}),
      ...(note !== undefined && {note}),
    },
  };
}
