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

async function started(options: FakeRuntimeOptions = {}) {
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

/** Somebody listens to the runtime's events. */
const listening = (runtime: FakeRuntime) => until(() => runtime.state.events.listeners > 0);

/** What happens in every test: containers end, one with an error, and one pod goes for good. */
async function happenings(runtime: FakeRuntime): Promise<void> {
  await listening(runtime);
  runtime.exitContainer(MAIN, 0);
  runtime.exitContainer(SIDECAR, 137, {reason: 'OOMKilled'});
  const {connect, podSandboxId} = await import('../../src/cri/index.js');
  using connection = connect(runtime.endpoint);
  await connection.runtime.removePodSandbox({podSandboxId: podSandboxId(API.id)});
}

/** A template that does not fit events of pods that are gone. */
const POD_NAME = '{{.podSandboxStatus.metadata.name}}';

/** The last thing that happens. */
const LAST = new RegExp(`"${API.id}","containerEventType":"CONTAINER_DELETED_EVENT"`);

interface Shown {
  readonly containerId: string;
  readonly containerEventType: string;
}

/** Runs `events` while it all happens; ends at what shows that all is over, or by Ctrl-C. */
async function watch(
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
  await happenings(runtime);
  return await running;
}

const shownIn = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Shown)
    .map(
      ({containerId, containerEventType}) =>
        `${containerEventType.split('_')[1] ?? ''} ${containerId.charAt(0)}`,
    );

