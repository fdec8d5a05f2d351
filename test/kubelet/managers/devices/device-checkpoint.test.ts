import {expect, test} from 'vitest';
import {
  formatDeviceCheckpoint,
  parseDeviceCheckpoint,
} from '../../../../src/kubelet/managers/devices/core/device-checkpoint.js';
import {messageOf} from '../../../../src/base/errors.js';
import {readOracle} from '../../read-oracle.js';

interface CheckpointCase {
  readonly id: string;
  readonly kind: 'read' | 'write';
  readonly file: string;
  readonly error?: string;
}

const CASES = readOracle(new URL('checkpoint.jsonl.gz', import.meta.url)) as readonly CheckpointCase[];

test.each(CASES.filter(({kind}) => kind === 'read'))('$id is read as by the kubelet', ({file, error}) => {
  let problem = '';
  try {
    parseDeviceCheckpoint(file);
  } catch (thrown) {
    problem = messageOf(thrown);
  }
  expect(problem).toBe(error);
});

test.each(CASES.filter(({kind}) => kind === 'write'))('$id is written as by the kubelet', ({file}) => {
  const {allocations, registered, unreadable} = parseDeviceCheckpoint(file);
  // What is no answer of a plugin cannot be written again, and an empty list of the oracle is null in a kubelet.
  if (unreadable.length > 0 || allocations.length === 0) return;
  expect(formatDeviceCheckpoint({allocations, registered})).toBe(file);
});

test('an answer of a plugin that cannot be decoded is left out, and named', () => {
  const [{file} = {file: ''}] = CASES.filter(({id}) => id === 'ck-00');
  expect(parseDeviceCheckpoint(file)).toMatchObject({
    allocations: [],
    unreadable: [{uid: 'e5acea10-1111-2222-3333-ded0d0d3e24e', container: 'app', resource: 'vendor.io/gpu'}],
  });
});

test('a checkpoint without allocations has null for them', () => {
  const text = formatDeviceCheckpoint({allocations: [], registered: new Map([['example.com/dev', ['d1']]])});
  expect(text).toMatch(
    /^\{"Data":\{"PodDeviceEntries":null,"RegisteredDevices":\{"example.com\/dev":\["d1"\]\}\},/,
  );
  expect(parseDeviceCheckpoint(text).registered).toEqual(new Map([['example.com/dev', ['d1']]]));
});
