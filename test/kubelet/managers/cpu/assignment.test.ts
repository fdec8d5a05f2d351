import {test} from 'vitest';
import {messageOf} from '../../../../src/base/errors.js';
import {cpuUnits} from '../../../../src/kubelet/managers/cpu/assignment/cpu-units.js';
import {takeDistributed} from '../../../../src/kubelet/managers/cpu/assignment/take-distributed.js';
import {takePacked} from '../../../../src/kubelet/managers/cpu/assignment/take-packed.js';
import {formatCpuSet, parseCpuSet} from '../../../../src/kubelet/resources/cpu-set.js';
import {readOracle} from '../../read-oracle.js';
import {ORACLE_MACHINES, topologyOf} from '../../resources/machine/machine-oracle.js';

interface AssignmentCase {
  readonly id: string;
  readonly fn: 'packed' | 'distributed';
  readonly topology: string;
  readonly available: string;
  readonly num: number;
  readonly sort: 'packed' | 'spread';
  readonly preferAlignByUncoreCache?: boolean;
  readonly cpuGroupSize?: number;
  readonly cpus?: string;
  readonly error?: string;
}

const UNITS = new Map(
  [...ORACLE_MACHINES].map(([name, {discovered}]) => [name, cpuUnits(topologyOf(discovered))]),
);

function take({fn, topology, available, num, sort, ...options}: AssignmentCase): string {
  const units = UNITS.get(topology);
  if (units === undefined) throw new Error(`no topology ${topology}`);
  const request = {available: parseCpuSet(available), count: num, spread: sort === 'spread'};
  try {
    return formatCpuSet(
      fn === 'packed'
        ? takePacked(units, {...request, alignByUncoreCache: options.preferAlignByUncoreCache ?? false})
        : takeDistributed(units, {...request, groupSize: options.cpuGroupSize ?? 1}),
    );
  } catch (error) {
    return messageOf(error);
  }
}

test('CPUs are assigned as by a kubelet', ({expect}) => {
  const cases = readOracle(new URL('assignment.jsonl.gz', import.meta.url)) as readonly AssignmentCase[];
  expect(cases).toHaveLength(835);
  for (const each of cases) expect.soft(take(each), each.id).toBe(each.error ?? each.cpus ?? '');
});
