import {formatAmount, NANOS_PER_UNIT, parseQuantity, quantityValue} from '../../../../api/quantity.js';
import type {
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
  DeviceCapacity,
  OfferedDevice,
} from '../../../../api/types/v1-device-resources.js';

/** Amounts of capacities by name, in nanos of their unit. */
export type CapacityAmounts = ReadonlyMap<string, bigint>;

/** Amounts that a request asks for, as quantities by name. */
type RequestedAmounts = Readonly<Record<string, string>> | undefined;

/** What a device offers, and what a request consumes of that. */
export interface CapacityNeed {
  readonly offered: CapacityAmounts;
  readonly consumed: CapacityAmounts;
}

/**
 * Returns what a request consumes of a device (GetConsumedCapacityFromRequest); undefined if the device does not have the capacity, or
 * its policy does not allow the amount. A capacity that is not asked for counts with its default, or as a whole.
 */
export function capacityNeed(
  {capacity = {}}: Pick<OfferedDevice, 'capacity'>,
  requested: RequestedAmounts,
): CapacityNeed | undefined {
  if (Object.keys(requested ?? {}).some((name) => !Object.hasOwn(capacity, name))) return undefined;
  const all = Object.entries(capacity);
  const consumed = all.map(([name, offered]) => [name, consumedAmount(offered, requested?.[name])] as const);
  if (consumed.some(([name, amount]) => violatesPolicy(amount, capacity[name]?.requestPolicy)))
    return undefined;
  const offered = all.map(([name, {value}]) => [name, nanosOf(value)] as const);
  return {offered: new Map(offered), consumed: new Map(consumed)};
}

/** Reports whether a device has what is needed, besides what is taken already (CmpRequestOverCapacity). */
export function fitsCapacity({offered, consumed}: CapacityNeed, taken: CapacityAmounts): boolean {
  return [...offered].every(
    ([name, amount]) => (taken.get(name) ?? 0n) + (consumed.get(name) ?? 0n) <= amount,
  );
}

/** Returns amounts as quantities, in the format of what the device offers. */
export function formatCapacity(
  {capacity = {}}: Pick<OfferedDevice, 'capacity'>,
  amounts: CapacityAmounts,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...amounts].map(([name, nanos]) => {
      const {format} = parseQuantity(capacity[name]?.value ?? '0');
      return [name, formatAmount({nanos, format})];
    }),
  );
}

/** Returns the sums of amounts; those of `sign` −1 are taken off. */
export function addAmounts(a: CapacityAmounts, b: CapacityAmounts, sign: 1n | -1n = 1n): CapacityAmounts {
  const sums = new Map(a);
  for (const [name, amount] of b) sums.set(name, (sums.get(name) ?? 0n) + sign * amount);
  return sums;
}

/** Returns a quantity in nanos. */
export function nanosOf(quantity: string): bigint {
  return parseQuantity(quantity).nanos;
}

/** Returns the amount that is consumed for a requested one, or without one (calculateConsumedCapacity). */
function consumedAmount({value, requestPolicy}: DeviceCapacity, requested: string | undefined): bigint {
  if (requested === undefined) return nanosOf(requestPolicy?.default ?? value);
  const amount = nanosOf(requested);
  const {validRange, validValues = []} = requestPolicy ?? {};
  if (validRange?.min !== undefined) return roundUpInRange(amount, validRange, validRange.min);
  return validValues.map(nanosOf).find((valid) => amount <= valid) ?? amount;
}

/** Rounds up to a multiple of the step above the minimum (roundUpRange). */
function roundUpInRange(amount: bigint, {step}: CapacityRequestPolicyRange, min: string): bigint {
  const least = nanosOf(min);
  if (amount < least) return least;
  const size = step === undefined ? 0n : quantityValue(step);
  if (size <= 0n) return amount;
  const start = quantityValue(min);
  const added = unitsOf(amount) - start;
  return (start + ((added + size - 1n) / size) * size) * NANOS_PER_UNIT;
}

function violatesPolicy(amount: bigint, policy: CapacityRequestPolicy | undefined): boolean {
  if (policy === undefined) return false;
  const {default: usual, validRange, validValues = []} = policy;
  if (usual !== undefined && amount === nanosOf(usual)) return false;
  if (validRange !== undefined) return violatesRange(amount, validRange);
  return validValues.length > 0 && !validValues.some((valid) => nanosOf(valid) === amount);
}

function violatesRange(amount: bigint, {min, max, step}: CapacityRequestPolicyRange): boolean {
  if (max !== undefined && amount > nanosOf(max)) return true;
  const size = step === undefined ? 0n : quantityValue(step);
  return size > 0n && (unitsOf(amount) - quantityValue(min ?? '0')) % size !== 0n;
}

/** Rounds up to whole units (Quantity.Value). */
function unitsOf(nanos: bigint): bigint {
  return (nanos + NANOS_PER_UNIT - 1n) / NANOS_PER_UNIT;
}
