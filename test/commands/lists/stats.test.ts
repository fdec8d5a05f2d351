import {describe, expect, test} from 'vitest';
import {tableCells} from '../../cli/output/table-cells.js';
import {runKcri} from '../../cli/run-kcri.js';
import {FakeTerminal} from '../../cli/terminal/fake-terminal.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import {ESCAPES, names, run, startRuntime} from './stats-runtime.js';
import {interruptAt, FAST_CLOCK, runKcriOnTerminal} from '../interrupt-watch.js';

describe('stats', () => {
  test('prints the usage of each container between two samples, sorted by ID', async () => {
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await run(runtime, ['stats']);
    expect(tableCells(stdout)).toEqual([
      ['CONTAINER', 'NAME', 'CPU %', 'MEM', 'DISK', 'INODES', 'SWAP', 'POD'],
      ['aaaaaaaaaaaaa', 'sidecar', '5.00', '10.49MB', '65.54kB', '12', '0B', 'web'],
      ['bbbbbbbbbbbbb', 'main', '5.00', '10.49MB', '65.54kB', '12', '0B', 'api'],
      ['ccccccccccccc', 'main', '5.00', '10.49MB', '65.54kB', '12', '0B', 'web'],
    ]);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout).not.toMatch(ESCAPES);
    expect(runtime.calls.map(({method}) => method)).toEqual(['ListContainerStats', 'ListContainerStats']);
  });

  test('names the pod of a container without labels of a kubelet', async () => {
    const sandbox = aSandbox({name: 'bare', namespace: 'tools'});
    const container = aContainer({sandbox, name: 'main'});
    await using runtime = await FakeRuntime.start({
      sandboxes: [{...sandbox, config: {...sandbox.config, labels: {}}}],
      containers: [{...container, config: {...container.config, labels: {}}}],
    });
    const cells = async (args: readonly string[]) => tableCells((await run(runtime, args)).stdout)[1];
    expect((await cells(['stats']))?.at(-1)).toBe('bare');
    expect((await cells(['stats', '-o', 'wide']))?.slice(-2)).toEqual(['bare', 'tools']);
    const {stdout} = await run(runtime, ['stats', '-o', 'json']);
    expect(stdout).not.toContain('bare');
  });

  test('-s is the time between the samples', async () => {
    await using runtime = await startRuntime();
    const waits: number[] = [];
    const clock = {
      ...FAST_CLOCK,
      sleep: async (ms: number) => {
        await Promise.resolve(waits.push(ms));
      },
    };
    await run(runtime, ['stats', '-s', '3'], {clock});
    expect(waits).toEqual([3000]);
    const {exitCode, stderr} = await run(runtime, ['stats', '--seconds=0']);
    expect({exitCode, stderr}).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('--seconds must be 1 or more') as string,
    });
  });

  test.each([
    [['sidecar'], ['sidecar']],
    [['--id', 'aaaa'], ['sidecar']],
    [['localhost:5000/tool:1'], ['sidecar']],
    [
      ['web/main', 'prod/api/main'],
      ['main', 'main'],
    ],
    [
      ['-p', 'web'],
      ['sidecar', 'main'],
    ],
    [['--pod', 'prod/api'], ['main']],
    [['--label', 'tier=front'], ['main']],
  ])('%j prints %j', async (args, expected) => {
    await using runtime = await startRuntime();
    const {stdout} = await run(runtime, ['stats', ...args]);
    expect(names(stdout).slice(1)).toEqual(expected);
  });

  test.each([
    [['--label', 'tier=front'], ['main']],
    [['sidecar'], ['sidecar']],
    [
      ['sidecar', 'web/main'],
      ['sidecar', 'main'],
    ],
  ])('filters ignored by the runtime are applied by kcri: %j', async (args, expected) => {
    await using runtime = await startRuntime({ignoresFilters: true});
    const {stdout} = await run(runtime, ['stats', ...args]);
    expect(names(stdout).slice(1)).toEqual(expected);
  });

  test('reports a missing container and prints the others', async () => {
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await run(runtime, ['stats', 'nope', 'sidecar']);
    expect(names(stdout)).toEqual(['NAME', 'sidecar']);
    expect({stderr: stderr.split('\n')[0], exitCode}).toEqual({
      stderr: 'kcri: no such container "nope"',
      exitCode: 1,
    });
    expect(await run(runtime, ['stats', 'f'.repeat(64)])).toMatchObject({stdout: '', exitCode: 1});
  });

  test('reports a container that is not running', async () => {
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await run(runtime, ['stats', 'done']);
    expect({stderr, exitCode}).toEqual({
      stderr: 'kcri: warning: no stats of "ddddddddddddd": not running\n',
      exitCode: 0,
    });
  });

  test('--sort sorts in descending order, --reverse in ascending order', async () => {
    await using runtime = await startRuntime();
    const column = async (...args: string[]) => {
      const {stdout} = await run(runtime, ['stats', '--no-headers', ...args]);
      return tableCells(stdout).map(([id]) => id?.charAt(0));
    };
    expect(await column('--sort', 'name')).toEqual(['b', 'c', 'a']);
    expect(await column('--sort', 'name', '--reverse')).toEqual(['a', 'c', 'b']);
    expect(await column('--sort', 'pod')).toEqual(['a', 'c', 'b']);
    expect(await column('--sort', 'mem')).toEqual(['a', 'b', 'c']);
    const {stderr, exitCode} = await run(runtime, ['stats', '--sort', 'size']);
    expect(stderr).toContain(
      'invalid --sort "size": must be one of cpu, mem, disk, inodes, swap, name, pod\n',
    );
    expect(exitCode).toBe(1);
  });

  test('-o wide adds limits and pods', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await run(runtime, ['stats', '-o', 'wide', 'prod/api/main']);
    expect(tableCells(stdout)).toEqual([
      [
        'CONTAINER',
        'NAME',
        'CPU %',
        'MEM',
        'DISK',
        'INODES',
        'SWAP',
        'MEM LIMIT',
        'MEM %',
        'RSS',
        'POD',
        'NAMESPACE',
      ],
      ['bbbbbbbbbbbbb', 'main', '5.00', '10.49MB', '65.54kB', '12', '0B', '-', '-', '5.243MB', 'api', 'prod'],
    ]);
  });

  test('objects are printed from one sample', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await run(runtime, ['stats', '-ojson', 'sidecar']);
    const {stats} = JSON.parse(stdout) as {stats: {attributes: {metadata: {name: string}}}[]};
    expect(stats.map(({attributes}) => attributes.metadata.name)).toEqual(['sidecar']);
    expect(runtime.callsTo('ListContainerStats')).toHaveLength(1);
    const yaml = await run(runtime, ['stats', '--output=yaml', 'sidecar']);
    expect(yaml.stdout).toMatch(/^stats:\n- attributes:\n/);
    const template = await run(runtime, ['stats', '-o', 'jsonpath={.stats[*].attributes.metadata.name}']);
    expect(template.stdout.trim().split(' ').toSorted()).toEqual(['main', 'main', 'sidecar']);
  });

  test('a broken container does not affect the others', async () => {
    await using runtime = await startRuntime();
    const broken = {code: 'UNKNOWN', message: 'no metrics'} as const;
    runtime.injectError('ListContainerStats', broken);
    runtime.injectError('ContainerStats', {
      ...broken,
      match: (request) => request['container_id'] === 'a'.repeat(64),
    });
    const {stdout, stderr, exitCode} = await run(runtime, ['stats']);
    expect(tableCells(stdout).map(([id]) => id)).toEqual(['CONTAINER', 'bbbbbbbbbbbbb', 'ccccccccccccc']);
    expect({stderr, exitCode}).toEqual({
      stderr: 'kcri: warning: no stats of container "sidecar": no metrics\n',
      exitCode: 0,
    });
  });

  test.each(['UNAVAILABLE', 'UNIMPLEMENTED', 'PERMISSION_DENIED', 'DEADLINE_EXCEEDED'] as const)(
    '%s is one error, without further calls',
    async (code) => {
      await using runtime = await startRuntime();
      runtime.injectError('ListContainerStats', {code, message: 'out of order'});
      const {stdout, stderr, exitCode} = await run(runtime, ['stats']);
      expect(stderr.match(/out of order/g)).toHaveLength(1);
      expect(stderr).toMatch(/^kcri: get container stats: /);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
      expect(runtime.callsTo('ContainerStats')).toEqual([]);
    },
  );

  test('a list too large for one message is read in pages', async () => {
    await using runtime = await FakeRuntime.start();
    runtime.fill({containers: 2500, pods: 10});
    runtime.injectError('ListContainerStats', {
      code: 'RESOURCE_EXHAUSTED',
      message: 'grpc: trying to send message larger than max',
    });
    const {stdout, stderr} = await run(runtime, ['stats', '--no-headers']);
    expect(stderr).toBe('');
    expect(stdout.trimEnd().split('\n')).toHaveLength(2500);
    expect(runtime.callsTo('StreamContainerStats')).toHaveLength(2);
  });

  test('a container without a new measurement has no CPU usage', async () => {
    await using runtime = await startRuntime();
    runtime.state.uniqueNowNanos = () => 1_777_636_900_000_000_000n;
    const {stdout} = await run(runtime, ['stats', '--no-headers', 'sidecar']);
    expect(tableCells(stdout)[0]?.slice(1, 4)).toEqual(['sidecar', '-', '10.49MB']);
    const crictl = await run(runtime, ['stats'], {env: {KCRI_COMPAT: 'crictl'}});
    expect(crictl).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('get container stats: cpu stat is not updated during sample') as string,
      exitCode: 1,
    });
  });
});

