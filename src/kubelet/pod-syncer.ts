import type {Pod} from '../api/v1.js';
import type {PodStatus} from '../api/v1-status.js';
import type {PodSandboxId} from '../cri/index.js';
import type {PendingResize} from './allocation/judge-resize.js';
import {isStaticPod} from './config/static-pod.js';
import type {PodEvent} from './container/events.js';
import {isIdle, type PodActions} from './container/pod-actions.js';
import type {ProbeResults} from './container/probe-results.js';
import {allocationOf, isAllocated, type PodAllocation} from './container/pod-allocation.js';
import {podRef} from './container/pod-ref.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from './container/pod-status.js';
import {failuresOf, syncErrorText, type SyncFailure, type SyncResult} from './container/sync-result.js';
import {
  deletionAt,
  NO_HISTORY,
  type LastKnown,
  type PodDeletion,
  type PodHistory,
} from './events/pod-history.js';
import {tellMissingPullSecrets} from './images/credentials/pull-secrets.js';
import {computePodActions, type PodFacts} from './kuberuntime/compute-pod-actions.js';
import {isRestartingAllContainers} from './kuberuntime/compute-restart-all.js';
import {terminatingGracePeriod} from './kuberuntime/grace-period.js';
import {killContainer, killContext} from './kuberuntime/kill-container.js';
import {killPod} from './kuberuntime/kill-pod.js';
import type {Garbage} from './kuberuntime/garbage.js';
import {removeContainer, removeOlderInstances} from './kuberuntime/remove-container.js';
import {readPodStatus} from './kuberuntime/runtime-status.js';
import type {SyncContext} from './kuberuntime/sync-context.js';
import {syncPod} from './kuberuntime/sync-pod.js';
import {podSecretTexts} from './references/secret-texts.js';
import {PodError, podErrorOf} from './pod-error.js';
import type {WaitingReason} from './status/container-status.js';
import {resizeConditionsOf} from './status/conditions.js';
import {tellDeadline} from './status/deadline.js';
import {endOf, podStatus} from './status/pod-status.js';
import {nodeFailure, prepareNode} from './prepare-node.js';
import {readTerminationMessages} from './status/termination-message.js';
import {toldWords} from './status/told-words.js';
import {ResizeProgress} from './resize-progress.js';
import {EVICTION_GRACE_SECONDS, VolumeLimit} from './volume-limit.js';

/** What one pass over a pod found and did. */
export interface SyncPass {
  readonly runtime: RuntimePodStatus;
  readonly status: PodStatus;
  /** Empty when there was nothing to do. */
  readonly results: readonly SyncResult[];
}

/** Why and until when a container is not started again. Times are in ms since the epoch. */
export interface BackOff {
  readonly reason: SyncFailure['reason'];
  readonly retryAt: number;
  /** How long the wait is as a whole, in milliseconds. */
  readonly delayMs: number | undefined;
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

const isTerminal = ({phase}: PodStatus): boolean => phase === 'Succeeded' || phase === 'Failed';

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
  readonly #runtimeName: string;
  /** Why containers are not running (the kubelet's reason cache). */
  readonly #reasons = new Map<string, WaitingReason>();
  /** Until when containers wait before they are started again. */
  readonly #backOffs = new Map<string, BackOff>();
  readonly #history: PodHistory;
  #previous: PodStatus | undefined;
  /** When the volumes of an idle pod are looked after again. */
  #remountAt: number | undefined;
  readonly #volumeLimit: VolumeLimit;
  readonly #resize: ResizeProgress;
  #remembered = '';
  /** Since the pod is ended because nobody wants it. */
  #deletion: PodDeletion | undefined;
  /** What was told of containers' ends, also by another process, which knew what is secret in it. */
  #told: ReadonlyMap<string, string> = new Map();
  /** What was kept of the pod by another process. */
  #recalled: PodStatus | undefined;

  constructor(context: SyncContext, pod: Pod, runtimeName: string, history: PodHistory = NO_HISTORY) {
    this.#context = context;
    this.#pod = pod;
    this.#runtimeName = runtimeName;
    this.#history = history;
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
    return this.#previous;
  }

  /** The containers that wait before they are started again, by name, as of the last sync. */
  get backOffs(): ReadonlyMap<string, BackOff> {
    return this.#backOffs;
  }

  /** Takes down what happens to the pod outside of its syncs, as what happens in them. */
  tell(event: PodEvent): void {
    this.#context.events(event);
  }

