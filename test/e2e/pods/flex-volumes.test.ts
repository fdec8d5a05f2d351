import {existsSync, readFileSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {
  driverScript,
  putDriver,
  SEPARATOR,
  TMPFS_DRIVER,
} from '../../kubelet/managers/volumes/plugins/flex/flex-scripts.js';
import {startKubeletTestbed, type KubeletTestbed} from '../harness/kubelet-testbed.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

/** Writes to the volume, by a sub-path too, and waits. */
const WRITES = 'echo new >>/data/file; echo in >/part/file; trap "exit 0" TERM; sleep 3600 & wait';

const aFlexPod = (name: string, driver = 'example.com/box'): string =>
  aManifest(name, {
    terminationGracePeriodSeconds: 0,
    securityContext: {fsGroup: 1234},
    volumes: [{name: 'data', flexVolume: {driver, options: {size: '1Mi'}}}],
    containers: [
      aContainer('main', {
        command: ['sh', '-c', WRITES],
        volumeMounts: [
          {name: 'data', mountPath: '/data'},
          {name: 'data', mountPath: '/part', subPath: 'part'},
        ],
      }),
    ],
  });

describe.each(newestRuntime)('FlexVolumes: $name', (which) => {
  let testbed: KubeletTestbed;
  let drivers: string;
  beforeAll(async () => {
    testbed = await startKubeletTestbed(which, 'flex-node');
    drivers = join(testbed.podTestbed.runtime.rootDir, 'drivers');
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  const executable = (): string => join(drivers, 'example.com~box/box');
  const install = async (script: string): Promise<void> => {
    await putDriver(executable(), script);
  };
  const commands = (): readonly string[] =>
    (existsSync(`${executable()}.calls`) ? readFileSync(`${executable()}.calls`, 'utf8') : '')
      .split('\n')
      .map((line) => line.split(SEPARATOR)[0] ?? '')
      .filter((command) => command !== '');

  test('a daemon mounts them when their driver appears, keeps them over a restart, and unmounts them', async () => {
    const {podTestbed} = testbed;
    const config = `volumePluginDir: ${drivers}\n`;
    const first = await testbed.start(config);
    await testbed.put('web', aFlexPod('web'));
    await first.kcri.waitForOutput(/"example\.com\/box\\*" is not installed: no file /);
    await install(TMPFS_DRIVER);
    const isRunning = async () =>
      (await podTestbed.find('web-flex-node'))?.containers[0]?.state === 'CONTAINER_RUNNING';
    await until(isRunning);
    const {containers, uid} = await podTestbed.pod('web-flex-node');
    const {id} = containers[0]!;
    await until(async () => (await podTestbed.exec(id, 'sh', '-c', 'cat /data/part/file || true')) === 'in');
    expect(
      await podTestbed.exec(id, 'sh', '-c', 'cat /data/file; stat -c %g /data; stat -f -c %T /data'),
    ).toBe('new\n1234\ntmpfs');
    first.kcri.kill('SIGKILL');
    await first.kcri.exited;
    const second = await testbed.start(config);
    await until(() => commands().filter((command) => command === 'init').length === 2);
    const volumes = await podTestbed.runtime.kcri(['get', 'volumes', '--no-headers', '-o', 'wide']);
    expect(volumes.stdout).toMatch(/^web-flex-node +data +flexVolume +example\.com\/box +mounted /m);
    const described = await podTestbed.runtime.kcri(['describe', 'web-flex-node']);
    expect(described.stdout).toMatch(/Type: +FlexVolume .*\n +Driver: +example\.com\/box/);
    expect((await podTestbed.pod('web-flex-node')).containers.map((each) => each.id)).toEqual([id]);
    expect(commands()).toEqual(['init', 'mount', 'init']);
    const metrics = await (await fetch(`${second.urls.readOnly}/metrics`)).text();
    expect(metrics).toMatch(/storage_operation_duration_seconds_count\{.*volume_plugin="example\.com\/box"/);
    await testbed.remove('web');
    expect(commands()).toEqual(['init', 'mount', 'init', 'unmount']);
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(uid);
    second.kcri.kill('SIGTERM');
    await second.kcri.exited;
  });

  test('kcri sync mounts them, a driver that hangs holds up only its pod, and kcri delete finds the driver', async () => {
    const {podTestbed} = testbed;
    const flags = ['--volume-plugin-dir', drivers];
    await install(driverScript(`init) ok ;;\n*) : >"$0.hangs"; trap "" TERM; sleep 3607 ;;`));
    const hanging = podTestbed.startSync(
      [aFlexPod('hung'), aManifest('fine', {containers: [aContainer()]})].join('\n---\n'),
      flags,
    );
    await until(
      async () =>
        existsSync(`${executable()}.hangs`) &&
        (await podTestbed.find('fine'))?.containers[0]?.state === 'CONTAINER_RUNNING',
    );
    hanging.kill('SIGINT');
    await hanging.exited;
    await install(TMPFS_DRIVER);
    await rm(`${executable()}.calls`);
    expect(await podTestbed.delete('hung', 'fine')).toMatchObject({exitCode: 0});
    expect(await podTestbed.sync(aFlexPod('one'), flags)).toMatchObject({exitCode: 0});
    const {uid} = await podTestbed.pod('one');
    expect(await podTestbed.delete('one')).toMatchObject({exitCode: 0});
    expect(
      commands()
        .filter((command) => command !== 'init')
        .slice(-2),
    ).toEqual(['mount', 'unmount']);
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(uid);
  });
});
