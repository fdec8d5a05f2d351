import {KcriError, messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import type {CpuManagerSettings} from '../../../contract/resources/cpu-manager-settings.js';
import type {CpuTopology} from '../../../contract/resources/machine.js';
import {AdmissionError} from '../../../contract/resources/admission-error.js';
import {countMembers, isSubset, listMembers, unite} from '../../../resources/bit-set.js';
import {formatCpuSet, parseCpuSet, type CpuSet} from '../../../resources/cpu-set.js';
import {cpusOf, cpuUnits, unitsOf, type CpuUnits} from '../assignment/cpu-units.js';
import {takeDistributed} from '../assignment/take-distributed.js';
import {takePacked} from '../assignment/take-packed.js';
import type {CpuState} from '../state/cpu-state.js';
import {parseStaticOptions, validateStaticOptions, type StaticOptions} from './static-options.js';

/** What decides the CPUs that containers get (staticPolicy). */
export interface StaticPolicy {
  readonly units: CpuUnits;
  readonly options: StaticOptions;
  /** CPUs that no container gets for itself. */
  readonly reserved: CpuSet;
  /** All CPUs of the cores of reserved ones. */
  readonly reservedCores: CpuSet;
  readonly managesPodLevel: boolean;
}

/** What a static policy is made of. */
export interface StaticPolicyOptions {
  readonly settings: CpuManagerSettings;
  readonly topology: CpuTopology;
  readonly topologyPolicy: string;
  /** CPUs that are reserved by systemReserved and kubeReserved, or by reservedSystemCPUs; undefined if none are. */
  readonly reservedMilli: bigint | undefined;
}

/** Creates the static policy. Throws SystemError with the kubelet's text if it cannot work (cpumanager.NewManager). */
export function createStaticPolicy(options: StaticPolicyOptions): StaticPolicy {
  const hint = 'set cpu in systemReserved or kubeReserved, or reservedSystemCPUs';
  const {reservedMilli} = options;
  if (reservedMilli === undefined)
    throw new SystemError('[cpumanager] unable to determine reserved CPU resources for static policy', {
      hint,
    });
  if (reservedMilli === 0n)
    throw new SystemError(
      '[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero',
      {hint},
    );
  try {
    return newStaticPolicy(options, Math.ceil(Number(reservedMilli) / 1000));
  } catch (error) {
    rethrowUnexpected(error);
    throw new SystemError(`new static policy error: ${messageOf(error)}`, {
      cause: error,
      hint: error instanceof KcriError ? error.hint : undefined,
    });
  }
}

function newStaticPolicy(
  {settings, topology, topologyPolicy}: StaticPolicyOptions,
  count: number,
): StaticPolicy {
  const options = parseStaticOptions(settings);
  validateStaticOptions(options, topology, topologyPolicy);
  const units = cpuUnits(topology);
  const explicit = parseCpuSet(settings.reservedSystemCpus);
  const reserved = explicit === 0n ? reserve({units, options}, count) : explicit;
  if (countMembers(reserved) !== count)
    throw new SystemError(
      `[cpumanager] unable to reserve the required amount of CPUs (size of ${formatCpuSet(reserved)} did not equal ${count})`,
      {hint: 'lower cpu in systemReserved and kubeReserved, or set reservedSystemCPUs to that many CPUs'},
    );
  const unknown = listMembers(reserved & ~units.all)[0];
  if (unknown !== undefined)
    throw new SystemError(
      `[cpumanager] unable to build the reserved physical CPUs from the reserved set: unknown CPU ID: ${unknown}`,
      {hint: 'change reservedSystemCPUs'},
    );
  const reservedCores = cpusOf(units, 'core', unitsOf(units, 'core', reserved));
  return {units, options, reserved, reservedCores, managesPodLevel: settings.managesPodLevel};
}

/** Returns the CPUs to reserve; none if there are not enough. */
function reserve(policy: Pick<StaticPolicy, 'units' | 'options'>, count: number): CpuSet {
  return count > countMembers(policy.units.all) ? 0n : takeByTopology(policy, policy.units.all, count);
}

/** Takes CPUs as the options say (takeByTopology). Throws SystemError if there are not enough. */
export function takeByTopology(
  {units, options}: Pick<StaticPolicy, 'units' | 'options'>,
  available: CpuSet,
  count: number,
): CpuSet {
  const request = {available, count, spread: options.has('distribute-cpus-across-cores')};
  if (!options.has('distribute-cpus-across-numa'))
    return takePacked(units, {
      ...request,
      alignByUncoreCache: options.has('prefer-align-cpus-by-uncorecache'),
    });
  const groupSize = options.has('full-pcpus-only') ? units.cpusPerCore : 1;
  return takeDistributed(units, {...request, groupSize});
}

/** Returns all CPUs that may become exclusive. */
export function allocatableCpus({units, reserved}: StaticPolicy): CpuSet {
  return units.all & ~reserved;
}

/** Returns the CPUs that nobody has for himself and that are not reserved. */
export function availableCpus({reserved}: StaticPolicy, {shared}: CpuState): CpuSet {
  return shared & ~reserved;
}

/** CPUs to allocate. */
export interface AllocationRequest {
  readonly count: number;
  /** NUMA nodes to take them from first; undefined for any. */
  readonly numaNodes: bigint | undefined;
  readonly reusable: CpuSet;
}

/** Takes available and reusable CPUs, those of the NUMA nodes first (allocateCPUs). Throws SystemError. */
export function allocateCpus(
  policy: StaticPolicy,
  state: CpuState,
  {count, numaNodes, reusable}: AllocationRequest,
): CpuSet {
  const allocatable = availableCpus(policy, state) | reusable;
  let taken = 0n;
  if (numaNodes !== undefined) {
    const aligned = alignedCpus(policy, numaNodes) & allocatable;
    taken = takeByTopology(policy, aligned, Math.min(count, countMembers(aligned)));
  }
  return taken | takeByTopology(policy, allocatable & ~taken, count - countMembers(taken));
}

/** Returns the CPUs of NUMA nodes, or of the sockets that they are on. */
function alignedCpus({units, options}: StaticPolicy, numaNodes: bigint): CpuSet {
  const cpus = cpusOf(units, 'numaNode', listMembers(numaNodes));
  return options.has('align-by-socket') ? cpusOf(units, 'socket', unitsOf(units, 'socket', cpus)) : cpus;
}

/** Throws AdmissionError if so many CPUs cannot be whole cores, where only these are given (enforceSMTAlignment). */
export function requireWholeCores(
  {units: {cpusPerCore}, options, reservedCores}: StaticPolicy,
  {shared}: CpuState,
  count: number,
): void {
  if (!options.has('full-pcpus-only')) return;
  const reject = (text: string, hint: string): never => {
    throw new AdmissionError('SMTAlignmentError', `SMT Alignment Error: ${text}`, hint);
  };
  if (count % cpusPerCore !== 0)
    reject(
      `requested ${count} cpus not multiple cpus per core = ${cpusPerCore}`,
      `request a multiple of ${cpusPerCore} CPUs`,
    );
  const free = countMembers(shared & ~reservedCores);
  if (count > free)
    reject(
      `not enough free physical CPUs: available physical CPUs = ${free}, requested CPUs = ${count}, CPUs per core = ${cpusPerCore}`,
      'request fewer CPUs, or run the pod on a node that has more free cores',
    );
}

/**
 * Returns the state to start with: the stored one, or all CPUs if there is none. Throws SystemError with the kubelet's text if it
 * does not fit the machine (validateState).
 */
export function startState(policy: StaticPolicy, state: CpuState): CpuState {
  const {units, options, reserved, managesPodLevel} = policy;
  const strict = options.has('strict-cpu-reservation');
  if (state.shared === 0n) {
    if (state.containers.size > 0) throw new SystemError('default cpuset cannot be empty');
    return {...state, shared: strict ? allocatableCpus(policy) : units.all};
  }
  checkReserved(state.shared, reserved, strict);
  checkOverlaps(state);
  const known = unite([
    state.shared,
    ...[...state.containers.values()].flatMap((own) => [...own.values()]),
    ...(managesPodLevel ? state.pods.values() : []),
  ]);
  if (known !== units.all)
    throw new SystemError(
      `current set of available CPUs "${formatCpuSet(units.all)}" doesn't match with CPUs in state "${formatCpuSet(known)}"`,
    );
  return state;
}

function checkReserved(shared: CpuSet, reserved: CpuSet, strict: boolean): void {
  const both = shared & reserved;
  if (strict && both !== 0n)
    throw new SystemError(
      `some of strictly reserved cpus: "${formatCpuSet(both)}" are present in defaultCpuSet: "${formatCpuSet(shared)}"`,
    );
  if (!strict && !isSubset(reserved, shared))
    throw new SystemError(
      `not all reserved cpus: "${formatCpuSet(reserved)}" are present in defaultCpuSet: "${formatCpuSet(shared)}"`,
    );
}

function checkOverlaps({shared, containers}: CpuState): void {
  for (const [uid, own] of containers)
    for (const [name, cpus] of own)
      if ((cpus & shared) !== 0n)
        throw new SystemError(
          `pod: ${uid}, container: ${name} cpuset: "${formatCpuSet(cpus)}" overlaps with default cpuset "${formatCpuSet(shared)}"`,
        );
}
