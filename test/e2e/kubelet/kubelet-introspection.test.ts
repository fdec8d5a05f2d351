import {lstat, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {startKubeletTestbed, type KubeletTestbed, type ServingDaemon} from '../harness/kubelet-testbed.js';
import type {KcriResult} from '../harness/kcri-process.js';
import {aContainer, aManifest, type ManifestFields} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const NODE = 'view-node';
const WEB = `view-web-${NODE}`;
const CRASH = `view-crash-${NODE}`;

const manifest = (name: string, container: ManifestFields, spec: ManifestFields = {}): string =>
  aManifest(name, {
    hostNetwork: true,
    terminationGracePeriodSeconds: 0,
    containers: [aContainer('main', container)],
    ...spec,
  });

/** Returns a Deployment `view-app` with one pod, which differs by `version`. */
const deployment = (version: string): string =>
  workload('Deployment', 'view-app', {command: ['sh', '-c', `: ${version}; sleep 3600`]});

const JOB = workload('Job', 'view-job', {command: ['sh', '-c', 'echo ran']});

function workload(kind: 'Deployment' | 'Job', name: string, container: ManifestFields): string {
  const [apiVersion, restartPolicy] = kind === 'Job' ? ['batch/v1', 'Never'] : ['apps/v1', 'Always'];
  const {spec} = JSON.parse(manifest(name, container, {restartPolicy})) as {readonly spec: object};
  const labels = {app: name};
  const selector = kind === 'Job' ? {} : {selector: {matchLabels: labels}};
  return JSON.stringify({
    ...{apiVersion, kind, metadata: {name}},
    spec: {...selector, template: {metadata: {labels}, spec}},
  });
}

const PROBED = manifest('view-web', {
  command: ['sh', '-c', 'echo hello; echo world > /tmp/file; sleep 3600'],
  livenessProbe: {exec: {command: ['true']}, periodSeconds: 1, timeoutSeconds: 60},
  readinessProbe: {
    exec: {command: ['sh', '-c', 'echo not yet; exit 1']},
    periodSeconds: 1,
    timeoutSeconds: 60,
  },
});

describe.each(newestRuntime)('introspection of a running kubelet: $name', (which) => {
  let kubelet: KubeletTestbed;
  let daemon: ServingDaemon;

  /** Runs kcri with the root directory as its only setting. */
  const kcri = async (...args: readonly string[]): Promise<KcriResult> =>
    await kubelet.podTestbed.runtime.kcri(args, {env: {CONTAINER_RUNTIME_ENDPOINT: undefined}});
  const says = async (args: readonly string[], ...expected: readonly RegExp[]): Promise<KcriResult> => {
    let result = await kcri(...args);
    await until(async () => {
      if (expected.every((each) => each.test(result.stdout))) return true;
      result = await kcri(...args);
      return false;
    });
    return result;
  };
  const socket = (): string => join(kubelet.podTestbed.runtime.rootDir, 'kcri/kubelet', 'kubelet.sock');

  beforeAll(async () => {
    kubelet = await startKubeletTestbed(which, NODE);
    await kubelet.put('view-web', PROBED);
    await kubelet.put('view-crash', manifest('view-crash', {command: ['false']}));
    daemon = await kubelet.start();
  });
  afterAll(async () => {
    await kubelet[Symbol.asyncDispose]();
  });

  test('describe prints probes, back-off, the last sync and the next one', async () => {
    const web = await says(
      ['describe', WEB],
      /Liveness: +Success; last Success [\dms]+ ago, \d+ in a row; next /,
      /Readiness: +Failure; last Failure [\dms]+ ago, \d+( of 3)? in a row; next .*\n +Output: +"not yet"/,
      /Last Sync: +[\dms]+ ago\n +Next Sync: +in [\dms]+/,
    );
    expect(web.stderr).toBe('');
    expect(web.stdout).toMatch(new RegExp(`PID: +${daemon.pid} \\(up [\\dms]+\\)`));
    expect(web.stdout).toMatch(/Source: +\S+\/manifests\/view-web\.json/);
    await says(
      ['describe', CRASH],
      /Back-off: +CrashLoopBackOff, next start (in [\dms]+|now) \(back-off [\dms]+\)/,
      /Last Error: +failed to "StartContainer" for "main" with CrashLoopBackOff/,
    );
    // The crashing container may run again at the moment.
    await says(
      ['get', 'pods', '--no-headers'],
      new RegExp(`^${CRASH} +0/1 +(CrashLoopBackOff|Error) `, 'm'),
      new RegExp(`^${WEB} +0/1 +Running +0 `, 'm'),
    );
  });

  test('only root can access it', async () => {
    const file = await lstat(socket());
    expect([file.isSocket(), file.mode & 0o777]).toEqual([true, 0o600]);
    expect((await lstat(join(socket(), '..'))).mode & 0o777).toBe(0o700);
  });

  test('get kubelet prints its status', async () => {
    const {stdout} = await kcri('get', 'kubelet', '-o', 'wide');
    expect(stdout).toMatch(
      new RegExp(`\\n${daemon.pid} +Ready +2 +[\\dms]+ +unix://\\S+ +https://127\\.0\\.0\\.1:`),
    );
  });

  test('get kubelet names an invalid manifest with its position', async () => {
    await kubelet.put(
      'view-bad',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {containers: []}\n',
    );
    await expect
      .poll(async () => (await kcri('get', 'kubelet')).stderr)
      .toMatch(/^kcri: invalid manifest: \S+\/view-bad\.\w+:4:\d+: spec\.containers: Required value\n$/);
    await kubelet.put('view-bad', manifest('view-bad', {}));
    await expect.poll(async () => (await kcri('get', 'kubelet')).stderr).toBe('');
    const listed = async () => (await kcri('get', 'pods', 'view-bad-view-node', '--no-headers')).stdout;
    await expect.poll(listed).toMatch(/ Running /);
    await kubelet.withdraw('view-bad');
    await expect.poll(listed).toBe('');
  });

  test('logs and exec resolve its pods by name, and events reports them', async () => {
    expect((await kcri('logs', `${WEB}/main`)).stdout).toBe('hello\n');
    expect((await kcri('exec', `${WEB}/main`, 'cat', '/tmp/file')).stdout).toBe('world\n');
    const {stdout} = await kcri('get', 'events', CRASH);
    expect(stdout).toMatch(
      /Warning +BackOff +pod\/view-crash-view-node +main +Back-off restarting failed container main/,
    );
    const following = kubelet.podTestbed.runtime.start(['get', 'events', '-w', '--no-headers']);
    await following.waitForOutput(
      /Unhealthy +pod\/view-web-view-node +main +Readiness probe failed: not yet/,
    );
    following.kill('SIGINT');
    expect((await following.exited).exitCode).toBe(0);
  });

  test('a second kubelet, a sync and a delete do not change its pods', async () => {
    const {rootDir} = kubelet.podTestbed.runtime;
    const second = await kcri(
      'kubelet',
      '--pod-manifest-path',
      '/nonexistent',
      '--enable-server=false',
      '--healthz-port=0',
    );
    expect(second.exitCode).toBe(1);
    expect(second.stderr).toContain(
      `another kcri kubelet (PID ${daemon.pid}) already uses root directory "${rootDir}"`,
    );
    for (const refused of [
      await kubelet.podTestbed.delete(WEB),
      await kubelet.podTestbed.sync(manifest(WEB, {})),
    ]) {
      expect(refused.exitCode).toBe(1);
      expect(refused.stderr).toContain(`kcri kubelet (PID ${daemon.pid}) manages it`);
    }
    expect((await kcri('describe', WEB)).stdout).toMatch(/Restart Count: +0/);
  });

  test('a killed kubelet does not block commands, and the next one takes over', async () => {
    daemon.kcri.kill('SIGKILL');
    await daemon.kcri.exited;
    expect((await lstat(socket())).isSocket()).toBe(true);
    const missing = await kcri('get', 'kubelet');
    expect(missing.stderr).toContain('no kcri kubelet runs with root directory');
    const described = await kcri('describe', WEB);
    expect(described).toMatchObject({stderr: '', exitCode: 0});
    expect(described.stdout).toMatch(/Events:(.|\n)*Readiness probe failed: not yet/);
    expect(described.stdout).not.toContain('Kubelet:');
    expect((await kcri('logs', `${WEB}/main`)).stdout).toBe('hello\n');
    expect((await kcri('exec', `${WEB}/main`, 'cat', '/tmp/file')).stdout).toBe('world\n');
    // No kubelet manages the pod any more.
    expect((await kcri('delete', CRASH)).exitCode).toBe(0);

    daemon = await kubelet.start();
    await says(['describe', WEB], new RegExp(`PID: +${daemon.pid} `), /Liveness: +Success/);
  });

  test('a changed Deployment rolls over, and a finished Job does not run again after a restart', async () => {
    await kubelet.put('view-app', deployment('one'));
    await kubelet.put('view-job', JOB);
    const list = async (): Promise<readonly string[]> =>
      (await kcri('get', 'pods', '--no-headers')).stdout
        .split('\n')
        .filter((line) => /^view-(app|job)-/.test(line));
    /** Returns the name of the only pod whose line matches. */
    const only = async (pattern: RegExp): Promise<string> => {
      let lines: readonly string[] = [];
      await until(async () => {
        lines = (await list()).filter((line) => pattern.test(line));
        return lines.length === 1;
      });
      return lines[0]?.split(/ +/)[0] ?? '';
    };
    const first = await only(/^view-app-.* 1\/1 +Running/);
    const job = await only(/^view-job-.* Completed/);
    await kubelet.put('view-app', deployment('two'));
    await until(async () => !(await list()).some((line) => line.startsWith(first)));
    const second = await only(/^view-app-.* 1\/1 +Running/);
    expect(second).not.toBe(first);

    daemon.kcri.kill('SIGTERM');
    await daemon.kcri.exited;
    daemon = await kubelet.start();
    await says(['describe', second], new RegExp(`PID: +${daemon.pid} `), /Last Sync/);
    expect(await only(/^view-job-.* Completed +0 /)).toBe(job);
    expect(await only(/^view-app-.* 1\/1 +Running +0 /)).toBe(second);
    expect((await kcri('logs', `${job}/main`)).stdout).toBe('ran\n');
    const {rootDir} = kubelet.podTestbed.runtime;
    for (const name of ['view-app', 'view-job']) await rm(join(rootDir, 'manifests', `${name}.json`));
    await until(async () => (await list()).length === 0);
  });
});
