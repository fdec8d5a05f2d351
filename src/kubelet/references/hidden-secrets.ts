import type {PodUid} from '../../cri/index.js';
import {RecentTexts} from './recent-texts.js';

/**
 * The values of Secrets that a daemon's log must not show: those of the Secrets that there are, the last that were
 * replaced, and those that its pods know of. A daemon that runs for years sees any number of others.
 */
export class HiddenSecrets {
  readonly #objects = new RecentTexts();
  readonly #pods = new Map<PodUid, readonly string[]>();
  readonly #isOurs: (uid: PodUid) => boolean;
  readonly #hide: (texts: readonly string[]) => void;

  /** What pods know counts as long as they are `isOurs`. `hide` is given all texts each time. */
  constructor(isOurs: (uid: PodUid) => boolean, hide: (texts: readonly string[]) => void) {
    this.#isOurs = isOurs;
    this.#hide = hide;
  }

  /** The values of all Secrets, as they are now. */
  set(texts: readonly string[]): void {
    this.#objects.set(texts);
    this.#tell();
  }

  /** All that a pod knows of now. */
  setOf(uid: PodUid, texts: readonly string[]): void {
    for (const other of this.#pods.keys()) if (!this.#isOurs(other)) this.#pods.delete(other);
    this.#pods.set(uid, texts);
    this.#tell();
  }

  #tell(): void {
    this.#hide([...new Set([...this.#objects.all(), ...[...this.#pods.values()].flat()])]);
  }
}
