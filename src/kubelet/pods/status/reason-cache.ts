import type {SyncResult} from '../../contract/sync-result.js';
import type {ContainerBackOff, WaitingReason} from '../../contract/waiting-reason.js';

/** Reasons why the containers of one pod are not running, by container name (reason_cache.go ReasonCache). */
export class ReasonCache {
  readonly #reasons = new Map<string, WaitingReason>();
  readonly #backOffs = new Map<string, ContainerBackOff>();

  /** Failed starts; a started container has no entry. */
  get reasons(): ReadonlyMap<string, WaitingReason> {
    return this.#reasons;
  }

  /** Containers in back-off, as of the last sync. */
  get backOffs(): ReadonlyMap<string, ContainerBackOff> {
    return this.#backOffs;
  }

  /** Adds reasons that another process recorded. */
  restore(reasons: Readonly<Record<string, WaitingReason>>): void {
    for (const [name, reason] of Object.entries(reasons)) this.#reasons.set(name, reason);
  }

  /** Records the results of the container starts of a sync (ReasonCache.Update). */
  update(results: readonly SyncResult[]): void {
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
}
