import type {TimelineStep} from '../../kubelet/index.js';
import type {Phase, PhaseName} from './phase.js';
import {isInitContainer, seenMsOf, type PodFacts} from './pod-facts.js';
import {probePhases} from './probe-phases.js';

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
    if (step.step === 'Admitted') return admission(step, seenMsOf(facts));
    if (name === undefined) return [];
    const own = stepPhase(name, step, subjectOf(step, facts));
    // An init container is ready when it has ended: its run is the phase.
    if (step.container !== undefined && isInitContainer(facts, step.container)) return [own];
    return [own, ...probePhases(step, steps.slice(index + 1), facts)];
  });
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
