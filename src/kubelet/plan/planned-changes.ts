import type {PlannedCall} from './planned-call.js';

/** Summary of the changes to one container or to the sandbox. */
export interface PlannedChange {
  /** `sandbox` or `container "web"`. */
  readonly target: string;
  readonly why: string;
  /** Actions in order. */
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

/** Names what a call concerns: `sandbox` or `container "web"`. */
export function targetOf(container: string | undefined): string {
  return container === undefined ? 'sandbox' : `container "${container}"`;
}

/**
 * Groups the calls by sandbox and container, in the order of their first call. Omits pulls, which concern no single
 * container.
 */
export function summarizeChanges(calls: readonly PlannedCall[]): readonly PlannedChange[] {
  const changes = new Map<string, PlannedChange>();
  for (const {method, container, why} of calls) {
    const action = ACTIONS[method];
    if (action === undefined) continue;
    const target = targetOf(container);
    const {why: first, actions} = changes.get(target) ?? {why: why.text, actions: []};
    changes.set(target, {target, why: first, actions: [...new Set([...actions, action])]});
  }
  return [...changes.values()];
}
