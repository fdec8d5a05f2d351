import {
  parseWorkload,
  workloadsOfLabels,
  workloadsOfPod,
  type WorkloadRef,
} from '../../api/workloads/workload-of-pod.js';
import {compare} from '../../base/compare.js';
import {AmbiguousError, NotFoundError} from '../../operations/resolve/target.js';
import type {ListedPod} from './listed-pod.js';

/** Returns the workloads that a pod belongs to; of a pod that only the runtime knows, as its labels tell. */
export function workloadsOf(listed: ListedPod): readonly WorkloadRef[] {
  const pod = (listed.record ?? listed.rejected)?.pod ?? listed.ofKubelet;
  return pod === undefined ? workloadsOfLabels(listed) : workloadsOfPod(pod);
}

/**
 * Returns the pods of the workload that a word such as `deployment/web` names; none for other words, and if the
 * workload has no pods here. Throws AmbiguousError if the word names something else as well.
 */
export function findWorkloadPods(pods: readonly ListedPod[], word: string): readonly ListedPod[] {
  const workload = parseWorkload(word);
  if (workload === undefined) return [];
  const found = pods.filter((listed) =>
    workloadsOf(listed).some(({kind, name}) => kind === workload.kind && name === workload.name),
  );
  if (found.length > 0) requireNoOther(pods, word, workload);
  return found;
}

/** Returns the error for a word that names a workload without pods; undefined for other words. */
export function workloadWithoutPodsError(word: string): NotFoundError | undefined {
  if (parseWorkload(word) === undefined) return undefined;
  return new NotFoundError(`"${word}" has no pods here`, {hint: 'run "kcri get pods" to list pods'});
}

/** Throws AmbiguousError if the word is also the NAMESPACE/POD of a pod, or the POD/CONTAINER of a container. */
function requireNoOther(
  pods: readonly ListedPod[],
  word: string,
  {kind, name}: Pick<WorkloadRef, 'kind' | 'name'>,
): void {
  const [first = ''] = word.split('/');
  const isPod = pods.some((pod) => pod.namespace === first && pod.name === name);
  const isContainer = pods.some(
    (pod) =>
      pod.name === first && pod.inRuntime?.containers.some(({metadata}) => metadata?.name === name) === true,
  );
  if (!isPod && !isContainer) return;
  throw new AmbiguousError(
    `"${word}" is both the ${kind} "${name}" and ${isPod ? 'a pod' : 'a container of a pod'}`,
    {hint: `use the names of the pods of the ${kind}, or ${isPod ? `pod/${word}` : `NAMESPACE/${word}`}`},
  );
}

/**
 * Returns the pods that have a sandbox, the best one for a session or a log first: with all containers running, then
 * with some, then the oldest, as kubectl chooses (podutils.ActivePods, as far as the runtime knows).
 */
export function sortForUse(pods: readonly ListedPod[]): readonly ListedPod[] {
  return pods
    .filter(({inRuntime}) => inRuntime !== undefined)
    .toSorted(
      (a, b) =>
        compare(runningShare(b), runningShare(a)) ||
        compare(createdAt(a), createdAt(b)) ||
        compare(a.name, b.name),
    );
}

function createdAt({inRuntime}: ListedPod): bigint {
  return inRuntime?.sandboxes.at(-1)?.createdAt ?? 0n;
}

/** Returns 2 if the newest instances of all containers of the newest sandbox run, 1 if some do, else 0. */
function runningShare({inRuntime}: ListedPod): number {
  if (inRuntime === undefined) return 0;
  const {sandboxes, containers} = inRuntime;
  const [sandbox] = sandboxes;
  if (sandbox.state !== 'SANDBOX_READY') return 0;
  const own = containers.filter(({podSandboxId}) => podSandboxId === sandbox.id);
  // The newest come first, and the last entry of a name wins.
  const newest = new Map(own.toReversed().map(({metadata, state}) => [metadata?.name, state]));
  const running = [...newest.values()].filter((state) => state === 'CONTAINER_RUNNING').length;
  return Number(running > 0) + Number(running > 0 && running === newest.size);
}
