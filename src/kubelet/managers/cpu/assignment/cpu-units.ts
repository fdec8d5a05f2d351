import type {CpuLocation, CpuTopology} from '../../../contract/resources/machine.js';
import {bitSet, countMembers} from '../../../resources/bit-set.js';
import type {CpuSet} from '../../../resources/cpu-set.js';

/** Kinds of units that CPUs belong to. */
export type Unit = keyof CpuLocation;

/** The CPUs of a machine by unit. */
export interface CpuUnits extends Record<Unit, ReadonlyMap<number, CpuSet>> {
  readonly topology: CpuTopology;
  readonly all: CpuSet;
  /** Average number of CPUs, rounded down: less than that of a whole core if some of its CPUs are offline. */
  readonly cpusPerCore: number;
}

/** Returns the CPUs of a topology by unit. */
export function cpuUnits(topology: CpuTopology): CpuUnits {
  const {cpus, cpuCount, coreCount} = topology;
  const by = (unit: Unit): ReadonlyMap<number, CpuSet> => {
    const sets = new Map<number, CpuSet>();
    for (const [cpu, location] of cpus)
      sets.set(location[unit], (sets.get(location[unit]) ?? 0n) | (1n << BigInt(cpu)));
    return sets;
  };
  return {
    topology,
    all: bitSet(cpus.keys()),
    cpusPerCore: coreCount === 0 ? 0 : Math.trunc(cpuCount / coreCount),
    numaNode: by('numaNode'),
    socket: by('socket'),
    core: by('core'),
    uncoreCache: by('uncoreCache'),
  };
}

/** Returns the units that share CPUs with a set. */
export function unitsOf(units: CpuUnits, unit: Unit, cpus: CpuSet): readonly number[] {
  return [...units[unit]].flatMap(([id, own]) => ((own & cpus) === 0n ? [] : [id]));
}

/** Returns the CPUs of the units with the ids. */
export function cpusOf(units: CpuUnits, unit: Unit, ids: Iterable<number>): CpuSet {
  let cpus = 0n;
  for (const id of ids) cpus |= units[unit].get(id) ?? 0n;
  return cpus;
}

/** Returns the units that have available CPUs in a scope: those with the fewest available CPUs first, then by id. */
export function sortUnits(
  units: CpuUnits,
  unit: Unit,
  {available, scope}: {readonly available: CpuSet; readonly scope: CpuSet},
): readonly number[] {
  return unitsOf(units, unit, available & scope)
    .map((id) => ({id, size: countMembers(available & cpusOf(units, unit, [id]))}))
    .sort((a, b) => a.size - b.size || a.id - b.id)
    .map(({id}) => id);
}
