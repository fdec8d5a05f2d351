import {appendFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {runTop, ScreenTerminal} from '../../features/top/screen-terminal.js';
import {aContainer, aSandbox} from '../../fakes/fake-runtime.js';
import {aManifest, createTestbed, type CommandTestbed} from '../command-testbed.js';

const KUBELET_POD = aSandbox({name: 'coredns', namespace: 'kube-system', uid: 'uid-of-dns'});

async function testbedWithPods(): Promise<CommandTestbed> {
  const testbed = await createTestbed({
    sandboxes: [KUBELET_POD],
    containers: [aContainer({sandbox: KUBELET_POD, name: 'server'})],
  });
  const {exitCode, stderr} = await testbed.run(['sync', '-'], {stdin: aManifest()});
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
  testbed.runtime.clearCalls();
  return testbed;
}

/** Waits for a screen that matches. */
async function screen(terminal: ScreenTerminal, pattern: RegExp): Promise<void> {
  await until(
    () => pattern.test(terminal.screen),
    () => `${String(pattern)} on the screen:\n${terminal.screen}`,
  );
}

test('fills the screen, follows its size, shows texts, and restores the terminal', async () => {
  const testbed = await testbedWithPods();
  const terminal = new ScreenTerminal(60, 20);
  const running = runTop(testbed, terminal, {env: {NO_COLOR: '1'}});
  await screen(terminal, /^NAME +READY STATE +RESTARTS +CPU%▼ +MEM\n[\s\S]*^default\/web +1\/1 +Running /m);
  await screen(terminal, /^kube-system\/coredns +1\/1 +Running/m);
  expect({modes: [...terminal.modes], raw: terminal.isRaw}).toEqual({modes: ['1049'], raw: true});
  terminal.resize(200, 60);
  await screen(terminal, /^NAME .* MANAGER .* CONTAINER ID\n/m);
  terminal.type('/dns\r');
  await screen(terminal, /^NAME .*\nkube-system\/coredns .*\n └ server .*\n\n/m);
  terminal.type('d');
  await screen(terminal, /^ Description {2}kube-system\/coredns.*\nName: +coredns\n/m);
  terminal.type('q');
  await screen(terminal, /^NAME /m);
  terminal.type('x');
  await screen(terminal, /the kubelet of this node would create kube-system\/coredns again/);
  expect(testbed.mutatingCalls).toEqual([]);
  terminal.type('q');
  expect(await running).toEqual({exitCode: 0, stderr: ''});
  expect({modes: [...terminal.modes], raw: terminal.isRaw}).toEqual({modes: ['25'], raw: false});
  // Resets, bold, underlined and inverse: no colors.
  expect([...terminal.styles].filter((style) => /^(?:[34][0-8]|9\d|10\d)$/.test(style))).toEqual([]);
});

test('deletes a pod after the question, and waits for it', async () => {
  const testbed = await testbedWithPods();
  const terminal = new ScreenTerminal(80, 24);
  const running = runTop(testbed, terminal);
  await screen(terminal, /^default\/web /m);
  terminal.type('/web\rx');
  await screen(terminal, /Delete pod default\/web\? \(y\/n\)/);
  terminal.type('y');
  await screen(terminal, /No pod or container contains "web"/);
  expect(await testbed.records()).toEqual([]);
  expect(testbed.runtime.sandboxes.map(({config}) => config.metadata?.name)).toEqual(['coredns']);
  terminal.type('\u0003');
  expect(await running).toEqual({exitCode: 0, stderr: ''});
});

test('shows that the runtime is unavailable, with the last rows, and recovers', async () => {
  const testbed = await testbedWithPods();
  const terminal = new ScreenTerminal(100, 24);
  const running = runTop(testbed, terminal);
  await screen(terminal, /^kube-system\/coredns /m);
  testbed.runtime.injectError('ListPodSandbox', {code: 'INTERNAL', message: 'the runtime restarts'});
  await screen(terminal, /the runtime restarts/);
  expect(terminal.screen).toMatch(/^kube-system\/coredns /m);
  testbed.runtime.clearFaults();
  await screen(terminal, /^ 1 of 4$/m);
  terminal.type('q');
  expect((await running).exitCode).toBe(0);
});

test('a runtime that fails only while the statuses are read is not reported after the next sample', async () => {
  const testbed = await testbedWithPods();
  const terminal = new ScreenTerminal(100, 24);
  // The first call of a sample finds the pods, the second one reads the statuses of kcri's.
  const fault = {code: 'INTERNAL', message: 'the runtime restarts', skip: 1, times: 1} as const;
  testbed.runtime.injectError('ListPodSandbox', fault);
  const running = runTop(testbed, terminal);
  // The failed call, and two samples after it.
  await until(() => {
    const calls = testbed.runtime.callsTo('ListPodSandbox');
    const failed = calls.findIndex(({code}) => code === 'Internal');
    return failed > 0 && calls.length > failed + 4;
  });
  await screen(terminal, /^ 1 of 4$/m);
  terminal.type('q');
  expect((await running).exitCode).toBe(0);
});

test.each([
  ['dumb', {TERM: 'dumb'}],
  ['linux', {TERM: 'linux'}],
])('prints tables on a terminal without a full screen: %s', async (_name, env) => {
  const testbed = await testbedWithPods();
  const terminal = new ScreenTerminal(100, 24);
  terminal.stdout.once('data', () => terminal.stdout.destroy());
  expect((await runTop(testbed, terminal, {env})).exitCode).toBe(0);
  expect(terminal.modes.has('1049')).toBe(false);
  expect(terminal.isRaw).toBe(false);
});

test.each([
  [20, 5, /^terminal too small$/m],
  [300, 24, /^NAME .* CONTAINER ID\n/m],
  [10, 3, /^terminal$/m],
])('the full screen stays within a terminal of %i × %i', async (columns, rows, pattern) => {
  const testbed = await testbedWithPods();
  const terminal = new ScreenTerminal(80, 24);
  const running = runTop(testbed, terminal);
  await screen(terminal, /^default\/web /m);
  terminal.resize(columns, rows);
  await screen(terminal, pattern);
  const lines = terminal.screen.split('\n');
  expect(lines.length).toBeLessThanOrEqual(rows);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
  terminal.type('q');
  expect(await running).toEqual({exitCode: 0, stderr: ''});
});

test('a full log waits while older lines are shown, and continues when its end is followed', async () => {
  const logPath = join(await temporaryDirectory(), '0.log');
  const lines = (from: number, count: number): string =>
    Array.from(
      {length: count},
      (_, index) => `2026-11-20T14:00:00.000000000Z stdout F line ${from + index}\n`,
    ).join('');
  await writeFile(logPath, lines(0, 1000));
  const testbed = await createTestbed({
    sandboxes: [KUBELET_POD],
    containers: [aContainer({sandbox: KUBELET_POD, name: 'server', logPath})],
  });
  const terminal = new ScreenTerminal(80, 24);
  const running = runTop(testbed, terminal);
  await screen(terminal, /^kube-system\/coredns /m);
  terminal.type('l');
  await screen(terminal, /^line 999$/m);
  terminal.type('g');
  await screen(terminal, /line 1 of 1000/);
  await appendFile(logPath, lines(1000, 99_000));
  await screen(terminal, /of 10000/);
  const calls = testbed.runtime.callsTo('ListPodSandbox').length;
  await until(() => testbed.runtime.callsTo('ListPodSandbox').length > calls + 50);
  expect(Number(/^line (\d+)$/m.exec(terminal.screen)?.[1])).toBeLessThan(50_000);
  terminal.type('G');
  await screen(terminal, /^line 99999$/m);
  terminal.type('qq');
  expect((await running).exitCode).toBe(0);
});
