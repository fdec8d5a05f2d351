import {counted} from '../../base/counted.js';
import type {PodPlan} from '../../kubelet/index.js';

/** What a sync would do to a pod. */
export type PlannedChangeKind = 'create' | 'replace' | 'change' | 'stop' | 'wait' | 'none';

/** Order and words of the summary. */
const WORDS = {
  create: 'to create',
  replace: 'to replace',
  change: 'to change',
  stop: 'to stop or delete',
  wait: 'to wait for devices',
  none: 'unchanged',
} as const satisfies Record<PlannedChangeKind, string>;

/** Calls that only end what exists. */
const ENDING: ReadonlySet<string> = new Set([
  'StopContainer',
  'StopPodSandbox',
  'RemoveContainer',
  'RemovePodSandbox',
]);

/** Returns what a sync would do to the pod of a plan. */
export function changeKindOf({
  replaces,
  waits,
  calls,
  files,
  fields,
  changes,
  resizes,
}: PodPlan): PlannedChangeKind {
  if (replaces !== undefined) return 'replace';
  if (waits === true && calls.length === 0) return 'wait';
  const isEnlarged = resizes.some(({refusal}) => refusal === undefined);
  if (calls.length === 0) return files.length === 0 && !isEnlarged ? 'none' : 'change';
  if (calls.every(({method}) => ENDING.has(method))) return 'stop';
  const isNew = fields.length + changes.length === 0 && calls.some(({method}) => method === 'RunPodSandbox');
  return isNew ? 'create' : 'change';
}

/** Reports whether a sync would do anything. */
export function hasChanges(plans: readonly PodPlan[]): boolean {
  return plans.some((plan) => changeKindOf(plan) !== 'none');
}

/** Summarizes plans in one line: `2 pods: 1 to create, 1 unchanged; 5 CRI calls`. */
export function formatPlanSummary(plans: readonly PodPlan[]): string {
  const kinds = plans.map(changeKindOf);
  const calls = plans.reduce((sum, plan) => sum + plan.calls.length, 0);
  const parts = Object.entries(WORDS).flatMap(([kind, words]) => {
    const count = kinds.filter((each) => each === kind).length;
    return count === 0 ? [] : [`${count} ${words}`];
  });
  const pods = counted(plans.length, 'pod');
  const total = counted(calls, 'CRI call');
  return parts.length === 0 ? `${pods}; ${total}` : `${pods}: ${parts.join(', ')}; ${total}`;
}
