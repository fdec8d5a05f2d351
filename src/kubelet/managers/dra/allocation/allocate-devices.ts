import {SystemError} from '../../../../base/errors.js';
import {createAllocation} from './allocation-result.js';
import type {Allocation, AllocationInput, ClaimToAllocate} from './allocation-types.js';
import {explainShortage} from './allocation-shortage.js';
import {ChosenDevices} from './chosen-devices.js';
import {capacityNeed, fitsCapacity, type CapacityNeed} from './device-capacity.js';
import {DeviceLedger} from './device-ledger.js';
import {gatherPools, isForNode, type DevicePool, type PoolDevice} from './device-pools.js';
import {MOST_RESULTS, planRequests, type Alternative, type PlannedRequest} from './device-requests.js';
import {findUntolerated} from './device-taints.js';

/**
 * Candidates that a search looks at. Each is a matter of a microsecond, and few claims need more than their devices; one that needs
 * more is a puzzle. The scheduler has no such limit, but ends a search after 10 seconds.
 */
const MOST_VISITS = 100_000;

/** Candidates between two steps of a search. */
const VISITS_PER_STEP = 64;

/** Result of an allocation: one for each claim, or why there is none. */
export type AllocationOutcome =
  | {readonly kind: 'allocated'; readonly allocations: readonly Allocation[]}
  | {readonly kind: 'short'; readonly reason: string};

/** Work in small steps, between which others can do theirs. Each has the name of what comes next. */
type Steps<T> = Generator<string, T, undefined>;

/**
 * Chooses devices for claims, as the scheduler's allocator does: request after request, the first device that fits in the order of
 * pools, slices and devices, with another choice for earlier requests if a later one has none (Allocator.Allocate).
 *
 * @throws SystemError for claims that can never be allocated so: a class is missing, a selector is wrong, or the search is too long.
 */
export function* allocateDevices(input: AllocationInput): Steps<AllocationOutcome> {
  const search = new DeviceSearch(input);
  if (!(yield* search.run())) return {kind: 'short', reason: search.shortage()};
  return {
    kind: 'allocated',
    allocations: input.claims.map((claim) => createAllocation(search.chosen.of(claim), claim, input)),
  };
}

/** Place in the list of all devices, from which a request goes on: its devices are combinations, not permutations. */
interface Progress {
  readonly request: number;
  readonly alternative: number;
  readonly taken: number;
  readonly from: number;
}

class DeviceSearch {
  readonly chosen: ChosenDevices;
  readonly #input: AllocationInput;
  readonly #pools: readonly DevicePool[];
  readonly #usable: readonly PoolDevice[];
  readonly #requests: readonly PlannedRequest[];
  readonly #ledger: DeviceLedger;
  readonly #selected = new Map<Alternative, Map<PoolDevice, string | undefined>>();
  readonly #needs = new Map<Alternative, Map<PoolDevice, CapacityNeed | undefined>>();
  readonly #all = new Map<Alternative, readonly PoolDevice[]>();
  /** Why devices were refused, by request and device. */
  readonly #refusals = new Map<PlannedRequest, Map<string, string>>();
  #deepest = 0;
  #visits = 0;

