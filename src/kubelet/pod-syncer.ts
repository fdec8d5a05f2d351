import type {Pod} from '../api/v1.js';
import type {PodStatus} from '../api/v1-status.js';
import {messageOf} from '../base/errors.js';
import {MountError} from './container/mount-error.js';
import {isStaticPod} from './config/static-pod.js';
import type {PodActions} from './container/pod-actions.js';
import type {MountedVolumes} from './container/pod-filesystem.js';
import {podRef} from './container/pod-ref.js';
import type {RuntimePodStatus} from './container/pod-status.js';
import {failuresOf, syncErrorText, type SyncFailure, type SyncResult} from './container/sync-result.js';
import {NO_HISTORY, type LastKnown, type PodHistory} from './events/pod-history.js';
import {tellMissingPullSecrets} from './images/credentials/pull-secrets.js';
import {computePodActions} from './kuberuntime/compute-pod-actions.js';
import {terminatingGracePeriod} from './kuberuntime/grace-period.js';
import {killContext} from './kuberuntime/kill-container.js';
import {killPod} from './kuberuntime/kill-pod.js';
import {removeContainer, removeOlderInstances} from './kuberuntime/remove-container.js';
import {isCriticalPod} from './kuberuntime/oom-score.js';
import {readPodStatus} from './kuberuntime/runtime-status.js';
import type {SyncContext} from './kuberuntime/sync-context.js';
import {syncPod} from './kuberuntime/sync-pod.js';
import {PodError, podErrorOf} from './pod-error.js';
import type {WaitingReason} from './status/container-status.js';
import {endOf, podStatus} from './status/pod-status.js';
import {readTerminationMessages} from './status/termination-message.js';

/** What one pass over a pod found and did. */
export interface SyncPass {
  readonly runtime: RuntimePodStatus;
  readonly status: PodStatus;
  /** Empty when there was nothing to do. */
  readonly results: readonly SyncResult[];
}

/** How often a kubelet syncs a pod in which nothing happens (syncFrequency), and with it what is in its volumes. */
const REMOUNT_MS = 60_000;

/** How often a kubelet looks for pods to evict, and how long these have to stop (eviction). */
const MEASURE_MS = 10_000;
const EVICTION_GRACE_SECONDS = 1;
const EVICTED = 'Evicted';

const idle = (actions: PodActions): boolean =>
  !actions.killPod &&
  !actions.createSandbox &&
  actions.containersToKill.length === 0 &&
  actions.containersToReset.length === 0 &&
  actions.containersToStart.length === 0 &&
  actions.initContainersToStart.length === 0;

const isTerminal = ({phase}: PodStatus): boolean => phase === 'Succeeded' || phase === 'Failed';

/** Brings one pod to what its manifest says, pass by pass, and ends it (kubelet SyncPod, SyncTerminatingPod). */
export class PodSyncer {
  readonly pod: Pod;
  readonly #context: SyncContext;
  readonly #runtimeName: string;
  /** Why containers are not running (the kubelet's reason cache). */
  readonly #reasons = new Map<string, WaitingReason>();
  readonly #history: PodHistory;
  #previous: PodStatus | undefined;
  /** When the volumes of a pod that nothing else is to be done for are looked after again. */
  #remountAt: number | undefined;
  /** When volumes are measured again. */
  #measureAt = 0;
  #remembered = '';

  constructor(context: SyncContext, pod: Pod, runtimeName: string, history: PodHistory = NO_HISTORY) {
    this.#context = context;
    this.pod = pod;
    this.#runtimeName = runtimeName;
    this.#history = history;
  }

  /** Goes on from what was known of the pod before, as a kubelet does that has never stopped. */
  recall({status, reasons}: Pick<LastKnown, 'status' | 'reasons'>): void {
    this.#previous = status;
    for (const [name, reason] of Object.entries(reasons)) this.#reasons.set(name, reason);
  }

