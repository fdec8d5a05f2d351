import {mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {takeDownRuntime} from '../../src/private-runtime/lifecycle/take-down-runtime.js';
import {findPrivateEndpoint, runtimeRecordPath} from '../../src/private-runtime/private-endpoint.js';
import {identityOf, isRunning, parseProcessStat} from '../../src/private-runtime/process/running-process.js';
import {runtimeStatusRows} from '../../src/private-runtime/lifecycle/private-runtime-status-rows.js';
import {runtimeStatus} from '../../src/private-runtime/lifecycle/private-runtime-status.js';
import {temporaryDirectory} from '../base/temporary-directory.js';

async function rootDirWith(record: string): Promise<string> {
  const rootDir = await temporaryDirectory();
  await mkdir(dirname(runtimeRecordPath(rootDir)), {recursive: true});
  await writeFile(runtimeRecordPath(rootDir), record);
  return rootDir;
}

const self = identityOf(process.pid);
const endpoint = 'unix:///r/containerd.sock';

describe('findPrivateEndpoint', () => {
  test('returns the endpoint while its process runs', async () => {
    const rootDir = await rootDirWith(JSON.stringify({endpoint, process: self}));
    expect(findPrivateEndpoint(rootDir)).toBe(endpoint);
  });

  test.each([
    ['the PID was reused', JSON.stringify({endpoint, process: {...self, startTime: '0'}})],
    ['the machine was rebooted', JSON.stringify({endpoint, process: {...self, bootId: 'x'}})],
    ['the process has exited', JSON.stringify({endpoint, process: {...self, pid: 2 ** 22 + 1}})],
    ['containerd was never started', JSON.stringify({endpoint})],
    ['the record is invalid JSON', '{"endpoint'],
  ])('returns undefined if %s', async (_, record) => {
    expect(findPrivateEndpoint(await rootDirWith(record))).toBeUndefined();
  });

  test('returns undefined if there was no runtime', () => {
    expect(findPrivateEndpoint('/nowhere')).toBeUndefined();
  });
});

describe('process identity', () => {
  test('this process is running', () => {
    expect(self !== undefined && isRunning(self)).toBe(true);
  });

  test('a program name may contain spaces and parentheses', () => {
    const rest = Array.from({length: 20}, (_, index) => String(index + 4));
    expect(parseProcessStat(`12 (a) b) (c) S ${rest.join(' ')}`)).toEqual({
      state: 'S',
      parentPid: 4,
      startTime: '22',
    });
  });
});

test('the status without a runtime is down, with a hint how to start one', async () => {
  const status = await runtimeStatus('/nowhere', new AbortController().signal);
  expect(status).toEqual({state: 'down', root: '/nowhere/runtime', left: []});
  expect(runtimeStatusRows(status)[0]?.[1]).toBe(
    'down: not running, no files remain; start it with "kcri runtime up"',
  );
});

test('the status of a stopped runtime lists what is left', async () => {
  const rootDir = await temporaryDirectory();
  for (const name of ['kcri/locks', 'pods/uid', 'kcri/records'])
    await mkdir(join(rootDir, name), {recursive: true});
  await writeFile(join(rootDir, 'kcri/records', 'uid.json'), '{}');
  const status = await runtimeStatus(rootDir, new AbortController().signal);
  expect(runtimeStatusRows(status)[0]?.[1]).toContain(
    `but files remain in ${rootDir}/pods, ${rootDir}/kcri/records;`,
  );
});

test.each(['/etc/passwd', '/etc/passwd/x'])('the root directory %s is rejected', async (rootDir) => {
  const {signal} = new AbortController();
  const error = /^reading "\/etc\/passwd\/\w+": not a directory$/;
  await expect(runtimeStatus(rootDir, signal)).rejects.toThrow(error);
  if (rootDir !== '/etc/passwd') await expect(takeDownRuntime({rootDir}, signal)).rejects.toThrow(error);
});

test('the status of a killed containerd is dead, with a hint how to repair it', async () => {
  const rootDir = await rootDirWith(
    JSON.stringify({
      endpoint,
      process: {...self, startTime: '0'},
      network: {},
      snapshotter: {},
      iptables: {},
      restrictOomScoreAdj: {},
    }),
  );
  const status = await runtimeStatus(rootDir, new AbortController().signal);
  expect(status).toMatchObject({state: 'dead', pid: undefined, pods: undefined});
  expect(runtimeStatusRows(status).map(([name]) => name)).not.toContain('pods');
  expect(runtimeStatusRows(status)[0]?.[1]).toContain('repair it');
});
