import {randomBytes} from 'node:crypto';
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {tableCells} from '../../cli/output/table-cells.js';
import {runPod, type RunningPod} from '../harness/run-pod.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const ESCAPES = /\u001B/;

describe.each(newestRuntime)('watching: $name', (which) => {
  /** True if the runtime lacks features of containerd 1.7 and later. */
  const isOld = which.name.startsWith('containerd 1.6');
  const cgroupRoot = `/kcri-watch-${randomBytes(4).toString('hex')}`;
  let runtime: TestRuntime;
  let pod: RunningPod;

  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    pod = await runPod(runtime.connection, {name: 'watched', cgroupParent: `${cgroupRoot}/watched`});
  });
  afterAll(async () => {
    await runtime.stop();
  });

  test('stats prints running containers, by name and as objects', async () => {
    const {stdout, stderr, exitCode} = await runtime.kcri(['stats', 'watched/main']);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(tableCells(stdout)).toEqual([
      ['CONTAINER', 'NAME', 'CPU %', 'MEM', 'DISK', 'INODES', 'SWAP', 'POD'],
      [
        pod.containerId.slice(0, 13),
        'main',
        expect.stringMatching(/^\d+\.\d\d$/),
        expect.stringMatching(/B$/),
        expect.stringMatching(/B$/),
        expect.stringMatching(/^\d+$/),
        expect.stringMatching(/B$/),
        'watched',
      ],
    ]);
    const json = await runtime.kcri(['stats', '-o', 'json']);
    expect(JSON.parse(json.stdout)).toMatchObject({stats: [{attributes: {id: pod.containerId}}]});
    expect(await runtime.kcri(['stats', 'nobody'])).toMatchObject({
      stdout: '',
      stderr: expect.stringMatching(/^kcri: no such container "nobody"/) as string,
      exitCode: 1,
    });
  });

  test('a pod without its own cgroup does not affect the stats of the others', async () => {
    const {podSandboxId} = await runPod(runtime.connection, {name: 'rootless'});
    const {stdout, stderr, exitCode} = await runtime.kcri(['statsp', '-o', 'wide', '--no-headers']);
    await runtime.kcri(['rmp', '-f', podSandboxId]);
    expect(tableCells(stdout).map(([name]) => name)).toContain('watched');
    // Only cgroup v1 prevents the measurement.
    if (stderr !== '')
      expect(stderr).toMatch(
        /^kcri: warning: no stats of pod "kcri-e2e\/rootless": .*cgroupPath is empty\n$/,
      );
    expect(exitCode).toBe(0);
  });

  test('stats --watch continues until Ctrl-C, without escape codes in a pipe', async () => {
    const watching = runtime.start(['stats', '-w', '--sort', 'cpu']);
    await watching.waitForOutput(/(CPU %[^]*main[^]*){2}/);
    watching.kill('SIGINT');
    const {stdout, stderr, exitCode} = await watching.exited;
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout).not.toMatch(ESCAPES);
  });

  if (isOld) {
    test('a runtime without events is reported with the version that has them', async () => {
      const {stdout, stderr, exitCode} = await runtime.kcri(['events']);
      expect(stderr).toMatch(/^kcri: getting container events: .*\nhint: .*containerd: 1\.7 or later/);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    });
  } else {
    describe('events', () => {
      /** Creates and removes a pod. */
      async function briefly(name: string): Promise<RunningPod> {
        const brief = await runPod(runtime.connection, {name});
        await runtime.kcri(['rmp', '-f', brief.podSandboxId]);
        return brief;
      }

      const gone = ({podSandboxId}: RunningPod): RegExp =>
        new RegExp(`"${podSandboxId}","containerEventType":"CONTAINER_DELETED_EVENT"`);

      test('are printed as they happen, and repeated ones with --since', async () => {
        const before = await briefly('before');
        const watching = runtime.start(['events', '--pod', 'before,later', '--since', '10m']);
        await watching.waitForOutput(gone(before));
        const later = await briefly('later');
        await watching.waitForOutput(gone(later));
        watching.kill('SIGINT');
        const {stdout, stderr, exitCode} = await watching.exited;
        const events = stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as {containerId: string; containerEventType: string})
          .map(({containerId, containerEventType}) => `${containerEventType} ${containerId}`);
        const lived = ['CREATED', 'STARTED', 'STOPPED', 'DELETED'].map((type) => `CONTAINER_${type}_EVENT`);
        for (const {containerId, podSandboxId} of [before, later])
          for (const id of [containerId, podSandboxId])
            expect(events.filter((event) => event.endsWith(id))).toEqual(
              lived.map((type) => `${type} ${id}`),
            );
        expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
      });

      test('from before the start are omitted with a notice', async () => {
        /** Returns the messages of `kcri events` that was started after a pod had come and gone. */
        const watchAfterwards = async (): Promise<string> => {
          await briefly('before');
          const watching = runtime.start(['events']);
          await watching.waitForOutput(gone(await briefly('live')));
          watching.kill('SIGINT');
          const {stdout, stderr, exitCode} = await watching.exited;
          expect({hasBefore: stdout.includes('"before"'), exitCode}).toEqual({hasBefore: false, exitCode: 0});
          return stderr;
        };
        // containerd may still send events to the client of the test before, which has ended.
        await until(async () => (await watchAfterwards()).includes('earlier events are omitted'));
      });
    });
  }

  test('update changes the limits of a running container', async () => {
    const args = ['update', '--memory', '64Mi', '--cpus', '0.5', 'watched/main'];
    expect(await runtime.kcri(args)).toEqual({stdout: 'watched/main\n', stderr: '', exitCode: 0});
    const {status} = await runtime.connection.runtime.containerStatus({containerId: pod.containerId});
    expect(status?.resources?.linux).toMatchObject({
      memoryLimitInBytes: 67_108_864n,
      cpuPeriod: 100_000n,
      cpuQuota: 50_000n,
    });
  });

  test('checkpoint writes an archive, or reports its requirements', async () => {
    const path = join(runtime.rootDir, 'main.tar');
    const {stderr, exitCode} = await runtime.kcri(['checkpoint', '--export', path, 'watched/main']);
    if (exitCode === 0) expect(existsSync(path)).toBe(true);
    else
      expect(stderr).toMatch(
        isOld
          ? /^kcri: checkpointing the container "watched\/main" failed: .*\nhint: .*containerd: 2\.1 or later/
          : /^kcri: checkpointing the container "watched\/main" failed: .*CRIU.*\nhint: .*CRIU/,
      );
  });

  test('imagefsinfo prints the image filesystem and its usage', async () => {
    const {stdout} = await runtime.kcri(['imagefsinfo', '-o', 'table']);
    const [header, images] = tableCells(stdout);
    expect(header).toEqual(['HOLDS', 'USED', 'INODES', 'MEASURED', 'MOUNTPOINT']);
    expect(images?.[4]).toMatch(/overlayfs|native/);
    const {stdout: json} = await runtime.kcri(['imagefsinfo']);
    expect(JSON.parse(json)).toMatchObject({status: {imageFilesystems: [{fsId: {mountpoint: images?.[4]}}]}});
  });

  test('runtime-config prints the cgroup driver, and update-runtime-config sets the pod CIDR', async () => {
    const {stdout, stderr} = await runtime.kcri(['runtime-config']);
    if (isOld) expect(stderr).toMatch(/\nhint: .*containerd: 2\.0 or later/);
    else expect(stdout).toBe('cgroup driver:   CGROUPFS\n');
    expect(await runtime.kcri(['update-runtime-config', '-p', '10.244.0.0/24'])).toMatchObject({
      stderr: 'Runtime config successfully updated\n',
      exitCode: 0,
    });
  });

  test.each(['metricsp', 'metricdescs'])(
    '%s prints an object, or the version that has it',
    async (command) => {
      const {stdout, stderr, exitCode} = await runtime.kcri([command]);
      if (exitCode === 0) expect(Object.keys(JSON.parse(stdout) as object)).toHaveLength(1);
      else expect(stderr).toMatch(/^kcri: get .*\nhint: .*containerd: 2\.2 or later/);
    },
  );
});