  constructor(input: AllocationInput) {
    this.#input = input;
    this.#pools = gatherPools(input.slices, input.node);
    this.#usable = this.#pools.flatMap(({problem, devices}) => (problem === undefined ? devices : []));
    this.#requests = input.claims.flatMap((claim) => planRequests(claim, input));
    this.#ledger = new DeviceLedger(input.allocated.devices, this.#pools);
    this.chosen = new ChosenDevices(this.#ledger);
  }

  *run(): Steps<boolean> {
    for (const request of this.#requests)
      for (const alternative of request.alternatives.filter(({takesAll}) => takesAll)) {
        this.#requirePools(request);
        this.#all.set(alternative, yield* this.#findAll(request, alternative));
      }
    for (const claim of this.#input.claims) this.#requireCount(claim);
    return yield* this.#allocateRequest(0);
  }

  shortage(): string {
    const request = this.#requests[this.#deepest];
    if (request === undefined) return '';
    return explainShortage(request, {
      pools: this.#pools,
      devices: this.#usable,
      refusals: this.#refusals.get(request) ?? new Map(),
    });
  }

  /** Requires that a claim does not ask for more devices than it can have, however it gets them. Throws SystemError. */
  #requireCount(claim: ClaimToAllocate): void {
    const least = this.#requests
      .filter((request) => request.claim === claim)
      .map(({alternatives}) => Math.min(...alternatives.map((one) => this.#wanted(one))))
      .reduce((sum, count) => sum + count, 0);
    if (least > MOST_RESULTS)
      throw new SystemError(
        `claim ${claim.namespace}/${claim.name}: number of requested devices ${least} exceeds the claim limit of ${MOST_RESULTS}`,
        {hint: 'ask for fewer devices, or divide the claim'},
      );
  }

  #wanted(alternative: Alternative): number {
    return alternative.takesAll ? (this.#all.get(alternative) ?? []).length : alternative.count;
  }

  /** Requires that all pools are whole. Throws SystemError: "all" devices are not known otherwise. */
  #requirePools(request: PlannedRequest): void {
    const faulty = this.#pools.find(({problem}) => problem !== undefined);
    if (faulty?.problem === undefined) return;
    const state = faulty.problem.kind === 'incomplete' ? 'being updated' : 'invalid';
    throw new SystemError(
      `${nameOf(request)}: asks for all devices, but resource pool ${faulty.driver}/${faulty.name} is currently ${state}: ${faulty.problem.text}`,
      {hint: 'complete the ResourceSlices of the pool in the manifests'},
    );
  }

  *#allocateRequest(index: number): Steps<boolean> {
    const request = this.#requests[index];
    if (request === undefined) return true;
    this.#deepest = Math.max(this.#deepest, index);
    for (const [at, alternative] of request.alternatives.entries()) {
      const wanted = this.#wanted(alternative);
      if (wanted === 0 || this.chosen.countOf(request.claim) + wanted > MOST_RESULTS) continue;
      if (yield* this.#allocateDevice({request: index, alternative: at, taken: 0, from: 0})) return true;
    }
    return false;
  }

  *#allocateDevice(progress: Progress): Steps<boolean> {
    const {request: index, alternative: at, taken} = progress;
    const request = this.#requests[index];
    const alternative = request?.alternatives[at];
    if (request === undefined || alternative === undefined) return false;
    if (alternative.takesAll) return yield* this.#allocateAll(index, request, alternative);
    if (taken === alternative.count) return yield* this.#allocateRequest(index + 1);
    for (let from = progress.from; from < this.#usable.length; from += 1) {
      const device = this.#usable[from];
      if (device === undefined) continue;
      if (!(yield* this.#take(request, alternative, device))) continue;
      if (yield* this.#allocateDevice({...progress, taken: taken + 1, from: from + 1})) return true;
      this.chosen.giveBack();
    }
    return false;
  }

  *#allocateAll(index: number, request: PlannedRequest, alternative: Alternative): Steps<boolean> {
    const before = this.chosen.size;
    let fits = true;
    for (const device of this.#all.get(alternative) ?? []) {
      fits = yield* this.#take(request, alternative, device);
      if (!fits) break;
    }
    if (fits && (yield* this.#allocateRequest(index + 1))) return true;
    while (this.chosen.size > before) this.chosen.giveBack();
    return false;
  }

  /** Returns the devices that a request for all of them is for. */
  *#findAll(request: PlannedRequest, alternative: Alternative): Steps<readonly PoolDevice[]> {
    const found: PoolDevice[] = [];
    for (const device of this.#usable) {
      if (this.#isStepDone(request)) yield nameOf(request);
      const refusal = yield* this.#findMismatch(request, alternative, device);
      if (refusal !== undefined) this.#refuse(request, device, refusal);
      const need = this.#needOf(alternative, device);
      if (refusal === undefined && need !== undefined && fitsCapacity(need, new Map())) found.push(device);
    }
    return found;
  }

  /** Counts a candidate. Returns true after some of them, and throws SystemError after too many. */
  #isStepDone(request: PlannedRequest): boolean {
    this.#visits += 1;
    if (this.#visits > MOST_VISITS) throw searchTooLong(request);
    return this.#visits % VISITS_PER_STEP === 0;
  }

  /** Returns what an alternative needs of the capacity of a device; undefined if it cannot have that. */
  #needOf(alternative: Alternative, device: PoolDevice): CapacityNeed | undefined {
    const known = cacheOf(this.#needs, alternative);
    if (known.has(device)) return known.get(device);
    const need = capacityNeed(device.device, alternative.capacity);
    known.set(device, need);
    return need;
  }

  /** Chooses a device if it can be taken. */
  *#take(request: PlannedRequest, alternative: Alternative, device: PoolDevice): Steps<boolean> {
    if (this.#isStepDone(request)) yield nameOf(request);
    const refusal = yield* this.#findRefusal(request, alternative, device);
    if (refusal !== undefined) {
      this.#refuse(request, device, refusal);
      return false;
    }
    const isShared = device.device.allowMultipleAllocations === true;
    const consumed = isShared ? this.#needOf(alternative, device)?.consumed : undefined;
    this.chosen.choose({request, alternative, device, consumed});
    return true;
  }

  #refuse(request: PlannedRequest, {key}: PoolDevice, reason: string): void {
    const known = this.#refusals.get(request) ?? new Map<string, string>();
    this.#refusals.set(request, known.set(key, reason));
  }

  /** Returns why a device cannot be taken now; undefined if it can (allocateOne, allocateDevice). */
  *#findRefusal(
    request: PlannedRequest,
    alternative: Alternative,
    device: PoolDevice,
  ): Steps<string | undefined> {
    const use = this.#findUse(request, alternative, device);
    if (use !== undefined) return use;
    const mismatch = yield* this.#findMismatch(request, alternative, device);
    if (mismatch !== undefined) return mismatch;
    const need = this.#needOf(alternative, device);
    if (need === undefined || !fitsCapacity(need, this.#ledger.consumedOf(device.key)))
      return 'not enough capacity';
    if (!this.#ledger.hasCounters(device)) return 'not enough of shared counters';
    const taint = findUntolerated(device.device.taints ?? [], alternative.tolerations);
    if (taint !== undefined) return `taint ${taint.key}:${taint.effect} is not tolerated`;
    const violated = this.chosen.findViolation({request, alternative, device});
    return violated === undefined ? undefined : `constraint #${violated} is not satisfied`;
  }

  /** Returns who has a device; undefined if it is free, or if the request may have it all the same. */
  #findUse(
    {claim}: PlannedRequest,
    {adminAccess}: Alternative,
    device: PoolDevice,
  ): 'chosen for another request' | 'allocated already' | undefined {
    if (this.chosen.isHeld(device, adminAccess ? claim : undefined)) return 'chosen for another request';
    return !adminAccess && this.#ledger.isTaken(device.key) ? 'allocated already' : undefined;
  }

  /** Returns why a device is never for a request; undefined if it may be (isSelectable). */
  *#findMismatch(
    request: PlannedRequest,
    alternative: Alternative,
    device: PoolDevice,
  ): Steps<string | undefined> {
    const known = cacheOf(this.#selected, alternative);
    if (known.has(device)) return known.get(device);
    const mismatch = yield* this.#computeMismatch(request, alternative, device);
    known.set(device, mismatch);
    return mismatch;
  }

  /** Evaluates selectors, each in a step of its own: it may cost as much as many candidates. */
  *#computeMismatch(
    request: PlannedRequest,
    {deviceClass, selectors}: Alternative,
    {device, id, slice}: PoolDevice,
  ): Steps<string | undefined> {
    const className = deviceClass.metadata.name ?? '';
    const all = [
      {
        of: `class ${className}`,
        error: `${nameOf(request)}, class ${className}`,
        selectors: deviceClass.spec.selectors ?? [],
      },
      {of: 'the request', error: nameOf(request), selectors},
    ];
    const selectable = {...device, driver: id.driver};
    for (const {of, error, selectors: each} of all)
      for (const [index, {cel}] of each.entries()) {
        const name = `${error}: selector #${index}`;
        yield name;
        if (!matchesOrThrow(this.#input, cel?.expression ?? '', selectable, name))
          return `selector #${index} of ${of} does not match`;
      }
    if (slice.perDeviceNodeSelection === true && !isForNode(device, this.#input.node))
      return 'for other nodes';
    return undefined;
  }
}

/** Returns the name of a request in messages. */
function nameOf({claim, name}: PlannedRequest): string {
  return `claim ${claim.namespace}/${claim.name}, request ${name}`;
}

/** Returns what is known of devices for an alternative. */
function cacheOf<T>(all: Map<Alternative, Map<PoolDevice, T>>, alternative: Alternative): Map<PoolDevice, T> {
  const known = all.get(alternative) ?? new Map<PoolDevice, T>();
  all.set(alternative, known);
  return known;
}

/** Evaluates a selector; its error is prefixed. Throws SystemError. */
function matchesOrThrow(
  {matches}: AllocationInput,
  expression: string,
  device: Parameters<AllocationInput['matches']>[1],
  what: string,
): boolean {
  try {
    return matches(expression, device);
  } catch (cause) {
    if (!(cause instanceof SystemError)) throw cause;
    throw new SystemError(`${what}: ${cause.message}`, {
      cause,
      hint: cause.hint ?? 'correct the CEL expression',
    });
  }
}

function searchTooLong(request: PlannedRequest): SystemError {
  return new SystemError(`${nameOf(request)}: gave up after ${MOST_VISITS} attempts to combine devices`, {
    hint: 'ask for fewer devices at once, or with fewer constraints',
  });
}
