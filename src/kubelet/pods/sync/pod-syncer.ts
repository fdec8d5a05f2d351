import {isDeepStrictEqual} from 'node:util';
import type {Pod} from '../../../api/types/v1-pod.js';
import {messageOf} from '../../../base/errors.js';
import {hasEnded, type PodStatus} from '../../../api/types/v1-status.js';
import type {PodEvent} from '../../contract/pod-event.js';
import {isIdle} from '../../contract/pod-actions.js';
import {allocationOf, isAllocated} from '../../resources/pod-allocation.js';
import type {PodAllocation} from '../../contract/resources/actuated-resources.js';
import {podRef} from '../../contract/pod-ref.js';
import {isLive, type RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import type {ProbeUpdate} from '../../contract/probe-results.js';
import type {SyncResult} from '../../contract/sync-result.js';
import {findUnsupportedFeature} from '../field-support/unsupported-fields.js';
import {NO_HISTORY, type LastKnown, type PodHistory} from '../history/pod-history.js';
import {reportMissingPullSecrets} from '../../managers/images/credentials/pull-secrets.js';
import {
  computeSandboxDoubt,
  killedContainersOf,
  type SandboxDoubt,
} from '../../managers/kuberuntime/compute/ending-sandbox.js';
import type {ContainerGcActions} from '../../contract/container-gc-actions.js';
import {restoreCrashLoopBackOff} from '../../managers/kuberuntime/actions/crash-loop-back-off.js';
import {effectiveGracePeriodSeconds} from '../../managers/kuberuntime/actions/grace-period.js';
import {readRuntimePodStatus} from '../../managers/kuberuntime/read-runtime-pod-status.js';
import type {SyncContext} from '../../managers/kuberuntime/sync-context.js';
import {syncPod} from '../../managers/kuberuntime/sync-pod.js';
import {
  confirmStopped,
  removeGarbage,
  removeStoppedPod,
  stopPod,
  throwFirstFailure,
} from './terminate-pod.js';
import type {ContainerBackOff} from '../../contract/waiting-reason.js';
import {PodStatusManager} from '../status/status-manager.js';
import {computeActions} from './compute-actions.js';
import {removeVoidAttempts, withoutContainers} from './void-attempts.js';
import {timestampOf} from '../../../base/clock.js';
import {rejectionOf} from './attach-rejection.js';
import {missingNetwork, preparePodFilesystem, reportSetUpFailure} from './prepare-pod-filesystem.js';
import {redactRuntimeStatus} from './redact-runtime-status.js';
import {terminatedPodStatus} from '../status/compute/terminated-pod-status.js';
import type {PassOptions, SyncOptions, TerminationOptions} from './sync-options.js';
import {resizeConditionsOf} from '../status/compute/pod-conditions.js';
import {ResizeConditionTracker} from '../status/resize-conditions.js';
import {LocalStorageEviction} from '../eviction/local-storage-eviction.js';
import type {PodEviction} from '../eviction/eviction-manager.js';

/** Result of one sync pass over a pod. */
export interface SyncPass {
  readonly runtime: RuntimePodStatus;
  readonly status: PodStatus;
  /** Results of the actions; empty if no action was due. */
  readonly results: readonly SyncResult[];
  /** Time of the next refresh of the volumes, in ms since the epoch; undefined if they were not mounted. */
  readonly refreshAt?: number | undefined;
}

/** Reports whether volumes of the downward API show the same of two pods. */
function hasSameMetadata({metadata: one}: Pod, {metadata: other}: Pod): boolean {
  return isDeepStrictEqual(one.labels, other.labels) && isDeepStrictEqual(one.annotations, other.annotations);
}

/** Syncs one pod to its desired state, pass by pass, and terminates it (kubelet.go SyncPod, SyncTerminatingPod). */
export class PodSyncer {
  #pod: Pod;
  readonly #context: SyncContext;
  readonly #statusManager: PodStatusManager;
  /** Time of the next volume refresh of an idle pod, in ms of the monotonic clock. */
  #remountAt: number | undefined;
  readonly #storageLimits: LocalStorageEviction;
  readonly #resize: ResizeConditionTracker;
  /** Names of the containers that the last sync killed. */
  #ownKills: ReadonlySet<string> = new Set();
  /** Start of the pod's termination, in ms since the epoch; undefined before. */
  #terminatingAt: number | undefined;
  /** When the pod was taken over from another kubelet, in ms since the epoch; undefined if it was not, and after the first sync. */
  #takenOverAt: number | undefined;
  /** True if nothing of the pod is left on the node. */
  #isTerminated = false;

  constructor(context: SyncContext, pod: Pod, runtimeName: string, history: PodHistory = NO_HISTORY) {
    this.#context = context;
    this.#pod = pod;
    this.#statusManager = new PodStatusManager(context, history, runtimeName);
    this.#storageLimits = new LocalStorageEviction(context);
    this.#resize = new ResizeConditionTracker(context);
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** Sets the desired pod; starts a resize if its resources changed, and updates volumes that show changed metadata. */
  set pod(pod: Pod) {
    if (!isAllocated(pod, allocationOf(this.#pod))) this.#resize.resizeStarted(pod);
    if (!hasSameMetadata(pod, this.#pod)) this.requestVolumeRefresh();
    this.#pod = pod;
  }

  /** Last computed status; undefined before the first sync. */
  get status(): PodStatus | undefined {
    return this.#statusManager.status;
  }

  /** Containers in restart back-off by name, as of the last sync. */
  get backOffs(): ReadonlyMap<string, ContainerBackOff> {
    return this.#statusManager.backOffs;
  }

  /** Records an event raised outside a sync. */
  recordEvent(event: PodEvent): void {
    this.#context.events(event);
  }

  /** Records that the volumes of the pod were unmounted, or why they could not be. */
  recordUnmount(error?: unknown): void {
    this.#context.onVolume?.(
      error === undefined ? {step: 'Unmounted'} : {step: 'UnmountFailed', error: messageOf(error)},
    );
  }

  /** Applies a probe result to the status before the next sync. */
  applyProbeUpdate(outcome: ProbeUpdate): void {
    this.#statusManager.applyProbeUpdate(this.pod, outcome);
  }

  /** Resolves when all state of the pod has been written, or its write has failed. */
  async flush(): Promise<void> {
    await this.#statusManager.flush();
  }

  /** Actuated resources of the pod, if known. */
  get actuated(): PodAllocation | undefined {
    return this.#context.actuated.current;
  }

  /** Requests that the next sync refreshes the contents of the volumes. */
  requestVolumeRefresh(): void {
    if (this.#remountAt !== undefined) this.#remountAt = Number.NEGATIVE_INFINITY;
  }

  /** Restores the last-known status and reasons, as if the kubelet had never stopped. */
  restore(known: Pick<LastKnown, 'status' | 'reasons'>): void {
    this.#statusManager.restore(known);
  }

  /** Continues the back-offs of a pod that another kubelet had until this time. Call it before the first sync. */
  takeOver(atMs: number): void {
    this.#takenOverAt = atMs;
  }

  /** Takes over the status of the mirror pod; see PodStatusManager. */
  restoreMirror(stored: PodStatus): void {
    this.#statusManager.restoreMirror(this.pod, stored);
  }

  /** Resolves with the observed state of the pod. Changes nothing, even if the pod is past its deadline. */
  async observe(signal?: AbortSignal): Promise<SyncPass> {
    await this.#load();
    return await this.#pass(await this.#read(signal), [], {observesOnly: true});
  }

  /** Reads the pod from the runtime and stores its new status, without any other effect. Rejects with CriError. */
  async refreshStatus(signal?: AbortSignal): Promise<PodStatus> {
    await this.#load();
    const {status} = await this.#pass(await this.#read(signal), []);
    this.#statusManager.persist();
    return status;
  }

  /**
   * Syncs the pod from its runtime status (SyncPod). The status of the result is the one before the actions. While the
   * network is not ready, only pods in the host network are started.
   */
  async syncPod(
    observed: RuntimePodStatus,
    {
      networkError,
      resizeReview,
      syncFrequencyMs,
      voidsAttempts = false,
      onStatus,
      onDirsMade,
      signal,
    }: SyncOptions,
  ): Promise<SyncPass> {
    await this.#load();
    this.#continueBackOffs(observed);
    const kills = {now: this.#context.clock.now(), ownKills: this.#ownKills};
    const voided = voidsAttempts ? await removeVoidAttempts(this.#context, this.pod, observed, kills) : [];
    this.#statusManager.revertRestarts(voided);
    const runtime = this.#redact(withoutContainers(observed, voided));
    this.#statusManager.clearDeletion();
    this.#terminatingAt = undefined;
    this.#isTerminated = false;
    this.#resize.setReview(resizeReview);
    const before = await this.#pass(runtime, []);
    this.#statusManager.persist();
    onStatus?.(before.status);
    if (hasEnded(before.status.phase)) return before;
    const obstacle = findUnsupportedFeature(this.pod) ?? missingNetwork(this.pod, networkError);
    if (obstacle !== undefined)
      return {...before, results: [reportSetUpFailure(this.#context, this.pod, obstacle)]};
    const {status} = before;
    const doubt = voidsAttempts ? computeSandboxDoubt(runtime, kills) : undefined;
    const acted = await this.#act({runtime, status, doubt, syncFrequencyMs, onDirsMade}, signal);
    const results = this.#context.secrets.maskResults(acted);
    this.#recordResults(results);
    const override = rejectionOf(results);
    if (override !== undefined) return await this.#pass(runtime, results, {override});
    const refreshAt = this.#remountAt && timestampOf(this.#context.clock, this.#remountAt);
    return {...before, results, refreshAt};
  }

  /** Restores the back-offs of a pod that was taken over, in its first sync. */
  #continueBackOffs(observed: RuntimePodStatus): void {
    const takenOverAt = this.#takenOverAt;
    if (takenOverAt === undefined) return;
    this.#takenOverAt = undefined;
    const known = this.#statusManager.loaded;
    restoreCrashLoopBackOff(this.#context, {pod: this.pod, observed, known, takenOverAt});
  }

  /** Stops the pod for good (SyncTerminatingPod). Rejects with PodError if it could not be stopped. */
  async syncTerminatingPod(
    observed: RuntimePodStatus,
    {gracePeriodSeconds, override, isDeletion = false, signal}: TerminationOptions,
  ): Promise<void> {
    this.#terminatingAt ??= this.#context.clock.now();
    await this.#load();
    const runtime = this.#redact(observed);
    if (isDeletion) this.#statusManager.markDeleted(gracePeriodSeconds);
    await this.#pass(runtime, [], {override});
    this.#statusManager.persist();
    throwFirstFailure(this.pod, await this.#stop(runtime, gracePeriodSeconds, signal));
    const remaining = await this.#read();
    await confirmStopped(this.#context, this.pod, remaining);
    await this.#pass(remaining, [], {override, isTerminal: true});
    this.#statusManager.persist();
  }

  /** Records the final status of a terminated pod (SyncTerminatedPod). */
  async syncTerminatedPod(observed: RuntimePodStatus): Promise<void> {
    this.#isTerminated = true;
    await this.#load();
    await this.#pass(this.#redact(observed), [], {isTerminal: true});
    this.#statusManager.persist();
  }

  /** Resolves with the reason if the pod must be evicted. */
  async findEviction(): Promise<PodEviction | undefined> {
    return await this.#storageLimits.check(this.pod);
  }

  /** Removes dead containers and sandboxes of the pod. Rejects with CriError and PodError. */
  async removeGarbage(garbage: ContainerGcActions): Promise<void> {
    await removeGarbage(this.#context, this.pod, garbage);
  }

  async #load(): Promise<void> {
    await this.#context.actuated.load();
    if (this.status !== undefined) return;
    const {conditions} = await this.#statusManager.load(this.pod);
    this.#resize.restore(resizeConditionsOf(conditions));
  }

  async #stop(
    runtime: RuntimePodStatus,
    gracePeriodSeconds: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly SyncResult[]> {
    return await stopPod(this.#context, this.pod, runtime, {gracePeriodSeconds, signal});
  }

  async #act(
    {
      runtime,
      status,
      doubt,
      syncFrequencyMs,
      onDirsMade,
    }: Pick<SyncPass, 'runtime' | 'status'> &
      Pick<SyncOptions, 'syncFrequencyMs' | 'onDirsMade'> & {readonly doubt: SandboxDoubt | undefined},
    signal: AbortSignal,
  ): Promise<readonly SyncResult[]> {
    const {clock, probes} = this.#context;
    const {actuated} = this;
    const actions = computeActions(this.pod, {runtime, status, actuated}, probes.results);
    // Running containers see the changes in their volumes.
    const due = clock.monotonic() >= (this.#remountAt ?? Number.NEGATIVE_INFINITY);
    const idle = isIdle(actions);
    const startedAt = clock.monotonic();
    const prepared =
      idle && !due ? undefined : await this.#prepare(due, {use: {volumesOnly: idle}, onDirsMade}, signal);
    if (prepared !== undefined && !idle) this.#context.onPrepared?.(startedAt, 'failure' in prepared);
    if (prepared !== undefined) {
      if ('failure' in prepared) return [prepared];
      this.#remountAt = prepared.retryAt ?? clock.monotonic() + syncFrequencyMs;
      probes.add(this.pod, status);
    }
    // As in a kubelet, with each sync (getPullSecretsForPod).
    reportMissingPullSecrets(this.pod, this.#context.objects, this.#context.events);
    if (idle || prepared === undefined) return [];
    return await syncPod(
      this.#context,
      {
        pod: this.pod,
        status: runtime,
        actions,
        volumes: prepared.volumes,
        doubt,
        onSandboxReady: () => {
          this.#statusManager.setSandboxReady(this.pod);
        },
      },
      signal,
    );
  }

  /** Prepares the pod's files for the use of its objects, which are read again before a refresh that is due. */
  async #prepare(
    isDue: boolean,
    options: Pick<Parameters<typeof preparePodFilesystem>[1], 'use' | 'onDirsMade'>,
    signal: AbortSignal,
  ): ReturnType<typeof preparePodFilesystem> {
    const {clock, objects} = this.#context;
    // The first pass needs no refresh, since the objects have just been read.
    if (isDue && this.#remountAt !== undefined) await objects.refresh?.();
    this.#remountAt ??= clock.monotonic();
    return await preparePodFilesystem(this.#context, {pod: this.pod, ...options}, signal);
  }

  /**
   * Stops the pod's containers and sandboxes (SyncTerminatingPod). Rejects with PodError when the runtime could not or
   * did not stop them, and with the signal's reason.
   */
  async terminate(gracePeriodSeconds?: number, signal?: AbortSignal): Promise<void> {
    const runtime = await this.#read(signal);
    const grace = effectiveGracePeriodSeconds(this.pod, gracePeriodSeconds);
    throwFirstFailure(this.pod, await this.#stop(runtime, grace, signal));
    await confirmStopped(this.#context, this.pod, await this.#read());
  }

  /** Resolves with whether a sandbox or container of the pod runs, as read from the runtime. Rejects with CriError. */
  async isLive(): Promise<boolean> {
    return isLive(await this.#read());
  }

  /** Removes the containers of a terminated pod with their logs, then its sandboxes. */
  async removeFromRuntime(): Promise<void> {
    await removeStoppedPod(this.#context, this.pod, await this.#read());
  }

  /**
   * Removes the containers and sandboxes like removeFromRuntime. Resolves with false and changes nothing if the pod
   * runs.
   */
  async removeIfNotLive(): Promise<boolean> {
    const runtime = await this.#read();
    if (isLive(runtime)) return false;
    await removeStoppedPod(this.#context, this.pod, runtime);
    return true;
  }

  async #read(signal?: AbortSignal): Promise<RuntimePodStatus> {
    const {services} = this.#context;
    return this.#redact(await readRuntimePodStatus(services.runtime, podRef(this.pod), signal));
  }

  #redact(status: RuntimePodStatus): RuntimePodStatus {
    return redactRuntimeStatus(this.#context, this.pod, status);
  }

  async #pass(
    runtime: RuntimePodStatus,
    results: readonly SyncResult[],
    {isTerminal = false, observesOnly: isLook = false, override}: PassOptions = {},
  ): Promise<SyncPass> {
    if (isTerminal) this.#resize.clear();
    else if (!isLook) this.#resize.updateProgress(this.pod, runtime);
    const resize = isLook ? undefined : this.#resize.conditions;
    const options = {
      ...{isTerminal, enforcesDeadline: !isLook, resize},
      override: this.#isTerminated ? this.#terminate : override,
    };
    return {runtime, status: await this.#statusManager.updateStatus(this.pod, runtime, options), results};
  }

  readonly #terminate = (status: PodStatus): PodStatus =>
    terminatedPodStatus(this.pod, status, this.#terminatingAt);

  #recordResults(results: readonly SyncResult[]): void {
    this.#ownKills = killedContainersOf(results);
    this.#resize.recordResults(this.pod, results);
    this.#statusManager.recordResults(results);
  }
}
