import {expect, test} from 'vitest';
import {FakeTerminal} from '../../cli/terminal/fake-terminal.js';
import {aManifest, createTestbed, type CommandTestbed} from '../command-testbed.js';
import {interruptAt, runKcriOnTerminal} from '../interrupt-watch.js';

async function syncPods(testbed: CommandTestbed, ...names: readonly string[]): Promise<void> {
  const manifests = names.map((name) => aManifest({name}));
  const {exitCode, stderr} = await testbed.run(['sync', '-'], {stdin: manifests.join('\n---\n')});
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
}

/** Runs top on a terminal and interrupts it when the screen matches. */
async function top(testbed: CommandTestbed, terminal: FakeTerminal, until: RegExp, env = {}) {
  const {signal, onStdout} = interruptAt(until);
  terminal.stream.on('data', (chunk: Buffer) => {
    onStdout(chunk.toString());
  });
  const args = ['--root-dir', testbed.rootDir, 'top'];
  return await runKcriOnTerminal(terminal, args, {endpoint: testbed.runtime.endpoint, signal, env});
}

/** Returns the screen without the line of the cursor. */
const screenLines = (terminal: FakeTerminal): readonly string[] =>
  terminal.lines.slice(0, -1).map((line) => line.trimEnd());

test('redraws pods and events on a terminal until Ctrl-C, which is success', async () => {
  const testbed = await createTestbed();
  await syncPods(testbed, 'api', 'web');
  const terminal = new FakeTerminal(100, 24);
  expect(await top(testbed, terminal, /(CPU %[^]*){4}/)).toEqual({exitCode: 0, stderr: ''});
  const [time, header, ...rest] = screenLines(terminal);
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S+$/);
  expect(header).toMatch(/^POD +READY +STATE +RESTARTS +CPU % +MEM +AGE +PROBES$/);
  expect(rest.slice(0, 5)).toEqual([
    expect.stringMatching(/^default\/api +1\/1 +Running +0 /),
    expect.stringMatching(/^ {2}main +yes +Running +0 /),
    expect.stringMatching(/^default\/web +1\/1 +Running +0 /),
    expect.stringMatching(/^ {2}main +yes +Running +0 /),
    '',
  ]);
  expect(rest[5]).toMatch(/^\d+s +default\/\w+\/\w+ {2}(Normal|Warning) {2}/);
  expect(screenLines(terminal).filter((line) => line.startsWith('POD '))).toHaveLength(1);
  expect(terminal.cursorVisible).toBe(true);
});

test.each(['dumb', 'unknown', 'emacs'])(
  'prints tables one below the other on a terminal of type %s',
  async (TERM) => {
    const testbed = await createTestbed();
    await syncPods(testbed, 'web');
    const terminal = new FakeTerminal(100, 24);
    let output = '';
    terminal.stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    let stopped = Promise.resolve();
    terminal.stream.once('data', () => {
      stopped = testbed.runtime.stop();
    });
    const {exitCode, stderr} = await top(testbed, terminal, /(CPU %[^]*){4}/, {TERM});
    await stopped;
    expect(exitCode).toBe(0);
    expect(output).not.toContain('\u001B');
    expect(screenLines(terminal).filter((line) => line.startsWith('POD ')).length).toBeGreaterThan(2);
    // Once, not with each table.
    expect(stderr.match(/^kcri: warning: .*is unavailable/gm)).toHaveLength(1);
  },
);

test.each([
  [40, 6],
  [20, 5],
  [200, 3],
  [10, 24],
])('fits a terminal of %i × %i', async (columns, rows) => {
  const testbed = await createTestbed();
  await syncPods(testbed, 'api', 'web');
  const terminal = new FakeTerminal(columns, rows);
  expect((await top(testbed, terminal, /([TZ:\d+-]{9,}(\u001B\[K)?\n[^]*){4}/)).exitCode).toBe(0);
  expect(terminal.wrapped).toEqual([]);
  expect(terminal.tallest).toBeLessThanOrEqual(rows);
});

test('counts rows that do not fit', async () => {
  const testbed = await createTestbed();
  await syncPods(testbed, 'api', 'web');
  const terminal = new FakeTerminal(100, 6);
  await top(testbed, terminal, /(CPU %[^]*){3}/);
  expect(screenLines(terminal)).toHaveLength(5);
  expect(screenLines(terminal).at(-1)).toMatch(/^\.\.\. \d+ more$/);
});

test('shows an unavailable runtime below the pods', async () => {
  const testbed = await createTestbed();
  await syncPods(testbed, 'web');
  const terminal = new FakeTerminal(300, 24);
  let stopped = Promise.resolve();
  let frames = 0;
  terminal.stream.on('data', (chunk: Buffer) => {
    frames += chunk.toString().includes('POD ') ? 1 : 0;
    if (frames === 2) stopped = testbed.runtime.stop();
  });
  const {exitCode, stderr} = await top(testbed, terminal, /(warning:[^]*POD [^]*){2}/);
  await stopped;
  expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
  expect(screenLines(terminal).at(-1)).toMatch(/^warning: .*is unavailable/);
  expect(screenLines(terminal).filter((line) => line.startsWith('default/web'))).toHaveLength(1);
});

test('shows pods that are created and deleted while it runs', async () => {
  const testbed = await createTestbed();
  await syncPods(testbed, 'web');
  const terminal = new FakeTerminal(100, 24);
  let changed = Promise.resolve();
  terminal.stream.once('data', () => {
    changed = syncPods(testbed, 'later');
  });
  expect((await top(testbed, terminal, /default\/later +1\/1 +Running/)).exitCode).toBe(0);
  await changed;
  expect(screenLines(terminal).filter((line) => line.startsWith('default/'))).toHaveLength(2);
});
