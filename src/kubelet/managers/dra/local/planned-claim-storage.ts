import type {AllocatedClaim} from './allocated-claim.js';
import type {ClaimStorage} from './claim-store.js';

/** Claims of a plan: those that are stored, and in memory what the plan would change. */
export class PlannedClaims implements ClaimStorage {
  readonly #load: () => Promise<readonly AllocatedClaim[]>;
  #claims: Map<string, AllocatedClaim> | undefined;
  /** UIDs of claims that the plan would release; that they are prepared does not matter then. */
  readonly released = new Set<string>();

  constructor(load: () => Promise<readonly AllocatedClaim[]>) {
    this.#load = load;
  }

  async list(): Promise<readonly AllocatedClaim[]> {
    return [...(await this.#known()).values()];
  }

  async get(uid: string): Promise<AllocatedClaim | undefined> {
    return (await this.#known()).get(uid);
  }

  async put(claim: AllocatedClaim): Promise<void> {
    (await this.#known()).set(claim.claim.metadata.uid, claim);
  }

  async delete({claim}: AllocatedClaim): Promise<void> {
    (await this.#known()).delete(claim.metadata.uid);
    this.released.add(claim.metadata.uid);
  }

  async locked<T>(_name: string, work: () => Promise<T>): Promise<T> {
    return await work();
  }

  async #known(): Promise<Map<string, AllocatedClaim>> {
    this.#claims ??= new Map((await this.#load()).map((one) => [one.claim.metadata.uid, one]));
    return this.#claims;
  }
}