describe('events', () => {
  test('is a line of JSON an event in a pipe, and Ctrl-C is success', async () => {
    await using runtime = await started();
    const {stdout, stderr, exitCode} = await watch(runtime, []);
    expect(shownIn(stdout)).toEqual([
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
  ])('%j shows %j', async (args, expected) => {
    await using runtime = await started();
    const last =
      expected.at(-1)?.charAt(8) === 'f'
        ? LAST
        : new RegExp(`"${OTHER}","containerEventType":"CONTAINER_DELETED_EVENT"`);
    const {stdout, exitCode} = await watch(runtime, args, {last});
    expect(shownIn(stdout)).toEqual(expected);
    expect(exitCode).toBe(0);
  });

  // Proves: events --label
  test("a container's own labels count as well", async () => {
    await using runtime = await started();
    const {stdout} = await watch(runtime, ['--label', 'tier=side'], {last: /STOPPED/});
    expect(shownIn(stdout)).toEqual(['STOPPED b']);
  });

  test('is a line for people on a terminal, with names that deleted things had', async () => {
    await using runtime = await started();
    const terminal = new FakeTerminal(120, 24);
    const {signal, onStdout} = interruptAt(/deleted {2}pod/);
    terminal.stream.on('data', (chunk: Buffer) => {
      onStdout(chunk.toString());
    });
    const running = runKcriOnTerminal(terminal, ['events'], {endpoint: runtime.endpoint, signal});
    await happenings(runtime);
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

  test('documents of YAML are apart, and templates make a line of each', async () => {
    await using runtime = await started();
    const yaml = await watch(runtime, ['-o', 'yaml'], {last: /(STOPPED_EVENT[^]*){4}/});
    expect(yaml.stdout.match(/^---$/gm)?.length).toBeGreaterThanOrEqual(4);
    await using again = await started();
    const template = '{{.containerEventType}} {{.podSandboxStatus.metadata.name}}';
    const {stdout} = await watch(again, ['-p', 'web', '--template', template], {last: /(web[^]*){2}/});
    expect(stdout).toBe('CONTAINER_STOPPED_EVENT web\nCONTAINER_STOPPED_EVENT web\n');
  });

  test('an event that a template does not fit is an error, and the others are shown', async () => {
    await using runtime = await started();
    const running = runKcri(['events', '--pod', 'api', '--template', POD_NAME], {endpoint: runtime.endpoint});
    await happenings(runtime);
    runtime.endEvents();
    const {stdout, stderr, exitCode} = await running;
    // The last one comes when the sandbox has gone, and its status with it.
    expect(stdout).toBe('api\napi\napi\n');
    expect(stderr).toMatch(/^kcri: .*map has no entry for key "podSandboxStatus"\n/);
    expect(exitCode).toBe(1);
  });

  test('what the runtime repeats from before is left out, with a word, unless --since asks for it', async () => {
    for (const since of [undefined, '10m']) {
      await using runtime = await started({buffersEvents: true});
      runtime.state.uniqueNowNanos = () => BigInt(Date.now() - 60_000) * 1_000_000n;
      runtime.exitContainer(MAIN, 0);
      delete (runtime.state as {uniqueNowNanos?: unknown}).uniqueNowNanos;
      const {stdout, stderr} = await watch(runtime, since === undefined ? [] : ['--since', since]);
      const rest = ['STOPPED b', 'STOPPED c', 'STOPPED f', 'DELETED c', 'DELETED f'];
      expect(shownIn(stdout)).toEqual(since === undefined ? rest : ['STOPPED a', ...rest]);
      expect(stderr).toBe(
        since === undefined
          ? 'earlier events are omitted; use --since=10m to include those of the last ten minutes\n'
          : '',
      );
    }
  });

  test('a runtime without events is an error with a hint', async () => {
    await using runtime = await started({unimplemented: ['GetContainerEvents']});
    const {stdout, stderr, exitCode} = await runKcri(['event'], {endpoint: runtime.endpoint});
    expect(stderr).toMatch(
      /^kcri: getting container events: .*\nhint: .*GetContainerEvents \(containerd: 1\.7 or later/,
    );
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });

  test.each(['lost', 'ended'])('a stream that is %s is an error', async (how) => {
    await using runtime = await started();
    const running = runKcri(['events'], {endpoint: runtime.endpoint});
    await listening(runtime);
    if (how === 'lost') await runtime.crash();
    else runtime.endEvents();
    const {stderr, exitCode} = await running;
    expect(stderr).toMatch(/^kcri: getting container events: .*\nhint: /);
    expect(exitCode).toBe(1);
  });

  test('ends when nobody reads any more', async () => {
    await using runtime = await started();
    const terminal = new FakeTerminal();
    const running = runKcriOnTerminal(terminal, ['events', '-o', 'json'], {
      endpoint: runtime.endpoint,
      signal: new AbortController().signal,
    });
    terminal.stream.once('data', () => terminal.stream.destroy());
    await happenings(runtime);
    expect((await running).exitCode).toBe(0);
  });

  test.each([
    [['--type', 'died'], 'invalid --type "died": must be one of created, started, stopped, deleted'],
    [['-o', 'ini'], 'unsupported output format "ini"'],
    [['--since', 'yesterday'], 'invalid --since "yesterday"'],
    [['--label', 'x'], 'incorrectly specified label: x'],
    [['web'], 'unexpected argument "web"'],
  ])('%j is refused before anything is asked', async (args, message) => {
    await using runtime = await started();
    const {stderr, exitCode} = await runKcri(['events', ...args], {endpoint: runtime.endpoint});
    expect(stderr).toContain(`kcri: ${message}`);
    expect({exitCode, calls: runtime.calls}).toEqual({exitCode: 1, calls: []});
  });
});

describe('events, called as crictl', () => {
  const env = {KCRI_COMPAT: 'crictl'};

  test('shows everything, indented, what is repeated from before as well', async () => {
    await using runtime = await started({buffersEvents: true});
    runtime.exitContainer(MAIN, 0);
    const last = new RegExp(`"${API.id}",\\n {2}"containerEventType": "CONTAINER_DELETED_EVENT"[^]*\\n}\\n`);
    const running = runKcri(['events'], {endpoint: runtime.endpoint, env, ...interruptAt(last)});
    await listening(runtime);
    runtime.exitContainer(SIDECAR, 137);
    const {connect, podSandboxId} = await import('../../src/cri/index.js');
    using connection = connect(runtime.endpoint);
    await connection.runtime.removePodSandbox({podSandboxId: podSandboxId(API.id)});
    const {stdout, exitCode} = await running;
    expect(stdout.match(/^ {2}"containerEventType": "CONTAINER_STOPPED_EVENT"/gm)).toHaveLength(4);
    expect(stdout).toMatch(/^\{\n {2}"containerId": "a{64}",\n/);
    expect(exitCode).toBe(1);
  });

  test('what a template does not fit is told on standard output', async () => {
    await using runtime = await started();
    const args = ['events', '-o', 'go-template', '--template', POD_NAME];
    const running = runKcri(args, {endpoint: runtime.endpoint, env});
    await happenings(runtime);
    runtime.endEvents();
    const {stdout, exitCode} = await running;
    expect(stdout).toMatch(
      /^web\nweb\napi\napi\napi\nfailed to format container event with the error: failed to template data: template: tmplExecuteRawJSON:1:\d+: .*\n$/,
    );
    expect(exitCode).toBe(0);
  });

  test('the end of the stream is success, and documents of YAML run together', async () => {
    await using runtime = await started();
    const running = runKcri(['events', '-o', 'yaml'], {endpoint: runtime.endpoint, env});
    await listening(runtime);
    runtime.exitContainer(MAIN, 0);
    runtime.endEvents();
    const {stdout, stderr, exitCode} = await running;
    expect(stdout).toMatch(/^containerEventType: CONTAINER_STOPPED_EVENT\n/);
    expect(stdout).toMatch(/\n\n$/);
    expect({stderr, exitCode}).toMatchObject({exitCode: 0});
  });
});
