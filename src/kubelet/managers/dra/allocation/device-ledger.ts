import type {AllocatedDevice} from './allocation-types.js';
import {addAmounts, nanosOf, type CapacityAmounts} from './device-capacity.js';
import {deviceKey} from './device-id.js';
import type {DevicePool, PoolDevice} from './device-pools.js';
import {PoolCounters} from './pool-counters.js';

const NOTHING: CapacityAmounts = new Map();

/** What is taken of devices, by claims that are allocated and by the ones that are being allocated. */
export class DeviceLedger {
  /** Allocated devices that belong to one claim alone. */
  readonly #exclusive = new Set<string>();
  /** Capacity that is consumed of devices that claims share, and how many times each is shared. */
  readonly #shared = new Map<string, {readonly amounts: CapacityAmounts; readonly times: number}>();
  readonly #counters: ReadonlyMap<string, PoolCounters>;

  constructor(allocated: readonly AllocatedDevice[], pools: readonly DevicePool[]) {
    for (const {adminAccess, shareID, consumedCapacity = {}, ...id} of allocated) {
      if (adminAccess === true) continue;
      const amounts = Object.entries(consumedCapacity).map(
        ([name, amount]) => [name, nanosOf(amount)] as const,
      );
      if (shareID === undefined) this.#exclusive.add(deviceKey(id));
      else this.#share(deviceKey(id), new Map(amounts), 1n);
    }
    this.#counters = new Map(
      pools.map((pool) => {
        const {driver, name} = pool;
        const isAllocated = ({name: device}: {readonly name: string}): boolean => {
          const key = deviceKey({driver, pool: name, device});
          return this.isTaken(key) || this.#shared.has(key);
        };
        return [poolKey({driver, pool: name}), new PoolCounters(pool, isAllocated)];
      }),
    );
  }

  /** Reports whether a device belongs to an allocated claim alone. */
  isTaken(key: string): boolean {
    return this.#exclusive.has(key);
  }

  consumedOf(key: string): CapacityAmounts {
    return this.#shared.get(key)?.amounts ?? NOTHING;
  }

  /**
   * Takes a device, or with the sign −1 gives it back: some of its capacity if it is shared, which costs counters of its pool only
   * once, or all of it.
   */
  take({id, key, device}: PoolDevice, consumed: CapacityAmounts | undefined, sign: 1n | -1n): void {
    const was = this.#shared.has(key);
    if (consumed !== undefined) this.#share(key, consumed, sign);
    if (consumed === undefined || this.#shared.has(key) !== was)
      this.#counters.get(poolKey(id))?.take(device, sign);
  }

  /** Reports whether the pool of a device has the counters that it consumes. */
  hasCounters({id, key, device}: PoolDevice): boolean {
    if ((device.consumesCounters ?? []).length === 0) return true;
    // A device that is shared has its counters already.
    if (device.allowMultipleAllocations === true && this.#shared.has(key)) return true;
    return this.#counters.get(poolKey(id))?.has(device) === true;
  }

  #share(key: string, amounts: CapacityAmounts, sign: 1n | -1n): void {
    const {amounts: known, times} = this.#shared.get(key) ?? {amounts: NOTHING, times: 0};
    const left = times + Number(sign);
    if (left === 0) this.#shared.delete(key);
    else this.#shared.set(key, {amounts: addAmounts(known, amounts, sign), times: left});
  }
}

function poolKey({driver, pool}: Pick<PoolDevice['id'], 'driver' | 'pool'>): string {
  return `${driver}/${pool}`;
}
