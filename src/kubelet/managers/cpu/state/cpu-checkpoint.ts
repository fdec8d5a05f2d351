import {messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {goQuote} from '../../../../format/go-quote.js';
import {
  corruptCheckpoint,
  formatCheckpoint,
  goChecksum,
  hasRightChecksum,
  type Checksummed,
} from '../../../resources/checkpoint/checkpoint.js';
import {
  goMap,
  goString,
  goStruct,
  goType,
  readGoJson,
  type GoType,
} from '../../../resources/checkpoint/go-type.js';
import {listMembers} from '../../../resources/bit-set.js';
import {formatCpuSet, parseCpuSet, type CpuSet} from '../../../resources/cpu-set.js';
import type {ContainerCpus, CpuState} from './cpu-state.js';

type TextMap = ReadonlyMap<string, string>;

/** Fields of all versions of the checkpoint. */
interface Header extends Checksummed {
  readonly policyName: string;
  readonly defaultCpuSet: string;
}

/** Content of a checkpoint with CPUs by container (CPUManagerCheckpointV2). */
export interface CpuCheckpoint extends Header {
  readonly entries: ReadonlyMap<string, TextMap | undefined> | undefined;
}

/** Content of a checkpoint that also has CPUs by pod (CPUManagerCheckpointV3). */
export interface PodLevelCpuCheckpoint extends CpuCheckpoint {
  readonly podEntries: ReadonlyMap<string, CpuSet> | undefined;
}

/** Content of a checkpoint with CPUs by container ID (CPUManagerCheckpointV1). */
interface OldCpuCheckpoint extends Header {
  readonly entries: TextMap | undefined;
}

const text = goString();
const cpusById = goMap('map[string]string', text, text);

/** The checksums of all versions are those of a structure with this name. */
const STRUCT = 'state.CPUManagerCheckpoint';

const header = {
  policyName: {name: 'PolicyName', type: text},
  defaultCpuSet: {name: 'DefaultCPUSet', type: text},
};
const entries = {
  name: 'Entries',
  type: goMap('map[string]map[string]string', text, cpusById),
  omitEmpty: true,
};
const checksum = {name: 'Checksum', type: goChecksum};

/** CPUs of a pod, which are a set of Go in the checksum and a text in the file. */
const podEntry: GoType<CpuSet> = goType('state.PodEntry', {
  dump: (cpus) =>
    `{CPUSet:(cpuset.CPUSet){elems:(map[int]struct {})map[${listMembers(cpus)
      .map((cpu) => `${cpu}:{}`)
      .join(' ')}]}}`,
  toJson: (cpus) => (cpus === 0n ? '{}' : `{"cpuSet":"${formatCpuSet(cpus)}"}`),
  fromJson: (json, before, place) => {
    const {cpuSet} = podEntryText.fromJson(json, {cpuSet: ''}, place);
    try {
      return json === null ? before : parseCpuSet(cpuSet);
    } catch (error) {
      rethrowUnexpected(error);
      throw new SystemError(`failed to parse cpuset: ${messageOf(error)}`, {cause: error});
    }
  },
  zero: 0n,
  isEmpty: () => false,
});
const podEntryText = goStruct<{readonly cpuSet: string}>('state.podEntryJSON', {
  cpuSet: {name: 'CPUSet', type: text, omitEmpty: true},
});

/** Checkpoint with CPUs by container. */
export const cpuCheckpoint: GoType<CpuCheckpoint> = goStruct(STRUCT, {...header, entries, checksum});

/** Checkpoint that also has CPUs by pod, which are written while the gate PodLevelResourceManagers is on. */
export const podLevelCpuCheckpoint: GoType<PodLevelCpuCheckpoint> = goStruct(STRUCT, {
  ...header,
  entries,
  podEntries: {
    name: 'PodEntries',
    type: goMap('state.PodCPUAssignments', text, podEntry),
    omitEmpty: true,
  },
  checksum,
});

const oldCpuCheckpoint: GoType<OldCpuCheckpoint> = goStruct(STRUCT, {
  ...header,
  entries: {name: 'Entries', type: cpusById, omitEmpty: true},
  checksum,
});

/** How checkpoints are written and read. */
export interface CheckpointFormat {
  readonly policy: string;
  readonly managesPodLevel: boolean;
  /** Returns the pod and name of a container; undefined if it is unknown. */
  readonly findContainer: (id: string) => {readonly uid: string; readonly name: string} | undefined;
}

/** Returns the text of the checkpoint of a state. */
export function formatCpuState(
  {shared, containers, pods}: CpuState,
  {policy, managesPodLevel}: Pick<CheckpointFormat, 'policy' | 'managesPodLevel'>,
): string {
  const content = {
    policyName: policy,
    defaultCpuSet: formatCpuSet(shared),
    entries: new Map(
      [...containers].map(([uid, own]) => [
        uid,
        new Map([...own].map(([name, cpus]) => [name, formatCpuSet(cpus)])),
      ]),
    ),
  };
  return managesPodLevel
    ? formatCheckpoint(podLevelCpuCheckpoint, {...content, podEntries: pods})
    : formatCheckpoint(cpuCheckpoint, content);
}

/**
 * Returns the state in the text of a checkpoint, whatever its version. Throws SystemError with the kubelet's text if there is
 * none, or if it is that of another policy. (stateCheckpoint.restoreState)
 */
export function parseCpuState(file: string, format: CheckpointFormat): CpuState {
  const {policyName, defaultCpuSet, entries: stored, podEntries} = readNewest(file, format);
  if (policyName !== format.policy)
    throw new SystemError(
      `configured policy ${goQuote(format.policy)} differs from state checkpoint policy ${goQuote(policyName)}`,
    );
  const shared = parseStored(defaultCpuSet, `default cpu set ${goQuote(defaultCpuSet)}`);
  return {shared, containers: parseEntries(stored), pods: podEntries ?? new Map()};
}

function parseEntries(stored: CpuCheckpoint['entries'] = new Map()): ContainerCpus {
  const parseContainer = (uid: string, name: string, cpus: string): CpuSet =>
    parseStored(cpus, `cpuset ${goQuote(cpus)} for container ${goQuote(name)} in pod ${goQuote(uid)}`);
  return new Map(
    [...stored].map(([uid, own]) => [
      uid,
      new Map([...(own ?? [])].map(([name, cpus]) => [name, parseContainer(uid, name, cpus)])),
    ]),
  );
}

function parseStored(cpus: string, what: string): CpuSet {
  try {
    return parseCpuSet(cpus);
  } catch (error) {
    rethrowUnexpected(error);
    throw new SystemError(`could not parse ${what}: ${messageOf(error)}`, {cause: error});
  }
}

type AnyCheckpoint = CpuCheckpoint & Partial<PodLevelCpuCheckpoint>;

/** Reads the newest version that the text has. The error is that of the oldest. */
function readNewest(file: string, format: CheckpointFormat): AnyCheckpoint {
  return (
    (format.managesPodLevel ? attempt(() => readVersion(podLevelCpuCheckpoint, file, false)) : undefined) ??
    attempt(() => readVersion(cpuCheckpoint, file, true)) ??
    migrate(readVersion(oldCpuCheckpoint, file, true), format)
  );
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    rethrowUnexpected(error);
    return undefined;
  }
}

function readVersion<T extends Checksummed>(type: GoType<T>, file: string, acceptsZero: boolean): T {
  const content = readGoJson(type, file, withEmptyMaps(type));
  if (!(acceptsZero && content.checksum === 0) && !hasRightChecksum(type, content)) throw corruptCheckpoint();
  return content;
}

/** Maps that a file does not have are empty, not nil, in the checksum. */
function withEmptyMaps<T extends Checksummed>({zero}: GoType<T>): T {
  return {...zero, entries: new Map(), ...('podEntries' in zero && {podEntries: new Map()})};
}

/** Returns the content of an old checkpoint with containers by pod and name. */
function migrate(
  {entries: byId = new Map<string, string>(), ...rest}: OldCpuCheckpoint,
  format: CheckpointFormat,
): CpuCheckpoint {
  const byPod = new Map<string, Map<string, string>>();
  for (const [id, cpus] of byId) {
    const found = format.findContainer(id);
    if (found === undefined)
      throw new SystemError(
        `failed to migrate checkpoint from v1 to v2: containerID '${id}' not found in initial containers list`,
      );
    byPod.set(found.uid, (byPod.get(found.uid) ?? new Map<string, string>()).set(found.name, cpus));
  }
  return {...rest, entries: byPod};
}
