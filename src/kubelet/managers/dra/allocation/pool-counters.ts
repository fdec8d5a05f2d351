import type {OfferedDevice} from '../../../../api/types/v1-device-resources.js';
import {nanosOf} from './device-capacity.js';
import type {DevicePool} from './device-pools.js';

/** Amounts of counters in nanos of their unit, by `set/counter`. */
type CounterAmounts = ReadonlyMap<string, bigint>;

/** Shared counters of a pool: what is left of them. Quantities are parsed once. */
export class PoolCounters {
  /** What is left; less than nothing if allocated devices consume more than the pool offers. */
  readonly #left: Map<string, bigint>;
  readonly #consumed = new Map<OfferedDevice, CounterAmounts>();

  constructor({counterSets, allDevices}: DevicePool, isAllocated: (device: OfferedDevice) => boolean) {
    const offered = [...counterSets.values()].flatMap(({name, counters = {}}) =>
      Object.entries(counters).map(([counter, {value}]) => [`${name}/${counter}`, nanosOf(value)] as const),
    );
    this.#left = new Map(offered);
    for (const device of allDevices) if (isAllocated(device)) this.take(device, 1n);
  }

  /** Reports whether there is enough for a device (checkAvailableCounters). */
  has(device: OfferedDevice): boolean {
    return [...this.#consumptionOf(device)].every(([counter, amount]) => amount <= this.#leftOf(counter));
  }

  /** Takes what a device consumes, or with the sign −1 gives it back. */
  take(device: OfferedDevice, sign: 1n | -1n): void {
    for (const [counter, amount] of this.#consumptionOf(device))
      this.#left.set(counter, this.#leftOf(counter) - sign * amount);
  }

  #leftOf(counter: string): bigint {
    return this.#left.get(counter) ?? 0n;
  }

  #consumptionOf(device: OfferedDevice): CounterAmounts {
    const known = this.#consumed.get(device) ?? consumptionOf(device);
    this.#consumed.set(device, known);
    return known;
  }
}

function consumptionOf({consumesCounters = []}: OfferedDevice): CounterAmounts {
  const sums = new Map<string, bigint>();
  for (const {counterSet, counters = {}} of consumesCounters)
    for (const [name, {value}] of Object.entries(counters)) {
      const counter = `${counterSet}/${name}`;
      sums.set(counter, (sums.get(counter) ?? 0n) + nanosOf(value));
    }
  return sums;
}
