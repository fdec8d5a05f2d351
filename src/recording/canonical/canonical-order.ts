import {stringOrEmpty} from './canonical-json.js';
import type {CanonicalCall} from './comparable-call.js';

/** Calls that a kubelet makes for several containers or sandboxes concurrently. */
const PARALLEL: ReadonlySet<string> = new Set([
  'StopContainer',
  'RemoveContainer',
  'StopPodSandbox',
  'RemovePodSandbox',
]);

const key = (call: CanonicalCall): string => JSON.stringify([call.method, call.req]);

/**
 * Returns the calls in a deterministic order: two removals of one container and consecutive stops of a sandbox are
 * listed once, and parallel calls and the collection of sandboxes are sorted.
 */
export function canonicalOrder(calls: readonly CanonicalCall[]): readonly CanonicalCall[] {
  return sortedCollections(sortedRuns(withoutRepeats(calls)));
}

function withoutRepeats(calls: readonly CanonicalCall[]): readonly CanonicalCall[] {
  const removed = new Map<string, number>();
  const earlierCall: CanonicalCall[] = [];
  for (const call of calls) {
    const earlier = removed.get(key(call));
    if (call.method === 'RemoveContainer' && earlier !== undefined) {
      if (earlierCall[earlier]?.code !== 'OK' && call.code === 'OK') earlierCall[earlier] = call;
      continue;
    }
    const previous = earlierCall.at(-1);
    if (call.method === 'StopPodSandbox' && previous !== undefined && key(previous) === key(call)) continue;
    if (call.method === 'RemoveContainer') removed.set(key(call), earlierCall.length);
    earlierCall.push(call);
  }
  return earlierCall;
}

/** Splits items into runs of consecutive items of one group. Items without a group are separate. */
function runsOf<T>(items: readonly T[], groupOf: (item: T) => string | undefined): readonly (readonly T[])[] {
  const runs: T[][] = [];
  let open: string | undefined;
  for (const item of items) {
    const group = groupOf(item);
    const run = runs.at(-1);
    if (group !== undefined && group === open && run !== undefined) run.push(item);
    else runs.push([item]);
    open = group;
  }
  return runs;
}

function sortedRuns(calls: readonly CanonicalCall[]): readonly CanonicalCall[] {
  const groupOf = ({method}: CanonicalCall): string | undefined =>
    PARALLEL.has(method) ? method : undefined;
  return runsOf(calls, groupOf).flatMap((run) => run.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)));
}

/** Sorts consecutive StopPodSandbox and RemovePodSandbox calls by pod, and keeps their order within a pod. */
function sortedCollections(calls: readonly CanonicalCall[]): readonly CanonicalCall[] {
  const steps: CanonicalCall[][] = [];
  for (const call of calls) {
    const before = steps.at(-1);
    if (before !== undefined && isCollection(before[0], call) && before.length === 1) before.push(call);
    else steps.push([call]);
  }
  const podOf = ([first]: readonly CanonicalCall[]): string =>
    stringOrEmpty(first?.req['pod_sandbox_id']).replace(/\/[^/]*$/, '');
  return runsOf(steps, (step) => (step.length === 2 ? 'collection' : undefined)).flatMap((run) =>
    run.toSorted((a, b) => (podOf(a) < podOf(b) ? -1 : Number(podOf(a) > podOf(b)))).flat(),
  );
}

function isCollection(stop: CanonicalCall | undefined, remove: CanonicalCall): boolean {
  return (
    stop?.method === 'StopPodSandbox' &&
    remove.method === 'RemovePodSandbox' &&
    JSON.stringify(stop.req) === JSON.stringify(remove.req)
  );
}
