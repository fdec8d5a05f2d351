import {humanSize} from '../../../format/human-size.js';
import {failure, judge, ok, textIn, warning, type Check} from '../check.js';

/** Available share below which it is a warning, and the default threshold of eviction (memory.available<100Mi). */
const LOW_SHARE = 0.05;
const EVICTION_BYTES = 100 * 1024 * 1024;
/** Share of the swap in use from which on it is a warning. */
const SWAP_SHARE = 0.8;

/** Checks of memory and swap. */
export const MEMORY_CHECKS: readonly Check[] = [
  {
    id: 'memory/available',
    title: 'available memory',
    examine: (snapshot) =>
      judge([textIn(snapshot, '/proc/meminfo')], (text) => {
        const [total, available] = ['MemTotal', 'MemAvailable'].map((name) => bytesOf(text, name));
        const found = `${humanSize(available ?? 0, 3)} of ${humanSize(total ?? 0, 3)} available`;
        const remedy = [{kcri: ['top']}, {kcri: ['stats']}];
        if ((available ?? 0) < EVICTION_BYTES)
          return failure(`${found}; a kubelet evicts pods below 100Mi by default`, {remedy});
        return (available ?? 0) < LOW_SHARE * (total ?? 0) ? warning(found, {remedy}) : ok(found);
      }),
  },
  {
    id: 'memory/swap',
    title: 'swap in use',
    examine: (snapshot) =>
      judge([textIn(snapshot, '/proc/meminfo')], (text) => {
        const [total = 0, free = 0] = ['SwapTotal', 'SwapFree'].map((name) => bytesOf(text, name));
        if (total === 0) return ok('no swap');
        const found = `${humanSize(total - free, 3)} of ${humanSize(total, 3)} swap in use`;
        return total - free < SWAP_SHARE * total
          ? ok(found)
          : warning(found, {remedy: [{kcri: ['top']}, 'swapon --show']});
      }),
  },
];

function bytesOf(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
}