describe('stats --watch', () => {
  test('prints one table after another in a pipe, each below its time, without escape codes', async () => {
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await run(
      runtime,
      ['stats', '-w', '--no-headers', 'sidecar'],
      interruptAt(/(T[^]*sidecar[^]*){3}/),
    );
    const row = /^\d{4}-\d\d-\d\dT[\d:]+(Z|[+-]\d\d:\d\d)\naaaaaaaaaaaaa +sidecar +\S+ .*\n$/;
    const tables = stdout.split(/(?<=\n)\n/).filter((table) => table !== '');
    expect(tables.length).toBeGreaterThanOrEqual(3);
    for (const table of tables) expect(table).toMatch(row);
    expect(stdout).not.toMatch(ESCAPES);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    // The second sample of a table is the first one of the next table.
    expect(runtime.callsTo('ListContainerStats').length).toBeLessThanOrEqual(tables.length + 2);
  });

  test('prints objects as lines of JSON or documents of YAML', async () => {
    await using runtime = await startRuntime();
    const json = await run(runtime, ['stats', '-wo', 'json'], interruptAt(/(\n[^]*){2}/));
    const lines = json.stdout.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as {stats: unknown[]}).stats.length)).toEqual(
      lines.map(() => 3),
    );
    expect(json.exitCode).toBe(0);
    const yaml = await run(runtime, ['stats', '-wo', 'yaml'], interruptAt(/(---[^]*){2}/));
    expect(yaml.stdout.match(/^---\nstats:\n/gm)?.length).toBeGreaterThanOrEqual(2);
  });

  test('reports a broken container once', async () => {
    await using runtime = await startRuntime();
    runtime.injectError('ListContainerStats', {code: 'UNKNOWN', message: 'no metrics'});
    runtime.injectError('ContainerStats', {
      code: 'UNKNOWN',
      message: 'no metrics',
      match: (request) => request['container_id'] === 'a'.repeat(64),
    });
    const {stderr, exitCode} = await run(runtime, ['stats', '-w'], interruptAt(/(CPU %[^]*){3}/));
    expect({stderr, exitCode}).toEqual({
      stderr: 'kcri: warning: no stats of container "sidecar": no metrics\n',
      exitCode: 0,
    });
  });

  test.each([
    ['C.UTF-8', '…'],
    ['C', '...'],
  ])('redraws on a terminal with the locale %s, within its size', async (LANG, mark) => {
    await using runtime = await startRuntime();
    const terminal = new FakeTerminal(60, 5);
    const {signal, onStdout} = interruptAt(/(CPU %[^]*){3}/);
    terminal.stream.on('data', (chunk: Buffer) => {
      onStdout(chunk.toString());
    });
    const {exitCode, stderr} = await runKcriOnTerminal(terminal, ['stats', '--watch'], {
      endpoint: runtime.endpoint,
      env: {LANG},
      signal,
    });
    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(terminal.lines.filter((line) => line !== '')).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      expect.stringMatching(/^CONTAINER +NAME +CPU %/),
      expect.stringMatching(/^aaaaaaaaaaaaa +sidecar/),
      `${mark} 2 more`,
    ]);
    expect({wrapped: terminal.wrapped, cursor: terminal.cursorVisible}).toEqual({wrapped: [], cursor: true});
  });

  test('prints tables one below the other on a terminal that cannot move the cursor', async () => {
    await using runtime = await startRuntime();
    const {signal, onStdout} = interruptAt(/(CPU %[^]*){3}/);
    const {stdout} = await runKcri(['stats', '--watch'], {
      ...{endpoint: runtime.endpoint, terminal: true, clock: FAST_CLOCK, signal, onStdout},
      env: {TERM: 'dumb'},
    });
    expect(stdout).not.toContain('\u001B');
    expect(stdout.match(/^CONTAINER +NAME +CPU %/gm)?.length).toBeGreaterThanOrEqual(3);
  });

  // Proves: stats --watch, statsp --watch
  test.each(['stats', 'statsp'])('%s fits a terminal of 100 columns', async (command) => {
    await using runtime = await startRuntime();
    const terminal = new FakeTerminal(100, 24);
    const {signal, onStdout} = interruptAt(/(CPU %[^]*){3}/);
    terminal.stream.on('data', (chunk: Buffer) => {
      onStdout(chunk.toString());
    });
    await runKcriOnTerminal(terminal, [command, '--watch'], {endpoint: runtime.endpoint, signal});
    const header = terminal.lines.find((line) => line.includes('CPU %')) ?? '';
    expect(header.trimEnd()).toMatch(command === 'stats' ? /INODES +SWAP +POD$/ : /CPU % +MEM$/);
    expect(header.length).toBeLessThanOrEqual(100);
  });

  test('ends with the error when the runtime becomes unavailable', async () => {
    await using runtime = await startRuntime();
    runtime.injectCrash('ListContainerStats', {skip: 3});
    const {stderr, exitCode} = await run(runtime, ['stats', '-w']);
    expect(stderr).toMatch(/^kcri: get container stats: /);
    expect(exitCode).toBe(1);
  });

  test('ends when its output is closed', async () => {
    await using runtime = await startRuntime();
    const terminal = new FakeTerminal();
    const finished = runKcriOnTerminal(terminal, ['stats', '-w', '-o', 'json'], {
      endpoint: runtime.endpoint,
      signal: new AbortController().signal,
    });
    terminal.stream.once('data', () => terminal.stream.destroy());
    expect((await finished).exitCode).toBe(0);
  });
});

