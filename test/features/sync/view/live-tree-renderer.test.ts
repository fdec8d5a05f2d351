import {renameSync, writeFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {InterruptedError} from '../../../../src/cli/process/interrupt.js';
import {anImage} from '../../../fakes/fake-runtime.js';
import {
  aContainerSpec,
  aManifest,
  createTestbed,
  aScript,
  NO_LEFTOVERS,
} from '../../../commands/command-testbed.js';
import {runOnTerminal, FakeTerminal} from '../../../cli/terminal/fake-terminal.js';
import {until} from '../../../base/until.js';
import {AutoAdvance, FakeClock, TEST_TIME_MS} from '../../../fakes/fake-clock.js';

const withoutTimes = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{13}/g, 'ID')
    .replaceAll(/ {2}[\d.]+m?s$/gm, '  T')
    .replace(/in [\d.]+m?s$/, 'in T');

describe('the live tree', () => {
  test('ends with the pod, its sandbox and its containers, and the time of each step', async () => {
    const testbed = await createTestbed();
    const terminal = new FakeTerminal();
    const initContainers = [aScript('setup', 'true')];
    const containers = [aContainerSpec('main'), aContainerSpec('logger')];
    const file = await testbed.write('web.json', aManifest({initContainers, containers}));
    const {exitCode, stderr} = await runOnTerminal(testbed, terminal, ['sync', file]);
    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(withoutTimes(terminal.text)).toBe(
      [
        '  default/web  Running  10.244.0.2',
        '  ├─ sandbox ID  ready  T',
        '  ├─ init setup             completed  T',
        '  ├─ logger                 running  T',
        '  └─ main                   running  T',
        '1 pod ready in T',
      ].join('\n'),
    );
    expect(terminal.cursorVisible).toBe(true);
  });

  test.each([{}, {LANG: 'C'}, {LANG: 'de_DE.UTF-8', LC_ALL: 'POSIX'}])(
    'consists of ASCII characters with the locale %j',
    async (locale) => {
      const testbed = await createTestbed();
      const terminal = new FakeTerminal(70);
      const containers = [aContainerSpec('main'), aContainerSpec('x'.repeat(63))];
      const file = await testbed.write('web.json', aManifest({containers}));
      const env = {CONTAINER_RUNTIME_ENDPOINT: testbed.runtime.endpoint, ...locale};
      let isAscii = true;
      terminal.stream.on('data', (bytes: Buffer) => {
        isAscii &&= /^[\x00-\x7F]*$/.test(bytes.toString());
      });
      expect(await runOnTerminal(testbed, terminal, ['sync', file], {env})).toMatchObject({exitCode: 0});
      expect(isAscii).toBe(true);
      expect(terminal.text).toContain('  |- main ');
      expect(terminal.text).toMatch(/^ {2}`- xxx.*~$/m);
    },
  );

  test.each(['dumb', 'unknown', 'emacs'])('is replaced by lines on a terminal of type %s', async (TERM) => {
    const testbed = await createTestbed();
    const terminal = new FakeTerminal();
    const written: string[] = [];
    terminal.stream.on('data', (bytes: Buffer) => written.push(bytes.toString()));
    const env = {CONTAINER_RUNTIME_ENDPOINT: testbed.runtime.endpoint, LANG: 'C.UTF-8', TERM};
    const file = await testbed.write('web.json', aManifest());
    expect(await runOnTerminal(testbed, terminal, ['sync', file], {env})).toMatchObject({exitCode: 0});
    expect(written.join('')).not.toContain('\u001B');
    expect(written.join('')).toMatch(/^default\/web: ready\r?\n1 pod ready in /m);
  });

  test('shows the current activity', async () => {
    const testbed = await createTestbed({images: [], registry: [anImage()]});
    testbed.runtime.injectDelay('PullImage', 250);
    const terminal = new FakeTerminal();
    const activities = new Set<string>();
    terminal.stream.on('data', () => {
      for (const [, current] of terminal.text.matchAll(/(?:Pending|\.\d+) {2}(?:\d+s {2})?(\S.*) …$/gm))
        activities.add(current!);
    });
    await runOnTerminal(testbed, terminal, ['sync', await testbed.write('web.json', aManifest())]);
    expect([...activities]).toEqual([
      'inspecting',
      'creating the sandbox',
      'pulling image localhost:5000/busybox:1',
      'creating container main',
      'starting container main',
    ]);
  });

  test('counts the seconds of the wait for a pod, until its result is known', async () => {
    const testbed = await createTestbed();
    const terminal = new FakeTerminal();
    const times: number[] = [];
    terminal.stream.on('data', () => {
      const [, seconds] = /^ {2}default\/web {2}Running {2}[\d.]+ {2}(\d+)s$/m.exec(terminal.text) ?? [];
      if (seconds !== undefined) times.push(Number(seconds));
    });
    const clock = new FakeClock({nowMs: TEST_TIME_MS});
    using _ = new AutoAdvance(clock);
    const file = await testbed.write('web.json', aManifest({restartPolicy: 'Never'}));
    const args = ['sync', file, '--wait', 'complete', '--timeout', '20s'];
    expect(await runOnTerminal(testbed, terminal, args, {clock})).toMatchObject({exitCode: 124});
    expect(new Set(times).size).toBeGreaterThan(5);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(terminal.text).toMatch(/^ {2}default\/web {2}Running {2}[\d.]+$/m);
  });

  test.each([200, 40, 20, 8, 1])('never exceeds a width of %i columns', async (columns) => {
    const testbed = await createTestbed();
    const terminal = new FakeTerminal(columns);
    const name = `a-rather-${'long-'.repeat(8)}name`;
    const containers = [aContainerSpec(`c-${'x'.repeat(50)}`), aScript('short', 'exit 3')];
    const manifest = aManifest({
      name,
      metadata: {namespace: 'a-namespace'},
      containers,
      restartPolicy: 'Never',
    });
    const {exitCode} = await runOnTerminal(testbed, terminal, [
      'sync',
      await testbed.write('web.json', manifest),
    ]);
    expect(exitCode).toBe(1);
    expect(terminal.wrapped.filter((line) => !line.startsWith('1 pod failed'))).toEqual([]);
    expect(terminal.text).toMatch(/^ {2}a-namespace|…|^$/m);
  });

  test('fits the terminal while it is redrawn, and is complete at the end', async () => {
    const testbed = await createTestbed();
    const terminal = new FakeTerminal(80, 10);
    const containers = Array.from({length: 30}, (_, index) => aContainerSpec(`c${index}`));
    const file = await testbed.write('web.json', aManifest({containers}));
    let tallest = 0;
    terminal.stream.on('data', () => {
      // The last container first appears in the last frame.
      if (!terminal.text.includes('c29')) tallest = terminal.tallest;
    });
    expect(await runOnTerminal(testbed, terminal, ['sync', file])).toMatchObject({exitCode: 0});
    expect(tallest).toBe(10);
    expect(terminal.text.split('\n')).toHaveLength(33);
  });

  test('shows several pods by name', async () => {
    const testbed = await createTestbed();
    const terminal = new FakeTerminal();
    const file = await testbed.write(
      'two.yaml',
      `${aManifest({name: 'a'})}\n---\n${aManifest({name: 'b'})}\n`,
    );
    await runOnTerminal(testbed, terminal, ['sync', file]);
    expect(terminal.text.match(/^ {2}default\/[ab] {2}Running/gm)?.toSorted()).toEqual([
      '  default/a  Running',
      '  default/b  Running',
    ]);
  });

  test('shows a replaced pod as removed', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', await testbed.write('web.json', aManifest())]);
    const terminal = new FakeTerminal();
    const file = await testbed.write('web.json', aManifest({hostname: 'other'}));
    await runOnTerminal(testbed, terminal, ['sync', file]);
    expect(terminal.text).toMatch(
      /^ {2}default\/web {2}Removed\n {2}default\/web {2}Running {2}10\.244\.0\.3\n/,
    );
  });

  test('shows a deleted pod with its stopped containers', async () => {
    const testbed = await createTestbed();
    const terminal = new FakeTerminal();
    await runOnTerminal(testbed, terminal, ['sync', await testbed.write('web.json', aManifest()), '--rm']);
    expect(withoutTimes(terminal.text)).toBe(
      [
        '  default/web  Removed',
        '  ├─ sandbox ID  removed',
        '  └─ main                   stopped',
        '1 pod ready in T',
      ].join('\n'),
    );
  });

  test('lets logs scroll above it', async () => {
    const testbed = await createTestbed();
    const terminal = new FakeTerminal();
    const spec = {restartPolicy: 'Never', containers: [aScript('main', 'echo one; echo two; exit 3')]};
    const file = await testbed.write('job.json', aManifest(spec));
    const args = ['sync', file, '--wait', 'complete', '--logs'];
    expect(await runOnTerminal(testbed, terminal, args)).toMatchObject({exitCode: 3});
    expect(withoutTimes(terminal.text)).toBe(
      [
        'main | one',
        'main | two',
        '  default/web  Failed',
        '  ├─ sandbox ID  stopped',
        '  └─ main                   exited with code 3  T',
        '1 pod failed in T',
      ]
        .join('\n')
        .replace('Failed', 'Failed  10.244.0.2'),
    );
  });
});

describe('the cursor is shown again', () => {
  test.each([
    ['an error', {containers: [aContainerSpec('main', {image: 'nothing:1'})]}, [], 1],
    ['a timeout', {restartPolicy: 'Never'}, ['--wait', 'complete', '--timeout', '150ms'], 124],
    ['--rm', {}, ['--rm'], 0],
  ])('after %s', async (_, spec, flags, code) => {
    const testbed = await createTestbed();
    const terminal = new FakeTerminal();
    const file = await testbed.write('web.json', aManifest(spec));
    expect(await runOnTerminal(testbed, terminal, ['sync', file, ...flags])).toMatchObject({exitCode: code});
    expect(terminal.cursorVisible).toBe(true);
  });

  test('after Ctrl-C, and the hint is shown in full', async () => {
    const testbed = await createTestbed();
    const terminal = new FakeTerminal(30);
    const controller = new AbortController();
    const file = await testbed.write('web.json', aManifest({restartPolicy: 'Never'}));
    const running = runOnTerminal(testbed, terminal, ['sync', file, '--wait', 'complete'], {
      signal: controller.signal,
    });
    await until(() => testbed.runtime.callsTo('StartContainer').length !== 0);
    expect(terminal.cursorVisible).toBe(false);
    controller.abort(new InterruptedError('SIGINT'));
    const {exitCode, stderr} = await running;
    expect(exitCode).toBe(130);
    expect(stderr).toContain('hint: run "kcri delete default/web" to delete it\n');
    expect(terminal.cursorVisible).toBe(true);
  });

  test('when the process exits immediately', async () => {
    const testbed = await createTestbed();
    const terminal = new FakeTerminal();
    const before = new Set(process.listeners('exit'));
    const controller = new AbortController();
    const file = await testbed.write('web.json', aManifest({restartPolicy: 'Never'}));
    const args = ['sync', file, '--wait', 'complete', '--rm'];
    const running = runOnTerminal(testbed, terminal, args, {signal: controller.signal});
    await until(() => testbed.runtime.callsTo('StartContainer').length !== 0);
    const added = process.listeners('exit').filter((listener) => !before.has(listener));
    expect(added).toHaveLength(1);
    added[0]!(130);
    await new Promise((resolve) => setImmediate(resolve));
    expect(terminal.cursorVisible).toBe(true);
    controller.abort(new InterruptedError('SIGINT'));
    await running;
    expect(process.listeners('exit').filter((listener) => !before.has(listener))).toEqual([]);
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

test('waiting for another kcri is shown above the tree', async () => {
  const testbed = await createTestbed();
  testbed.runtime.injectDelay('RunPodSandbox', 200);
  const file = await testbed.write('web.json', aManifest());
  const first = testbed.run(['sync', file]);
  await until(() => testbed.runtime.callsTo('RunPodSandbox').length !== 0);
  const terminal = new FakeTerminal();
  expect(await runOnTerminal(testbed, terminal, ['sync', file])).toMatchObject({exitCode: 0});
  await first;
  expect(terminal.text).toMatch(
    /^default\/web: waiting for another kcri process \(PID \d+\) to release this pod\n/,
  );
});

describe('other output to the terminal', () => {
  test('is shown above the tree: a warning about referenced objects', async () => {
    const testbed = await createTestbed();
    const terminal = new FakeTerminal();
    const file = await testbed.write('web.json', aManifest({restartPolicy: 'Never'}));
    terminal.stream.on('data', () => {
      if (!/main +running/.test(terminal.text)) return;
      // Renames atomically, since an empty file could be read otherwise.
      writeFileSync(`${file}.new`, '{');
      renameSync(`${file}.new`, file);
    });
    const args = ['sync', file, '--wait', 'complete', '--timeout', '2m'];
    const clock = new FakeClock({nowMs: TEST_TIME_MS});
    using _ = new AutoAdvance(clock);
    const {exitCode} = await runOnTerminal(testbed, terminal, args, {clock, stderr: terminal.stream});
    expect(exitCode).toBe(124);
    expect(terminal.text).toMatch(
      /^kcri: warning: keeping the ConfigMaps and Secrets read before: [^\n]*\n(?: {4}.*\n)+ {2}default\/web {2}Running.*\n {2}├─ sandbox.*\n {2}└─ main.*\n1 pod timed out in 120\.0s\nkcri: pod/,
    );
    expect(terminal.text.match(/default\/web {2}/g)).toHaveLength(1);
  });

  test('is shown above the tree: lines of --debug', async () => {
    const testbed = await createTestbed();
    const terminal = new FakeTerminal();
    const file = await testbed.write('web.json', aManifest());
    await runOnTerminal(testbed, terminal, ['sync', file, '-D'], {stderr: terminal.stream});
    const lines = terminal.text.split('\n');
    const isDebug = (line: string): boolean => /^[<>] \w+ \{.*\}(?: \(\d+ms\))?$/.test(line);
    expect(lines.filter((line) => !isDebug(line))).toEqual([
      expect.stringContaining('default/web  Running'),
      expect.stringContaining('sandbox'),
      expect.stringContaining('main'),
      expect.stringMatching(/^1 pod ready in /),
    ]);
    expect(lines.slice(-3).some(isDebug)).toBe(false);
  });
});
