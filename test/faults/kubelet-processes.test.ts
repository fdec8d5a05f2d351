import {existsSync, readdirSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {once} from 'node:events';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {KubeletProcesses} from './killable-driver.js';
import {StepProcess} from './step-process.js';

const RUNNER = fileURLToPath(new URL('../../scripts/faults/run-compiled.cjs', import.meta.url));
/** A process that sends what it is asked for, and ends at 'stop' if its options say so. */
const PROGRAM = `
let endsAtStop = false;
process.on('disconnect', () => process.exit());
process.on('message', (message) => {
  if (message === 'steps') process.send({steps: ['a']});
  else if (message !== 'stop') endsAtStop = message.endsAtStop;
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
  expect(await second.stop()).toBeUndefined();
  await second.ended;
  expect(second.exitCode).toBe(3);
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
