import type {TimelineStep} from '../../kubelet/index.js';
import type {ContainerTimes} from './pod-facts.js';

/** End of an instance. */
interface InstanceEnd {
  readonly atMs: number;
  readonly inferred: string;
}

/**
 * Returns the ended instances of containers that a kubelet has measured, for those that the runtime has removed. Those without a known
 * end are absent. Pure.
 */
export function measuredInstances(steps: readonly TimelineStep[]): readonly ContainerTimes[] {
  return steps.flatMap((start, index): readonly ContainerTimes[] => {
    const {step, at, ms, container: name, containerId: id, isFailed} = start;
    if (step !== 'StartContainer' || ms === undefined || isFailed === true) return [];
    if (name === undefined || id === undefined) return [];
    const startedMs = at + ms;
    const later = steps.slice(index + 1).filter(({containerId}) => containerId === id);
    const [end] = later.flatMap(endShownBy).toSorted((a, b) => a.atMs - b.atMs);
    if (end === undefined) return [];
    const exitCode = later.find((other) => other.step === 'Exited')?.exitCode;
    return [
      {
        ...{id, name, createdMs: createdMsOf(id, steps) ?? at, startedMs},
        finishedMs: Math.max(startedMs, end.atMs),
        inferredEnd: end.inferred,
        ...(exitCode !== undefined && {exitCode}),
      },
    ];
  });
}

/** Returns the end of an instance that one of its steps shows, if any. */
function endShownBy({step, at, ms, isFailed}: TimelineStep): readonly InstanceEnd[] {
  if (isFailed === true) return [];
  if (step === 'Exited') return [{atMs: at, inferred: 'until the kubelet noticed its exit'}];
  if (step === 'StopContainer' && ms !== undefined)
    return [{atMs: at + ms, inferred: 'until the response of StopContainer'}];
  return step === 'RemoveContainer' ? [{atMs: at, inferred: 'until its removal'}] : [];
}

function createdMsOf(id: string, steps: readonly TimelineStep[]): number | undefined {
  const created = steps.find(({step, containerId}) => step === 'CreateContainer' && containerId === id);
  return created?.ms === undefined ? undefined : created.at + created.ms;
}
