import {isNotFound, type ContainerId, type RuntimeService} from '../../cri/index.js';
import {containerId} from '../../cri/ids.js';
import type {ContainerTarget, LifecycleTarget} from '../targets/find-targets.js';
import {containerState, whyNeverRuns, type Judgement, type SeenPod} from './judge-readiness.js';
import {statusOfContainer} from '../pods/restart-policy.js';

/** Returns the names of the containers that a target stands for: itself, or the regular ones of a pod. */
export function containerNamesOf(target: LifecycleTarget, {pod}: SeenPod): readonly string[] {
  return target.kind === 'container' ? [target.name] : pod.spec.containers.map(({name}) => name);
}

/** Returns the ID of the current instance of a container, undefined before it is created. */
export function currentId(seen: SeenPod, name: string): ContainerId | undefined {
  const id = statusOfContainer(seen.pod, name)?.containerID?.replace(/^.*:\/\//, '') ?? '';
  return id === '' ? undefined : containerId(id);
}

/** Reports whether a target no longer exists. */
export function isDeleted(target: LifecycleTarget, seen: SeenPod | undefined): boolean {
  if (seen === undefined) return true;
  if (target.kind === 'pod') return false;
  const {inRuntime} = seen.listed;
  const ids = (inRuntime?.containers ?? []).map(({id}) => id);
  return target.id === undefined ? currentId(seen, target.name) === undefined : !ids.includes(target.id);
}

/** Exit codes of the containers of one target: of the instances that were current when they were first seen. */
export class ExitWatch {
  readonly #target: LifecycleTarget;
  readonly #instances = new Map<string, ContainerId>();
  readonly #codes = new Map<string, number>();

  constructor(target: LifecycleTarget) {
    this.#target = target;
    if (target.kind === 'container' && target.id !== undefined) this.#instances.set(target.name, target.id);
  }

  /** Exit codes so far, in the order of the containers. */
  codes(seen: SeenPod): readonly number[] {
    return containerNamesOf(this.#target, seen).flatMap((name) => this.#codes.get(name) ?? []);
  }

  /** Returns whether all containers have exited. Rejects with CriError. */
  async judge(seen: SeenPod, runtime: RuntimeService, signal: AbortSignal): Promise<Judgement> {
    const pending: string[] = [];
    for (const name of containerNamesOf(this.#target, seen)) {
      if (this.#codes.has(name)) continue;
      const judgement = await this.#judgeContainer(seen, name, runtime, signal);
      if (judgement.kind === 'failed') return judgement;
      if (judgement.kind === 'pending') pending.push(`container "${name}": ${judgement.state}`);
    }
    return pending.length === 0 ? {kind: 'met'} : {kind: 'pending', state: pending.join(', ')};
  }

  async #judgeContainer(
    seen: SeenPod,
    name: string,
    runtime: RuntimeService,
    signal: AbortSignal,
  ): Promise<Judgement> {
    const status = statusOfContainer(seen.pod, name);
    const id = this.#instances.get(name) ?? currentId(seen, name);
    if (id === undefined) {
      const reason = whyNeverRuns(seen, name);
      return reason === undefined
        ? {kind: 'pending', state: containerState(status)}
        : {kind: 'failed', reason: `container "${name}" has not run: ${reason}`};
    }
    this.#instances.set(name, id);
    if (status?.state?.running !== undefined && currentId(seen, name) === id)
      return {kind: 'pending', state: containerState(status)};
    const exitCode = exitOf(seen, name, id) ?? (await readExitCode(runtime, id, signal));
    if (exitCode === 'removed')
      return {kind: 'failed', reason: `container "${name}" was removed before its exit code was read`};
    if (exitCode === undefined) return {kind: 'pending', state: containerState(status)};
    this.#codes.set(name, exitCode);
    return {kind: 'met'};
  }
}

/** Returns the exit code of an instance from the status of its pod; undefined if it is not in there. */
function exitOf(seen: SeenPod, name: string, id: ContainerId): number | undefined {
  const {state, lastState} = statusOfContainer(seen.pod, name) ?? {};
  return [state?.terminated, lastState?.terminated].find((ended) => ended?.containerID?.endsWith(id) === true)
    ?.exitCode;
}

async function readExitCode(
  runtime: RuntimeService,
  id: ContainerId,
  signal: AbortSignal,
): Promise<number | 'removed' | undefined> {
  try {
    const {status} = await runtime.containerStatus({containerId: id}, {signal});
    return status?.state === 'CONTAINER_EXITED' ? status.exitCode : undefined;
  } catch (error) {
    if (isNotFound(error)) return 'removed';
    throw error;
  }
}

/** Returns why an instance that was given by its ID no longer counts; undefined while it is the current one. */
export function whyReplaced(target: ContainerTarget, seen: SeenPod): string | undefined {
  if (!target.isPinned || target.id === undefined || currentId(seen, target.name) === target.id)
    return undefined;
  const exists = (seen.listed.inRuntime?.containers ?? []).some(({id}) => id === target.id);
  return exists ? 'a newer instance of the container has replaced it' : 'it was removed';
}
