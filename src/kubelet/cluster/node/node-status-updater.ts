import {isDeepStrictEqual} from 'node:util';
import type {ObjectMeta} from '../../../api/types/v1-meta.js';
import type {Node, NodeCondition, NodeStatus} from '../../../api/types/v1-node.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import {WakeableSleep} from '../../../base/async/wakeable-sleep.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import {omit} from '../../../base/omit.js';
import {isObject} from '../../../base/is-object.js';
import {createMergePatch, type ApiClient} from '../../../kube-api/index.js';

/** Options of {@link NodeStatusUpdater}. */
export interface NodeStatusUpdaterOptions {
  readonly client: ApiClient;
  readonly nodeName: string;
  /** Returns the last Node of the watch. */
  readonly node: () => Node | undefined;
  /** Returns the metadata of the Node with what the kubelet owns of it. */
  readonly updateMetadata: (metadata: ObjectMeta) => ObjectMeta;
  /** Computes the status of the node from the one in the API server. An undefined field is removed. */
  readonly computeStatus: (current: Node, signal: AbortSignal) => Promise<NodeStatus>;
  /** Reports whether the API server is known to have the computed status as far as that matters; otherwise it is sent, changed or not. */
  readonly isReported: () => boolean;
  /** Called after a status was sent, with the status that it replaced and the Node that was stored; must not throw. */
  readonly onReported: (before: NodeStatus, after: NodeStatus, stored: Node) => void;
  /** Period of the computation, in ms (nodeStatusUpdateFrequency). */
  readonly updateFrequencyMs: number;
  /** Period after which an unchanged status is sent, in ms (nodeStatusReportFrequency). */
  readonly reportFrequencyMs: number;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/** A Node after a report. */
interface ReportedNode {
  /** Node that the watch showed before. */
  readonly watched: Node | undefined;
  readonly stored: Node;
  /** Time of the report, in ms of the monotonic clock. */
  readonly at: number;
}

const DECIMAL = /^\d+$/;
const MAX_TRIES = 5;
const TIMEOUT_MS = 10_000;
/** Share of the report frequency that it varies by after a change, so that nodes do not report together (calculateDelay). */
const REPORT_JITTER = 0.5;

/** Sends the status of the node when it has changed, and now and then (Kubelet.syncNodeStatus). */
export class NodeStatusUpdater {
  readonly #options: NodeStatusUpdaterOptions;
  readonly #logger: FileLogger;
  readonly #sleep: WakeableSleep;
  /** Node after the last report, which the watch may not show yet. */
  #reported: ReportedNode | undefined;
  /** Time of the next report of an unchanged status, in ms of the monotonic clock. */
  #reportAt = Number.NEGATIVE_INFINITY;

  constructor(options: NodeStatusUpdaterOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('node-status-updater.ts');
    this.#sleep = new WakeableSleep(options.clock);
  }

  /** Updates the status periodically until the signal aborts, then rejects with its reason. */
  async run(signal: AbortSignal): Promise<never> {
    for (;;) {
      await this.#update(signal);
      await this.#sleep.sleep(this.#options.updateFrequencyMs, signal);
      signal.throwIfAborted();
    }
  }

  /** Updates the status without waiting for the period, after something that it depends on has changed. */
  statusChanged(): void {
    this.#sleep.wake();
  }

