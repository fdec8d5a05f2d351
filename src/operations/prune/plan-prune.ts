import {RUN_ANNOTATION} from '../../api/manager-annotation.js';
import type {Container, PodSandbox} from '../../cri/index.js';

/** A pod of the runtime with the program that manages it. */
export interface PrunablePod {
  readonly namespace: string;
  readonly name: string;
  readonly manager: 'kcri' | 'kubelet' | 'none';
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}

/** A sandbox to remove with its containers. */
export interface PrunableSandbox {
  readonly pod: PrunablePod;
  readonly sandbox: PodSandbox;
  readonly containers: readonly Container[];
}

/** An exited container of a sandbox that stays. */
export interface PrunableContainer {
  readonly pod: PrunablePod;
  readonly container: Container;
}

/** Objects that a prune removes, and those of other programs that it leaves alone. */
export interface PrunePlan {
  readonly sandboxes: readonly PrunableSandbox[];
  readonly containers: readonly PrunableContainer[];
  /** Number of exited containers and sandboxes that are not ready, by the manager of their pod. */
  readonly leftAlone: Readonly<Record<'kcri' | 'kubelet', number>>;
}

/**
 * Selects the sandboxes that are not ready, those of `kcri run` whose container has exited, and the exited containers of
 * other sandboxes, of pods that neither kcri nor a
 * kubelet manages. A sandbox with a container that runs or whose state is unknown stays. With `createdBefore`, in ns since
 * the epoch, newer objects stay.
 */
export function planPrune(pods: readonly PrunablePod[], createdBefore?: bigint): PrunePlan {
  const isOld = ({createdAt}: {readonly createdAt: bigint}): boolean =>
    createdBefore === undefined || createdAt < createdBefore;
  const sandboxes: PrunableSandbox[] = [];
  const containers: PrunableContainer[] = [];
  const leftAlone = {kcri: 0, kubelet: 0};
  for (const pod of pods)
    for (const sandbox of pod.sandboxes) {
      const own = pod.containers.filter(({podSandboxId}) => podSandboxId === sandbox.id);
      const exited = own.filter(({state}) => state === 'CONTAINER_EXITED');
      const isDead = sandbox.state === 'SANDBOX_NOTREADY' && !own.some(isAlive);
      if (pod.manager !== 'none') leftAlone[pod.manager] += exited.length + (isDead ? 1 : 0);
      else if ((isDead || isFinishedRun(sandbox, own)) && [sandbox, ...own].every(isOld))
        sandboxes.push({pod, sandbox, containers: own});
      else for (const container of exited.filter(isOld)) containers.push({pod, container});
    }
  return {sandboxes, containers, leftAlone};
}

/** Reports whether the container of `kcri run -d` has exited, which leaves its sandbox ready. */
function isFinishedRun({annotations}: PodSandbox, containers: readonly Container[]): boolean {
  const isRun = annotations[RUN_ANNOTATION] !== undefined;
  // Without any container, one may just be created.
  return isRun && containers.length > 0 && containers.every(({state}) => state === 'CONTAINER_EXITED');
}

function isAlive({state}: Container): boolean {
  return state === 'CONTAINER_RUNNING' || state === 'CONTAINER_UNKNOWN';
}
