import {SystemError} from '../../../../base/errors.js';
import {createAllocation} from './allocation-result.js';
import type {Allocation, AllocationInput} from './allocation-types.js';
import {explainShortage} from './allocation-shortage.js';
import {capacityNeed, fitsCapacity, type CapacityNeed} from './device-capacity.js';
import {satisfiesConstraint, type Candidate} from './device-constraints.js';
import {deviceKey} from './device-id.js';
import {DeviceLedger} from './device-ledger.js';
import {gatherPools, isForNode, type DevicePool, type PoolDevice} from './device-pools.js';
import {
  MOST_RESULTS,
  planRequests,
  type Alternative,
  type Choice,
  type PlannedRequest,
} from './device-requests.js';
import {findUntolerated} from './device-taints.js';

/**
 * Candidates that a search looks at. Each is a matter of microseconds, and few claims need more than their devices; one that
 * needs more is a puzzle that the kubelet must not stand still for.
 */
const MOST_VISITS = 50_000;

/** Result of an allocation: one for each claim, or why there is none. */
export type AllocationOutcome =
  | {readonly kind: 'allocated'; readonly allocations: readonly Allocation[]}
  | {readonly kind: 'short'; readonly reason: string};

/**
 * Chooses devices for claims, as the scheduler's allocator does: request after request, the first device that fits in the order of
 * pools, slices and devices, with another choice for earlier requests if a later one has none (Allocator.Allocate).
 *
 * @throws SystemError for claims that can never be allocated so: a class is missing, a selector is wrong, or the search is too long.
 */
