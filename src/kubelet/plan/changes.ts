import type {PlannedCall} from './planned-call.js';

/** What would become of one container or of the sandbox, in a few words. */
export interface PlannedChange {
  /** `sandbox` or `container "web"`. */
  readonly target: string;
  readonly why: string;
  /** What is done to it, in order. */
  readonly actions: readonly string[];
}

const ACTIONS: Readonly<Record<string, string>> = {
  StopContainer: 'kill',
  StopPodSandbox: 'stop',
  RemoveContainer: 'remove',
  RemovePodSandbox: 'remove',
  RunPodSandbox: 'create',
  CreateContainer: 'create',
  StartContainer: 'start',
  UpdateContainerResources: 'resize',
  UpdatePodSandboxResources: 'resize',
};

/** The calls by what they are about, in the order in which it comes up; pulls are about no container in particular. */
export function changesOf(calls: readonly PlannedCall[]): readonly PlannedChange[] {
  const changes = new Map<string, PlannedChange>();
  for (const {method, container, why} of calls) {
    const action = ACTIONS[method];
    if (action === undefined) continue;
    const target = container === undefined ? 'sandbox' : `container "${container}"`;
    const {why: first, actions} = changes.get(target) ?? {why: why.text, actions: []};
    changes.set(target, {target, why: first, actions: [...new Set([...actions, action])]});
  }
  return [...changes.values()];
}
