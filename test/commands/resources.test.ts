import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {FakeRuntime, aContainer, aSandbox} from '../fakes/fake-runtime.js';
import {interruptAt, FAST_CLOCK} from './interrupt-watch.js';
import {temporaryDirectory} from '../base/temporary-directory.js';

const CRICTL = {KCRI_COMPAT: 'crictl'};

async function startRuntime() {
  const [web, api] = [aSandbox({name: 'web'}), aSandbox({name: 'api', namespace: 'prod'})];
  return await FakeRuntime.start({
    sandboxes: [web, api],
    containers: [
      aContainer({sandbox: web, name: 'main'}),
      aContainer({sandbox: web, name: 'sidecar'}),
      aContainer({sandbox: api, name: 'main'}),
      aContainer({sandbox: api, name: 'done', state: 'CONTAINER_EXITED'}),
    ],
  });
}

const run = async (
  runtime: FakeRuntime,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) => await runKcri(args, {endpoint: runtime.endpoint, env, clock: FAST_CLOCK});

describe('update', () => {
  const updates = (runtime: FakeRuntime) =>
    runtime.callsTo('UpdateContainerResources').map(({request}) => request);

  test('sends the given limits for each container', async () => {
    await using runtime = await startRuntime();
    const args = ['--cpu-period=100000', '--cpu-quota', '50000', '--cpu-share', '512'];
    const more = ['--cpuset-cpus', '0-1', '--cpuset-mems', '0', '--oom-score-adj', '-500'];
    const result = await run(runtime, ['update', ...args, ...more, 'web/main', 'sidecar']);
    expect(result).toEqual({stdout: 'web/main\nsidecar\n', stderr: '', exitCode: 0});
    const linux = {
      cpu_period: '100000',
      cpu_quota: '50000',
      cpu_shares: '512',
      cpuset_cpus: '0-1',
      cpuset_mems: '0',
      oom_score_adj: '-500',
    };
    expect(updates(runtime)).toEqual(
      runtime.containers.slice(0, 2).map(({id}) => ({container_id: id, linux})),
    );
  });

  test.each([
    [['--memory', '512Mi'], {memory_limit_in_bytes: '536870912'}],
    [['--memory=1g'], {memory_limit_in_bytes: '1073741824'}],
    [['--memory', '1048576'], {memory_limit_in_bytes: '1048576'}],
    [['--cpus', '1.5'], {cpu_period: '100000', cpu_quota: '150000'}],
    [['--cpus', '2', '--cpu-period', '50000'], {cpu_period: '50000', cpu_quota: '100000'}],
    [['--cpu-quota=-1'], {cpu_quota: '-1'}],
  ])('%j is sent as %j', async (args, linux) => {
    await using runtime = await startRuntime();
    const {exitCode} = await run(runtime, ['update', 'sidecar', ...args]);
    expect(updates(runtime)).toEqual([{container_id: runtime.containers[1]!.id, linux}]);
    expect(exitCode).toBe(0);
  });

  test.each([
    [[], 'nothing to update'],
    [['--memory', '10M'], 'invalid argument "10M" for "--memory" flag: use Mi for powers of 1024'],
    [['--memory', 'lots'], 'invalid argument "lots" for "--memory" flag: not a size'],
    [['--oom-score-adj', 'abc'], 'invalid argument "abc" for "--oom-score-adj" flag: not an integer'],
    [['--oom-score-adj', '1001'], 'invalid argument "1001" for "--oom-score-adj" flag'],
    [['--cpu-share', '1.5'], 'invalid argument "1.5" for "--cpu-share" flag: not an integer'],
    [['--cpus', '0'], 'invalid argument "0" for "--cpus" flag: must be a number of CPUs'],
    [['--cpus', '1', '--cpu-quota', '5'], '--cpus and --cpu-quota are mutually exclusive'],
    [['--cpu-count', '1'], '--cpu-count is only for Windows nodes'],
  ])('%j is rejected before any call: %s', async (args, message) => {
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await run(runtime, ['update', 'sidecar', ...args]);
    expect(stderr).toContain(`kcri: ${message}`);
    expect({stdout, exitCode, calls: runtime.calls}).toEqual({stdout: '', exitCode: 1, calls: []});
  });

  test('a failed update does not affect the other containers', async () => {
    await using runtime = await startRuntime();
    runtime.injectError('UpdateContainerResources', {code: 'INTERNAL', message: 'cgroup busy', times: 1});
    const {stdout, stderr, exitCode} = await run(runtime, [
      'update',
      '--memory',
      '1g',
      'web/main',
      'sidecar',
    ]);
    expect({stdout, exitCode}).toEqual({stdout: 'sidecar\n', exitCode: 1});
    expect(stderr).toMatch(/^kcri: updating container resources for "web\/main": .*cgroup busy\n/);
  });

  test('as crictl accepts only bytes, any score, and no limits at all', async () => {
    await using runtime = await startRuntime();
    const {id} = runtime.containers[0]!;
    expect(await run(runtime, ['update', '--oom-score-adj', 'abc', id], CRICTL)).toMatchObject({
      stdout: `${id}\n`,
      exitCode: 0,
    });
    expect(updates(runtime)).toEqual([{container_id: id, linux: {}}]);
    const bad = await run(runtime, ['update', '--memory', '1Mi', id], CRICTL);
    expect(bad.exitCode).toBe(1);
    expect(bad.stderr).toContain('invalid value \\"1Mi\\" for flag -memory: parse error');
  });
});

