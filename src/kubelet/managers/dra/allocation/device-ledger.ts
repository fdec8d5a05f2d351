import {addAmounts, nanosOf, type CapacityAmounts} from './device-capacity.js';
import type {AllocatedDevice} from './allocation-types.js';
import {deviceKey} from './device-id.js';
import type {DevicePool, PoolDevice} from './device-pools.js';

const NOTHING: CapacityAmounts = new Map();

/** What is taken of devices, by claims that are allocated and by the ones that are being allocated. */
export class DeviceLedger {
  /** Devices that belong to one claim alone. */
  readonly #exclusive = new Set<string>();
  /** Capacity that is consumed of devices that claims share, and how many times each is shared. */
  readonly #shared = new Map<string, {readonly amounts: CapacityAmounts; readonly times: number}>();

  constructor(allocated: readonly AllocatedDevice[]) {
    for (const {adminAccess, shareID, consumedCapacity = {}, ...id} of allocated) {
      if (adminAccess === true) continue;
      const amounts = Object.entries(consumedCapacity).map(
        ([name, amount]) => [name, nanosOf(amount)] as const,
      );
      if (shareID === undefined) this.#exclusive.add(deviceKey(id));
      else this.share(deviceKey(id), new Map(amounts), 1n);
    }
  }

  isTaken(key: string): boolean {
    return this.#exclusive.has(key);
  }

  isShared(key: string): boolean {
    return this.#shared.has(key);
  }

  consumedOf(key: string): CapacityAmounts {
    return this.#shared.get(key)?.amounts ?? NOTHING;
  }

  /** Takes a share of a device, or with the sign −1 gives it back. */
  share(key: string, amounts: CapacityAmounts, sign: 1n | -1n): void {
    const {amounts: known, times} = this.#shared.get(key) ?? {amounts: NOTHING, times: 0};
    const left = times + Number(sign);
    if (left === 0) this.#shared.delete(key);
    else this.#shared.set(key, {amounts: addAmounts(known, amounts, sign), times: left});
  }

  /** Reports whether a pool has the counters that a device consumes, besides those of `chosen` (checkAvailableCounters). */
  hasCounters(pool: DevicePool, wanted: PoolDevice, chosen: readonly PoolDevice[]): boolean {
    const {consumesCounters = []} = wanted.device;
    if (consumesCounters.length === 0) return true;
    const {driver, name} = pool;
    const inPool = pool.allDevices.filter(({name: device}) => {
      const key = deviceKey({driver, pool: name, device});
      return this.isTaken(key) || this.isShared(key);
    });
    const chosenInPool = chosen.filter(({id}) => id.driver === driver && id.pool === name);
    const consuming = [...inPool, ...chosenInPool.map(({device}) => device), wanted.device];
    return consumesCounters.every(({counterSet, counters = {}}) =>
      Object.keys(counters).every((counter) => {
        const offered = pool.counterSets.get(counterSet)?.counters?.[counter]?.value ?? '0';
        const used = consuming.map((device) => consumption(device, counterSet, counter));
        return used.reduce((sum, amount) => sum + amount, 0n) <= nanosOf(offered);
      }),
    );
  }
}

function consumption({consumesCounters = []}: PoolDevice['device'], set: string, counter: string): bigint {
  return consumesCounters
    .filter(({counterSet}) => counterSet === set)
    .reduce((sum, {counters}) => sum + nanosOf(counters?.[counter]?.value ?? '0'), 0n);
}
