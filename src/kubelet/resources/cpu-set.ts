import {ConfigError} from '../../base/errors.js';
import {goQuote} from '../../format/go-quote.js';
import {listMembers, type BitSet} from './bit-set.js';

/** Set of CPUs. */
export type CpuSet = BitSet;

/** The kernel supports fewer CPUs; a list of more would only exhaust memory. */
const MAX_CPU = 0xffff;

/**
 * Parses a set of CPUs in the kernel's list form, such as `0-3,8` (cpuset.Parse). Throws ConfigError with the message of Go for
 * an invalid one.
 */
export function parseCpuSet(text: string): CpuSet {
  if (text === '') return 0n;
  let set = 0n;
  for (const range of text.split(',')) {
    const dash = range.indexOf('-');
    const start = parseCpu(dash < 0 ? range : range.slice(0, dash));
    const end = dash < 0 ? start : parseCpu(range.slice(dash + 1));
    if (start > end) throw new ConfigError(`invalid range ${goQuote(range)} (${start} > ${end})`);
    set |= ((1n << BigInt(end - start + 1)) - 1n) << BigInt(start);
  }
  return set;
}

function parseCpu(text: string): number {
  const problem = (reason: string): ConfigError =>
    new ConfigError(`strconv.Atoi: parsing ${goQuote(text)}: ${reason}`);
  if (!/^[+-]?\d+$/.test(text)) throw problem('invalid syntax');
  const cpu = Number(text);
  if (cpu < 0 || cpu > MAX_CPU) throw problem('value out of range');
  return cpu;
}

/** Returns a set of CPUs in the kernel's list form. */
export function formatCpuSet(set: CpuSet): string {
  const ranges: string[] = [];
  const cpus = listMembers(set);
  for (let first = 0; first < cpus.length;) {
    let last = first;
    while (cpus[last + 1] === (cpus[last] ?? 0) + 1) last++;
    const [start = 0, end = 0] = [cpus[first], cpus[last]];
    ranges.push(start === end ? `${start}` : `${start}-${end}`);
    first = last + 1;
  }
  return ranges.join(',');
}