describe('checkpoint', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryDirectory();
  });

  // Proves: checkpoint --export
  test('makes the runtime write an archive', async () => {
    await using runtime = await startRuntime();
    const path = join(folder, 'main.tar');
    const result = await run(runtime, ['checkpoint', '-e', path, 'web/main']);
    expect(result).toEqual({stdout: 'web/main\n', stderr: '', exitCode: 0});
    expect(runtime.callsTo('CheckpointContainer').map(({request}) => request)).toEqual([
      {container_id: runtime.containers[0]!.id, location: path},
    ]);
    expect(existsSync(path)).toBe(true);
  });

  test.each(['/', ''])('several containers are written to a directory by ID (%j)', async (slash) => {
    await using runtime = await startRuntime();
    const {stdout} = await run(runtime, ['checkpoint', `--export=${folder}${slash}`, 'sidecar', 'web/main']);
    expect(stdout).toBe('sidecar\nweb/main\n');
    expect(runtime.callsTo('CheckpointContainer').map(({request}) => request['location'])).toEqual([
      join(folder, `${runtime.containers[1]!.id}.tar`),
      join(folder, `${runtime.containers[0]!.id}.tar`),
    ]);
  });

  test('several containers and one file are rejected', async () => {
    await using runtime = await startRuntime();
    const path = join(folder, 'x.tar');
    const {stderr, exitCode} = await run(runtime, ['checkpoint', '-e', path, 'sidecar', 'web/main']);
    expect(stderr).toContain(`kcri: cannot write the checkpoints of 2 containers to the file "${path}"`);
    expect({exitCode, calls: runtime.calls}).toEqual({exitCode: 1, calls: []});
  });

  test('a relative path is resolved by kcri, not by the runtime', async () => {
    await using runtime = await startRuntime();
    runtime.injectError('CheckpointContainer', {
      code: 'UNKNOWN',
      message: 'CRIU binary not found or too old',
    });
    const {stderr, exitCode} = await run(runtime, ['checkpoint', '-e', 'x.tar', 'sidecar']);
    expect(runtime.callsTo('CheckpointContainer')[0]!.request['location']).toBe(join(process.cwd(), 'x.tar'));
    expect(stderr).toMatch(/^kcri: checkpointing the container "sidecar" failed: .*CRIU.*\nhint: .*CRIU/);
    expect(exitCode).toBe(1);
  });

  test('a container that is not running or missing is an error', async () => {
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await run(runtime, [
      'checkpoint',
      '-e',
      folder,
      'done',
      'nope',
      'sidecar',
    ]);
    expect({stdout, exitCode}).toEqual({stdout: 'sidecar\n', exitCode: 1});
    expect(stderr).toContain('kcri: no such container "nope"');
    expect(stderr).toMatch(/kcri: checkpointing the container "done" failed: .*CONTAINER_EXITED/);
  });

  test.each([
    [['checkpoint', '-e', 'x'], 'specify a container'],
    [
      ['checkpoint', 'sidecar'],
      'cannot checkpoint a container without specifying the checkpoint destination. Use --export=/path/to/checkpoint.tar',
    ],
  ])('%j prints %s', async (args, message) => {
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await run(runtime, args);
    expect(stderr).toContain(`kcri: ${message}\n`);
    expect({exitCode, calls: runtime.calls}).toEqual({exitCode: 1, calls: []});
  });

  test('as crictl writes all to one file, and stops at the first failure', async () => {
    await using runtime = await startRuntime();
    const path = join(folder, 'x.tar');
    const [main, sidecar, , exited] = runtime.containers.map(({id}) => id);
    const args = ['checkpoint', '--export', path, main!, exited!, sidecar!];
    const {stdout, exitCode} = await run(runtime, args, CRICTL);
    expect({stdout, exitCode}).toEqual({stdout: `${main!}\n`, exitCode: 1});
    expect(runtime.callsTo('CheckpointContainer').map(({request}) => request['location'])).toEqual([
      path,
      path,
    ]);
  });
});

