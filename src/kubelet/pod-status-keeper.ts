import type {Pod} from '../api/v1.js';
import type {PodStatus} from '../api/v1-status.js';
import {isStaticPod} from './config/static-pod.js';
import type {RuntimePodStatus} from './container/pod-status.js';
import type {ProbeOutcome} from './container/probe-results.js';
import type {SyncFailure, SyncResult} from './container/sync-result.js';
import {deletionAt, type LastKnown, type PodDeletion, type PodHistory} from './events/pod-history.js';
import type {SyncContext} from './kuberuntime/sync-context.js';
import {resizeConditionsOf, type ResizeConditions} from './status/conditions.js';
import {timeOfMs, type WaitingReason} from './status/container-status.js';
import {tellDeadline} from './status/deadline.js';
import {endOf, podStatus} from './status/pod-status.js';
import {withProbed} from './status/probed-status.js';
import {readTerminationMessages} from './status/termination-message.js';
import {toldWords} from './status/told-words.js';

/** Why and until when a container is not started again. Times are in ms since the epoch. */
export interface BackOff {
  readonly reason: SyncFailure['reason'];
  readonly retryAt: number;
  /** How long the wait is as a whole, in milliseconds. */
  readonly delayMs: number | undefined;
}

/** How a status is made. */
export interface StatusOptions {
  /** All of the pod was stopped for good. */
  readonly isTerminal?: boolean;
  /** A pod that is past its deadline has failed, and is told to have. */
  readonly keepsDeadline: boolean;
  /** How the pod's resize stands; as before by default. */
  readonly resize?: ResizeConditions | undefined;
  /** Has the last say. */
  readonly override?: ((status: PodStatus) => PodStatus) | undefined;
}

type KeeperContext = Pick<SyncContext, 'probes' | 'node' | 'clock' | 'events' | 'actuated'>;

/**
 * What is known of one pod from one sync to the next, and kept for who looks: its status, what its containers wait for,
 * and that it is deleted (the kubelet's status manager and reason cache, as far as they are one pod's).
 */
export class PodStatusKeeper {
  readonly #context: KeeperContext;
  readonly #runtimeName: string;
  readonly #history: PodHistory;
  #status: PodStatus | undefined;
  /** Why containers are not running (the kubelet's reason cache). */
  readonly #reasons = new Map<string, WaitingReason>();
  /** Until when containers wait before they are started again. */
  readonly #backOffs = new Map<string, BackOff>();
  /** Since the pod is ended because nobody wants it. */
  #deletion: PodDeletion | undefined;
  /** What was told of containers' ends, also by another process, which knew what is secret in it. */
  #told: ReadonlyMap<string, string> = new Map();
  /** What was kept of the pod by another process. */
  #recalled: PodStatus | undefined;
  #kept = '';

  constructor(context: KeeperContext, history: PodHistory, runtimeName: string) {
    this.#context = context;
    this.#history = history;
    this.#runtimeName = runtimeName;
  }

  /** As it was last made; undefined before the first time. */
  get status(): PodStatus | undefined {
    return this.#status;
  }

  /** The containers that wait before they are started again, by name, as of the last sync. */
  get backOffs(): ReadonlyMap<string, BackOff> {
    return this.#backOffs;
  }

  /** Goes on from what was known of the pod before, as a kubelet does that has never stopped. */
  recall({status, reasons}: Pick<LastKnown, 'status' | 'reasons'>): void {
    this.#status = status;
    this.#told = toldWords(status);
    for (const [name, reason] of Object.entries(reasons)) this.#reasons.set(name, reason);
  }

  /**
   * Unless something is known of the pod already: a kubelet that was started anew knows of it what runs; since when,
   * the API server has kept, and that it has ended, which is then for good. Nobody has kept the latter of a static pod.
   */
  async load(pod: Pod): Promise<void> {
    if (this.#status !== undefined) return;
    const {status = {}} = (await this.#history.lastKnown()) ?? {};
    const {startTime, conditions} = status;
    this.#told = toldWords(status);
    this.#recalled = status;
    this.#status = {
      ...(startTime && {startTime}),
      ...(conditions && {conditions}),
      ...(!isStaticPod(pod) && endOf(status)),
    };
  }

  /** Makes the pod's status anew from what runs of it. */
  async make(
    pod: Pod,
    runtime: RuntimePodStatus,
    {isTerminal = false, keepsDeadline, resize, override}: StatusOptions,
  ): Promise<PodStatus> {
    const {probes, node, clock, events, actuated} = this.#context;
    const terminationMessages = await readTerminationMessages(runtime);
    const before = this.#status;
    const computed = podStatus({
      pod,
      runtime,
      reasons: this.#reasons,
      terminationMessages,
      previous: before,
      told: this.#told,
      recalled: this.#recalled,
      readinessOf: probes.readinessOf,
      node,
      runtimeName: this.#runtimeName,
      now: clock.now(),
      isTerminal,
      keepsDeadline,
      actuated: actuated.current,
      resize: resize ?? resizeConditionsOf(before?.conditions),
    });
    const status = override?.(computed) ?? computed;
    tellDeadline(events, pod, {before, now: status});
    probes.observe(pod, status);
    this.#status = status;
    return status;
  }

  /** Takes what a probe has found into the status, and keeps it; nothing of an instance that it isn't about. */
  probed(pod: Pod, {id, probe, status}: ProbeOutcome): void {
    if (this.#status === undefined) return;
    const containerID = `${this.#runtimeName}://${id}`;
    const now = timeOfMs(this.#context.clock.now());
    const changed = withProbed(pod, this.#status, {containerID, probe, status, now});
    if (changed === undefined) return;
    this.#status = changed;
    this.keep();
  }

  /** The pod has ended, as `end` says, whatever runs of it. */
  ended(status: PodStatus, end: Pick<PodStatus, 'phase' | 'reason' | 'message'>): void {
    this.#status = {...status, ...end};
  }

  /** What came of the starts of a sync. */
  take(results: readonly SyncResult[]): void {
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

  /** The pod is ended because nobody wants it; since when, the first call tells. */
  deleted(gracePeriodSeconds: number): void {
    this.#deletion ??= deletionAt(this.#context.clock.now(), gracePeriodSeconds);
  }

  /** The pod is wanted. */
  wanted(): void {
    this.#deletion = undefined;
  }

  /** Has what is known written for who looks, when it is new. */
  keep(): void {
    if (this.#status === undefined) return;
    const deletion = this.#deletion;
    const reasons = Object.fromEntries(this.#reasons);
    const known = {status: this.#status, reasons, ...(deletion && {deletion})};
    const text = JSON.stringify(known);
    if (text !== this.#kept) this.#history.remember(known);
    this.#kept = text;
  }

  /** Resolves when all is written that is to be kept of the pod, or can't be. */
  async settled(): Promise<void> {
    await this.#history.settled();
  }
}
