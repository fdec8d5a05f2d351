import {execFileSync} from 'node:child_process';
import {open, readdir, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {InterruptedError} from '../../../../src/cli/process/interrupt.js';
import {useOwnTemporaryDirectory} from '../../../base/own-temporary-directory.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {runKcri, type RunResult} from '../../../cli/run-kcri.js';
import {until} from '../../../base/until.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {BUSYBOX, FakeRuntime, anImage} from '../../../fakes/fake-runtime.js';
import {aRecordedPod, mutateRecording, randomFrom} from './mutate-recording.js';

/** Number of recordings whose timelines are shown and that are compared, and of those that are replayed, which takes longer. */
const READ = 40;
const REPLAYED = 5;

useOwnTemporaryDirectory();

async function writeRecording(lines: readonly string[]): Promise<string> {
  const file = join(await temporaryDirectory(), 'calls.jsonl');
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
}

/** Returns what of a result shows that the command did not expect its input. */
function faultsOf({stdout, stderr, exitCode}: RunResult): readonly string[] {
  // Everything but line breaks that moves a cursor or changes the direction of text.
  const hidden = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u;
  return [
    ...(/\n\s+at |(?:Type|Range|Syntax|Reference)Error/.test(stderr) ? [stderr] : []),
    ...(exitCode > 2 || (exitCode !== 0 && stdout === '' && stderr === '') ? [`exit code ${exitCode}`] : []),
    ...(hidden.test(stderr) ? ['control characters in standard error'] : []),
    ...(hidden.test(stdout) ? ['control characters in standard output'] : []),
  ];
}

const FORMS = [[], ['-o', 'table'], ['-o', 'yaml'], ['--svg=-'], ['--html=-']];
const DATA = [['-o', 'json'], ['--trace=-']];

async function timelineFaults(file: string): Promise<readonly unknown[]> {
  const faults: unknown[] = [];
  for (const form of FORMS) {
    const result = await runKcri(['timeline', file, ...form]);
    // In YAML, only what is not printable is escaped.
    const shown = form.includes('yaml') ? {...result, stdout: ''} : result;
    faults.push(...faultsOf(shown));
  }
  for (const form of DATA) {
    const result = await runKcri(['timeline', file, ...form]);
    if (result.exitCode === 0) JSON.parse(result.stdout);
    faults.push(...faultsOf({...result, stdout: ''}));
  }
  return faults;
}

const seeds = (first: number, length: number) => Array.from({length}, (_, index) => first + index);
const hostile = (seed: number) => mutateRecording(aRecordedPod(), randomFrom(seed));

test('the timeline of a hostile recording is an error or a picture without control characters', async () => {
  for (const seed of seeds(1000, READ)) {
    const faults = await timelineFaults(await writeRecording(hostile(seed)));
    expect(faults, `seed ${seed}`).toEqual([]);
  }
});

test('hostile recordings are compared, or an error says why not', async () => {
  const whole = await writeRecording(aRecordedPod());
  for (const seed of seeds(2000, READ)) {
    const [a, b] = [await writeRecording(hostile(seed)), await writeRecording(hostile(seed + 500))];
    for (const files of [
      [a, whole],
      [whole, a],
      [a, b],
    ] as const)
      expect(faultsOf(await diff(...files)), `seed ${seed}`).toEqual([]);
  }
});

/** Compares two recordings on a terminal: in a pipe, text is not escaped. */
async function diff(a: string, b: string): Promise<RunResult> {
  return await runKcri(['record', 'diff', a, b], {terminal: true});
}

/** Replays on a clock whose pauses take no time. */
async function replay(file: string): Promise<RunResult> {
  await using runtime = await FakeRuntime.start({images: [anImage({name: BUSYBOX})]});
  const clock = new FakeClock();
  let isDone = false;
  const running = runKcri(['replay', file], {endpoint: runtime.endpoint, clock, terminal: true}).finally(
    () => {
      isDone = true;
    },
  );
  await until(async () => {
    if (clock.untilNextMs !== undefined) await clock.advance(clock.untilNextMs);
    return isDone;
  });
  return await running;
}

test('hostile recordings are replayed, or an error says why not, and nothing is left', async () => {
  for (const seed of seeds(3000, REPLAYED)) {
    expect(faultsOf(await replay(await writeRecording(hostile(seed)))), `seed ${seed}`).toEqual([]);
    const left = (await readdir(tmpdir())).filter((name) => name.startsWith('kcri-replay-'));
    expect(left, `seed ${seed}`).toEqual([]);
  }
});

/** Returns the recording with a text in the place of another one, wherever it is. */
const replaced = (text: string, by: string) => aRecordedPod().map((line) => line.replaceAll(text, by));
const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

test.each<readonly [string, readonly string[]]>([
  ['the name of a member of every object', replaced('"web"', '"constructor"')],
  ['the name of the prototype of every object', replaced('"web"', '"__proto__"')],
  ['an annotation that every object has', replaced('"note"', '"constructor"')],
  ['values that are nested 100,000 times', replaced('"text"', DEEP)],
  ['variables that are none', replaced('{"key":"MODE","value":"YQ=="}', 'null')],
  ['a value of a variable that is a number', replaced('"YQ=="', '5')],
  ['an ID that is a list', replaced('"containerId":"c', '"containerId":[],"x":"c')],
  ['endless calls', replaced('"durationMs":20.5', '"durationMs":1e999')],
  ['calls that end before they start', replaced('"durationMs":20.5', '"durationMs":-5')],
  ['calls that end after the last year', replaced('"durationMs":20.5', '"durationMs":1e300')],
  ['times after the last year', replaced('"2026-11-29', '"+275760-09-12')],
  ['the last second of the last year', replaced('"2026-11-29T12:00:00', '"9999-12-31T23:59:59')],
  ['exits in the far future', replaced('1795953600400000000', '9'.repeat(300))],
  [
    'controls and changes of the direction of text',
    replaced('"web"', String.raw`"\u202e\u001b[2J\u0085\ud800"`),
  ],
  ['a response without a request', replaced('"request":', '"other":')],
])('a recording with %s is read', async (_, lines) => {
  const file = await writeRecording(lines);
  expect(await timelineFaults(file)).toEqual([]);
  expect(faultsOf(await diff(file, await writeRecording(aRecordedPod())))).toEqual([]);
  expect(faultsOf(await replay(file))).toEqual([]);
});

test('calls with impossible times are left out of the timeline, and counted', async () => {
  const lines = aRecordedPod().map((line) =>
    line.replace(/"durationMs":20.5(.*StartContainer)/, '"durationMs":1e300$1'),
  );
  const file = await writeRecording([...lines, ...replaced('"2026-11-29', '"+275760-09-12').slice(1, 2)]);
  const {stdout, stderr, exitCode} = await runKcri(['timeline', file]);
  expect(stderr).toBe(`kcri: warning: 1 call of "${file}" left out: their times are damaged\n`);
  expect(stdout).toMatch(/^default\/web\n/);
  expect(exitCode).toBe(0);
});

test('a line that is longer than a recorder writes is skipped, and so are those that it has lost', async () => {
  const long = `{"x":"${'x'.repeat(17 * 1024 * 1024)}"}`;
  const file = await writeRecording([...aRecordedPod(), long, '{"lost":2}', '{"lost":1}']);
  const {stderr, exitCode} = await runKcri(['timeline', file]);
  expect(stderr).toBe(
    `kcri: warning: 1 damaged line of "${file}" skipped\n` +
      `kcri: warning: 3 lines of "${file}" missing: the recorder could not write them in time\n`,
  );
  expect(exitCode).toBe(0);
});

test('a compressed recording is an error that says so', async () => {
  const file = join(await temporaryDirectory(), 'calls.jsonl');
  await writeFile(file, gzipSync(aRecordedPod().join('\n')));
  const {stderr, exitCode} = await runKcri(['timeline', file]);
  expect(stderr).toBe(`kcri: "${file}" is compressed\nhint: decompress it first: "gunzip -k FILE"\n`);
  expect(exitCode).toBe(1);
});

describe.each([['timeline'], ['record diff'], ['replay']])('%s', (command) => {
  test.each([[false], [true]])(
    'is interrupted while it waits for a FIFO (that has a writer: %s)',
    async (hasWriter) => {
      const fifo = join(await temporaryDirectory(), 'calls.jsonl');
      execFileSync('mkfifo', [fifo]);
      const controller = new AbortController();
      const files = command === 'record diff' ? [fifo, fifo] : [fifo];
      const running = runKcri([...command.split(' '), ...files], {signal: controller.signal});
      // Without a reader, it could not be opened for writing only.
      await using writer = hasWriter ? await open(fifo, 'r+') : undefined;
      await writer?.write(`${aRecordedPod()[0] ?? ''}\n`);
      controller.abort(new InterruptedError('SIGINT'));
      expect((await running).exitCode).toBe(130);
    },
  );
});
