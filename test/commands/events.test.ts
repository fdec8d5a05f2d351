import {describe, expect, test} from 'vitest';
import {until} from '../base/until.js';
import {runKcri, type RunOptions} from '../cli/run-kcri.js';
import {FakeTerminal} from '../cli/terminal/fake-terminal.js';
import {FakeRuntime, aContainer, aSandbox, type FakeRuntimeOptions} from '../fakes/fake-runtime.js';
import {interruptAt, runKcriOnTerminal} from './interrupt-watch.js';

const WEB = aSandbox({id: 'e'.repeat(64), name: 'web', labels: {app: 'web'}});
const API = aSandbox({id: 'f'.repeat(64), name: 'api', namespace: 'prod', labels: {app: 'api'}});
const MAIN = 'a'.repeat(64);
const SIDECAR = 'b'.repeat(64);
const OTHER = 'c'.repeat(64);

async function startRuntime(options: FakeRuntimeOptions = {}) {
  return await FakeRuntime.start({
    sandboxes: [WEB, API],
    containers: [
      aContainer({id: MAIN, sandbox: WEB, name: 'main'}),
      aContainer({id: SIDECAR, sandbox: WEB, name: 'sidecar', labels: {tier: 'side'}}),
      aContainer({id: OTHER, sandbox: API, name: 'main'}),
    ],
    ...options,
  });
}

/** Resolves when a client receives the runtime's events. */
const untilListening = (runtime: FakeRuntime) => until(() => runtime.state.events.listeners > 0);

/** Triggers the events of all tests: containers exit, one with an error, and one pod is removed. */
async function triggerEvents(runtime: FakeRuntime): Promise<void> {
  await untilListening(runtime);
  runtime.exitContainer(MAIN, 0);
  runtime.exitContainer(SIDECAR, 137, {reason: 'OOMKilled'});
  const {connect, podSandboxId} = await import('../../src/cri/index.js');
  using connection = connect(runtime.endpoint);
  await connection.runtime.removePodSandbox({podSandboxId: podSandboxId(API.id)});
}

/** Template that fails for events of removed pods. */
const POD_NAME = '{{.podSandboxStatus.metadata.name}}';

/** Matches the last event. */
const LAST = new RegExp(`"${API.id}","containerEventType":"CONTAINER_DELETED_EVENT"`);

interface EventJson {
  readonly containerId: string;
  readonly containerEventType: string;
}

/** Runs `events` during the events and interrupts it after the last one. */
async function runDuringEvents(
  runtime: FakeRuntime,
  args: readonly string[],
  options: RunOptions & {last?: RegExp} = {},
) {
  const {last = LAST, ...rest} = options;
  const running = runKcri(['events', ...args], {
    endpoint: runtime.endpoint,
    ...interruptAt(last),
    ...rest,
  });
  await triggerEvents(runtime);
  return await running;
}

const summarize = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as EventJson)
    .map(
      ({containerId, containerEventType}) =>
        `${containerEventType.split('_')[1] ?? ''} ${containerId.charAt(0)}`,
    );

