import {execFile, execFileSync} from 'node:child_process';
import {mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {freePorts} from '../base/free-ports.js';
import {until} from '../base/until.js';
import {kubeletConfigFor, putManifest} from '../e2e/harness/kubelet-testbed.js';
import {aManifest} from '../e2e/harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../e2e/harness/pod-testbed.js';
import {newestRuntime} from '../e2e/harness/runtimes-under-test.js';

const NODE = 'unit';
const POD = `web-${NODE}`;
const UNIT = 'kcri-kubelet.service';
const UNIT_FILE = `/run/systemd/system/${UNIT}`;
const LOGIND_OVERRIDE = '/etc/systemd/logind.conf.d/99-kubelet.conf';
/** Longer than logind allows by default, which is five seconds. */
const SHUTDOWN = 'shutdownGracePeriod: 20s\nshutdownGracePeriodCriticalPods: 5s\n';

const systemctl = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)('systemctl', ['--no-pager', ...args])).stdout.trim();
const property = async (name: string): Promise<string> =>
  await systemctl('show', '--value', '--property', name, UNIT);
const inhibitors = (): string =>
  execFileSync('systemd-inhibit', ['--list', '--no-legend', '--no-pager'], {encoding: 'utf8'});

describe.each(newestRuntime)('kcri kubelet as a service of systemd: $name', (which) => {
  let testbed: PodTestbed;
  let manifests: string;
  let configFile: string;

  beforeAll(async () => {
    testbed = await startPodTestbed(which);
    const {rootDir} = testbed.runtime;
    manifests = join(rootDir, 'manifests');
    await mkdir(manifests);
    const [port, healthzPort] = await freePorts(2);
    configFile = join(rootDir, 'kubelet.yaml');
    await writeFile(
      configFile,
      `${kubeletConfigFor(testbed, manifests)}port: ${port}\nhealthzPort: ${healthzPort}\n${SHUTDOWN}`,
    );
    const flags = ['--config', configFile, '--hostname-override', NODE, '--no-admission', '--v=2'];
    await writeFile(UNIT_FILE, await testbed.runtime.output('kubelet', ...flags, '--print-unit'));
    await systemctl('daemon-reload');
  });
  afterAll(async () => {
    await systemctl('stop', UNIT);
    await rm(UNIT_FILE);
    await testbed.delete(POD);
    await testbed[Symbol.asyncDispose]();
  });

  const mainPid = async (): Promise<number> => Number(await property('MainPID'));
  const container = async (): Promise<string | undefined> =>
    (await testbed.find(POD))?.containers.find(({state}) => state === 'CONTAINER_RUNNING')?.id;

  test('the service has started when kcri has notified systemd, and runs pods', async () => {
    await systemctl('start', UNIT);
    expect(await property('ActiveState')).toBe('active');
    expect(await property('WatchdogUSec')).toBe('1min');
    await putManifest(join(manifests, 'web.json'), aManifest('web'));
    await until(async () => (await container()) !== undefined);
    // The first notification of the watchdog.
    await until(async () => (await property('WatchdogTimestampMonotonic')) !== '0');
  });

  test('a shutdown of the node is delayed through logind, which allows the configured time', async () => {
    await until(() => /kubelet.*shutdown.*delay/.test(inhibitors()));
    expect(await readFile(LOGIND_OVERRIDE, 'utf8')).toContain('InhibitDelayMaxSec=20');
    const answer = execFileSync(
      'busctl',
      [
        ...['get-property', 'org.freedesktop.login1', '/org/freedesktop/login1'],
        ...['org.freedesktop.login1.Manager', 'InhibitDelayMaxUSec'],
      ],
      {encoding: 'utf8'},
    );
    expect(answer.trim()).toBe('t 20000000');
  });

  test('a reload is done by the same process', async () => {
    const pid = await mainPid();
    await writeFile(configFile, `${await readFile(configFile, 'utf8')}# changed\n`);
    await systemctl('reload', UNIT);
    await until(async () => (await property('ActiveState')) === 'active');
    expect(await mainPid()).toBe(pid);
  });

  test('a killed kubelet is started again, and a stopped one leaves its pods running', async () => {
    const [id, pid] = [await container(), await mainPid()];
    process.kill(pid, 'SIGKILL');
    await until(
      async () => (await property('NRestarts')) === '1' && (await property('ActiveState')) === 'active',
    );
    expect(await mainPid()).not.toBe(pid);
    expect(await container()).toBe(id);

    await systemctl('stop', UNIT);
    expect([await property('ActiveState'), await property('Result')]).toEqual(['inactive', 'success']);
    expect(await container()).toBe(id);
    expect(inhibitors()).not.toMatch(/kubelet.*shutdown.*delay/);
  });
});
