import type {ContainerStatus, PodStatus} from '../../../api/types/v1-status.js';
import {createDeadline} from '../../../base/async/deadline.js';
import type {Clock} from '../../../base/clock.js';
import {
  containerId,
  type ContainerStatus as RuntimeContainerStatus,
  type RuntimeService,
} from '../../../cri/index.js';
import type {PodRef} from '../../../kubelet/index.js';
import {getContainerStatus} from '../../../operations/logs/container-log.js';
import {hasFailed} from '../container-exit.js';
import {readLog} from '../../../operations/logs/read-log.js';

/** State of a container at the end of a sync, and its last output. */
export interface ContainerReport {
  readonly status: ContainerStatus;
  readonly isInit: boolean;
  /** Duration of its latest attempt, in ms; undefined if it never ran. */
  readonly durationMs: number | undefined;
  /** Last lines of its log. */
  readonly output: readonly string[];
}

/** Options of ContainerReports. */
export interface ContainerReportsOptions {
  readonly runtime: RuntimeService;
  readonly clock: Clock;
  /** Containers to report on: all, or those that failed. */
  readonly scope: 'all' | 'failed';
  /** Number of lines of output. */
  readonly lines: number;
}

/** Longest time for the report of a pod, in ms: a runtime that does not respond must not delay the end of the sync. */
const LIMIT_MS = 5000;

/** Collects reports on the containers of synced pods, before the pods are deleted. */
export class ContainerReports {
  readonly #options: ContainerReportsOptions;
  readonly #statuses = new Map<string, PodStatus>();
  readonly #reports = new Map<string, readonly ContainerReport[]>();

  constructor(options: ContainerReportsOptions) {
    this.#options = options;
  }

  /** Records the status of a pod. */
  setStatus({uid}: PodRef, status: PodStatus): void {
    this.#statuses.set(uid, status);
  }

  /** Reads the reports of a pod's latest status, once; the first reading of a deleted pod is the last that is possible. */
  async collect({uid}: PodRef): Promise<void> {
    const status = this.#statuses.get(uid);
    if (status === undefined || this.#reports.has(uid)) return;
    const statuses = [
      ...(status.initContainerStatuses ?? []).map((container) => ({container, isInit: true})),
      ...(status.containerStatuses ?? []).map((container) => ({container, isInit: false})),
    ].filter(({container}) => this.#options.scope === 'all' || hasFailed(container));
    this.#reports.set(uid, []);
    using limit = createDeadline(this.#options.clock, LIMIT_MS);
    this.#reports.set(
      uid,
      await Promise.all(
        statuses.map(async ({container, isInit}) => this.#report(container, isInit, limit.signal)),
      ),
    );
  }

  /** Returns the reports of a pod, init containers first. */
  of({uid}: PodRef): readonly ContainerReport[] {
    return this.#reports.get(uid) ?? [];
  }

  async #report(status: ContainerStatus, isInit: boolean, signal: AbortSignal): Promise<ContainerReport> {
    const {runtime, clock, lines} = this.#options;
    const id = status.containerID?.replace(/^.*:\/\//, '');
    // A report shows what is known: the container or its log may have been removed.
    const found =
      id === undefined
        ? undefined
        : await getContainerStatus(runtime, containerId(id), signal).catch(() => undefined);
    const output =
      found === undefined || found.logPath === ''
        ? []
        : await readLastLines(found.logPath, lines, signal).catch(() => []);
    return {status, isInit, durationMs: durationOf(found, clock.now()), output};
  }
}

/** Returns how long a container ran, or has been running, in ms. */
function durationOf(found: RuntimeContainerStatus | undefined, nowMs: number): number | undefined {
  if (found === undefined || found.startedAt <= 0n) return undefined;
  const endMs = found.finishedAt > 0n ? Number(found.finishedAt) / 1e6 : nowMs;
  return Math.max(0, endMs - Number(found.startedAt) / 1e6);
}

/** Limit of the last lines, in bytes. */
const MAX_BYTES = 64 * 1024;

/** Returns the last lines of a log. Rejects with SystemError and with the signal's reason. */
async function readLastLines(
  logPath: string,
  tailLines: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const chunks: Buffer[] = [];
  await readLog(
    logPath,
    {streams: new Set(['stdout', 'stderr'] as const), tailLines, limitBytes: MAX_BYTES, signal},
    {
      write: (_stream, bytes) => {
        chunks.push(Buffer.from(bytes));
      },
      ready: async () => undefined,
    },
  );
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
