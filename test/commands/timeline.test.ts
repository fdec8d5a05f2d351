import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {lstat, readFile, readlink, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {displayWidth} from '../../src/format/display-width.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {runKcri} from '../cli/run-kcri.js';
import {aContainer, aSandbox, FakeRuntime} from '../fakes/fake-runtime.js';
import {aManifest, createTestbed} from './command-testbed.js';

interface ShownTimelines {
  readonly pods: readonly {
    readonly name: string;
    readonly phases: readonly {readonly phase: string; readonly subject?: string; readonly exact: boolean}[];
  }[];
}

const parse = (text: string): ShownTimelines => JSON.parse(text) as ShownTimelines;

async function started() {
  const [web, tool] = [
    aSandbox({name: 'web', namespace: 'team', labels: {app: 'web'}}),
    aSandbox({name: 'tool'}),
  ];
  const runtime = await FakeRuntime.start({
    sandboxes: [web, tool],
    containers: [
      aContainer({sandbox: web, name: 'main'}),
      aContainer({sandbox: web, name: 'side', state: 'CONTAINER_EXITED', exitCode: 3}),
      aContainer({sandbox: tool, name: 'job'}),
    ],
  });
  onTestFinished(async () => {
    await runtime.stop();
  });
  return async (args: readonly string[], terminal = false, env: Readonly<Record<string, string>> = {}) =>
    await runKcri(['timeline', ...args], {
      ...{endpoint: runtime.endpoint, terminal},
      env: {LANG: 'C.UTF-8', TERM: 'xterm', ...env},
    });
}

// Proves: timeline
test.each([[false], [true]])(
  'the phases of a pod of another kubelet are rows with -o table, and say what is inferred (terminal: %s)',
  async (terminal) => {
    const timeline = await started();
    const {stdout, stderr, exitCode} = await timeline(['web', '-o', 'table'], terminal);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^POD +PHASE +SUBJECT +STARTED +DURATION +BASIS +SOURCE +NOTE$/);
    expect(
      lines.filter((line) => /^team\/web +start +main +\S+ +1\.0s +inferred +runtime +from the /.test(line)),
    ).toHaveLength(1);
    expect(
      lines.filter((line) =>
        /^team\/web +running +side +\S+ +1\.0s +exact +runtime +failed; exit code 3$/.test(line),
      ),
    ).toHaveLength(1);
    expect(
      lines.filter((line) => /^team\/web +running +main +\S+ +\S+\+ +exact +runtime *$/.test(line)),
    ).toHaveLength(1);
  },
);

// Proves: timeline --output
test('programs get times, durations and their basis', async () => {
  const timeline = await started();
  const {stdout} = await timeline(['web', '-o', 'json']);
  expect(parse(stdout).pods).toMatchObject([{name: 'web', namespace: 'team', manager: 'kubelet'}]);
  expect(parse(stdout).pods[0]?.phases).toContainEqual({
    ...{phase: 'start', subject: 'main', durationMs: 1000, exact: false, source: 'runtime'},
    inferred: 'from the creation of the container to its start',
    startedAt: expect.any(String) as string,
    endedAt: expect.any(String) as string,
    // There are three starts of containers on the node.
    medianMs: 1000,
  });
  expect((await timeline(['web', '-o', 'yaml'])).stdout).toMatch(/^pods:\n- manager: kubelet\n/);
});

// Proves: timeline --manager, timeline --namespace, timeline --selector
test.each([
  [[], ['tool', 'web']],
  [['-n', 'team'], ['web']],
  [['-l', 'app=web'], ['web']],
  [['--manager', 'kcri'], []],
])('timeline %j shows the pods %j', async (args, names) => {
  const timeline = await started();
  const {stdout} = await timeline([...args, '-o', 'json']);
  expect(
    parse(stdout)
      .pods.map(({name}) => name)
      .toSorted(),
  ).toEqual(names);
});

// Proves: timeline --no-headers, timeline --format, timeline --template
test.each([
  [['web', '--no-headers'], /^team\/web /],
  [['web', '--format', '{{.name}}'], /^web\n$/],
  [['web', '--template', '{{range .pods}}{{.uid}}{{end}}'], /^\S+\n$/],
])('timeline %j prints %s', async (args, expected) => {
  const timeline = await started();
  expect((await timeline(args)).stdout).toMatch(expected);
});

test('on a terminal it is a waterfall', async () => {
  const timeline = await started();
  const {stdout} = await timeline(['web'], true, {NO_COLOR: '1'});
  expect(stdout).toMatch(
    /^team\/web {2}kubelet\n {2}slowest: start (main|side) 1\.0s, median of this node 1\.0s\n/,
  );
  expect(stdout).toMatch(/\n {2}running main {2} +─+▸ /);
  expect(stdout).toMatch(/\n {2}start main {3}▒+ +1\.0s~\n/);
  const plain = (await timeline(['web'], true, {NO_COLOR: '1', TERM: 'dumb'})).stdout;
  expect(plain).toMatch(/^[\x20-\x7e\n]*$/);
  expect((await timeline(['web'], true)).stdout).toContain('\u001b[1mteam/web');
});