describe('metricsp and metricdescs', () => {
  test('print metrics and their descriptions', async () => {
    await using runtime = await startRuntime();
    const descriptors = await run(runtime, ['metricdescs', '-o', 'jsonpath={.descriptors[*].name}']);
    expect(descriptors.stdout.trim().split(' ')).toEqual([
      'container_cpu_usage_seconds_total',
      'container_network_receive_bytes_total',
    ]);
    const {stdout} = await run(runtime, ['metricsp']);
    const {podMetrics} = JSON.parse(stdout) as {podMetrics: {podSandboxId: string}[]};
    expect(podMetrics.map(({podSandboxId}) => podSandboxId)).toEqual(runtime.sandboxes.map(({id}) => id));
    expect((await run(runtime, ['metricsp', '-o', 'yaml'])).stdout).toMatch(
      /^podMetrics:\n- containerMetrics:\n/,
    );
  });

  test('metricsp -w prints one line per sample, and Ctrl-C is success', async () => {
    await using runtime = await startRuntime();
    const {stdout, exitCode} = await runKcri(['metricsp', '-w'], {
      endpoint: runtime.endpoint,
      clock: FAST_CLOCK,
      ...interruptAt(/(\n[^]*){3}/),
    });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as {podMetrics: unknown[]}).podMetrics.length)).toEqual(
      lines.map(() => 2),
    );
    expect(exitCode).toBe(0);
  });

  test('a list too large for one message is read in pages', async () => {
    await using runtime = await FakeRuntime.start();
    runtime.fill({containers: 1200, pods: 1200});
    runtime.injectError('ListPodSandboxMetrics', {
      code: 'RESOURCE_EXHAUSTED',
      message: 'message larger than max',
    });
    const {stdout} = await run(runtime, ['metricsp']);
    expect((JSON.parse(stdout) as {podMetrics: unknown[]}).podMetrics).toHaveLength(1200);
  });

  test.each([
    ['metricsp', 'ListPodSandboxMetrics', 'get pod metrics: list pod sandbox metrics: '],
    ['metricdescs', 'ListMetricDescriptors', 'get metric descriptors: list metric descriptors: '],
    ['runtime-config', 'RuntimeConfig', 'get runtime config: call RuntimeConfig RPC: '],
  ] as const)(
    '%s of a runtime without support has a hint with supported versions',
    async (command, rpc, context) => {
      await using runtime = await FakeRuntime.start({unimplemented: [rpc]});
      const {stdout, stderr, exitCode} = await run(runtime, [command]);
      expect(stderr.startsWith(`kcri: ${context}`)).toBe(true);
      expect(stderr).toMatch(new RegExp(`\\nhint: this runtime does not implement ${rpc} \\(containerd: 2`));
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    },
  );

  test.each([
    ['metricsp', '-o', 'table'],
    ['metricdescs', '-o', 'ini'],
  ])('%s %s %s is rejected, and prints the help as crictl', async (...args) => {
    await using runtime = await startRuntime();
    expect((await run(runtime, args)).stderr).toContain('kcri: unsupported output format');
    expect(runtime.calls).toEqual([]);
    expect((await run(runtime, args, CRICTL)).exitCode).toBe(0);
    // crictl checks the connection first.
    expect(new Set(runtime.calls.map(({method}) => method))).toEqual(new Set(['Version']));
  });
});

