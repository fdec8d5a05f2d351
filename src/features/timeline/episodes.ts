import {endOf, type Phase, type Timeline} from './phase.js';

/** Time without any work or wait between two episodes, in ms. */
const GAP_MS = 30_000;
/** Number of episodes that are shown besides the first one. */
const LAST_SHOWN = 4;

/** Phases that belong together, such as those of a start or of a restart. Times are in ms since the epoch. */
export interface Episode {
  readonly startMs: number;
  readonly endMs: number;
  /** By their starts. */
  readonly phases: readonly Phase[];
}

/**
 * Returns the episodes of a timeline: between them the pod only ran. A container that runs on is part of the episode in which it
 * started. Pure.
 */
export function episodesOf({phases, nowMs}: Timeline): readonly Episode[] {
  const groups: {startMs: number; endMs: number; phases: Phase[]}[] = [];
  for (const phase of phases) {
    const endMs = runsLong(phase) ? phase.startMs : endOf(phase, nowMs);
    const last = groups.at(-1);
    if (last === undefined || phase.startMs - last.endMs > GAP_MS)
      groups.push({startMs: phase.startMs, endMs, phases: [phase]});
    else {
      last.phases.push(phase);
      last.endMs = Math.max(last.endMs, endMs);
    }
  }
  return groups;
}

/**
 * Reports whether a phase is a run that goes on or was long: its length says nothing about that of the start. The end of a short
 * one is shown: its bar would otherwise be cut like that of a container that still runs.
 */
function runsLong({name, startMs, endMs = Infinity}: Phase): boolean {
  return name === 'running' && endMs - startMs > GAP_MS;
}

/** Returns the first and the last episodes, and how many are left out between them. */
export function shownEpisodes(episodes: readonly Episode[]): {
  readonly shown: readonly Episode[];
  readonly omitted: number;
} {
  if (episodes.length <= LAST_SHOWN + 1) return {shown: episodes, omitted: 0};
  const shown = [...episodes.slice(0, 1), ...episodes.slice(-LAST_SHOWN)];
  return {shown, omitted: episodes.length - shown.length};
}
