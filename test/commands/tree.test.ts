import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {Chalk} from 'chalk';
import {expect, onTestFinished, test} from 'vitest';
import {omit} from '../../src/base/omit.js';
import {UNICODE_GLYPHS} from '../../src/cli/output/terminal-features.js';
import {formatPodTree} from '../../src/features/tree/tree-text.js';
import {processesOf, readProcesses} from '../../src/operations/processes/read-processes.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {runKcri} from '../cli/run-kcri.js';
import {aContainer, aSandbox, FakeRuntime} from '../fakes/fake-runtime.js';

const hex = (start: string): string => start.padEnd(64, '0');

async function started() {
  const [web, tool] = [aSandbox({id: hex('aa1'), name: 'web'}), aSandbox({id: hex('aa2'), name: 'tool'})];
  const runtime = await FakeRuntime.start({
    sandboxes: [web, tool],
    containers: [
      aContainer({id: hex('c1'), sandbox: web, name: 'main', attempt: 2}),
      aContainer({id: hex('c2'), sandbox: web, name: 'side', state: 'CONTAINER_EXITED', exitCode: 3}),
      aContainer({id: hex('c3'), sandbox: tool, name: 'job'}),
    ],
  });
  onTestFinished(async () => {
    await runtime.stop();
  });
  return async (args: readonly string[], LANG = 'C.UTF-8') =>
    await runKcri(['tree', ...args], {endpoint: runtime.endpoint, env: {LANG}});
}

// Proves: tree, tree --output
test('tree shows pods, sandboxes and containers, and why processes are missing', async () => {
  const tree = await started();
  const {stdout, stderr, exitCode} = await tree([]);
  expect({stdout, exitCode}).toEqual({
    stdout: [
      'default/tool  kubelet',
      '└─ sandbox aa20000000000  Ready',
      '   └─ container job c300000000000  Running',
      'default/web  kubelet',
      '└─ sandbox aa10000000000  Ready',
      '   ├─ container side c200000000000  Exited (3)',
      '   └─ container main c100000000000  Running  attempt 2',
      '',
    ].join('\n'),
    exitCode: 0,
  });
  expect(stderr).toMatch(
    /^kcri: note: processes of 2 of 2 running containers are not visible: they run on another machine/,
  );
  const json = JSON.parse((await tree(['web/side', '-o', 'json'])).stdout) as unknown;
  expect(json).toEqual({
    pods: [
      expect.objectContaining({
        name: 'web',
        sandboxes: [
          {
            id: hex('aa1'),
            state: 'Ready',
            processes: [],
            containers: [
              {id: hex('c2'), name: 'side', attempt: 0, state: 'Exited', exitCode: 3, processes: []},
            ],
          },
        ],
      }),
    ],
  });
  expect(await tree(['nope'])).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('no pod or container "nope"') as string,
    exitCode: 1,
  });
});

// Proves: tree --container, tree --pod, tree --namespace, tree --selector, tree --manager
test.each([
  [['web', '-c', 'side'], ['side']],
  [
    ['-p', 'web'],
    ['side', 'main'],
  ],
  [['-p', 'web', 'main'], ['main']],
  [['-n', 'other'], []],
  [['-l', 'app=nothing'], []],
  [['--manager', 'none'], []],
])('tree %j shows the containers %j', async (args, names) => {
  const tree = await started();
  const {stdout, exitCode} = await tree(args);
  expect(exitCode).toBe(0);
  expect(Array.from(stdout.matchAll(/container (\w+)/g), ([, name]) => name)).toEqual(names);
});

// Proves: tree --template, tree --format, tree --no-headers
test.each([
  [['--template', '{{len .pods}}'], /^2\n$/],
  [['--format', '{{.name}}'], /^tool\nweb\n$/],
  [['-o', 'custom-columns=NAME:.name', '--no-headers'], /^tool\nweb\n$/],
])('tree %j prints rows', async (args, expected) => {
  const tree = await started();
  expect((await tree(args)).stdout).toMatch(expected);
});

test('tree draws ASCII lines in a locale without UTF-8', async () => {
  const tree = await started();
  for (const locale of ['C', 'POSIX', 'en_US.ISO-8859-1', ''])
    expect((await tree(['web'], locale)).stdout).toBe(
      [
        'default/web  kubelet',
        '`- sandbox aa10000000000  Ready',
        '   |- container side c200000000000  Exited (3)',
        '   `- container main c100000000000  Running  attempt 2',
        '',
      ].join('\n'),
    );
});

test('processes of a container are found by their cgroup, with any name', async () => {
  const proc = await temporaryDirectory();
  const id = hex('c1');
  const write = async (pid: number, parent: number, cgroup: string, name: string): Promise<void> => {
    const directory = join(proc, String(pid));
    await mkdir(directory);
    const rest = `S ${parent} 1 1 0 -1 4194560 0 0 0 0 150 60 0 0 20 0 1 0 100 0 0`;
    await writeFile(join(directory, 'stat'), `${pid} (${name}) ${rest}\n`);
    await writeFile(join(directory, 'status'), `Name:\tx\nUid:\t1000\t0\t0\t0\nVmRSS:\t    2048 kB\n`);
    await writeFile(join(directory, 'cgroup'), `0::${cgroup}\n`);
    await writeFile(join(directory, 'cmdline'), name === 'kernel' ? '' : `${name}\0-v\0`);
  };
  await write(10, 1, `/kubepods/pod1/${id}`, 'a) b (c');
  await write(11, 10, `/system.slice/cri-containerd-${id}.scope/inner`, 'kernel');
  await write(12, 1, '/kubepods/pod1/other', 'else');
  const found = processesOf(await readProcesses(proc), id);
  expect(found.map((facts) => omit(facts, 'cgroups'))).toEqual([
    {pid: 10, parentPid: 1, uid: 1000, command: 'a) b (c -v', cpuMs: 2100, memoryBytes: 2_097_152},
    {pid: 11, parentPid: 10, uid: 1000, command: '[kernel]', cpuMs: 2100, memoryBytes: 2_097_152},
  ]);
});

test('lines fit the width, and names of processes cannot control the terminal', () => {
  const process = {
    pid: 7,
    user: 'root',
    command: 'evil \u001B[2J name',
    cpuMs: 61_000,
    memoryBytes: 1000,
    children: [],
  };
  const sandboxes = [{id: hex('aa'), state: 'Ready', processes: [process], containers: []}];
  const pods = [{namespace: 'default', name: 'web', uid: 'u', manager: 'none' as const, sandboxes}];
  const lines = (columns: number) =>
    formatPodTree(pods, {chalk: new Chalk({level: 0}), glyphs: UNICODE_GLYPHS, columns});
  expect(lines(Infinity)).toEqual([
    'default/web',
    '└─ sandbox aa00000000000  Ready',
    '   └─ 7  root  1:01  1kB  evil \\x1b[2J name',
  ]);
  for (const line of lines(20)) expect(line.length).toBeLessThanOrEqual(20);
});