test('in a pipe it is the same waterfall, 80 columns wide and without colors', async () => {
  const timeline = await started();
  const {stdout, stderr, exitCode} = await timeline(['web']);
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  expect(stdout).toMatch(
    /^team\/web {2}kubelet\n {2}slowest: start (main|side) 1\.0s, median of this node 1\.0s\n/,
  );
  expect(stdout).toMatch(/\n {2}running main {2} +─+▸ /);
  // Blanks at the end of a line are left out.
  const width = Math.max(...stdout.split('\n').map(displayWidth));
  expect([79, 80]).toContain(width);
  expect(stdout).not.toContain('\u001b');
});

test('a pod that does not exist is an error', async () => {
  const timeline = await started();
  expect(await timeline(['nothing'])).toMatchObject({stdout: '', exitCode: 1});
});

// Proves: timeline --from
test('a saved node has the timelines of its pods', async () => {
  const testbed = await createTestbed();
  await testbed.run(['sync', '-'], {stdin: aManifest({})});
  const file = join(testbed.directory, 'node.tgz');
  await runKcri(['--root-dir', testbed.rootDir, 'doctor', '--save', file], {
    endpoint: testbed.runtime.endpoint,
  });
  const {stdout} = await runKcri(['timeline', '--from', file, 'web', '-o', 'json'], {
    endpoint: 'unix:///nonexistent/cri.sock',
  });
  expect(parse(stdout).pods[0]?.phases.map(({phase, subject}) => `${phase} ${subject ?? ''}`)).toEqual(
    expect.arrayContaining(['running main']),
  );
});

