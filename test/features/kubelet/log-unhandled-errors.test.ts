import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {expect, test} from 'vitest';
import {BackgroundError} from '../../../src/base/async/background-work.js';
import {describeOrigin} from '../../../src/features/kubelet/log-unhandled-errors.js';

const run = promisify(execFile);
const MODULE = new URL('../../../dist/features/kubelet/log-unhandled-errors.js', import.meta.url).href;

/** Runs code in a process of its own, which logs unhandled errors as JSON lines to standard output. */
async function runProcess(code: string): Promise<{code: number; lines: Record<string, unknown>[]}> {
  const script = `
    const {logUnhandledErrors} = await import(${JSON.stringify(MODULE)});
    const error = (error, message, fields) => console.log(JSON.stringify({error: String(error), message, ...fields}));
    logUnhandledErrors({forFile: () => ({error})});
    ${code}`;
  const ended = await run(process.execPath, ['--input-type=module', '-e', script]).then(
    ({stdout}) => ({code: 0, stdout}),
    (failure: unknown) => failure as {code: number; stdout: string},
  );
  const lines = ended.stdout.split('\n').filter((line) => line !== '');
  return {code: ended.code, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>)};
}

test('a process with an unhandled rejection logs its part and goes on', async () => {
  const {code, lines} = await runProcess(`
    class PodWorkers { async update() { throw new TypeError('a bug'); } }
    void new PodWorkers().update();
    setTimeout(() => console.log(JSON.stringify({message: 'alive'})), 10);`);
  expect({code, lines}).toMatchObject({
    code: 0,
    lines: [
      {error: 'TypeError: a bug', message: 'Unhandled error, continuing', part: 'PodWorkers.update'},
      {message: 'alive'},
    ],
  });
});

test('an uncaught exception is logged and ends the process', async () => {
  const {code, lines} = await runProcess(`setTimeout(() => { throw new Error('a bug'); }, 1);`);
  expect(code).toBe(1);
  expect(lines).toMatchObject([{error: 'Error: a bug', message: 'Uncaught exception, exiting'}]);
});

test('background work names its part, with the stack of the cause', () => {
  const cause = new Error('a bug');
  expect(describeOrigin(new BackgroundError('eviction', cause))).toEqual({
    part: 'eviction',
    stack: cause.stack,
  });
  expect(describeOrigin('no error')).toEqual({part: 'unknown', stack: undefined});
});
