import type {RecordedEvent} from '../../../src/kubelet/index.js';
import {computeTimeline} from '../../../src/features/timeline/compute-timeline.js';
import {phaseTitle, type Phase} from '../../../src/features/timeline/phase.js';
import type {PodFacts} from '../../../src/features/timeline/pod-facts.js';

/** Start of the pod in these tests, in ms since the epoch. */
export const T0 = Date.parse('2026-05-01T12:00:00Z');

/** Returns facts about a running pod of one container; times are seconds after its start. */
export function someFacts(changes: Partial<PodFacts> = {}): PodFacts {
  return {
    ...{namespace: 'default', name: 'web', uid: 'u1', manager: 'kubelet'},
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...{name: 'web', namespace: 'default', uid: 'u1'},
        annotations: {'kubernetes.io/config.seen': '2026-05-01T12:00:00.25Z'},
      },
      spec: {containers: [{name: 'main', image: 'nginx'}]},
      status: {
        ...{phase: 'Running', startTime: '2026-05-01T12:00:00Z'},
        conditions: [{type: 'Ready', status: 'True', lastTransitionTime: '2026-05-01T12:00:09Z'}],
      },
    },
    sandboxes: [{createdMs: T0 + 2000}],
    containers: [{id: 'c1', name: 'main', createdMs: T0 + 7000, startedMs: T0 + 7500}],
    events: [],
    mounts: [],
    steps: [],
    nowMs: T0 + 60_000,
    ...changes,
  };
}

/** Returns an event at a time in ms since the epoch. */
export function anEvent(
  atMs: number,
  reason: string,
  message: string,
  more: Partial<RecordedEvent> = {},
): RecordedEvent {
  const at = new Date(atMs).toISOString();
  return {type: 'Normal', reason, message, count: 1, firstTimestamp: at, lastTimestamp: at, ...more};
}

/** Formats a phase as its title, its times in seconds, its source, and `~` if it is inferred. */
export function brief(phase: Phase): string {
  const second = (ms: number): string => String((ms - T0) / 1000);
  const end = phase.endMs === undefined ? '…' : second(phase.endMs);
  return `${phaseTitle(phase)} ${second(phase.startMs)}-${end} ${phase.source}${phase.inferred === undefined ? '' : ' ~'}`;
}

/** Formats the phases of a pod. */
export const phasesOf = (facts: PodFacts): readonly string[] => computeTimeline(facts).phases.map(brief);
