import {NANOS_PER_UNIT} from '../../../../api/quantity.js';

/** A quantity in an expression. */
export class CelQuantity {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** Compares two quantities: negative, zero or positive. */
export function compareAmounts(a: CelQuantity, b: CelQuantity): bigint {
  return a.nanos < b.nanos ? -1n : BigInt(Number(a.nanos > b.nanos));
}

const LARGEST = 2n ** 63n - 1n;

/** Reports whether a quantity is a whole number of 64 bits. */
export function isWhole({nanos}: CelQuantity): boolean {
  const magnitude = nanos < 0n ? -nanos : nanos;
  return nanos % NANOS_PER_UNIT === 0n && magnitude / NANOS_PER_UNIT <= LARGEST;
}
