import {mkdir, readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {NodeSnapshot} from '../../../../src/features/doctor/node-snapshot.js';
import {LocalFileReader} from '../../../../src/features/doctor/readers/local-file-reader.js';
import {
  diskSamples,
  DISKS,
  LATENCIES,
  latencySamples,
  parseRunHistory,
  readRunHistory,
  recordRun,
} from '../../../../src/features/doctor/readers/run-history.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {GOOD_NODE} from '../a-node.js';

interface Parts {
  readonly time?: string;
  readonly calls?: NodeSnapshot['runtime']['calls'];
  readonly latencies?: NodeSnapshot['runtime']['history'];
  readonly disks?: NodeSnapshot['diskHistory'];
}

const MISSING = {error: 'no earlier run is recorded', isMissing: true} as const;

/** A run that has measured a call of Status, and the disk `/`. */
const aRun = ({
  time = '12:00:00',
  calls = [{rpc: 'Status', ms: 3}],
  latencies = MISSING,
  disks = MISSING,
}: Parts): NodeSnapshot => ({
  ...GOOD_NODE,
  takenAt: `2026-11-27T${time}.000Z`,
  runtime: {...GOOD_NODE.runtime, calls, history: latencies},
  diskHistory: disks,
});

const at = (time: string, availableBytes = 5e10) => ({at: `2026-11-27T${time}.000Z`, availableBytes});

describe('history of runs', () => {
  const open = async () => ({
    node: await LocalFileReader.open(new AbortController().signal),
    isRemote: false,
  });

  test('failed calls have no sample', () => {
    const calls = [
      {rpc: 'Status', ms: 99},
      {rpc: 'Version', ms: 1, error: 'no'},
    ];
    expect(latencySamples(aRun({calls}).runtime)).toEqual({Status: 99});
  });

  test('a disk has a sample once an hour', () => {
    const disks = {value: {'/': [at('10:00:00', 1)], '/other': []}};
    expect(diskSamples(aRun({time: '11:00:00', disks}))).toEqual({'/': at('11:00:00')});
    expect(diskSamples(aRun({time: '10:59:59', disks}))).toEqual({});
    expect(diskSamples(aRun({time: '09:00:00', disks}))).toEqual({'/': at('09:00:00')});
  });

  test.each(['', '[]', '{"/": 1}', '{"/": ["x", {"at": "x", "availableBytes": 1}, null]}'])(
    'a broken file %j has none',
    (text) => {
      expect(Object.values(parseRunHistory(DISKS, text)).flat()).toEqual([]);
      expect(Object.values(parseRunHistory(LATENCIES, text)).flat()).toEqual([]);
    },
  );

  test('it is kept in the state directory, if there is one', async () => {
    const rootDir = await temporaryDirectory();
    const from = await open();
    expect(await readRunHistory(LATENCIES, rootDir, from)).toEqual(MISSING);
    await recordRun(rootDir, aRun({}));
    expect(await readRunHistory(LATENCIES, rootDir, from)).toEqual(MISSING);
    await mkdir(join(rootDir, 'kcri'));
    await recordRun(rootDir, aRun({}));
    expect(await readFile(join(rootDir, 'kcri/doctor-latencies.json'), 'utf8')).toBe('{"Status":[3]}\n');
    expect(await readRunHistory(LATENCIES, rootDir, from)).toEqual({value: {Status: [3]}});
    expect(await readRunHistory(DISKS, rootDir, from)).toEqual({value: {'/': [at('12:00:00')]}});
    // One that could not be read is not replaced.
    await recordRun(rootDir, aRun({calls: [{rpc: 'Status', ms: 9}], latencies: {error: 'denied'}}));
    expect(await readRunHistory(LATENCIES, rootDir, from)).toEqual({value: {Status: [3]}});
  });

  test('the oldest samples are dropped', async () => {
    const rootDir = await temporaryDirectory();
    await mkdir(join(rootDir, 'kcri'));
    const Status = Array.from({length: 30}, (_, index) => index);
    await recordRun(rootDir, aRun({latencies: {value: {Status, Version: [7]}}}));
    expect(await readRunHistory(LATENCIES, rootDir, await open())).toEqual({
      value: {Status: [...Status.slice(1), 3], Version: [7]},
    });
  });

  test('nothing is written by a run that has nothing to add', async () => {
    const rootDir = await temporaryDirectory();
    await mkdir(join(rootDir, 'kcri'));
    await recordRun(rootDir, aRun({calls: [], disks: {value: {'/': [at('11:30:00')]}}}));
    expect(await readdir(join(rootDir, 'kcri'))).toEqual([]);
  });

  test('nothing is kept of remote nodes', async () => {
    const remote = {...(await open()), isRemote: true};
    expect(await readRunHistory(DISKS, '/', remote)).toEqual({
      error: 'no history is kept of remote nodes',
    });
  });
});
