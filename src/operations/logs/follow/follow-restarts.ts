import type {Clock} from '../../../base/clock.js';
import {
  containerId,
  isNotFound,
  isUnavailable,
  podSandboxId,
  type Container,
  type ContainerStatus,
  type RuntimeService,
} from '../../../cri/index.js';
import {listAllContainers, listAllSandboxes} from '../../../cri/list-all.js';
import {getContainerStatus} from '../container-log.js';
import type {LogProgress} from './follow-options.js';

const POD_UID = 'io.kubernetes.pod.uid';
/** Annotation of containers created by a kubelet, which restarts containers. */
const RESTART_COUNT = 'io.kubernetes.container.restartCount';
/** The kubelet's maximum back-off plus time for the restart. */
const MAX_RESTART_DELAY_MS = 330_000;

/** Options of RestartFollower. */
export interface RestartOptions {
  readonly runtime: RuntimeService;
  readonly clock: Clock;
  /** Name of the container for messages. */
  readonly name: string;
  readonly signal: AbortSignal;
}

/**
 * Follows a container over its restarts. After an attempt has ended, continues with the next one of the same name in
 * the same pod. Waits for it if a kubelet created the container, while the pod's sandbox is ready and the kubelet's
 * maximum back-off has not passed.
 */
export class RestartFollower {
  readonly #options: RestartOptions;
  #status: ContainerStatus;
  #container: Container | undefined;
  #endedAtMs: number | undefined;

  constructor(status: ContainerStatus, options: RestartOptions) {
    this.#status = status;
    this.#options = options;
  }

  /** Returns the current state of the container; `running` while the runtime is unavailable. */
  async progress(): Promise<LogProgress> {
    try {
      return await this.#queryProgress();
    } catch (error) {
      if (isUnavailable(error)) return {kind: 'running'};
      throw error;
    }
  }

  async #queryProgress(): Promise<LogProgress> {
    const {runtime, signal} = this.#options;
    const {id} = this.#status;
    const listed = await listAllContainers(runtime, {id}, signal);
    this.#container = listed.find((container) => container.id === id) ?? this.#container;
    const status = await this.#statusOf(id);
    if (status !== undefined && status.state !== 'CONTAINER_EXITED') return {kind: 'running'};
    this.#status = status ?? this.#status;
    const next = await this.#nextAttempt();
    return next === undefined ? await this.#waitForRestart() : this.#continueWith(next);
  }

  async #statusOf(id: string): Promise<ContainerStatus | undefined> {
    try {
      return await getContainerStatus(this.#options.runtime, containerId(id), this.#options.signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Returns the first attempt after this one that has started. */
  async #nextAttempt(): Promise<ContainerStatus | undefined> {
    const {runtime, signal} = this.#options;
    const uid = this.#status.labels[POD_UID];
    if (uid === undefined && this.#container === undefined) return undefined;
    const sandboxId = this.#container?.podSandboxId ?? '';
    const filter =
      uid === undefined ? {podSandboxId: podSandboxId(sandboxId)} : {labelSelector: {[POD_UID]: uid}};
    const {name, attempt = 0} = this.#status.metadata ?? {};
    const later = (await listAllContainers(runtime, filter, signal))
      // Not all runtimes apply filters.
      .filter((other) =>
        uid === undefined ? other.podSandboxId === sandboxId : other.labels[POD_UID] === uid,
      )
      .filter(({metadata}) => metadata?.name === name && metadata !== undefined && metadata.attempt > attempt)
      .toSorted((a, b) => (a.metadata?.attempt ?? 0) - (b.metadata?.attempt ?? 0));
    for (const {id} of later) {
      const status = await this.#statusOf(id);
      if (status !== undefined && status.state !== 'CONTAINER_CREATED' && status.logPath !== '')
        return status;
    }
    return undefined;
  }

  #continueWith(next: ContainerStatus): LogProgress {
    this.#status = next;
    this.#container = undefined;
    this.#endedAtMs = undefined;
    const notice = `${this.#options.name} was restarted: attempt ${next.metadata?.attempt ?? 0}`;
    return {kind: 'restarted', path: next.logPath, notice};
  }

  async #waitForRestart(): Promise<LogProgress> {
    const {runtime, clock, name, signal} = this.#options;
    const {labels, annotations, finishedAt, exitCode, reason} = this.#status;
    const uid = labels[POD_UID];
    if (uid === undefined || annotations[RESTART_COUNT] === undefined) return {kind: 'ended'};
    this.#endedAtMs ??= finishedAt > 0n ? Number(finishedAt / 1_000_000n) : clock.now();
    if (clock.now() - this.#endedAtMs > MAX_RESTART_DELAY_MS) return {kind: 'ended'};
    const filter = {labelSelector: {[POD_UID]: uid}, state: {state: 'SANDBOX_READY' as const}};
    const sandboxes = await listAllSandboxes(runtime, filter, signal);
    if (!sandboxes.some((sandbox) => sandbox.labels[POD_UID] === uid && sandbox.state === 'SANDBOX_READY'))
      return {kind: 'ended'};
    const notice = `${name} exited with code ${exitCode}${reason === '' ? '' : ` (${reason})`}; waiting for its next attempt`;
    return {kind: 'waiting', notice};
  }
}
