import {describe, expect, test} from 'vitest';
import {formatCheckpoint} from '../../../../src/kubelet/resources/checkpoint/checkpoint.js';
import {goPointer} from '../../../../src/kubelet/resources/checkpoint/go-type.js';
import {
  cpuCheckpoint,
  podLevelCpuCheckpoint,
} from '../../../../src/kubelet/managers/cpu/state/cpu-checkpoint.js';
import {parseCpuSet} from '../../../../src/kubelet/resources/cpu-set.js';
import {readOracle} from '../../read-oracle.js';
import {CpuNode, type OracleCpuState} from './cpu-node.js';

type Entries = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface WriteCase {
  readonly id: string;
  readonly kind: 'write';
  readonly PodLevelResourceManagers: boolean;
  readonly policyName: string;
  readonly defaultCpuSet: string;
  readonly entries: Entries | null;
  readonly checksumText: string;
  readonly file: string;
}

interface ReadCase {
  readonly id: string;
  readonly kind: 'read' | 'fresh';
  readonly policy: string;
  readonly file?: string;
  readonly containerIDs?: Readonly<Record<string, string>>;
  readonly topology?: string;
  readonly reservedCPUs?: number;
  readonly error?: string;
  readonly state?: OracleCpuState;
  readonly fileAfter?: string;
}

const CASES = readOracle(new URL('checkpoint.jsonl.gz', import.meta.url)) as readonly (
  | WriteCase
  | ReadCase
)[];
const WRITES = CASES.filter((each) => each.kind === 'write');
const READS = CASES.filter((each) => each.kind !== 'write');

test('all cases are tested', () => {
  expect(WRITES.length + READS.length).toBe(51);
});

describe('a checkpoint', () => {
  test.for(WRITES)('$id is written as by a kubelet', (written) => {
    const {policyName, defaultCpuSet, entries} = written;
    const content = {
      policyName,
      defaultCpuSet,
      entries:
        entries === null
          ? undefined
          : new Map(Object.entries(entries).map(([uid, own]) => [uid, new Map(Object.entries(own))])),
    };
    // The oracle has the number of CPUs by pod only; they are in the file.
    const {podEntries = {}} = JSON.parse(written.file) as {
      podEntries?: Record<string, {cpuSet: string}>;
    };
    const pods = new Map(Object.entries(podEntries).map(([uid, {cpuSet}]) => [uid, parseCpuSet(cpuSet)]));
    const file = written.PodLevelResourceManagers
      ? formatCheckpoint(podLevelCpuCheckpoint, {...content, podEntries: pods})
      : formatCheckpoint(cpuCheckpoint, content);
    const dumped = written.PodLevelResourceManagers
      ? goPointer(podLevelCpuCheckpoint).dumpTyped({...content, podEntries: pods, checksum: 0})
      : goPointer(cpuCheckpoint).dumpTyped({...content, checksum: 0});
    expect(dumped).toBe(written.checksumText);
    expect(file).toBe(written.file);
  });

  test.for(READS)('$id is read as by a kubelet', async (read) => {
    const node = new CpuNode();
    node.stateFile = read.file;
    for (const [key, id] of Object.entries(read.containerIDs ?? {})) node.addContainer(key, id);
    const error = await node.start({
      cpuManagerPolicy: read.policy,
      topologyManagerPolicy: 'none',
      topologyManagerScope: 'container',
      topology: read.topology ?? 's1n1c4t2-split',
      reservedCPU: String(read.reservedCPUs ?? ''),
    });
    expect(error ?? '').toBe(read.error ?? '');
    if (read.state !== undefined) expect(node.state).toEqual(read.state);
    if (read.fileAfter !== undefined) expect(node.stateFile).toBe(read.fileAfter);
  });
});
