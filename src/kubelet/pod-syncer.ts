import type {Pod} from '../api/v1.js';
import {hasEnded, type PodStatus} from '../api/v1-status.js';
import type {PendingResize} from './allocation/judge-resize.js';
import type {PodEvent} from './container/events.js';
import {isIdle, type PodActions} from './container/pod-actions.js';
import {allocationOf, isAllocated, type PodAllocation} from './container/pod-allocation.js';
import {podRef} from './container/pod-ref.js';
import {isLive, type RuntimePodStatus} from './container/pod-status.js';
import type {ProbeOutcome, ProbeResults} from './container/probe-results.js';
import {failuresOf, type SyncResult} from './container/sync-result.js';
import {NO_HISTORY, type LastKnown, type PodHistory} from './events/pod-history.js';
import {tellMissingPullSecrets} from './images/credentials/pull-secrets.js';
import {computePodActions, type PodFacts} from './kuberuntime/compute-pod-actions.js';
import {isRestartingAllContainers} from './kuberuntime/compute-restart-all.js';
import type {Garbage} from './kuberuntime/garbage.js';
import {terminatingGracePeriod} from './kuberuntime/grace-period.js';
import {removeOlderInstances} from './kuberuntime/remove-container.js';
import {readPodStatus} from './kuberuntime/runtime-status.js';
import type {SyncContext} from './kuberuntime/sync-context.js';
import {syncPod} from './kuberuntime/sync-pod.js';
import {removeGarbage, removeStopped, requireStopped, stopPod, throwFirst} from './pod-end.js';
import {PodStatusKeeper, type BackOff} from './pod-status-keeper.js';
import {nodeFailure, prepareNode} from './prepare-node.js';
import {podSecretTexts} from './references/secret-texts.js';
import {ResizeProgress} from './resize-progress.js';
import {EVICTION_GRACE_SECONDS, VolumeLimit} from './volume-limit.js';

/** What one pass over a pod found and did. */
export interface SyncPass {
  readonly runtime: RuntimePodStatus;
  readonly status: PodStatus;
  /** Empty when there was nothing to do. */
  readonly results: readonly SyncResult[];
}

/** How a pod is ended; `override` has the last say on its status. */
interface EndOptions {
  readonly gracePeriodSeconds: number;
  readonly override?: ((status: PodStatus) => PodStatus) | undefined;
  /** Nobody wants the pod any more, which is kept for who looks: it is told to be ending. */
  readonly isDeletion?: boolean;
}

/** What a worker's sync goes by. */
interface KnownOptions {
  readonly networkError: string | undefined;
  /** Why the pod isn't granted the resources that it asks for. */
  readonly pendingResize: PendingResize | undefined;
  readonly signal: AbortSignal;
}

interface PassOptions extends Pick<EndOptions, 'override'> {
  readonly isTerminal?: boolean;
  /** Nothing follows from the status. */
  readonly isLook?: boolean;
}

/** How often a kubelet syncs an idle pod (syncFrequency), and with it what is in its volumes. */
const REMOUNT_MS = 60_000;

/** What has to be done for a pod that has not ended and whose status is that. */
export function actionsFor(
  pod: Pod,
  {runtime, status, actuated}: Pick<SyncPass, 'runtime' | 'status'> & Pick<PodFacts, 'actuated'>,
  probes: ProbeResults,
): PodActions {
  return computePodActions(pod, runtime, probes, {
    restartsAll: isRestartingAllContainers(status),
    actuated,
  });
}

/** Brings one pod to what its manifest says, pass by pass, and ends it (kubelet SyncPod, SyncTerminatingPod). */
export class PodSyncer {
  #pod: Pod;
  readonly #context: SyncContext;
  readonly #keeper: PodStatusKeeper;
  /** When the volumes of an idle pod are looked after again. */
  #remountAt: number | undefined;
  readonly #volumeLimit: VolumeLimit;
  readonly #resize: ResizeProgress;

