import {countMembers, listMembers} from '../../../resources/bit-set.js';
import type {CpuSet} from '../../../resources/cpu-set.js';
import {cpusOf, sortUnits, unitsOf, type CpuUnits, type Unit} from './cpu-units.js';

/** Takes CPUs unit by unit until it has the wanted number (cpuAccumulator). */
export class CpuAccumulator {
  readonly #units: CpuUnits;
  /** Units from the largest to the smallest. */
  readonly #hierarchy: readonly Unit[];
  #available: CpuSet;
  #needed: number;
  #taken: CpuSet = 0n;

  constructor(units: CpuUnits, available: CpuSet, needed: number) {
    const {socketCount, numaNodeCount} = units.topology;
    this.#units = units;
    this.#hierarchy =
      socketCount >= numaNodeCount ? ['numaNode', 'socket', 'core'] : ['socket', 'numaNode', 'core'];
    this.#available = available & units.all;
    this.#needed = needed;
  }

  get taken(): CpuSet {
    return this.#taken;
  }

  get available(): CpuSet {
    return this.#available;
  }

  get needed(): number {
    return this.#needed;
  }

  get isSatisfied(): boolean {
    return this.#needed < 1;
  }

  get isFailed(): boolean {
    return this.#needed > countMembers(this.#available);
  }

  /** Returns the available units, in the order of the larger units that they are in. */
  sorted(unit: Unit): readonly number[] {
    if (unit === 'uncoreCache') return this.#sortedWithin('numaNode', unit);
    const larger = this.#hierarchy[this.#hierarchy.indexOf(unit) - 1];
    return larger === undefined ? this.#sort(unit, this.#units.all) : this.#sortedWithin(larger, unit);
  }

  #sortedWithin(larger: Unit, unit: Unit): readonly number[] {
    return this.sorted(larger).flatMap((id) => this.#sort(unit, cpusOf(this.#units, larger, [id])));
  }

  #sort(unit: Unit, scope: CpuSet): readonly number[] {
    return sortUnits(this.#units, unit, {available: this.#available, scope});
  }

  take(cpus: CpuSet): void {
    this.#taken |= cpus;
    this.#available &= ~cpus;
    this.#needed -= countMembers(cpus);
  }

  /** Takes whole sockets and NUMA nodes, the larger first. */
  takeWholeSocketsAndNumaNodes(): void {
    for (const unit of this.#hierarchy.slice(0, 2)) this.takeWhole(unit);
  }

  /** Takes units all of whose CPUs are available, as long as that many are needed. */
  takeWhole(unit: Unit): void {
    for (const id of this.sorted(unit).filter((each) => this.#isWhole(unit, each))) {
      const cpus = cpusOf(this.#units, unit, [id]);
      if (this.#needed >= countMembers(cpus)) this.take(cpus);
    }
  }

  /** Sockets and cores count as whole with the average number of CPUs, as in a kubelet. */
  #isWhole(unit: Unit, id: number): boolean {
    const own = cpusOf(this.#units, unit, [id]);
    const {topology, cpusPerCore} = this.#units;
    const available = countMembers(own & this.#available);
    if (unit === 'core') return available === cpusPerCore;
    if (unit === 'socket') return available === average(topology.cpuCount, topology.socketCount);
    return available === countMembers(own);
  }

  /** Takes whole uncore caches, and a part of one for the rest. */
  takeUncoreCaches(): void {
    const {cpuCount, uncoreCacheCount} = this.#units.topology;
    for (const id of this.sorted('uncoreCache')) {
      if (this.#needed >= average(cpuCount, uncoreCacheCount)) this.takeWhole('uncoreCache');
      if (!this.isSatisfied) this.#takePartOfUncoreCache(id);
      if (this.isSatisfied) return;
    }
  }

  /** Takes the first cores of an uncore cache, if they have exactly the needed number of CPUs. */
  #takePartOfUncoreCache(id: number): void {
    const {cpusPerCore} = this.#units;
    const own = cpusOf(this.#units, 'uncoreCache', [id]) & this.#available;
    const cores = unitsOf(this.#units, 'core', own)
      .toSorted((a, b) => a - b)
      .slice(0, Math.ceil(this.#needed / cpusPerCore));
    let cpus = cpusOf(this.#units, 'core', cores) & this.#available;
    if (this.#needed % 2 !== 0 && cpusPerCore > 1 && countMembers(cpus) > this.#needed)
      cpus &= ~(1n << BigInt(listMembers(cpus).at(-1) ?? 0));
    if (countMembers(cpus) === this.#needed) this.take(cpus);
  }

  /** Takes single CPUs: core by core, or those of a socket by number if they are to be on different cores. */
  takeSingle(spread: boolean): void {
    const unit = spread ? 'socket' : 'core';
    const cpus = this.sorted(unit).flatMap((id) =>
      listMembers(cpusOf(this.#units, unit, [id]) & this.#available),
    );
    for (const cpu of cpus) {
      if (this.isSatisfied) return;
      this.take(1n << BigInt(cpu));
    }
  }
}

function average(cpus: number, units: number): number {
  return units === 0 ? 0 : Math.trunc(cpus / units);
}