// Proves: timeline --trace, timeline --svg, timeline --html
test('timelines are written to files', async () => {
  const timeline = await started();
  const directory = await temporaryDirectory();
  const paths = ['trace', 'svg', 'html'].map((name) => join(directory, name));
  const flags = ['trace', 'svg', 'html'].map((name, index) => `--${name}=${paths[index] ?? ''}`);
  expect(await timeline(['web', ...flags])).toMatchObject({stderr: '', exitCode: 0});
  const texts = await Promise.all(paths.map(async (path) => await readFile(path, 'utf8')));
  expect(texts).toEqual([
    expect.stringMatching(/^\{"traceEvents":/),
    expect.stringMatching(/^<svg [^]*team\/web/),
    expect.stringMatching(/^<!doctype html>[^]*team\/web/),
  ]);
  const failed = await timeline(['web', `--svg=${join(directory, 'none', 'svg')}`]);
  expect(failed).toMatchObject({exitCode: 1, stderr: expect.stringContaining('none') as string});
});

test('a file that is a pipe is written to and not replaced, and a link keeps leading to its file', async () => {
  const timeline = await started();
  const directory = await temporaryDirectory();
  const pipe = join(directory, 'pipe');
  const file = join(directory, 'file');
  const link = join(directory, 'link');
  execFileSync('mkfifo', [pipe]);
  await writeFile(file, '');
  await symlink('file', link);
  const read = readFile(pipe, 'utf8');
  const {exitCode} = await timeline(['web', `--svg=${pipe}`, `--trace=${link}`]);
  expect(exitCode).toBe(0);
  expect((await lstat(pipe)).isFIFO()).toBe(true);
  expect(await read).toMatch(/^<svg /);
  expect(await readlink(link)).toBe('file');
  expect(await readFile(file, 'utf8')).toMatch(/^\{"traceEvents":/);
});

test.each([
  ['trace', /^\{"traceEvents":[^]*\}\n?$/],
  ['svg', /^<svg [^]*<\/svg>\n$/],
  ['html', /^<!doctype html>[^]*<\/html>\n$/],
])('--%s=- writes only that to standard output, and no file', async (flag, pattern) => {
  const timeline = await started();
  const {stdout, stderr, exitCode} = await timeline(['web', `--${flag}=-`]);
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  expect(stdout).toMatch(pattern);
  expect(existsSync('-')).toBe(false);
});

test.each([
  [['--svg=-', '--html=-'], '--svg=- and --html=- would both write to standard output'],
  [['--trace', '-', '-o', 'json'], '--trace=- and --output would both write to standard output'],
  [['--svg=-', '--no-headers'], '--svg=- and --no-headers would both write to standard output'],
])('%j is an error, since both would be on standard output', async (flags, message) => {
  const timeline = await started();
  const {stdout, stderr, exitCode} = await timeline(['web', ...flags]);
  expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  expect(stderr).toContain(message);
});

test('a picture of no pods on standard output is empty, and standard error says so', async () => {
  const timeline = await started();
  const {stdout, stderr} = await timeline(['-n', 'empty', '--svg=-']);
  expect(stdout).toMatch(/^<svg [^]*<\/svg>\n$/);
  expect(stderr).toBe('No resources found\n');
});

const HEADER = {recording: {version: 1, program: 'kcri', endpoint: 'unix:///run/cri.sock', masksEnv: false}};
const METADATA = {name: 'web', namespace: 'team', uid: 'u1'};

/** Writes a recording of calls, whose times are in ms. */
async function aRecording(
  calls: readonly (readonly [method: string, atMs: number, durationMs: number, more: object])[],
): Promise<string> {
  const file = join(await temporaryDirectory(), 'calls.jsonl');
  const lines = calls.map(([method, atMs, durationMs, more]) => ({
    ...{
      time: new Date(atMs).toISOString(),
      durationMs,
      service: 'runtime.v1.RuntimeService',
      method,
      code: 'OK',
    },
    ...more,
  }));
  await writeFile(file, [HEADER, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

test('a recording shows the calls of each pod', async () => {
  const container = {request: {containerId: 'c1'}};
  const file = await aRecording([
    ['StartContainer', 3000, 100, container],
    ['RunPodSandbox', 0, 900, {request: {config: {metadata: METADATA}}, response: {podSandboxId: 's1'}}],
    ['PullImage', 1000, 1500, {request: {image: {image: 'nginx'}, sandboxConfig: {metadata: METADATA}}}],
    [
      ...(['CreateContainer', 2600, 300] as const),
      {
        request: {podSandboxId: 's1', config: {metadata: {name: 'main'}}},
        response: {containerId: 'c1'},
      },
    ],
    ['StopContainer', 9000, 400, {...container, code: 'UNKNOWN', error: 'no such task'}],
    ['ListContainers', 100, 5, {request: {}, response: {containers: []}}],
    [
      'RunPodSandbox',
      9500,
      10,
      {request: {config: {metadata: {...METADATA, name: 'other'}}}, code: 'UNKNOWN'},
    ],
  ]);
  const {stdout, stderr} = await runKcri(['timeline', file, '-o', 'table']);
  expect(stderr).toBe('');
  expect(stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
    'POD  PHASE  SUBJECT  STARTED  DURATION  BASIS  SOURCE  NOTE',
    'team/web  sandbox  -  1970-01-01T00:00:00.000Z  900ms  exact  recording  ',
    'team/web  pull  nginx  1970-01-01T00:00:01.000Z  1.5s  exact  recording  ',
    'team/web  create  main  1970-01-01T00:00:02.600Z  300ms  exact  recording  ',
    'team/web  start  main  1970-01-01T00:00:03.000Z  100ms  exact  recording  ',
    'team/web  running  main  1970-01-01T00:00:03.100Z  6.4s+  exact  recording  ',
    'team/web  stop  main  1970-01-01T00:00:09.000Z  400ms  exact  recording  failed; UNKNOWN: no such task',
    'team/other  sandbox  -  1970-01-01T00:00:09.500Z  10ms  exact  recording  failed; UNKNOWN',
    '',
  ]);
});

test('the exit of a container in a recording is that of its status', async () => {
  const container = {request: {containerId: 'c1'}};
  const created = {podSandboxId: 's1', config: {metadata: {name: 'main'}}};
  const file = await aRecording([
    ['RunPodSandbox', 0, 900, {request: {config: {metadata: METADATA}}, response: {podSandboxId: 's1'}}],
    ['CreateContainer', 1000, 100, {request: created, response: {containerId: 'c1'}}],
    ['StartContainer', 2000, 100, container],
    [
      ...(['ContainerStatus', 8000, 5] as const),
      {...container, response: {status: {id: 'c1', state: 'CONTAINER_EXITED', finishedAt: '5100000000'}}},
    ],
  ]);
  const {stdout} = await runKcri(['timeline', file, '-o', 'table']);
  expect(stdout).toMatch(/running +main +1970-01-01T00:00:02\.100Z +3\.0s /);
});

test.each([
  [['./a.jsonl', './b.jsonl'], 'only one recording can be shown'],
  [['./a.jsonl', '-n', 'team'], 'cannot be combined with a recording'],
  [['/nonexistent/a'], '/nonexistent/a'],
  // It has no end.
  [['/dev/zero'], '"/dev/zero", line 1: not a line of a recording'],
  [[''], 'must not be empty'],
])('timeline %j fails: %s', async (args, message) => {
  const {stderr, exitCode} = await runKcri(['timeline', ...args]);
  expect(stderr).toContain(message);
  expect(exitCode).not.toBe(0);
});
