import {renderTable, type Column} from '../../format/table.js';
import {escapeToLine} from '../../format/escape-controls.js';
import type {JsonObject} from '../../format/json.js';
import {rated, slowestPhases, type Medians, type RatedPhase} from './compute-timeline.js';
import {durationText} from './summary.js';
import {endOf, phaseTitle, rounded, type Phase, type Timeline} from './phase.js';

interface Row {
  readonly timeline: Timeline;
  readonly phase: Phase;
}

const COLUMNS: readonly Column<Row>[] = [
  {header: 'POD', value: ({timeline}) => escapeToLine(`${timeline.namespace}/${timeline.name}`)},
  {header: 'PHASE', value: ({phase}) => phase.name},
  {header: 'SUBJECT', value: ({phase}) => escapeToLine(phase.subject ?? '-')},
  {header: 'STARTED', value: ({phase}) => isoTime(phase.startMs)},
  {
    header: 'DURATION',
    value: ({phase, timeline}) =>
      `${durationText(endOf(phase, timeline.nowMs) - phase.startMs)}${phase.endMs === undefined ? '+' : ''}`,
  },
  {header: 'BASIS', value: ({phase}) => (phase.inferred === undefined ? 'exact' : 'inferred')},
  {header: 'SOURCE', value: ({phase}) => phase.source},
  {
    header: 'NOTE',
    value: ({phase: {isFailed = false, note, inferred}}) =>
      escapeToLine(
        [isFailed ? 'failed' : undefined, note, inferred].filter((text) => text !== undefined).join('; '),
      ),
  },
];

/** Returns the phases of pods as a table with a row for each. */
export function timelineTable(timelines: readonly Timeline[], {header}: {readonly header: boolean}): string {
  const rows = timelines.flatMap((timeline) => timeline.phases.map((phase) => ({timeline, phase})));
  const text = renderTable(COLUMNS, rows, 0).toString();
  return header ? text : text.slice(text.indexOf('\n') + 1);
}

/** Returns the phases of pods for programs. Times are RFC 3339, durations in ms. */
export function timelineJson(timelines: readonly Timeline[], medians: Medians): JsonObject {
  return {
    pods: timelines.map((timeline) => {
      const {namespace, name, uid, manager, isDeleted, startMs, readyMs, readyUntilMs, nowMs, phases} =
        timeline;
      return {
        ...{namespace, name, uid, ...(manager !== undefined && {manager})},
        ...(isDeleted !== undefined && {deleted: true}),
        startedAt: isoTime(startMs),
        ...(readyMs !== undefined && {readyAt: isoTime(readyMs), readyAfterMs: rounded(readyMs - startMs)}),
        ...(readyUntilMs !== undefined && {readyUntil: isoTime(readyUntilMs)}),
        slowest: slowestPhases(timeline, medians)
          .slice(0, 1)
          .map(({phase}) => phaseTitle(phase)),
        phases: phases.map((phase) => phaseJson(rated(phase, nowMs, medians))),
      };
    }),
  };
}

function phaseJson({phase, durationMs, medianMs}: RatedPhase): JsonObject {
  const {name, subject, startMs, endMs, inferred, source, isFailed, note} = phase;
  return {
    ...{phase: name, ...(subject !== undefined && {subject})},
    startedAt: isoTime(startMs),
    ...(endMs !== undefined && {endedAt: isoTime(endMs)}),
    durationMs: rounded(durationMs),
    ...(medianMs !== undefined && {medianMs: rounded(medianMs)}),
    ...{exact: inferred === undefined, source},
    ...(inferred !== undefined && {inferred}),
    ...(isFailed !== undefined && {failed: true}),
    ...(note !== undefined && {note}),
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
