import {findContainer} from '../../../api/pod-containers.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {hasEnded, type PodCondition, type PodStatus} from '../../../api/types/v1-status.js';
import {isStaticPod} from '../../sources/static-pod.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import type {NodeManagers} from '../../contract/node-manager.js';
import {createPodEventRecorder} from '../../contract/pod-event.js';
import type {ProbeUpdate} from '../../contract/probe-results.js';
import type {SyncResult} from '../../contract/sync-result.js';
import type {ContainerBackOff} from '../../contract/waiting-reason.js';
import {computeDeletion, type LastKnown, type PodDeletion, type PodHistory} from '../history/pod-history.js';
import type {SyncContext} from '../../managers/kuberuntime/sync-context.js';
import {replaceConditions, resizeConditionsOf} from './compute/pod-conditions.js';
import {formatMs} from './compute/container-status.js';
import {DEADLINE_EXCEEDED, isDeadlineExceeded} from './compute/active-deadline.js';
import {
  restoredStatus,
  waitingReasonsOf,
  withStoredReadiness,
  withStoredTimes,
} from './compute/restored-status.js';
import {terminalStatusOf, computePodStatus} from './compute/pod-status.js';
import {revertRestarts} from './compute/revert-restarts.js';
import {applyProbeResult} from './compute/apply-probe-result.js';
import {TerminationMessageReader} from './termination-message-reader.js';
import {publishedTerminationMessages} from './compute/published-termination-messages.js';
import {ReasonCache} from './reason-cache.js';

/** Options of PodStatusManager.updateStatus. */
export interface StatusOptions {
  /** True if the pod was stopped for good. */
  readonly isTerminal?: boolean;
  /** True if a pod past its deadline becomes Failed, with an event. */
  readonly enforcesDeadline: boolean;
  /** Conditions of the pod's resize; those of the previous status by default. */
  readonly resize?: readonly PodCondition[] | undefined;
  /** Applied to the computed status. */
  readonly override?: ((status: PodStatus) => PodStatus) | undefined;
}

type StatusContext = Pick<SyncContext, 'probes' | 'node' | 'clock' | 'events' | 'actuated'> & {
  readonly nodeManagers: Pick<NodeManagers, 'resourceStatusOf' | 'podStatus'>;
};

/** Holds the status of one pod between syncs and persists it (status_manager.go, for a single pod). */
export class PodStatusManager {
  readonly #context: StatusContext;
  readonly #runtimeName: string;
  readonly #history: PodHistory;
  readonly #reasonCache = new ReasonCache();
  readonly #messageReader = new TerminationMessageReader();
  #status: PodStatus | undefined;
  /** Set while the pod is being deleted. */
  #deletion: PodDeletion | undefined;
  /** Termination messages published before, also by another process, which knew the secrets in them. */
  #publishedMessages: ReadonlyMap<string, string> = new Map();
  /** Status that another process persisted. */
  #restored: PodStatus | undefined;
  /** Status of the mirror pod that has been taken over. */
  #mirrored: PodStatus | undefined;
  /** True until a status is computed: `#status` is then what is known from before this process. */
  #isOnlyLoaded = false;
  #lastPersisted = '';

  constructor(context: StatusContext, history: PodHistory, runtimeName: string) {
    this.#context = context;
    this.#history = history;
    this.#runtimeName = runtimeName;
  }

  /** Last computed status; undefined before the first one. */
  get status(): PodStatus | undefined {
    return this.#status;
  }

  /** Status of the pod before this process, as far as it is known. */
  get loaded(): PodStatus {
    return this.#restored ?? {};
  }

  /** Containers in back-off by name, as of the last sync. */
  get backOffs(): ReadonlyMap<string, ContainerBackOff> {
    return this.#reasonCache.backOffs;
  }

  /** Continues from a last-known status, as a kubelet that was never restarted. */
  restore({status, reasons}: Pick<LastKnown, 'status' | 'reasons'>): void {
    this.#status = status;
    this.#publishedMessages = publishedTerminationMessages(status);
    this.#reasonCache.restore(reasons);
  }

  /**
   * Loads the previous status and resolves with it. A pod of the API server continues from its status there, with a terminal
   * phase that could not be sent. For others, the status is persisted; as with a restarted kubelet, only start time,
   * conditions and a terminal phase survive. A static pod's terminal phase does not, since no API server stores it, unless the
   * Pod has a final status, as the ended pods of a Job. Rejects with SystemError.
   */
  async load(pod: Pod): Promise<PodStatus> {
    const {status = {}} = (await this.#history.lastKnown()) ?? {};
    this.#isOnlyLoaded = true;
    const stored = this.#storedStatus(pod);
    this.#publishedMessages = publishedTerminationMessages(stored ?? status);
    if (stored === undefined) return this.#loadPersisted(pod, status);
    this.#restored = stored;
    this.#reasonCache.restore(waitingReasonsOf(stored));
    this.#status = {...restoredStatus(stored), ...terminalStatusOf(status)};
    return this.#status;
  }

  /** Returns the status that a kubelet has sent to the API server; undefined without one. */
  #storedStatus(pod: Pod): PodStatus | undefined {
    const isOfServer = this.#context.node.inCluster === true && !isStaticPod(pod);
    return isOfServer && pod.status?.startTime !== undefined ? pod.status : undefined;
  }

