import type {PodUid} from '../../../cri/index.js';
import {RecentValues} from './recent-values.js';

/**
 * Secret values to redact in a daemon's log: of the existing Secrets, the last replaced values, and those that its pods
 * use. Older values are forgotten, so that memory stays bounded.
 */
export class SecretRegistry {
  readonly #objects = new RecentValues();
  readonly #pods = new Map<PodUid, readonly string[]>();
  readonly #isManaged: (uid: PodUid) => boolean;
  readonly #hide: (texts: readonly string[]) => void;

  /**
   * The values of a pod count while `isManaged` returns true for it. `hide` is called with all values after each
   * change.
   */
  constructor(isManaged: (uid: PodUid) => boolean, hide: (texts: readonly string[]) => void) {
    this.#isManaged = isManaged;
    this.#hide = hide;
  }

  /** Sets the values of all existing Secrets. */
  setObjectValues(texts: readonly string[]): void {
    this.#objects.set(texts);
    this.#update();
  }

  /** Sets the secret values that a pod uses. */
  setPodValues(uid: PodUid, texts: readonly string[]): void {
    for (const other of this.#pods.keys()) if (!this.#isManaged(other)) this.#pods.delete(other);
    this.#pods.set(uid, texts);
    this.#update();
  }

  #update(): void {
    this.#hide([...new Set([...this.#objects.all(), ...[...this.#pods.values()].flat()])]);
  }
}
