import type {TimelineStep} from '../../kubelet/index.js';
import type {Phase, PhaseName} from './phase.js';
import {isInitContainer, seenMsOf, type PodFacts} from './pod-facts.js';

/** Phases that are one step with a duration. */
const STEP_PHASES: Partial<Record<TimelineStep['step'], PhaseName>> = {
  PrepareVolumes: 'volumes',
  RunPodSandbox: 'sandbox',
  PullImage: 'pull',
  CreateContainer: 'create',
  StartContainer: 'start',
  StopContainer: 'stop',
  StopPodSandbox: 'stop',
  RemoveContainer: 'remove',
  RemovePodSandbox: 'remove',
};

/** Returns the phases that the running kubelet of kcri measured. Pure. */
export function kubeletPhases(facts: PodFacts): readonly Phase[] {
  const {steps} = facts;
  return steps.flatMap((step, index): readonly Phase[] => {
    const name = STEP_PHASES[step.step];
    if (name !== undefined) return [stepPhase(name, step, subjectOf(step, facts))];
    if (step.step === 'Admitted') return admission(step, seenMsOf(facts));
    // An init container is ready when it has ended: its run is the phase.
    if (step.container !== undefined && isInitContainer(facts, step.container)) return [];
    return probePhase(step, steps.slice(0, index));
  });
}

/** Returns the time at which the kubelet found the pod Ready for the first time. */
export function measuredReadyMs({steps}: PodFacts): number | undefined {
  return steps.find(({step}) => step === 'PodReady')?.at;
}

function stepPhase(name: PhaseName, step: TimelineStep, subject: string | undefined): Phase {
  const {at, ms, isOpen = false, isFailed = false} = step;
  return {
    name,
    ...(subject !== undefined && {subject}),
    startMs: at,
    ...(!isOpen && {endMs: at + (ms ?? 0)}),
    source: 'kubelet',
    ...(isFailed && {isFailed: true as const}),
  };
}

function subjectOf({step, container, containerId, image}: TimelineStep, facts: PodFacts): string | undefined {
  if (step === 'StopPodSandbox' || step === 'RemovePodSandbox') return 'sandbox';
  return container ?? image ?? facts.containers.find(({id}) => id === containerId)?.name;
}

function admission({at}: TimelineStep, seenMs: number | undefined): readonly Phase[] {
  if (seenMs === undefined || seenMs > at) return [];
  return [{name: 'admission', startMs: seenMs, endMs: at, source: 'kubelet'}];
}

/** Returns the phase that ends when a container has started or is ready: it begins when what it needs has happened. */
function probePhase({step, at, container}: TimelineStep, before: readonly TimelineStep[]): readonly Phase[] {
  if (container === undefined || (step !== 'Started' && step !== 'Ready')) return [];
  const own = before.filter((other) => other.container === container);
  const start = own.findLast((other) => other.step === 'StartContainer');
  if (start === undefined) return [];
  const launchedMs = start.at + (start.ms ?? 0);
  const started = own.findLast((other) => other.step === 'Started' && other.at >= start.at);
  const wasReady = own.some((other) => other.step === 'Ready' && other.at >= start.at);
  const startMs = Math.min(at, step === 'Started' ? launchedMs : (started?.at ?? launchedMs));
  // A container that is ready again was not starting.
  if (step === 'Ready' && wasReady) return [];
  const name = step === 'Started' ? 'startup' : 'readiness';
  return [{name, subject: container, startMs, endMs: at, source: 'kubelet'}];
}
