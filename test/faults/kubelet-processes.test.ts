import {existsSync, readdirSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {once} from 'node:events';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import type {Connection} from '../../src/cri/index.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {KubeletProcesses} from './killable-driver.js';
import {KilledStep} from './killed-step.js';
import {PendingWork} from './pending-work.js';
import {StepProcess} from './step-process.js';

const RUNNER = fileURLToPath(new URL('../../scripts/faults/run-compiled.cjs', import.meta.url));
/** A process that sends what it is asked for, and at 'stop' ends, or does nothing, if its options say so. */
const PROGRAM = `
let endsAtStop = false;
let hangs = false;
process.on('disconnect', () => process.exit());
process.on('message', (message) => {
  if (message === 'steps') process.send({steps: ['a']});
  else if (message === 'pending') process.send({pending: ['rename a b', 'Timeout']});
  else if (message !== 'stop') ({endsAtStop, hangs} = message);
  else if (hangs) return;
  else if (endsAtStop) process.exit(3);
  else process.send({leftResources: ['Timeout']});
});
`;

test('a process whose kubelet has stopped is used again', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, 'program.cjs');
  await writeFile(file, PROGRAM);
  using processes = new KubeletProcesses(file);
  const child = processes.take();
  const first = new StepProcess(child, {});
  expect(await first.askSteps()).toEqual(['a']);
  const names = ['message', 'exit', 'disconnect'] as const;
  expect(await first.stop()).toEqual(['Timeout']);
  expect(names.map((name) => child.listenerCount(name))).toEqual([0, 0, 0]);
  processes.give(child);
  expect(processes.take()).toBe(child);
  const second = new StepProcess(child, {endsAtStop: true});
  expect(second.sentSteps).toBeUndefined();
  await expect(second.stop()).rejects.toThrow('the kubelet ended with 3, but was to stop');
  await second.ended;
  expect(second.exitCode).toBe(3);
});

test('a kubelet that does not stop says what it waits for', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, 'program.cjs');
  await writeFile(file, PROGRAM);
  using processes = new KubeletProcesses(file);
  const process = new StepProcess(processes.take(), {hangs: true});
  await process.askSteps();
  await expect(process.stop(1)).rejects.toThrow(
    /^the kubelet did not stop in 0\.001 s \(ran for .*, waited for a processor for .*\): rename a b; Timeout$/,
  );
  await process.kill();
});

test('the sleeps and the last lines of a kubelet that does not stop are known', async () => {
  const pending = new PendingWork();
  const clock = new FakeClock();
  const stop = new AbortController();
  const watched = pending.watchClock(clock);
  const retrySoon = async (): Promise<void> => {
    await watched.sleep(1000, stop.signal);
  };
  const ended = expect(retrySoon()).rejects.toThrow();
  const log = pending.logger.forFile('a.ts');
  for (let line = 0; line < 20; line++) log.info(`line ${line}`);
  log.error(new Error('busy'), 'Failed');
  const described = pending.describe(['rename a b']);
  expect(described.slice(0, 2)).toEqual([
    'rename a b',
    expect.stringMatching(/^sleep of 1000 ms in retrySoon/),
  ]);
  expect(described.slice(-2)).toEqual(['log: line 19', 'log: Failed: busy']);
  expect(described.filter((text) => text.startsWith('log: '))).toHaveLength(10);
  stop.abort();
  await ended;
  expect(pending.describe([])).not.toContainEqual(expect.stringContaining('sleep'));
});

test('a step is in progress until its promise settles', async () => {
  const killed = new KilledStep();
  let release: (status: object) => void = () => undefined;
  const held = new Promise<object>((resolve) => (release = resolve));
  const connection = {runtime: {status: () => held}, images: {}} as unknown as Connection;
  const {runtime} = killed.watchCalls(connection);
  const status = runtime.status({});
  expect(killed.running).toEqual(['status']);
  release({});
  await status;
  expect(killed.running).toEqual([]);
});

test('a program starts with the code that was compiled for it', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, 'program.cjs');
  const valueOf = async (): Promise<unknown> => {
    using processes = new KubeletProcesses(RUNNER, [file]);
    const child = processes.take();
    const [value] = (await once(child, 'message')) as [unknown];
    const closed = once(child, 'exit');
    child.send('stop');
    await closed;
    return value;
  };
  const programOf = (value: number): string =>
    `process.on('message', () => setImmediate(() => process.exit())); process.send(${value});`;
  await writeFile(file, programOf(1));
  expect(await valueOf()).toBe(1);
  expect(existsSync(`${file}.compiled-${process.version}`)).toBe(true);
  // V8 compares only the length of the source, so this shows that the compiled code runs.
  await writeFile(file, programOf(2));
  expect(await valueOf()).toBe(1);
  expect(readdirSync(directory)).toHaveLength(2);
});