  #loadPersisted(pod: Pod, status: PodStatus): PodStatus {
    const {startTime, conditions} = status;
    this.#restored = this.#mirrored ?? status;
    this.#status =
      isStaticPod(pod) && hasEnded(pod.status?.phase)
        ? pod.status
        : {
            ...(startTime && {startTime}),
            ...(conditions && {conditions}),
            ...(!isStaticPod(pod) && terminalStatusOf(status)),
          };
    if (this.#mirrored !== undefined && !hasEnded(this.#mirrored.phase))
      this.#status = restoredStatus(this.#mirrored);
    return this.#status;
  }

  /**
   * Takes over the times, and the readiness of containers that have not been probed yet, from the status of a static pod in the
   * API server, that of its mirror pod; all of it as long as no status is computed, for which the first may be under way. Only the
   * first call has an effect.
   */
  restoreMirror(pod: Pod, stored: PodStatus): void {
    if (this.#mirrored !== undefined) return;
    this.#mirrored = stored;
    this.#restored = stored;
    if (this.#status === undefined) return;
    if (this.#isOnlyLoaded && !hasEnded(stored.phase)) {
      this.#status = restoredStatus(stored);
      return;
    }
    const {probes} = this.#context;
    this.#status = withStoredReadiness(withStoredTimes(this.#status, stored), stored, (name, instance) => {
      const container = findContainer(pod, name);
      return container === undefined ? instance.before : probes.readinessOf({container, ...instance});
    });
  }

  /** Reverts the restarts that these container instances counted. */
  revertRestarts(ids: readonly string[]): void {
    if (this.#status !== undefined) this.#status = revertRestarts(this.#status, ids);
  }

  /** Computes the status from the runtime status and returns it (generateAPIPodStatus, SetPodStatus). */
  async updateStatus(
    pod: Pod,
    runtime: RuntimePodStatus,
    {isTerminal = false, enforcesDeadline, resize, override}: StatusOptions,
  ): Promise<PodStatus> {
    const {probes, node, clock, actuated, nodeManagers} = this.#context;
    const terminationMessages = await this.#messageReader.read(runtime);
    const before = this.#status;
    const managed = nodeManagers.podStatus(pod);
    const computed = computePodStatus({
      pod,
      runtime,
      reasons: this.#reasonCache.reasons,
      terminationMessages,
      previous: before,
      publishedMessages: this.#publishedMessages,
      restored: this.#restored,
      readinessOf: probes.readinessOf,
      node,
      runtimeName: this.#runtimeName,
      now: clock.now(),
      isTerminal,
      enforcesDeadline,
      actuated: actuated.current,
      resourcesOf: (container) => nodeManagers.resourceStatusOf(pod, container),
      resize: resize ?? resizeConditionsOf(before?.conditions),
      unschedulable: managed?.unschedulable,
    });
    const complete = managed === undefined ? computed : {...computed, ...managed.fields};
    const status = override?.(complete) ?? complete;
    // Like a kubelet, each sync until the containers have stopped reports it (ShouldEvict).
    if (enforcesDeadline && isDeadlineExceeded(pod, before, clock.now())) this.#reportDeadlineExceeded(pod);
    probes.observe(pod, status);
    this.#status = status;
    this.#isOnlyLoaded = false;
    return status;
  }

  #reportDeadlineExceeded(pod: Pod): void {
    const {reason, message} = DEADLINE_EXCEEDED;
    createPodEventRecorder(this.#context.events, pod).normal(reason, message);
  }

  /** Applies a probe result to the status and persists it; ignores results of other container instances. */
  applyProbeUpdate(pod: Pod, {id, probe, status}: ProbeUpdate): void {
    if (this.#status === undefined) return;
    const containerID = `${this.#runtimeName}://${id}`;
    const now = formatMs(this.#context.clock.now());
    const changed = applyProbeResult(pod, this.#status, {containerID, probe, status, now});
    if (changed === undefined) return;
    this.#status = changed;
    this.persist();
  }

  /** Persists that the pod has a new sandbox: its images may take long to pull (kubelet.go OnPodSandboxReady). */
  setSandboxReady(pod: Pod): void {
    if (this.#status === undefined) return;
    const {conditions = []} = this.#status;
    const now = formatMs(this.#context.clock.now());
    const facts = [['PodReadyToStartContainers', {status: 'True'}]] as const;
    this.#status = {...this.#status, conditions: replaceConditions(pod, conditions, facts, now)};
    this.persist();
  }

  /** Records the results of a sync in the reason cache. */
  recordResults(results: readonly SyncResult[]): void {
    this.#reasonCache.update(results);
  }

  /** Marks the pod as being deleted; the first call sets the deletion timestamp. */
  markDeleted(gracePeriodSeconds: number): void {
    this.#deletion ??= computeDeletion(this.#context.clock.now(), gracePeriodSeconds);
  }

  /** Clears the deletion mark of a pod that is desired again. */
  clearDeletion(): void {
    this.#deletion = undefined;
  }

  /** Persists status, reasons and deletion mark when they changed; the write happens in the background. */
  persist(): void {
    if (this.#status === undefined) return;
    const deletion = this.#deletion;
    const reasons = Object.fromEntries(this.#reasonCache.reasons);
    const known = {status: this.#status, reasons, ...(deletion && {deletion})};
    const text = JSON.stringify(known);
    if (text !== this.#lastPersisted) this.#history.remember(known);
    this.#lastPersisted = text;
  }

  /** Resolves when all pending writes have succeeded or failed. */
  async flush(): Promise<void> {
    await this.#history.flush();
  }
}
