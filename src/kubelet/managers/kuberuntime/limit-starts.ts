import {availableParallelism} from 'node:os';
import {CallLimiter} from '../../../base/async/call-limiter.js';
import type {Clock} from '../../../base/clock.js';
import type {KubeServices} from '../../contract/kube-services.js';

/** Time after which a call that hangs, for example in a network plugin, no longer delays other pods, in ms. */
const PATIENCE_MS = 2000;

/** The calls that start a pod. What brings a pod nearer to running goes first, so that pods finish one after another. */
const RANKS = {startContainer: 0, createContainer: 1, runPodSandbox: 2} as const;

/**
 * Creates the limiter that all pods of a node share: twice as many calls at a time as the machine has processors.
 * Starting a container takes processor time, so pods that start all at once all become ready at the end. A call also waits,
 * for example for a network plugin, so one call for each processor leaves processors idle.
 */
export function createStartLimiter(clock: Clock, concurrency = 2 * availableParallelism()): CallLimiter {
  return new CallLimiter({concurrency, patienceMs: PATIENCE_MS}, clock);
}

/** Pods that are prepared at a time: while one waits for the disk, the others have work for the thread of kcri. */
const PREPARATIONS = 4;

/** Creates the limiter of the pods that are prepared on the node before their first sandbox. */
export function createPreparationLimiter(clock: Clock): CallLimiter {
  return new CallLimiter({concurrency: PREPARATIONS, patienceMs: PATIENCE_MS}, clock);
}

/** Returns the same services; the calls that start a pod wait for their turn. */
export function limitStarts({runtime, images}: KubeServices, limiter: CallLimiter): KubeServices {
  const {runPodSandbox, createContainer, startContainer} = RANKS;
  return {
    images,
    runtime: {
      ...runtime,
      runPodSandbox: async (request, options) =>
        limiter.run(runPodSandbox, async () => runtime.runPodSandbox(request, options), options?.signal),
      createContainer: async (request, options) =>
        limiter.run(createContainer, async () => runtime.createContainer(request, options), options?.signal),
      startContainer: async (request, options) =>
        limiter.run(startContainer, async () => runtime.startContainer(request, options), options?.signal),
    },
  };
}