  /** Resolves when all is written that is to be kept of the pod, or can't be. */
  async settled(): Promise<void> {
    await this.#history.settled();
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
  recall({status, reasons}: Pick<LastKnown, 'status' | 'reasons'>): void {
    this.#previous = status;
    this.#told = toldWords(status);
    for (const [name, reason] of Object.entries(reasons)) this.#reasons.set(name, reason);
  }

  /** What runs of the pod, changing nothing: it may be past its deadline. */
  async observe(signal?: AbortSignal): Promise<SyncPass> {
    await this.#recallKept();
    return await this.#pass(await this.#read(signal), [], {isLook: true});
  }

  /**
   * One pass: looks, decides, acts, looks again. What fails is in the results; rejects with CriError when the
   * runtime can't be asked, or with the signal's reason.
   */
  async sync(signal: AbortSignal): Promise<SyncPass> {
    await this.#recallKept();
    try {
      const pass = await this.#sync(signal);
      this.#takeDown(pass);
      return pass;
    } finally {
      await this.#history.settled();
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
    await this.#recallKept();
    this.#deletion = undefined;
    this.#resize.waitsFor(pendingResize);
    const before = await this.#pass(runtime, []);
    this.#takeDown(before);
    if (isTerminal(before.status)) return before;
    if (networkError !== undefined && this.pod.spec.hostNetwork !== true) {
      const message = `network is not ready: ${networkError}`;
      return {
        ...before,
        results: [nodeFailure(this.#context, this.pod, {reason: 'NetworkNotReady', message})],
      };
    }
    const results = (await this.#act(runtime, before.status, signal)).map((result) => this.#masked(result));
    this.#remember(results);
    return {...before, results};
  }

  /** Stops what runs of the pod for good (SyncTerminatingPod). Rejects with PodError when it could not be stopped. */
  async endKnown(
    runtime: RuntimePodStatus,
    {gracePeriodSeconds, override, isDeletion = false}: EndOptions,
  ): Promise<void> {
    await this.#recallKept();
    if (isDeletion) this.#deletion ??= deletionAt(this.#context.clock.now(), gracePeriodSeconds);
    this.#takeDown(await this.#pass(runtime, [], {override}));
    this.#throwFirst(await this.#kill(runtime, gracePeriodSeconds, undefined));
    const left = await this.#read();
    this.#requireStopped(left);
    this.#takeDown(await this.#pass(left, [], {override, isTerminal: true}));
  }

  /** The last status of a pod of which nothing runs, and nothing will (SyncTerminatedPod). */
  async concludeKnown(runtime: RuntimePodStatus): Promise<void> {
    await this.#recallKept();
    this.#takeDown(await this.#pass(runtime, [], {isTerminal: true}));
  }

  /** Removes what of the pod nobody needs any more. Rejects with CriError and PodError. */
  async removeGarbage({containers, sandboxes}: Garbage): Promise<void> {
    await this.#killUnknown(containers.filter(({state}) => state === 'CONTAINER_UNKNOWN'));
    this.#throwFirst(await this.#removeContainers(containers));
    await this.#removeSandboxes(sandboxes);
  }

  /** They might run. */
  async #killUnknown(containers: readonly RuntimeContainerStatus[]): Promise<void> {
    const context = killContext(this.#context, []);
    const message = 'Container is in unknown state, try killing it before removal';
    for (const {id, name} of containers)
      this.#throwFirst([await killContainer(context, this.pod, {id, name, message, reason: 'Unknown'})]);
  }

  /**
   * A kubelet that was started anew knows of a pod what runs of it; since when, the API server has kept, and that a
   * pod has ended, which is then for good. Nobody has kept the latter of a static pod.
   */
  async #recallKept(): Promise<void> {
    await this.#context.actuated.load();
    if (this.#previous !== undefined) return;
    const {status = {}} = (await this.#history.lastKnown()) ?? {};
    const {startTime, conditions} = status;
    this.#told = toldWords(status);
    this.#recalled = status;
    this.#previous = {
      ...(startTime && {startTime}),
      ...(conditions && {conditions}),
      ...(!isStaticPod(this.pod) && endOf(status)),
    };
  }

  #takeDown({status}: SyncPass): void {
    const deletion = this.#deletion;
    const known = {status, reasons: Object.fromEntries(this.#reasons), ...(deletion && {deletion})};
    const text = JSON.stringify(known);
    if (text !== this.#remembered) this.#history.remember(known);
    this.#remembered = text;
  }

  async #sync(signal: AbortSignal): Promise<SyncPass> {
    const before = await this.#pass(await this.#read(signal), []);
    const evicted = isTerminal(before.status) ? undefined : await this.#evict(before, signal);
    if (evicted !== undefined) return evicted;
    const cleaned = await removeOlderInstances(this.#context, this.pod, before.runtime);
    const acted = isTerminal(before.status)
      ? await this.#stopFinished(cleaned.status, signal)
      : await this.#act(cleaned.status, before.status, signal);
    const results = [...cleaned.results, ...acted].map((result) => this.#masked(result));
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
    const results = await this.#kill(runtime, EVICTION_GRACE_SECONDS, signal);
    this.#previous = {...status, ...eviction};
    return await this.#pass(await this.#read(), results);
  }

  /** A finished pod's sandbox is stopped; its containers stay for their logs. */
  async #stopFinished(runtime: RuntimePodStatus, signal: AbortSignal): Promise<readonly SyncResult[]> {
    const live =
      runtime.sandboxes.some(({state}) => state === 'SANDBOX_READY') ||
      runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING');
    if (!live) return [];
    return await this.#kill(runtime, terminatingGracePeriod(this.pod), signal);
  }

  /** Stops all of the pod for good; that something could not be is told. */
  async #kill(
    runtime: RuntimePodStatus,
    gracePeriodSeconds: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly SyncResult[]> {
    const {pod} = this;
    const {probes, events} = this.#context;
    probes.stopLivenessAndStartup(pod);
    const context = killContext(this.#context, runtime.ips, signal);
    const killed = await killPod(context, pod, runtime, gracePeriodSeconds);
    const results = killed.map((result) => this.#masked(result));
    const failures = failuresOf(results);
    if (failures.length > 0) {
      const message = `error killing pod: ${syncErrorText(failures)}`;
      events({type: 'Warning', reason: 'FailedKillPod', message, pod});
    } else probes.remove(pod);
    return results;
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
    this.#throwFirst(await this.#kill(runtime, grace, signal));
    this.#requireStopped(await this.#read());
  }

  #requireStopped({containers}: RuntimePodStatus): void {
    const running = containers.filter(({state}) => state === 'CONTAINER_RUNNING').map(({name}) => name);
    if (running.length > 0)
      throw new PodError(
        podRef(this.pod),
        `detected running containers after a successful KillPod, CRI violation: [${running.join(' ')}]`,
      );
  }

  /** Removes what a terminated pod left in the runtime: its containers with their logs, then its sandboxes. */
  async removeFromRuntime(): Promise<void> {
    const {containers, sandboxes} = await this.#read();
    this.#throwFirst(await this.#removeContainers(containers));
    await this.#removeSandboxes(sandboxes.map(({id}) => id));
  }

  async #removeContainers(containers: readonly RuntimeContainerStatus[]): Promise<readonly SyncResult[]> {
    return await Promise.all(containers.map((item) => removeContainer(this.#context, this.pod, item)));
  }

  async #removeSandboxes(ids: readonly PodSandboxId[]): Promise<void> {
    const {runtime} = this.#context.services;
    for (const podSandboxId of ids) {
      await runtime.stopPodSandbox({podSandboxId});
      await runtime.removePodSandbox({podSandboxId});
    }
  }

  /** The runtime may repeat a command or variable with a secret in it. */
  async #read(signal?: AbortSignal): Promise<RuntimePodStatus> {
    const {services, objects, secrets} = this.#context;
    secrets.learn(podSecretTexts(this.pod, objects));
    const status = await readPodStatus(services.runtime, podRef(this.pod), signal);
    const containers = status.containers.map((container) => ({
      ...container,
      cri: {...container.cri, message: secrets.mask(container.cri.message)},
    }));
    return {...status, containers};
  }

  #masked(result: SyncResult): SyncResult {
    const {failure} = result;
    if (failure === undefined) return result;
    return {...result, failure: {...failure, message: this.#context.secrets.mask(failure.message)}};
  }

  async #pass(
    runtime: RuntimePodStatus,
    results: readonly SyncResult[],
    {isTerminal = false, isLook = false, override}: PassOptions = {},
  ): Promise<SyncPass> {
    const {probes, node, clock, events} = this.#context;
    if (!isLook && !isTerminal) this.#resize.look(this.pod, runtime);
    const computed = podStatus({
      pod: this.pod,
      runtime,
      reasons: this.#reasons,
      terminationMessages: await readTerminationMessages(runtime),
      previous: this.#previous,
      told: this.#told,
      recalled: this.#recalled,
      readinessOf: probes.readinessOf,
      node,
      runtimeName: this.#runtimeName,
      now: clock.now(),
      isTerminal,
      keepsDeadline: !isLook,
      actuated: this.actuated,
      resize: isLook ? resizeConditionsOf(this.#previous?.conditions) : this.#resize.conditions,
    });
    const status = override?.(computed) ?? computed;
    tellDeadline(events, this.pod, {before: this.#previous, now: status});
    probes.observe(this.pod, status);
    this.#previous = status;
    return {runtime, status, results};
  }

  #remember(results: readonly SyncResult[]): void {
    this.#resize.take(this.pod, results);
    for (const {action, target, failure} of results) {
      if (action !== 'StartContainer' && action !== 'InitContainer') continue;
      this.#backOffs.delete(target);
      if (failure === undefined) {
        this.#reasons.delete(target);
        continue;
      }
      const {reason, message, retryAt, backOffMs} = failure;
      this.#reasons.set(target, {reason, message});
      if (retryAt !== undefined) this.#backOffs.set(target, {reason, retryAt, delayMs: backOffMs});
    }
  }

  #throwFirst(results: readonly SyncResult[]): void {
    const [first]: readonly (SyncResult & {readonly failure: SyncFailure})[] = failuresOf(results);
    if (first !== undefined) throw podErrorOf(podRef(this.pod), first);
  }
}