  async #update(signal: AbortSignal): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      try {
        await this.#tryUpdate(tries, signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        this.#logger.error(error, 'Error updating node status, will retry');
      }
    }
    this.#logger.error('update node status exceeds retry count', 'Unable to update node status');
  }

  async #tryUpdate(tries: number, signal: AbortSignal): Promise<void> {
    const {client, nodeName, clock, updateMetadata, computeStatus, isReported, onReported} = this.#options;
    const watched = this.#options.node();
    const node = await this.#currentNode(tries, watched, signal);
    const {status: before = {}} = node;
    const status = await computeStatus(node, signal);
    const metadata = updateMetadata(node.metadata);
    const isChanged = hasChanged(before, status) || !isDeepStrictEqual(metadata, node.metadata);
    if (!isChanged && isReported() && clock.monotonic() < this.#reportAt) return;
    const varies = isChanged || this.#reported === undefined;
    const after = {...node, metadata, status: {...before, ...status}};
    const stored = (await client.request(
      {
        method: 'PATCH',
        path: `/api/v1/nodes/${nodeName}/status`,
        body: createNodePatch(node, after),
        timeoutMs: TIMEOUT_MS,
      },
      signal,
    )) as Node;
    this.#reported = {watched, stored, at: clock.monotonic()};
    this.#scheduleReport(varies);
    onReported(before, status, stored);
  }

  #scheduleReport(varies: boolean): void {
    const {clock, random, reportFrequencyMs} = this.#options;
    const factor = varies ? 1 + ((random() / 2 ** 32) * 2 - 1) * REPORT_JITTER : 1;
    this.#reportAt = clock.monotonic() + reportFrequencyMs * factor;
  }

  /**
   * Reports whether the watch shows a Node from before the last report. That can last for one period: a lower version later
   * on is that of an API server that was restored.
   */
  #isOutdated(watched: Node | undefined): boolean {
    if (watched === undefined || this.#reported === undefined) return false;
    const {clock, updateFrequencyMs} = this.#options;
    const isRecent = clock.monotonic() - this.#reported.at < updateFrequencyMs;
    return watched === this.#reported.watched || (isRecent && isOlder(watched, this.#reported.stored));
  }

  /** Resolves with the last known Node, or after a failure with the current one. */
  async #currentNode(tries: number, watched: Node | undefined, signal: AbortSignal): Promise<Node> {
    const {client, nodeName} = this.#options;
    const known = this.#isOutdated(watched) ? this.#reported?.stored : watched;
    if (tries === 0 && known !== undefined) return known;
    const path = `/api/v1/nodes/${nodeName}`;
    return (await client.request({method: 'GET', path, timeoutMs: TIMEOUT_MS}, signal)) as Node;
  }
}

/** Returns the patch of a Node; its addresses are replaced, since the key to merge them by is not unique. */
function createNodePatch(before: Node, after: Node): object {
  const {status, ...others} = createMergePatch({...before, status: before.status ?? {}}, {...after});
  if (!isObject(status)) return others;
  const {addresses} = status;
  return {
    ...others,
    status: {
      ...status,
      ...(Array.isArray(addresses) && {addresses: [...(addresses as object[]), {$patch: 'replace'}]}),
    },
  };
}

/** Reports whether the version of an object is lower than that of another; versions of one resource are comparable. */
export function isOlder(
  {metadata: {resourceVersion: one = ''}}: Node,
  {metadata: {resourceVersion: other = ''}}: Node,
): boolean {
  return DECIMAL.test(one) && DECIMAL.test(other) && BigInt(one) < BigInt(other);
}

/** Reports whether a status differs in more than the time of its heartbeat (nodeStatusHasChanged). */
export function hasChanged(before: NodeStatus, after: NodeStatus): boolean {
  const {conditions = [], ...others} = after;
  const isSame = conditions.every((condition) => {
    const known = before.conditions?.find(({type}) => type === condition.type);
    return known !== undefined && isDeepStrictEqual(withoutHeartbeat(known), withoutHeartbeat(condition));
  });
  const known: Readonly<Record<string, unknown>> = {...before};
  const isShorter = conditions.length < (before.conditions ?? []).length;
  return (
    !isSame ||
    isShorter ||
    Object.entries(others).some(([name, value]) => !isDeepStrictEqual(value, known[name]))
  );
}

function withoutHeartbeat(condition: NodeCondition): object {
  return omit(condition, 'lastHeartbeatTime');
}
