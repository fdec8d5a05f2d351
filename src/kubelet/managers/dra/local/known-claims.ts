import {isReservedFor, withoutReservation, type AllocatedClaim} from './allocated-claim.js';

const NONE: readonly AllocatedClaim[] = [];

/** Claims that this process knows in memory, by UID and by pod. */
export class KnownClaims {
  readonly #claims = new Map<string, AllocatedClaim>();
  readonly #byPod = new Map<string, readonly AllocatedClaim[]>();

  all(): readonly AllocatedClaim[] {
    return [...this.#claims.values()];
  }

  /** Returns the claims that are reserved for a pod. */
  ofPod(podUid: string): readonly AllocatedClaim[] {
    return this.#byPod.get(podUid) ?? NONE;
  }

  /** Returns the claim of this name that was stored last. */
  find(namespace: string, name: string): AllocatedClaim | undefined {
    return this.all().findLast(
      ({claim: {metadata}}) => metadata.namespace === namespace && metadata.name === name,
    );
  }

  put(one: AllocatedClaim): void {
    const {uid} = one.claim.metadata;
    const before = this.#claims.get(uid);
    this.#claims.delete(uid);
    this.#claims.set(uid, one);
    this.#index(before, one);
  }

  /** Replaces the claims that are reserved for a pod. */
  reserve(podUid: string, claims: readonly AllocatedClaim[]): void {
    this.release(podUid);
    for (const one of claims) this.put(one);
  }

  /** Forgets the reservations of a pod, and claims that are reserved for no other. */
  release(podUid: string): void {
    for (const one of this.ofPod(podUid)) {
      const left = withoutReservation(one, podUid);
      if (left === undefined) this.#claims.delete(one.claim.metadata.uid);
      else this.#claims.set(one.claim.metadata.uid, left);
      this.#index(one, left);
    }
  }

  #index(before: AllocatedClaim | undefined, after: AllocatedClaim | undefined): void {
    const consumers = [before, after].flatMap((one) => one?.claim.status.reservedFor ?? []);
    for (const uid of new Set(consumers.map((consumer) => consumer.uid))) {
      const others = this.ofPod(uid).filter((one) => one !== before);
      const all = after !== undefined && isReservedFor(after, uid) ? [...others, after] : others;
      if (all.length === 0) this.#byPod.delete(uid);
      else this.#byPod.set(uid, all);
    }
  }
}
