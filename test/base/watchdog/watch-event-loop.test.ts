import {execFile} from 'node:child_process';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {transpile} from '../transpile.js';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kcri-watchdog-'));
  await transpile('base/watchdog/watch-event-loop', directory);
});
afterAll(async () => {
  await rm(directory, {recursive: true});
});

interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program with a watchdog that is a hundred times as fast as the daemon's, until the program ends. */
async function run(program: string, nodeOptions: readonly string[] = []): Promise<Ending> {
  const path = join(directory, 'program.js');
  await writeFile(
    path,
    `import {watchEventLoop} from './base/watchdog/watch-event-loop.js';
    const watch = watchEventLoop({
      limits: {tickMs: 10, blockedTicks: 5, fatalTicks: 100},
      onBlocked: (message) => onBlocked(message),
      onError: (error) => console.log('error', error),
    });
    let onBlocked = () => undefined;
    ${program}`,
  );
  return await new Promise((resolve) => {
    const child = execFile(process.execPath, [...nodeOptions, path], (_, stdout, stderr) => {
      resolve({code: child.exitCode, signal: child.signalCode, stdout, stderr});
    });
  });
}

test.each([
  {name: 'a loop without an end', body: 'for (let x = 0; ; x++) Math.sqrt(x);', frame: /at spin \(/},
  {name: 'an endless regular expression', body: "/^(a+)+$/.test('a'.repeat(99) + 'b');", frame: /at spin \(/},
  {
    name: 'promises without an end',
    body: 'const next = async () => 1; for (;;) await next();',
    frame: /at (?:async )?(?:spin|next)/,
  },
])('$name ends the process with a message that shows it', async ({body, frame}) => {
  const {signal, stderr} = await run(`async function spin() { ${body} } await spin();`);
  expect(signal).toBe('SIGABRT');
  expect(stderr).toMatch(
    /^fatal: the event loop has been blocked for 1 s, ending the process; the main thread is in\n +at /,
  );
  expect(stderr).toMatch(frame);
});

test('a system call that does not return ends the process without a stack', async () => {
  const {signal, stderr} = await run(
    `const {execFileSync} = await import('node:child_process');
    execFileSync('tail', ['-f', '--pid=' + process.pid, '/dev/null']);`,
  );
  expect(signal).toBe('SIGABRT');
  expect(stderr).toContain('it does not run JavaScript');
});

test('a block that ends is reported with its stack and length', async () => {
  const {code, stdout} = await run(
    `let isReported = false;
    onBlocked = ({blockedMs, stack}) => {
      isReported = true;
      console.log(blockedMs >= 50, stack);
    };
    function busy() {
      const end = performance.now() + 200;
      while (performance.now() < end);
    }
    while (!isReported) {
      busy();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }`,
  );
  expect(code).toBe(0);
  expect(stdout).toMatch(/^true +at [^]*\bbusy \(/);
});

const BUSY = `const end = performance.now() + 1500;
    while (performance.now() < end);`;

test('an idle process ends at once, although it is watched', async () => {
  expect(await run('')).toEqual({code: 0, signal: null, stdout: '', stderr: ''});
});

test.each([
  {name: 'a disposed watchdog', program: `watch[Symbol.dispose](); ${BUSY}`, nodeOptions: []},
  {name: 'the watchdog of a process with a debugger', program: BUSY, nodeOptions: ['--inspect=0']},
])('$name lets the event loop block', async ({program, nodeOptions}) => {
  expect(await run(program, nodeOptions)).toMatchObject({code: 0, signal: null});
});

test('a suspended process is not blocked', async () => {
  // The process stops itself, and its child lets it go on after more than the watchdog's time.
  const {code, signal} = await run(
    `const {spawn} = await import('node:child_process');
    const child = spawn('sh', ['-c', \`kill -STOP \${process.pid}; sleep 1.5; kill -CONT \${process.pid}\`]);
    await new Promise((resolve) => child.on('close', resolve));
    await new Promise((resolve) => setTimeout(resolve, 100));`,
  );
  expect({code, signal}).toEqual({code: 0, signal: null});
});