describe('stats, called as crictl', () => {
  const env = {KCRI_COMPAT: 'crictl'};

  test('clears the screen even in a pipe, and accepts only one ID', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await run(runtime, ['stats', 'aaaa'], {env});
    expect(stdout).toMatch(/^\u001B\[2J\u001B\[HCONTAINER /);
    expect(names(stdout)).toEqual(['NAME', 'sidecar']);
    expect(runtime.callsTo('ListContainerStats')[0]!.request).toEqual({
      filter: {id: 'aaaa'},
    });
    expect(runtime.callsTo('ListContainers')).toEqual([]);
  });

  test('-w prints successive documents, and Ctrl-C is success', async () => {
    await using runtime = await startRuntime();
    const options = interruptAt(/("stats"[^]*){2}/);
    const {stdout, exitCode} = await run(runtime, ['stats', '-w', '-o', 'json', 'aaaa'], {env, ...options});
    expect(stdout.match(/^\{\n {2}"stats": \[\n/gm)?.length).toBeGreaterThanOrEqual(2);
    expect(exitCode).toBe(0);
  });

  test('ends at the first broken container', async () => {
    await using runtime = await startRuntime();
    runtime.injectError('ListContainerStats', {code: 'UNKNOWN', message: 'no metrics'});
    const {stdout, exitCode} = await run(runtime, ['stats'], {env});
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(runtime.callsTo('ContainerStats')).toEqual([]);
  });
});