  constructor(context: SyncContext, pod: Pod, runtimeName: string, history: PodHistory = NO_HISTORY) {
    this.#context = context;
    this.#pod = pod;
    this.#keeper = new PodStatusKeeper(context, history, runtimeName);
    this.#volumeLimit = new VolumeLimit(context);
    this.#resize = new ResizeProgress(context);
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** The pod is wanted otherwise than before. */
  set pod(pod: Pod) {
    if (!isAllocated(pod, allocationOf(this.#pod))) this.#resize.started(pod);
    this.#pod = pod;
  }

  /** As it was last made; undefined before the first sync. */
  get status(): PodStatus | undefined {
    return this.#keeper.status;
  }

  /** The containers that wait before they are started again, by name, as of the last sync. */
  get backOffs(): ReadonlyMap<string, BackOff> {
    return this.#keeper.backOffs;
  }

  /** Takes down what happens to the pod outside of its syncs, as what happens in them. */
  tell(event: PodEvent): void {
    this.#context.events(event);
  }

  /** Shows what a probe has found before the next sync does. */
  probed(outcome: ProbeOutcome): void {
    this.#keeper.probed(this.pod, outcome);
  }

  /** Resolves when all is written that is to be kept of the pod, or can't be. */
  async settled(): Promise<void> {
    await this.#keeper.settled();
  }

  /** What the pod was last given, as far as it is known. */
  get actuated(): PodAllocation | undefined {
    return this.#context.actuated.current;
  }

  /** Has what is written into volumes brought up to date by the next sync. */
  renewVolumes(): void {
    if (this.#remountAt !== undefined) this.#remountAt = 0;
  }

  /** Goes on from what was known of the pod before, as a kubelet does that has never stopped. */
  recall(known: Pick<LastKnown, 'status' | 'reasons'>): void {
    this.#keeper.recall(known);
  }

  /** What runs of the pod, changing nothing: it may be past its deadline. */
  async observe(signal?: AbortSignal): Promise<SyncPass> {
    await this.#load();
    return await this.#pass(await this.#read(signal), [], {isLook: true});
  }

  /**
   * One pass: looks, decides, acts, looks again. What fails is in the results; rejects with CriError when the
   * runtime can't be asked, or with the signal's reason.
   */
  async sync(signal: AbortSignal): Promise<SyncPass> {
    await this.#load();
    try {
      const pass = await this.#sync(signal);
      this.#keeper.keep();
      return pass;
    } finally {
      await this.#keeper.settled();
    }
  }

  /**
   * A sync as a pod worker makes it, from what is known to run (SyncPod): the status in it is that of before. With a
   * network that isn't ready only pods in the host's go on.
   */
  async syncKnown(
    runtime: RuntimePodStatus,
    {networkError, pendingResize, signal}: KnownOptions,
  ): Promise<SyncPass> {
    await this.#load();
    this.#keeper.wanted();
    this.#resize.waitsFor(pendingResize);
    const before = await this.#pass(runtime, []);
    this.#keeper.keep();
    if (hasEnded(before.status.phase)) return before;
    if (networkError !== undefined && this.pod.spec.hostNetwork !== true) {
      const message = `network is not ready: ${networkError}`;
      return {
        ...before,
        results: [nodeFailure(this.#context, this.pod, {reason: 'NetworkNotReady', message})],
      };
    }
    const results = this.#context.secrets.maskResults(await this.#act(runtime, before.status, signal));
    this.#remember(results);
    return {...before, results};
  }

  /** Stops what runs of the pod for good (SyncTerminatingPod). Rejects with PodError when it could not be stopped. */
  async endKnown(
    runtime: RuntimePodStatus,
    {gracePeriodSeconds, override, isDeletion = false}: EndOptions,
  ): Promise<void> {
    await this.#load();
    if (isDeletion) this.#keeper.deleted(gracePeriodSeconds);
    await this.#pass(runtime, [], {override});
    this.#keeper.keep();
    throwFirst(this.pod, await this.#stop(runtime, gracePeriodSeconds, undefined));
    const left = await this.#read();
    requireStopped(this.pod, left);
    await this.#pass(left, [], {override, isTerminal: true});
    this.#keeper.keep();
  }

  /** The last status of a pod of which nothing runs, and nothing will (SyncTerminatedPod). */
  async concludeKnown(runtime: RuntimePodStatus): Promise<void> {
    await this.#load();
    await this.#pass(runtime, [], {isTerminal: true});
    this.#keeper.keep();
  }

  /** Removes what of the pod nobody needs any more. Rejects with CriError and PodError. */
  async removeGarbage(garbage: Garbage): Promise<void> {
    await removeGarbage(this.#context, this.pod, garbage);
  }

  async #load(): Promise<void> {
    await this.#context.actuated.load();
    await this.#keeper.load(this.pod);
  }

  async #sync(signal: AbortSignal): Promise<SyncPass> {
    const before = await this.#pass(await this.#read(signal), []);
    const evicted = hasEnded(before.status.phase) ? undefined : await this.#evict(before, signal);
    if (evicted !== undefined) return evicted;
    const cleaned = await removeOlderInstances(this.#context, this.pod, before.runtime);
    const acted = hasEnded(before.status.phase)
      ? await this.#stopFinished(cleaned.status, signal)
      : await this.#act(cleaned.status, before.status, signal);
    const results = this.#context.secrets.maskResults([...cleaned.results, ...acted]);
    if (results.length === 0) return before;
    this.#remember(results);
    try {
      return await this.#pass(await this.#read(), results);
    } catch (error) {
      // What has failed before is what counts, also when the runtime can't be asked any more.
      if (failuresOf(results).length === 0) throw error;
      return {...before, results};
    }
  }

  /** Ends a pod one of whose volumes takes more of the disk than it may. */
  async #evict({runtime, status}: SyncPass, signal: AbortSignal): Promise<SyncPass | undefined> {
    const eviction = await this.#volumeLimit.evictionOf(this.pod);
    if (eviction === undefined) return undefined;
    const results = await this.#stop(runtime, EVICTION_GRACE_SECONDS, signal);
    this.#keeper.ended(status, eviction);
    return await this.#pass(await this.#read(), results);
  }

  /** A finished pod's sandbox is stopped; its containers stay for their logs. */
  async #stopFinished(runtime: RuntimePodStatus, signal: AbortSignal): Promise<readonly SyncResult[]> {
    if (!isLive(runtime)) return [];
    return await this.#stop(runtime, terminatingGracePeriod(this.pod), signal);
  }

  async #stop(
    runtime: RuntimePodStatus,
    gracePeriodSeconds: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly SyncResult[]> {
    return await stopPod(this.#context, this.pod, runtime, {gracePeriodSeconds, signal});
  }

  async #act(
    runtime: RuntimePodStatus,
    status: PodStatus,
    signal: AbortSignal,
  ): Promise<readonly SyncResult[]> {
    const {clock, objects, probes} = this.#context;
    const {actuated} = this;
    const actions = actionsFor(this.pod, {runtime, status, actuated}, probes.results);
    // Running containers see what has changed in their volumes.
    const due = clock.now() >= (this.#remountAt ?? 0);
    if (isIdle(actions) && !due) return [];
    // What they were made from has just been read when the first pass comes.
    if (due && this.#remountAt !== undefined) await objects.refresh?.();
    this.#remountAt ??= clock.now();
    const prepared = await prepareNode(this.#context, this.pod, signal);
    if ('failure' in prepared) return [prepared];
    this.#remountAt = clock.now() + REMOUNT_MS;
    probes.add(this.pod, status);
    if (isIdle(actions)) return [];
    tellMissingPullSecrets(this.pod, this.#context.objects, this.#context.events);
    return await syncPod(
      this.#context,
      {pod: this.pod, status: runtime, actions, volumes: prepared.volumes},
      signal,
    );
  }

  /**
   * Stops the pod's containers and sandboxes (SyncTerminatingPod). Rejects with PodError when the runtime
   * could not or did not stop them, and with the signal's reason.
   */
  async terminate(gracePeriodSeconds?: number, signal?: AbortSignal): Promise<void> {
    const runtime = await this.#read(signal);
    const grace = terminatingGracePeriod(this.pod, gracePeriodSeconds);
    throwFirst(this.pod, await this.#stop(runtime, grace, signal));
    requireStopped(this.pod, await this.#read());
  }

  /** Whether something of the pod runs, as the runtime says now. Rejects with CriError. */
  async isLive(): Promise<boolean> {
    return isLive(await this.#read());
  }

  /** Removes what a terminated pod left in the runtime: its containers with their logs, then its sandboxes. */
  async removeFromRuntime(): Promise<void> {
    await removeStopped(this.#context, this.pod, await this.#read());
  }

  /** The same, unless something of the pod runs: false then, and nothing is changed. */
  async removeUnlessLive(): Promise<boolean> {
    const runtime = await this.#read();
    if (isLive(runtime)) return false;
    await removeStopped(this.#context, this.pod, runtime);
    return true;
  }

  /** The runtime may repeat a command or variable with a secret in it. */
  async #read(signal?: AbortSignal): Promise<RuntimePodStatus> {
    const {services, objects, secrets} = this.#context;
    secrets.refer(podSecretTexts(this.pod, objects));
    const status = await readPodStatus(services.runtime, podRef(this.pod), signal);
    const containers = status.containers.map((container) => ({
      ...container,
      cri: {...container.cri, message: secrets.mask(container.cri.message)},
    }));
    return {...status, containers};
  }

  async #pass(
    runtime: RuntimePodStatus,
    results: readonly SyncResult[],
    {isTerminal = false, isLook = false, override}: PassOptions = {},
  ): Promise<SyncPass> {
    if (!isLook && !isTerminal) this.#resize.look(this.pod, runtime);
    const resize = isLook ? undefined : this.#resize.conditions;
    const how = {isTerminal, keepsDeadline: !isLook, resize, override};
    return {runtime, status: await this.#keeper.make(this.pod, runtime, how), results};
  }

  #remember(results: readonly SyncResult[]): void {
    this.#resize.take(this.pod, results);
    this.#keeper.take(results);
  }
}
