import {pause} from '../../../base/async/pause.js';
import type {OwnerReference} from '../../../api/types/v1-meta.js';
import type {Lease, Node} from '../../../api/types/v1-node.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import {isConflict, isNotFound, type ApiClient} from '../../../kube-api/index.js';

/** Options of {@link NodeLease}. */
export interface NodeLeaseOptions {
  readonly client: ApiClient;
  readonly nodeName: string;
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
      await pause(clock, intervalMs * (1 + (random() / 2 ** 32) * JITTER), signal);
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
        const owners = await this.#findOwners(lease.metadata.ownerReferences ?? [], signal);
        const body = this.#renewed(lease, owners);
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
   * exist and its owner cannot be read.
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
      await pause(clock, delayMs, signal);
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
    const body = this.#renewed(undefined, await this.#findOwners([], signal));
    if (body.metadata.ownerReferences === undefined) return undefined;
    const lease = (await client.request(
      {method: 'POST', path: this.#path, body, ...common},
      signal,
    )) as Lease;
    return {lease, isNew: true};
  }

  /** Resolves with the owners of a lease: the Node if it has none, or none if that cannot be read (SetNodeOwnerFunc). */
  async #findOwners(
    known: readonly OwnerReference[],
    signal: AbortSignal,
  ): Promise<readonly OwnerReference[]> {
    if (known.length > 0) return known;
    const {client, nodeName} = this.#options;
    try {
      const path = `/api/v1/nodes/${nodeName}`;
      const {metadata} = (await client.request({method: 'GET', path, timeoutMs: TIMEOUT_MS}, signal)) as Node;
      return [{apiVersion: 'v1', kind: 'Node', name: nodeName, uid: metadata.uid ?? ''}];
    } catch (error) {
      signal.throwIfAborted();
      this.#logger.error(error, 'Failed to get node when trying to set owner ref to the node lease');
      return [];
    }
  }

  #renewed(base: Lease | undefined, ownerReferences: readonly OwnerReference[]): Lease {
    const {nodeName, leaseDurationSeconds, clock} = this.#options;
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        ...base?.metadata,
        name: nodeName,
        namespace: NAMESPACE,
        ...(ownerReferences.length > 0 && {ownerReferences}),
      },
      spec: {
        holderIdentity: nodeName,
        leaseDurationSeconds,
        renewTime: new Date(clock.now()).toISOString().replace('Z', '000Z'),
      },
    };
  }
}
