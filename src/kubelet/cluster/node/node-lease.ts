import type {Lease, Node} from '../../../api/types/v1-node.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import {isConflict, isNotFound, type ApiClient} from '../../../kube-api/index.js';

/** Options of {@link NodeLease}. */
export interface NodeLeaseOptions {
  readonly client: ApiClient;
  readonly nodeName: string;
  /** Returns the Node of the API server, the owner of the lease; undefined before it is known. */
  readonly node: () => Node | undefined;
  readonly leaseDurationSeconds: number;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

interface FoundLease {
  readonly lease: Lease;
  readonly isNew: boolean;
}

const NAMESPACE = 'kube-node-lease';
/** Share of the lease's duration after which it is renewed (nodeLeaseRenewIntervalFraction), and its jitter. */
const RENEW_SHARE = 0.25;
const JITTER = 0.04;
const MAX_UPDATE_TRIES = 5;
const INITIAL_DELAY_MS = 200;
const MAX_DELAY_MS = 7000;
const TIMEOUT_MS = 10_000;

/** Renews the node's lease, its heartbeat (component-helpers' lease controller). */
export class NodeLease {
  readonly #options: NodeLeaseOptions;
  readonly #logger: FileLogger;
  readonly #path: string;
  #latest: Lease | undefined;

  constructor(options: NodeLeaseOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('node-lease.ts');
    this.#path = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
  }

  /** Renews the lease until the signal aborts, then rejects with its reason. */
  async run(signal: AbortSignal): Promise<never> {
    const {leaseDurationSeconds, clock, random} = this.#options;
    const intervalMs = leaseDurationSeconds * RENEW_SHARE * 1000;
    for (;;) {
      await this.#sync(signal);
      await clock.sleep(intervalMs * (1 + (random() / 2 ** 32) * JITTER), signal);
    }
  }

  async #sync(signal: AbortSignal): Promise<void> {
    if (this.#latest !== undefined && (await this.#renew(this.#latest, signal))) return;
    const found = await this.#ensure(signal);
    // Without an owner, the lease would outlive the Node: a later round creates it.
    if (found === undefined) this.#latest = undefined;
    else if (found.isNew) this.#latest = found.lease;
    else await this.#renew(found.lease, signal);
  }

  /** Renews the lease in a few tries; resolves with false if all failed (retryUpdateLease). */
  async #renew(base: Lease, signal: AbortSignal): Promise<boolean> {
    const {client, nodeName} = this.#options;
    for (let [tries, lease] = [0, base]; tries < MAX_UPDATE_TRIES; tries += 1) {
      try {
        const path = `${this.#path}/${nodeName}`;
        const body = this.#renewed(lease);
        this.#latest = (await client.request(
          {method: 'PUT', path, body, timeoutMs: TIMEOUT_MS},
          signal,
        )) as Lease;
        return true;
      } catch (error) {
        signal.throwIfAborted();
        this.#logger.error(error, 'Failed to update lease');
        if (!isConflict(error)) continue;
        // Somebody else changed or deleted it, so the next try starts with the current one.
        const current = await this.#ensure(signal);
        if (current === undefined) return false;
        lease = current.lease;
      }
    }
    return false;
  }

  /**
   * Gets or creates the lease, retrying until it succeeds (backoffEnsureLease). Resolves with undefined if it does not
   * exist and its owner is unknown.
   */
  async #ensure(signal: AbortSignal): Promise<FoundLease | undefined> {
    const {clock} = this.#options;
    for (let delayMs = INITIAL_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
      try {
        return await this.#getOrCreate(signal);
      } catch (error) {
        signal.throwIfAborted();
        this.#logger.error(error, 'Failed to ensure lease exists, will retry', {
          interval: `${delayMs}ms`,
        });
      }
      await clock.sleep(delayMs, signal);
    }
  }

  async #getOrCreate(signal: AbortSignal): Promise<FoundLease | undefined> {
    const {client, nodeName} = this.#options;
    const common = {timeoutMs: TIMEOUT_MS};
    try {
      const path = `${this.#path}/${nodeName}`;
      const lease = (await client.request({method: 'GET', path, ...common}, signal)) as Lease;
      return {lease, isNew: false};
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    if (this.#options.node() === undefined) return undefined;
    const body = this.#renewed(undefined);
    const lease = (await client.request(
      {method: 'POST', path: this.#path, body, ...common},
      signal,
    )) as Lease;
    return {lease, isNew: true};
  }

  #renewed(base: Lease | undefined): Lease {
    const {nodeName, leaseDurationSeconds, clock, node} = this.#options;
    const owner = node()?.metadata;
    const {ownerReferences = []} = base?.metadata ?? {};
    const isOwned = ownerReferences.length > 0 || owner?.uid === undefined;
    const own = {apiVersion: 'v1', kind: 'Node', name: nodeName, uid: owner?.uid ?? ''};
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        ...base?.metadata,
        name: nodeName,
        namespace: NAMESPACE,
        ...(!isOwned && {ownerReferences: [own]}),
      },
      spec: {
        holderIdentity: nodeName,
        leaseDurationSeconds,
        renewTime: new Date(clock.now()).toISOString().replace('Z', '000Z'),
      },
    };
  }
}
