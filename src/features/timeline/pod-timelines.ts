import type {RuntimeContext} from '../../cli/command/contexts.js';
import {podUid, type PodUid} from '../../cri/index.js';
import type {ShownPod} from '../pods/listed-pod.js';
import type {PodReader} from '../pods/pod-reader.js';
import {collectFacts, readSteps} from './collect-facts.js';
import {computeMedians, computeTimeline, type Medians} from './compute-timeline.js';
import type {Timeline} from './phase.js';
import type {PodFacts} from './pod-facts.js';

/** Number of other pods whose phases count for the medians. */
export const COMPARED_PODS = 40;

/** Timelines to show, with the node's medians. */
export interface Timelines {
  readonly timelines: readonly Timeline[];
  readonly medians: Medians;
}

/**
 * Computes the timelines of the pods with these UIDs, and of pods that are gone; all shown pods count for the medians. Rejects with
 * SystemError.
 */
export async function computeTimelines(
  services: RuntimeContext,
  reader: PodReader,
  {
    shown,
    uids,
    gone = [],
  }: {
    readonly shown: readonly ShownPod[];
    readonly uids: ReadonlySet<PodUid>;
    readonly gone?: readonly PodFacts[];
  },
): Promise<Timelines> {
  const stepsOf = await readSteps(services);
  const timelines = (await collectFacts({services, reader, stepsOf}, shown)).map(computeTimeline);
  const selected = timelines.filter(({uid}) => uids.has(podUid(uid)));
  return {timelines: [...selected, ...gone.map(computeTimeline)], medians: computeMedians(timelines)};
}