  /** What runs of the pod, changing nothing. */
  async observe(signal?: AbortSignal): Promise<SyncPass> {
    return await this.#pass(await this.#read(signal), []);
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
   * A kubelet that was started anew knows of a pod what runs of it; since when, the API server has kept, and that a
   * pod has ended, which is then for good. Nobody has kept the latter of a static pod.
   */
  async #recallKept(): Promise<void> {
    if (this.#previous !== undefined) return;
    const {status = {}} = (await this.#history.lastKnown()) ?? {};
    const {startTime, conditions} = status;
    this.#previous = {
      ...(startTime && {startTime}),
      ...(conditions && {conditions}),
      ...(!isStaticPod(this.pod) && endOf(status)),
    };
  }

  #takeDown({status}: SyncPass): void {
    const known = {status, reasons: Object.fromEntries(this.#reasons)};
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
      : await this.#act(cleaned.status, signal);
    const results = [...cleaned.results, ...acted];
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

  /** Ends a pod one of whose volumes takes more of the disk than it may (eviction emptyDirLimitEviction). */
  async #evict({runtime, status}: SyncPass, signal: AbortSignal): Promise<SyncPass | undefined> {
    const {clock, files, events} = this.#context;
    const {pod} = this;
    if (clock.now() < this.#measureAt || isCriticalPod(pod)) return undefined;
    this.#measureAt = clock.now() + MEASURE_MS;
    const volume = await files.exceededVolume(pod);
    if (volume === undefined) return undefined;
    const message = `Usage of EmptyDir volume "${volume.name}" exceeds the limit "${volume.sizeLimit}". `;
    events({type: 'Warning', reason: EVICTED, message, pod});
    const results = await this.#kill(runtime, EVICTION_GRACE_SECONDS, signal);
    this.#previous = {...status, phase: 'Failed', reason: EVICTED, message};
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
    const context = killContext(this.#context, runtime.ips, signal);
    const results = await killPod(context, pod, runtime, gracePeriodSeconds);
    const failures = failuresOf(results);
    if (failures.length > 0) {
      const message = `error killing pod: ${syncErrorText(failures)}`;
      this.#context.events({type: 'Warning', reason: 'FailedKillPod', message, pod});
    }
    return results;
  }

  async #act(runtime: RuntimePodStatus, signal: AbortSignal): Promise<readonly SyncResult[]> {
    const actions = computePodActions(this.pod, runtime);
    const {clock, objects} = this.#context;
    // Running containers see what has changed in their volumes.
    const due = clock.now() >= (this.#remountAt ?? 0);
    if (idle(actions) && !due) return [];
    // What they were made from has just been read when the first pass comes.
    if (due && this.#remountAt !== undefined) await objects.refresh?.();
    this.#remountAt ??= clock.now();
    const prepared = await this.#prepareNode(signal);
    if ('failure' in prepared) return [prepared];
    this.#remountAt = clock.now() + REMOUNT_MS;
    if (idle(actions)) return [];
    tellMissingPullSecrets(this.pod, this.#context.objects, this.#context.events);
    return await syncPod(
      this.#context,
      {pod: this.pod, status: runtime, actions, volumes: prepared.volumes},
      signal,
    );
  }

  /** What containers need of the node's file system: the pod's directories and its volumes. */
  async #prepareNode(
    signal: AbortSignal,
  ): Promise<{readonly volumes: MountedVolumes} | (SyncResult & {readonly failure: SyncFailure})> {
    const {files, objects} = this.#context;
    try {
      await files.makePodCgroup(this.pod);
    } catch (cause) {
      return this.#nodeFailure('FailedCreatePodContainer', 'unable to ensure pod container exists: ', cause);
    }
    try {
      await files.makePodDirs(this.pod);
    } catch (cause) {
      return this.#nodeFailure('Failed', 'error making pod data directories: ', cause);
    }
    try {
      return {volumes: await files.mountVolumes(this.pod, objects, signal)};
    } catch (cause) {
      signal.throwIfAborted();
      // One event for each volume; the first is what the sync fails with.
      const [first, ...others] = cause instanceof MountError ? cause.failures : [cause];
      const failure = this.#nodeFailure('FailedMount', '', first);
      for (const other of others) this.#nodeFailure('FailedMount', '', other);
      return failure;
    }
  }

  #nodeFailure(
    reason: 'FailedCreatePodContainer' | 'Failed' | 'FailedMount',
    text: string,
    cause: unknown,
  ): SyncResult & {readonly failure: SyncFailure} {
    const message = `${text}${messageOf(cause)}`;
    const {pod} = this;
    this.#context.events({type: 'Warning', reason, message, pod});
    return {action: 'SetUpNode', target: podRef(pod).name, failure: {reason, message, cause}};
  }

  /**
   * Stops the pod's containers and sandboxes (SyncTerminatingPod). Rejects with PodError when the runtime
   * could not or did not stop them, and with the signal's reason.
   */
  async terminate(gracePeriodSeconds?: number, signal?: AbortSignal): Promise<void> {
    const runtime = await this.#read(signal);
    const grace = terminatingGracePeriod(this.pod, gracePeriodSeconds);
    this.#throwFirst(await this.#kill(runtime, grace, signal));
    const {containers} = await this.#read();
    const running = containers.filter(({state}) => state === 'CONTAINER_RUNNING').map(({name}) => name);
    if (running.length > 0)
      throw new PodError(
        podRef(this.pod),
        `detected running containers after a successful KillPod, CRI violation: [${running.join(' ')}]`,
      );
  }

  /** Removes what a terminated pod left in the runtime: its containers with their logs, then its sandboxes. */
  async removeFromRuntime(): Promise<void> {
    const {runtime} = this.#context.services;
    const {containers, sandboxes} = await this.#read();
    const removed = await Promise.all(
      containers.map((item) => removeContainer(this.#context, this.pod, item)),
    );
    this.#throwFirst(removed);
    for (const {id} of sandboxes) {
      await runtime.stopPodSandbox({podSandboxId: id});
      await runtime.removePodSandbox({podSandboxId: id});
    }
  }

  async #read(signal?: AbortSignal): Promise<RuntimePodStatus> {
    return await readPodStatus(this.#context.services.runtime, podRef(this.pod), signal);
  }

  async #pass(runtime: RuntimePodStatus, results: readonly SyncResult[]): Promise<SyncPass> {
    const status = podStatus({
      pod: this.pod,
      runtime,
      reasons: this.#reasons,
      terminationMessages: await readTerminationMessages(runtime),
      previous: this.#previous,
      node: this.#context.node,
      runtimeName: this.#runtimeName,
      now: this.#context.clock.now(),
    });
    this.#previous = status;
    return {runtime, status, results};
  }

  #remember(results: readonly SyncResult[]): void {
    for (const {action, target, failure} of results) {
      if (action !== 'StartContainer' && action !== 'InitContainer') continue;
      if (failure === undefined) this.#reasons.delete(target);
      else this.#reasons.set(target, {reason: failure.reason, message: failure.message});
    }
  }

  #throwFirst(results: readonly SyncResult[]): void {
    const [first]: readonly (SyncResult & {readonly failure: SyncFailure})[] = failuresOf(results);
    if (first !== undefined) throw podErrorOf(podRef(this.pod), first);
  }
}
