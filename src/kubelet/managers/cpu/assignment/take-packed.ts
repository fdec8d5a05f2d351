import {SystemError} from '../../../../base/errors.js';
import {countMembers} from '../../../resources/bit-set.js';
import type {CpuSet} from '../../../resources/cpu-set.js';
import {CpuAccumulator} from './cpu-accumulator.js';
import type {CpuUnits} from './cpu-units.js';

/** CPUs to take, and how. */
export interface TakeRequest {
  readonly available: CpuSet;
  readonly count: number;
  /** True to take CPUs of different cores. */
  readonly spread: boolean;
  /** True to take CPUs that share an uncore cache. */
  readonly alignByUncoreCache: boolean;
}

/**
 * Returns CPUs on as few sockets, NUMA nodes and cores as possible (takeByTopologyNUMAPacked). Throws SystemError if there are
 * not enough.
 */
export function takePacked(units: CpuUnits, request: TakeRequest): CpuSet {
  const {available, count, spread, alignByUncoreCache} = request;
  const accumulator = new CpuAccumulator(units, available, count);
  if (accumulator.isSatisfied) return 0n;
  if (accumulator.isFailed) throw notEnoughCpus(request);
  accumulator.takeWholeSocketsAndNumaNodes();
  if (alignByUncoreCache) accumulator.takeUncoreCaches();
  if (!spread) accumulator.takeWhole('core');
  accumulator.takeSingle(spread);
  if (accumulator.needed > 0) throw new SystemError('failed to allocate cpus');
  return accumulator.taken;
}

/** Error of a request for more CPUs than are available. */
export function notEnoughCpus({count, available}: Pick<TakeRequest, 'count' | 'available'>): SystemError {
  return new SystemError(
    `not enough cpus available to satisfy request: requested=${count}, available=${countMembers(available)}`,
  );
}