export function allocateDevices(input: AllocationInput): AllocationOutcome {
  const search = new DeviceSearch(input);
  if (!search.run()) return {kind: 'short', reason: search.shortage()};
  return {
    kind: 'allocated',
    allocations: input.claims.map((claim) =>
      createAllocation(
        search.chosen.filter(({request}) => request.claim === claim),
        claim,
        input,
      ),
    ),
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
  readonly chosen: Choice[] = [];
  readonly #input: AllocationInput;
  readonly #pools: readonly DevicePool[];
  readonly #usable: readonly PoolDevice[];
  readonly #requests: readonly PlannedRequest[];
  readonly #ledger: DeviceLedger;
  readonly #selected = new Map<Alternative, Map<string, string | undefined>>();
  readonly #needs = new Map<Alternative, Map<string, CapacityNeed | undefined>>();
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
  }

  run(): boolean {
    for (const request of this.#requests)
      if (request.alternatives.some(({takesAll}) => takesAll)) this.#requirePools(request);
    return this.#allocateRequest(0);
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

  /** Requires that all pools are whole. Throws SystemError: "all" devices are not known otherwise. */
  #requirePools({claim, name}: PlannedRequest): void {
    const faulty = this.#pools.find(({problem}) => problem !== undefined);
    if (faulty?.problem === undefined) return;
    const state = faulty.problem.kind === 'incomplete' ? 'being updated' : 'invalid';
    throw new SystemError(
      `claim ${claim.namespace}/${claim.name}, request ${name}: asks for all devices, but resource pool ${faulty.driver}/${faulty.name} is currently ${state}: ${faulty.problem.text}`,
      {hint: 'complete the ResourceSlices of the pool in the manifests'},
    );
  }

  #allocateRequest(index: number): boolean {
    const request = this.#requests[index];
    if (request === undefined) return true;
    this.#deepest = Math.max(this.#deepest, index);
    return request.alternatives.some((alternative, at) => {
      const wanted = alternative.takesAll ? this.#allFor(request, alternative).length : alternative.count;
      if (wanted === 0 || this.#countOf(request) + wanted > MOST_RESULTS) return false;
      return this.#allocateDevice({request: index, alternative: at, taken: 0, from: 0});
    });
  }

  /** Number of devices of the claim so far. */
  #countOf({claim}: PlannedRequest): number {
    return this.chosen.filter(({request}) => request.claim === claim).length;
  }

  #allocateDevice(progress: Progress): boolean {
    const {request: index, alternative: at, taken} = progress;
    const request = this.#requests[index];
    const alternative = request?.alternatives[at];
    if (request === undefined || alternative === undefined) return false;
    if (alternative.takesAll) return this.#allocateAll(index, request, alternative);
    if (taken === alternative.count) return this.#allocateRequest(index + 1);
    for (let from = progress.from; from < this.#usable.length; from += 1) {
      const device = this.#usable[from];
      if (device === undefined || !this.#take(request, alternative, device)) continue;
      if (this.#allocateDevice({...progress, taken: taken + 1, from: from + 1})) return true;
      this.#giveBack();
    }
    return false;
  }

  #allocateAll(index: number, request: PlannedRequest, alternative: Alternative): boolean {
    const before = this.chosen.length;
    const fits = this.#allFor(request, alternative).every((device) =>
      this.#take(request, alternative, device),
    );
    if (fits && this.#allocateRequest(index + 1)) return true;
    while (this.chosen.length > before) this.#giveBack();
    return false;
  }

  /** Returns the devices that a request for all of them is for. */
  #allFor(request: PlannedRequest, alternative: Alternative): readonly PoolDevice[] {
    const known = this.#all.get(alternative) ?? this.#findAll(request, alternative);
    this.#all.set(alternative, known);
    return known;
  }

  #findAll(request: PlannedRequest, alternative: Alternative): readonly PoolDevice[] {
    return this.#usable.filter((device) => {
      const refusal = this.#findMismatch(request, alternative, device);
      if (refusal !== undefined) this.#refuse(request, device, refusal);
      const need = this.#needOf(alternative, device);
      return refusal === undefined && need !== undefined && fitsCapacity(need, new Map());
    });
  }

  /** Returns what an alternative needs of the capacity of a device; undefined if it cannot have that. */
  #needOf(alternative: Alternative, {id, device}: PoolDevice): CapacityNeed | undefined {
    return remembered(this.#needs, {alternative, id}, () => capacityNeed(device, alternative.capacity));
  }

  /** Chooses a device if it can be taken. */
  #take(request: PlannedRequest, alternative: Alternative, device: PoolDevice): boolean {
    this.#visits += 1;
    if (this.#visits > MOST_VISITS) throw searchTooLong(request);
    const refusal = this.#findRefusal(request, alternative, device);
    if (refusal !== undefined) {
      this.#refuse(request, device, refusal);
      return false;
    }
    const isShared = device.device.allowMultipleAllocations === true;
    const consumed = isShared ? this.#needOf(alternative, device)?.consumed : undefined;
    this.#ledger.take(device, consumed, 1n);
    this.chosen.push({request, alternative, device, consumed});
    return true;
  }

  #giveBack(): void {
    const last = this.chosen.pop();
    if (last !== undefined) this.#ledger.take(last.device, last.consumed, -1n);
  }

  #refuse(request: PlannedRequest, {id}: PoolDevice, reason: string): void {
    const known = this.#refusals.get(request) ?? new Map<string, string>();
    this.#refusals.set(request, known.set(deviceKey(id), reason));
  }

  /** Returns why a device cannot be taken now; undefined if it can (allocateOne, allocateDevice). */
  #findRefusal(request: PlannedRequest, alternative: Alternative, device: PoolDevice): string | undefined {
    const use = this.#findUse(request, alternative, device);
    if (use !== undefined) return use;
    const mismatch = this.#findMismatch(request, alternative, device);
    if (mismatch !== undefined) return mismatch;
    const key = deviceKey(device.id);
    const need = this.#needOf(alternative, device);
    if (need === undefined || !fitsCapacity(need, this.#ledger.consumedOf(key))) return 'not enough capacity';
    if (!this.#ledger.hasCounters(device)) return 'not enough of shared counters';
    const taint = findUntolerated(device.device.taints ?? [], alternative.tolerations);
    if (taint !== undefined) return `taint ${taint.key}:${taint.effect} is not tolerated`;
    return this.#findViolation(request, alternative, device);
  }

  /** Returns who has a device; undefined if it is free, or if the request may have it all the same. */
  #findUse({claim}: PlannedRequest, {adminAccess}: Alternative, {id}: PoolDevice): string | undefined {
    const key = deviceKey(id);
    const holders = this.chosen.filter(
      ({device, consumed}) => consumed === undefined && deviceKey(device.id) === key,
    );
    const others = adminAccess ? holders.filter(({request}) => request.claim === claim) : holders;
    if (others.length > 0) return 'chosen for another request';
    return !adminAccess && this.#ledger.isTaken(key) ? 'allocated already' : undefined;
  }

  #findViolation(request: PlannedRequest, alternative: Alternative, device: PoolDevice): string | undefined {
    const {constraints = []} = request.claim.spec.devices;
    if (constraints.length === 0) return undefined;
    const chosen = this.chosen.filter((one) => one.request.claim === request.claim).map(toCandidate);
    const candidate = toCandidate({request, alternative, device});
    const index = constraints.findIndex((one) => !satisfiesConstraint(one, candidate, chosen));
    return index < 0 ? undefined : `constraint #${index} is not satisfied`;
  }

  /** Returns why a device is never for a request; undefined if it may be (isSelectable). */
  #findMismatch(request: PlannedRequest, alternative: Alternative, device: PoolDevice): string | undefined {
    return remembered(this.#selected, {alternative, id: device.id}, () =>
      this.#computeMismatch(request, alternative, device),
    );
  }

  #computeMismatch(
    {claim}: PlannedRequest,
    {deviceClass, selectors}: Alternative,
    {device, id, slice}: PoolDevice,
  ): string | undefined {
    const className = deviceClass.metadata.name ?? '';
    const all = [
      {of: `class ${className}`, error: `class ${className}`, selectors: deviceClass.spec.selectors ?? []},
      {of: 'the request', error: `claim ${claim.namespace}/${claim.name}`, selectors},
    ];
    const selectable = {...device, driver: id.driver};
    for (const {of, error, selectors: each} of all)
      for (const [index, {cel}] of each.entries())
        if (!matchesOrThrow(this.#input, cel?.expression ?? '', selectable, `${error}: selector #${index}`))
          return `selector #${index} of ${of} does not match`;
    if (slice.perDeviceNodeSelection === true && !isForNode(device, this.#input.node))
      return 'for other nodes';
    return undefined;
  }
}

/** Returns what is known of a device for an alternative, or computes it once. */
function remembered<T>(
  known: Map<Alternative, Map<string, T>>,
  {alternative, id}: {readonly alternative: Alternative; readonly id: PoolDevice['id']},
  compute: () => T,
): T {
  const byDevice = known.get(alternative) ?? new Map<string, T>();
  known.set(alternative, byDevice);
  const key = deviceKey(id);
  if (byDevice.has(key)) return byDevice.get(key) as T;
  const value = compute();
  byDevice.set(key, value);
  return value;
}

function toCandidate({request, alternative, device}: Omit<Choice, 'consumed'>): Candidate {
  return {request: request.name, alternative: alternative.name, device};
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
    throw new SystemError(`${what}: ${cause.message}`, {cause, hint: 'correct the CEL expression'});
  }
}

function searchTooLong({claim, name}: PlannedRequest): SystemError {
  return new SystemError(
    `claim ${claim.namespace}/${claim.name}, request ${name}: gave up after ${MOST_VISITS} attempts to combine devices`,
    {hint: 'ask for fewer devices at once, or with fewer constraints'},
  );
}
