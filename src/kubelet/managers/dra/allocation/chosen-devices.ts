import type {ClaimToAllocate} from './allocation-types.js';
import {ConstraintState} from './device-constraints.js';
import type {DeviceLedger} from './device-ledger.js';
import type {PoolDevice} from './device-pools.js';
import type {Choice} from './device-requests.js';

/** Devices that a search has chosen so far. The last one is given back first. Each question takes the same time for many as for few. */
export class ChosenDevices {
  readonly #ledger: DeviceLedger;
  readonly #choices: Choice[] = [];
  readonly #counts = new Map<ClaimToAllocate, number>();
  /** Claims that have chosen a device, unless they share it, by its key. */
  readonly #holders = new Map<string, ClaimToAllocate[]>();
  readonly #constraints = new Map<ClaimToAllocate, readonly ConstraintState[]>();

  constructor(ledger: DeviceLedger) {
    this.#ledger = ledger;
  }

  get size(): number {
    return this.#choices.length;
  }

  /** Returns what was chosen for a claim, in the order of its requests. */
  of(claim: ClaimToAllocate): readonly Choice[] {
    return this.#choices.filter(({request}) => request.claim === claim);
  }

  /** Returns the number of devices of a claim. */
  countOf(claim: ClaimToAllocate): number {
    return this.#counts.get(claim) ?? 0;
  }

  /** Reports whether a device that is not shared is chosen, by any claim or by this one. */
  isHeld({key}: PoolDevice, claim?: ClaimToAllocate): boolean {
    const holders = this.#holders.get(key) ?? [];
    return claim === undefined ? holders.length > 0 : holders.includes(claim);
  }

  /** Returns the index of the constraint of its claim that a device does not satisfy; undefined if it satisfies all. */
  findViolation(candidate: Omit<Choice, 'consumed'>): number | undefined {
    const index = this.#constraintsOf(candidate.request.claim).findIndex((one) => !one.allows(candidate));
    return index < 0 ? undefined : index;
  }

  choose(choice: Choice): void {
    this.#choices.push(choice);
    const {claim} = choice.request;
    const holders = this.#holders.get(choice.device.key) ?? [];
    if (choice.consumed === undefined) this.#holders.set(choice.device.key, [...holders, claim]);
    this.#count(choice, 1);
    this.#ledger.take(choice.device, choice.consumed, 1n);
  }

  giveBack(): void {
    const last = this.#choices.pop();
    if (last === undefined) return;
    if (last.consumed === undefined) this.#holders.get(last.device.key)?.pop();
    this.#count(last, -1);
    this.#ledger.take(last.device, last.consumed, -1n);
  }

  #count(choice: Choice, sign: 1 | -1): void {
    const {claim} = choice.request;
    this.#counts.set(claim, this.countOf(claim) + sign);
    for (const constraint of this.#constraintsOf(claim)) constraint.add(choice, sign);
  }

  #constraintsOf(claim: ClaimToAllocate): readonly ConstraintState[] {
    const {constraints = []} = claim.spec.devices;
    const known = this.#constraints.get(claim) ?? constraints.map((one) => new ConstraintState(one));
    this.#constraints.set(claim, known);
    return known;
  }
}