describe('events', () => {
  test('are printed as one JSON object per line in a pipe, and Ctrl-C is success', async () => {
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await runDuringEvents(runtime, []);
    expect(summarize(stdout)).toEqual([
      'STOPPED a',
      'STOPPED b',
      'STOPPED c',
      'STOPPED f',
      'DELETED c',
      'DELETED f',
    ]);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(runtime.calls.map(({method}) => method).slice(0, 1)).toEqual(['GetContainerEvents']);
  });

  // Proves: events --container, events --namespace, events --pod
  test.each([
    [
      ['--type', 'deleted'],
      ['DELETED c', 'DELETED f'],
    ],
    [
      ['--type', 'deleted,stopped', '-p', 'prod/api'],
      ['STOPPED c', 'STOPPED f', 'DELETED c', 'DELETED f'],
    ],
    [
      ['--pod', 'api', '--container', 'main'],
      ['STOPPED c', 'DELETED c'],
    ],
    [
      ['--pod', 'ffff', '--type=deleted'],
      ['DELETED c', 'DELETED f'],
    ],
    [
      ['--container', 'api/main'],
      ['STOPPED c', 'DELETED c'],
    ],
    [
      ['--container', 'prod/api/main', '--container', 'bbbb'],
      ['STOPPED b', 'STOPPED c', 'DELETED c'],
    ],
    [
      ['--namespace', '^prod$'],
      ['STOPPED c', 'STOPPED f', 'DELETED c', 'DELETED f'],
    ],
    [
      ['--label', 'app=api'],
      ['STOPPED c', 'STOPPED f', 'DELETED c', 'DELETED f'],
    ],
  ])('%j prints %j', async (args, expected) => {
    await using runtime = await startRuntime();
    const last =
      expected.at(-1)?.charAt(8) === 'f'
        ? LAST
        : new RegExp(`"${OTHER}","containerEventType":"CONTAINER_DELETED_EVENT"`);
    const {stdout, exitCode} = await runDuringEvents(runtime, args, {last});
    expect(summarize(stdout)).toEqual(expected);
    expect(exitCode).toBe(0);
  });

  // Proves: events --label
  test("a container's own labels are matched too", async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runDuringEvents(runtime, ['--label', 'tier=side'], {last: /STOPPED/});
    expect(summarize(stdout)).toEqual(['STOPPED b']);
  });

  test('are printed as lines on a terminal, with the names of removed objects', async () => {
    await using runtime = await startRuntime();
    const terminal = new FakeTerminal(120, 24);
    const {signal, onStdout} = interruptAt(/deleted {2}pod/);
    terminal.stream.on('data', (chunk: Buffer) => {
      onStdout(chunk.toString());
    });
    const running = runKcriOnTerminal(terminal, ['events'], {endpoint: runtime.endpoint, signal});
    await triggerEvents(runtime);
    expect(await running).toEqual({exitCode: 0, stderr: ''});
    const [, ...rest] = terminal.text.split('\n').map((line) => line.split(/ {2,}/));
    expect(rest.map((line) => line.slice(1))).toEqual([
      ['stopped', 'container', 'bbbbbbbbbbbbb', 'default/web/sidecar', 'exit code 137 (OOMKilled)'],
      ['stopped', 'container', 'ccccccccccccc', 'prod/api/main', 'exit code 137 (Error)'],
      ['stopped', 'pod', 'fffffffffffff', 'prod/api'],
      ['deleted', 'container', 'ccccccccccccc', 'prod/api/main'],
      ['deleted', 'pod', 'fffffffffffff', 'prod/api'],
    ]);
    expect(terminal.text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d) {2}stopped/);
  });

  // Proves: events --output, events --template
  test('YAML documents are separated, and templates print one line each', async () => {
    await using runtime = await startRuntime();
    const yaml = await runDuringEvents(runtime, ['-o', 'yaml'], {last: /(STOPPED_EVENT[^]*){4}/});
    expect(yaml.stdout.match(/^---$/gm)?.length).toBeGreaterThanOrEqual(4);
    await using withSince = await startRuntime();
    const template = '{{.containerEventType}} {{.podSandboxStatus.metadata.name}}';
    const {stdout} = await runDuringEvents(
      withSince,
      ['-p', 'web', '-o', 'go-template', '--template', template],
      {
        last: /(web[^]*){2}/,
      },
    );
    expect(stdout).toBe('CONTAINER_STOPPED_EVENT web\nCONTAINER_STOPPED_EVENT web\n');
  });

  test.each([
    [[], false, 'json'],
    [[], true, 'table'],
    [['-o', 'json'], false, 'json'],
    [['-o', 'yaml'], true, 'yaml'],
    [['-o', 'table'], false, 'table'],
  ])('--template without go-template fails at once: %j on a terminal %s', async (flags, terminal, format) => {
    await using runtime = await startRuntime();
    const args = ['events', ...flags, '--template', POD_NAME];
    const {stdout, stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint, terminal});
    expect({stdout, exitCode, calls: runtime.calls}).toEqual({stdout: '', exitCode: 1, calls: []});
    expect(stderr).toContain(
      `kcri: template can't be used with "${format}" format\nhint: add -o go-template\n`,
    );
  });

  test('an event for which a template fails is an error, and the others are printed', async () => {
    await using runtime = await startRuntime();
    const running = runKcri(['events', '--pod', 'api', '-o', 'go-template', '--template', POD_NAME], {
      endpoint: runtime.endpoint,
    });
    await triggerEvents(runtime);
    runtime.endEvents();
    const {stdout, stderr, exitCode} = await running;
    // The last event follows the removal of the sandbox, and has no status.
    expect(stdout).toBe('api\napi\napi\n');
    expect(stderr).toMatch(/^kcri: .*map has no entry for key "podSandboxStatus"\n/);
    expect(exitCode).toBe(1);
  });

  test('repeated events are omitted with a notice, unless --since includes them', async () => {
    for (const since of [undefined, '10m']) {
      await using runtime = await startRuntime({buffersEvents: true});
      runtime.state.uniqueNowNanos = () => BigInt(Date.now() - 60_000) * 1_000_000n;
      runtime.exitContainer(MAIN, 0);
      delete (runtime.state as {uniqueNowNanos?: unknown}).uniqueNowNanos;
      const {stdout, stderr} = await runDuringEvents(runtime, since === undefined ? [] : ['--since', since]);
      const rest = ['STOPPED b', 'STOPPED c', 'STOPPED f', 'DELETED c', 'DELETED f'];
      expect(summarize(stdout)).toEqual(since === undefined ? rest : ['STOPPED a', ...rest]);
      expect(stderr).toBe(
        since === undefined
          ? 'earlier events are omitted; use --since=10m to include those of the last ten minutes\n'
          : '',
      );
    }
  });

  test('a runtime without events is an error with a hint', async () => {
    await using runtime = await startRuntime({unimplemented: ['GetContainerEvents']});
    const {stdout, stderr, exitCode} = await runKcri(['event'], {endpoint: runtime.endpoint});
    expect(stderr).toMatch(
      /^kcri: getting container events: .*\nhint: .*GetContainerEvents \(containerd: 1\.7 or later/,
    );
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });

  test.each(['lost', 'ended'])('a stream that %s is an error', async (how) => {
    await using runtime = await startRuntime();
    const running = runKcri(['events'], {endpoint: runtime.endpoint});
    await untilListening(runtime);
    if (how === 'lost') await runtime.crash();
    else runtime.endEvents();
    const {stderr, exitCode} = await running;
    expect(stderr).toMatch(/^kcri: getting container events: .*\nhint: /);
    expect(exitCode).toBe(1);
  });

  test('CRI-O without pod events is an error that names the setting', async () => {
    await using runtime = await startRuntime({profile: 'cri-o'});
    const {stdout, stderr, exitCode} = await runKcri(['events'], {endpoint: runtime.endpoint});
    expect(stderr).toMatch(/^kcri: .*the runtime closed the event stream\nhint: .*enable_pod_events = true/);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });

  test('ends when its output is closed', async () => {
    await using runtime = await startRuntime();
    const terminal = new FakeTerminal();
    const running = runKcriOnTerminal(terminal, ['events', '-o', 'json'], {
      endpoint: runtime.endpoint,
      signal: new AbortController().signal,
    });
    terminal.stream.once('data', () => terminal.stream.destroy());
    await triggerEvents(runtime);
    expect((await running).exitCode).toBe(0);
  });

  test.each([
    [['--type', 'died'], 'invalid --type "died": must be one of created, started, stopped, deleted'],
    [['-o', 'ini'], 'unsupported output format "ini"'],
    [['--since', 'yesterday'], 'invalid --since "yesterday"'],
    [['--label', 'x'], 'incorrectly specified label: x'],
    [['web'], 'unexpected argument "web"'],
  ])('%j is rejected before any call', async (args, message) => {
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await runKcri(['events', ...args], {endpoint: runtime.endpoint});
    expect(stderr).toContain(`kcri: ${message}`);
    expect({exitCode, calls: runtime.calls}).toEqual({exitCode: 1, calls: []});
  });
});

