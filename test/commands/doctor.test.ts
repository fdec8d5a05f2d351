import {chmod, mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {runKcri, type RunOptions} from '../cli/run-kcri.js';
import {aContainer, aSandbox} from '../fakes/fake-runtime.js';
import {createTestbed, isMutatingCall, type CommandTestbed} from './command-testbed.js';

interface Item {
  readonly id: string;
  readonly area: string;
  readonly result: string;
  readonly message: string;
  readonly reason?: string;
  readonly details: readonly string[];
  readonly remedy: readonly string[];
}

const doctor = async (testbed: CommandTestbed, args: readonly string[], options: RunOptions = {}) =>
  await runKcri(['--root-dir', testbed.rootDir, 'doctor', ...args], {
    endpoint: testbed.runtime.endpoint,
    ...options,
  });

const items = ({stdout}: {readonly stdout: string}): readonly Item[] =>
  (JSON.parse(stdout) as {items: Item[]}).items;

const READY = ['--only', 'runtime/reachable,runtime/ready', '--only', 'runtime/containers'];

describe('doctor', () => {
  // Proves: doctor, doctor --only
  test('selected checks of a good runtime are ok, and nothing is changed', async () => {
    const testbed = await createTestbed({sandboxes: [aSandbox({name: 'web'})]});
    const {stdout, stderr, exitCode} = await doctor(testbed, READY);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout).toMatch(
      /^ok {7}runtime\/reachable {3}unix:\S+ answers\nok {7}runtime\/ready {7}RuntimeReady and NetworkReady are true\nok {7}runtime\/containers {2}0 containers, none in an unknown state\n3 ok, 0 warnings, 0 failures, 0 skipped\n$/,
    );
    expect(testbed.runtime.calls.filter(({method}) => isMutatingCall(method))).toEqual([]);
  });

  test('all checks have a result, in the areas that the help names', async () => {
    const testbed = await createTestbed();
    const found = items(await doctor(testbed, ['-o', 'json']));
    const {stdout: help} = await doctor(testbed, ['--help']);
    const areas = [...new Set(found.map(({area}) => area))];
    expect(help.replaceAll(/\s+/g, ' ')).toContain(`Areas: ${areas.join(', ')}.`);
  });

  // Proves: doctor --output, doctor --template, doctor --format, doctor --no-headers
  test('formats print the results with remedies as commands', async () => {
    const container = aContainer({name: 'main', state: 'CONTAINER_UNKNOWN'});
    const testbed = await createTestbed({containers: [container]});
    const only = ['--only', 'runtime/containers'];
    const result = await doctor(testbed, [...only, '-o', 'json']);
    const id = container.id.slice(0, 13);
    expect(result).toMatchObject({exitCode: 2});
    expect(JSON.parse(result.stdout)).toEqual({
      items: [
        {
          id: 'runtime/containers',
          area: 'runtime',
          title: 'containers in an unknown state',
          result: 'failure',
          message: '1 container in an unknown state',
          details: [`main (${id})`],
          remedy: [`kcri --root-dir ${testbed.rootDir} rm ${id}`],
        },
      ],
    });
    expect((await doctor(testbed, [...only, '-o', 'yaml'])).stdout).toContain('id: runtime/containers\n');
    const template = '{{range .items}}{{.result}}{{end}}';
    expect((await doctor(testbed, [...only, '--template', template])).stdout.trim()).toBe('failure');
    const table = [...only, '--format', 'table {{.id}}'];
    expect((await doctor(testbed, table)).stdout).toBe('ID\nruntime/containers\n');
    expect((await doctor(testbed, [...table, '--no-headers'])).stdout).toBe('runtime/containers\n');
  });

  test('a runtime that hangs is a failure, and the other checks are made', async () => {
    const testbed = await createTestbed();
    for (const rpc of ['Version', 'Status', 'ListPodSandbox', 'ListContainers', 'ListImages'] as const)
      testbed.runtime.injectDelay(rpc, 60_000);
    const result = await doctor(testbed, ['-o', 'json', '--only', 'runtime,memory/available']);
    const of = (id: string) => items(result).find((item) => item.id === id);
    expect(result).toMatchObject({exitCode: 2, stderr: ''});
    expect(of('runtime/reachable')).toMatchObject({
      result: 'failure',
      details: ['Version: no answer within 2s'],
    });
    expect(of('runtime/latency')).toMatchObject({message: '5 calls of 5 failed'});
    expect(of('runtime/ready')).toMatchObject({result: 'skipped', reason: 'Status: no answer within 2s'});
    expect(of('memory/available')).not.toMatchObject({result: 'skipped'});
  });

  test.runIf(process.getuid?.() === 0)(
    'without root, what cannot be read is said, and nothing else',
    async () => {
      const testbed = await createTestbed();
      await chmod(testbed.runtime.socketPath, 0o600);
      process.seteuid?.(65534);
      onTestFinished(() => {
        process.seteuid?.(0);
      });
      const found = items(await doctor(testbed, ['-o', 'json']));
      const of = (id: string) => found.find((item) => item.id === id);
      expect(of('runtime/reachable')).toMatchObject({
        result: 'skipped',
        reason: expect.stringContaining('only root may connect') as string,
      });
      expect(of('runtime/latency')).toMatchObject({
        result: 'skipped',
        reason: 'only root may call the runtime',
      });
      expect(of('kernel/pids')).toMatchObject({result: 'ok'});
    },
  );

  test('durations of calls are kept beside the records of kcri, and compared with later ones', async () => {
    const testbed = await createTestbed();
    const only = ['-o', 'json', '--only', 'runtime/latency-history'];
    expect(items(await doctor(testbed, only))).toMatchObject([
      {result: 'skipped', reason: 'no earlier run is recorded'},
    ]);
    await mkdir(join(testbed.rootDir, 'kcri'), {recursive: true});
    const file = join(testbed.rootDir, 'kcri/doctor-latencies.json');
    const rpcs = ['ListContainers', 'ListImages', 'ListPodSandbox', 'Status', 'Version'];
    await writeFile(file, JSON.stringify(Object.fromEntries(rpcs.map((rpc) => [rpc, Array(6).fill(9000)]))));
    expect(items(await doctor(testbed, only))).toMatchObject([
      {result: 'ok', message: '5 calls take as long as usual'},
    ]);
    expect(Object.values(JSON.parse(await readFile(file, 'utf8')) as object)).toEqual(
      rpcs.map(() => [...Array<number>(6).fill(9000), expect.any(Number) as number]),
    );
  });

  test('without a runtime the other checks are made', async () => {
    const testbed = await createTestbed();
    await testbed.runtime.stop();
    const result = await doctor(testbed, ['-o', 'json']);
    expect(result).toMatchObject({exitCode: 2});
    expect(items(result).find(({id}) => id === 'runtime/reachable')).toMatchObject({result: 'failure'});
    expect(items(result).find(({id}) => id === 'kernel/pids')).toMatchObject({result: 'ok'});
  });

  test('a socket that everyone may write to is found', async () => {
    const testbed = await createTestbed();
    await chmod(testbed.runtime.socketPath, 0o666);
    const result = await doctor(testbed, ['--only', 'security/runtime-socket']);
    expect(result).toMatchObject({exitCode: 2});
    expect(result.stdout).toMatch(
      /^failure {2}security\/runtime-socket {2}\S+ has mode 0666: .*\n {9}try: chmod o-rwx /,
    );
  });

  test('what the runtime says cannot control the terminal', async () => {
    const container = aContainer({name: '\x1b[2Jx', state: 'CONTAINER_UNKNOWN'});
    const testbed = await createTestbed({containers: [container]});
    const only = ['--only', 'runtime/containers'];
    const {stdout} = await doctor(testbed, only, {terminal: true, env: {NO_COLOR: '1'}});
    expect(stdout).toContain(String.raw`\x1b[2Jx`);
    expect(stdout).not.toContain('\x1b');
    const colored = await doctor(testbed, only, {terminal: true});
    expect(colored.stdout).toContain('\x1b[31mfailure');
  });

  test.each([
    [['--only', 'netwrk'], /unknown check "netwrk"\nhint: did you mean "network"\?/],
    [['--only', 'disk/spce'], /did you mean "disk\/space"\?/],
    [['-o', 'xml'], /unsupported output format "xml"/],
    [['web'], /unexpected argument|accepts no|takes no/],
  ])('an invalid command line is rejected before anything is read: %j', async (args, stderr) => {
    const testbed = await createTestbed();
    const result = await doctor(testbed, args);
    expect(result).toMatchObject({stdout: '', stderr: expect.stringMatching(stderr) as string});
    expect(result.exitCode).toBe(2);
    expect(testbed.runtime.calls).toEqual([]);
  });
});
