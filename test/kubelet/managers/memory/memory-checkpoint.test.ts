import {expect, test} from 'vitest';
import {messageOf} from '../../../../src/base/errors.js';
import {parseJsonObject} from '../../../../src/base/parse-json-object.js';
import {
  formatMemoryCheckpoint,
  parseMemoryCheckpoint,
} from '../../../../src/kubelet/managers/memory/memory-checkpoint.js';
import {readOracle} from '../../read-oracle.js';
import {
  expectedState,
  MemoryFile,
  shownState,
  startMemoryManager,
  type OracleConfig,
  type OracleState,
} from './memory-oracle.js';

interface WriteCase {
  readonly id: string;
  readonly kind: 'write';
  readonly PodLevelResourceManagers: boolean;
  readonly file: string;
}

interface ReadCase {
  readonly id: string;
  readonly kind: 'read';
  readonly config: OracleConfig;
  readonly file: string;
  readonly error?: string;
  readonly state?: OracleState;
  readonly fileAfter?: string;
}

const CASES = readOracle(new URL('checkpoint.jsonl.gz', import.meta.url)) as readonly (
  | WriteCase
  | ReadCase
)[];
const WRITES = CASES.filter(({kind}) => kind === 'write') as WriteCase[];
const READS = CASES.filter(({kind}) => kind === 'read') as ReadCase[];

test.each(WRITES)('$id: the file has the kubelet’s bytes', ({file, PodLevelResourceManagers: podLevel}) => {
  const {policyName} = parseJsonObject(file);
  const state = parseMemoryCheckpoint(file, String(policyName), podLevel);
  expect(formatMemoryCheckpoint(String(policyName), state, podLevel)).toBe(file);
});

test.each(READS)('$id: a file is read as by the kubelet', async (each) => {
  const file = new MemoryFile();
  file.text = each.file;
  const start = startMemoryManager(each.config, file);
  if (each.error !== undefined) {
    expect(await start.then(() => '', messageOf)).toBe(`start memory manager error: ${each.error}`);
    return;
  }
  expect(shownState((await start).state)).toEqual(expectedState(each.state));
  expect(file.text).toBe(each.fileAfter);
});

test('all cases of the oracle were read', () => {
  expect([WRITES.length + READS.length, CASES.length]).toEqual([28, 28]);
});