describe('events, called as crictl', () => {
  const env = {KCRI_COMPAT: 'crictl'};

  test('prints all events, indented, including repeated ones', async () => {
    await using runtime = await startRuntime({buffersEvents: true});
    runtime.exitContainer(MAIN, 0);
    const last = new RegExp(`"${API.id}",\\n {2}"containerEventType": "CONTAINER_DELETED_EVENT"[^]*\\n}\\n`);
    const running = runKcri(['events'], {endpoint: runtime.endpoint, env, ...interruptAt(last)});
    await untilListening(runtime);
    runtime.exitContainer(SIDECAR, 137);
    const {connect, podSandboxId} = await import('../../src/cri/index.js');
    using connection = connect(runtime.endpoint);
    await connection.runtime.removePodSandbox({podSandboxId: podSandboxId(API.id)});
    const {stdout, exitCode} = await running;
    expect(stdout.match(/^ {2}"containerEventType": "CONTAINER_STOPPED_EVENT"/gm)).toHaveLength(4);
    expect(stdout).toMatch(/^\{\n {2}"containerId": "a{64}",\n/);
    expect(exitCode).toBe(1);
  });

  test('a template failure is printed on standard output', async () => {
    await using runtime = await startRuntime();
    const args = ['events', '-o', 'go-template', '--template', POD_NAME];
    const running = runKcri(args, {endpoint: runtime.endpoint, env});
    await triggerEvents(runtime);
    runtime.endEvents();
    const {stdout, exitCode} = await running;
    expect(stdout).toMatch(
      /^web\nweb\napi\napi\napi\nfailed to format container event with the error: failed to template data: template: tmplExecuteRawJSON:1:\d+: .*\n$/,
    );
    expect(exitCode).toBe(0);
  });

  test('the end of the stream is success, and YAML documents are not separated', async () => {
    await using runtime = await startRuntime();
    const running = runKcri(['events', '-o', 'yaml'], {endpoint: runtime.endpoint, env});
    await untilListening(runtime);
    runtime.exitContainer(MAIN, 0);
    runtime.endEvents();
    const {stdout, stderr, exitCode} = await running;
    expect(stdout).toMatch(/^containerEventType: CONTAINER_STOPPED_EVENT\n/);
    expect(stdout).toMatch(/\n\n$/);
    expect({stderr, exitCode}).toMatchObject({exitCode: 0});
  });
});
