import {formatAge} from '../../format/age.js';
import {formatElapsed} from '../../format/duration.js';
import {slowestPhases, uncoveredMs, type Medians, type RatedPhase} from './compute-timeline.js';
import {phaseTitle, type Timeline} from './phase.js';

/** Number of phases that a summary names. */
const NAMED = 3;
/** Part of the time until Ready from which it matters that nothing is known to have happened. */
const NOTABLE_PART = 0.05;

/** Duration from which tenths of seconds do not matter, in ms. */
const LONG_MS = 120_000;

/** Formats a duration as `412ms`, `3.1s` or `5m30s`. */
export function durationText(ms: number): string {
  return ms < LONG_MS ? formatElapsed(ms) : formatAge(ms);
}

/** Returns what is to be known first about a timeline, the slowest phase at the beginning. Pure. */
export function summaryLines(timeline: Timeline, medians: Medians): readonly string[] {
  const {startMs, readyMs, phases} = timeline;
  if (phases.length === 0) return ['nothing is known about its phases'];
  // What happened after the start has its own times.
  const start = readyMs === undefined ? phases : phases.filter((phase) => phase.startMs <= readyMs);
  const totalMs = readyMs === undefined ? undefined : readyMs - startMs;
  const slowest = slowestPhases({...timeline, phases: start}, medians)
    .filter(({durationMs}) => durationMs >= 1)
    .slice(0, NAMED);
  return [
    ...(totalMs === undefined ? [] : [`Ready after ${durationText(totalMs)}${lastedText(timeline)}`]),
    ...slowest.map(
      (rated, index) => `${index === 0 ? 'slowest: ' : '         '}${ratedText(rated, totalMs)}`,
    ),
    ...uncoveredText(timeline, totalMs),
  ];
}

/** Returns how long the pod was Ready, if that has ended. */
function lastedText({readyMs, readyUntilMs}: Timeline): string {
  return readyMs === undefined || readyUntilMs === undefined
    ? ''
    : `, for ${durationText(readyUntilMs - readyMs)}`;
}

function ratedText({phase, durationMs, medianMs}: RatedPhase, totalMs: number | undefined): string {
  const part =
    totalMs === undefined || totalMs === 0 ? '' : ` (${Math.round((durationMs / totalMs) * 100)}%)`;
  const median = medianMs === undefined ? '' : `, median of this node ${durationText(medianMs)}`;
  return `${phaseTitle(phase)} ${durationText(durationMs)}${part}${median}${phase.isFailed === true ? ', failed' : ''}`;
}

function uncoveredText(timeline: Timeline, totalMs: number | undefined): readonly string[] {
  const {startMs, readyMs} = timeline;
  if (totalMs === undefined || readyMs === undefined) return [];
  const unknownMs = uncoveredMs(timeline, startMs, readyMs);
  return unknownMs < totalMs * NOTABLE_PART ? [] : [`not accounted for: ${durationText(unknownMs)}`];
}