describe('runtime-config and update-runtime-config', () => {
  test("prints the runtime's configuration", async () => {
    await using runtime = await FakeRuntime.start({cgroupDriver: 'SYSTEMD'});
    expect((await run(runtime, ['runtime-config'])).stdout).toBe('cgroup driver:   SYSTEMD\n');
    const {stdout} = await run(runtime, ['runtime-config', '-o', 'json']);
    expect(JSON.parse(stdout)).toEqual({linux: {cgroupDriver: 'SYSTEMD'}});
  });

  test.each([['-p'], ['--pod-cidr']])('%s sends the pod CIDR', async (flag) => {
    await using runtime = await FakeRuntime.start();
    const ranges = '10.244.0.0/24,fd00:10:244::/64';
    expect(await run(runtime, ['update-runtime-config', flag, ranges])).toEqual({
      stdout: '',
      stderr: 'Runtime config successfully updated\n',
      exitCode: 0,
    });
    expect(runtime.callsTo('UpdateRuntimeConfig').map(({request}) => request)).toEqual([
      {runtime_config: {network_config: {pod_cidr: ranges}}},
    ]);
    expect((await run(runtime, ['update-runtime-config', `${flag}=`])).exitCode).toBe(0);
  });

  test.each([
    [[], 'nothing to update'],
    [['-p', '10.244.0.0'], 'invalid --pod-cidr "10.244.0.0"'],
    [['-p', '10.244.0.0/33'], 'invalid --pod-cidr "10.244.0.0/33"'],
    [['-p', '10.0.0.0/8,'], 'invalid --pod-cidr ""'],
    [['x'], 'unexpected argument "x"'],
  ])('update-runtime-config %j is rejected', async (args, message) => {
    await using runtime = await FakeRuntime.start();
    const {stderr, exitCode} = await run(runtime, ['update-runtime-config', ...args]);
    expect(stderr).toContain(`kcri: ${message}\n`);
    expect({exitCode, calls: runtime.calls}).toEqual({exitCode: 1, calls: []});
  });
});

describe('imagefsinfo', () => {
  test('is an object with sorted keys', async () => {
    await using runtime = await FakeRuntime.start();
    const {stdout} = await run(runtime, ['imagefsinfo']);
    const {status} = JSON.parse(stdout) as {status: Record<string, unknown>};
    expect(Object.keys(status)).toEqual(['containerFilesystems', 'imageFilesystems']);
    const template = ['--template', '{{(index .status.imageFilesystems 0).fsId.mountpoint}}'];
    expect((await run(runtime, ['imagefsinfo', ...template])).stdout).toBe('/var/lib/fake/snapshots\n');
    expect((await run(runtime, ['imagefsinfo', '-oyaml'])).stdout).toMatch(
      /^status:\n {2}containerFilesystems:\n/,
    );
  });

  test("-o table is readable, and equals crictl's as crictl", async () => {
    await using runtime = await FakeRuntime.start();
    const {stdout} = await run(runtime, ['imagefsinfo', '-o', 'table']);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {3,}/));
    expect(rows.map(([expected]) => expected)).toEqual(['HOLDS', 'images', 'containers']);
    expect(rows[1]).toEqual([
      'images',
      expect.stringMatching(/B$/),
      '100',
      expect.stringMatching(/ ago$/),
      '/var/lib/fake/snapshots',
    ]);
    const crictl = await run(runtime, ['imagefsinfo', '-o', 'table'], CRICTL);
    expect(crictl.stdout).toMatch(
      /^Container Filesystem \nTimeStamp\[0\]: \d+\nDisk\[0\]: \S+\nInodes\[0\]: \d+\n/,
    );
  });

  test('an error of the runtime is one line', async () => {
    await using runtime = await FakeRuntime.start();
    runtime.injectError('ImageFsInfo', {code: 'UNKNOWN', message: 'no disk'});
    const {stdout, stderr, exitCode} = await run(runtime, ['imagefsinfo']);
    expect(stderr).toMatch(/^kcri: image filesystem info request: .*no disk\n$/);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });
});
