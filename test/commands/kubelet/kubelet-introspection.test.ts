import {expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {acquireLock} from '../../../src/base/fs/lock.js';
import {podUid} from '../../../src/cri/index.js';
import {PodHistories} from '../../../src/kubelet/pods/history/pod-history.js';
import {kubeletLockPath, publishKubelet} from '../../../src/kubelet/pods/registry/running-kubelet.js';
import {until} from '../../base/until.js';
import {programPid} from '../../cli/program.js';
import {runKcri} from '../../cli/run-kcri.js';
import {aContainerSpec, aManifest} from '../command-testbed.js';
import {describeUntil, startKubelet} from './kubelet-testbed.js';

const PROBED = aManifest({
  metadata: {uid: 'probed-uid'},
  containers: [
    aContainerSpec('main', {
      livenessProbe: {exec: {command: ['true']}, periodSeconds: 1},
      readinessProbe: {exec: {command: ['sh', '-c', 'echo not yet; exit 1']}, periodSeconds: 1},
    }),
  ],
});

const CRASHING = aManifest({
  name: 'crash',
  metadata: {uid: 'crash-uid'},
  containers: [aContainerSpec('main', {command: ['false']})],
});

/** Replaces values that depend on the time. */
function canonical(text: string): string {
  return (
    text
      .slice(text.indexOf('Kubelet:'))
      .replaceAll(/\b\d+s\b/g, '<n>s')
      // A probe or a sync is due.
      .replaceAll(/\bnow\b/g, 'in <n>s')
      .replace(/\d+ \(up/, '<pid> (up')
      .replaceAll(/(\d+ of )?\d+ in a row/g, '<n> in a row')
      .replace(/\/\S+\/manifests/, '<manifests>')
  );
}

test('describe prints the state of a pod in its kubelet', async () => {
  const kubelet = await startKubelet();
  await kubelet.writeManifest('web.yaml', PROBED);
  const {stdout, stderr} = await describeUntil(
    kubelet,
    'web-n1',
    /Readiness: .*last Failure .*in a row/,
    /Liveness: .*last Success/,
    /idle/,
  );
  expect(stderr).toBe('');
  expect(canonical(stdout)).toMatchInlineSnapshot(`
    "Kubelet:
      PID:        <pid> (up <n>s)
      Runtime:    evented PLEG, last relist <n>s ago
      Source:     <manifests>/web.yaml
      Worker:     idle
      Last Sync:  <n>s ago
      Next Sync:  in <n>s
      main:
        Liveness:   Success; last Success <n>s ago, <n> in a row; next in <n>s
        Readiness:  Failure; last Failure <n>s ago, <n> in a row; next in <n>s
          Output:   "not yet"
    "
  `);
  const lines = stdout.split('\n');
  expect(lines.indexOf('Kubelet:')).toBeGreaterThan(lines.findIndex((line) => line.startsWith('Events:')));
});

test('describe prints the restart back-off of a crashing container and the error of the last sync', async () => {
  const kubelet = await startKubelet();
  await kubelet.writeManifest('crash.yaml', CRASHING);
  const {stdout} = await describeUntil(kubelet, 'crash-n1', /Back-off:/, /idle/, /Next Sync/);
  expect(canonical(stdout)).toMatch(
    /main:\n +Back-off: +CrashLoopBackOff, next start in <n>s \(back-off <n>s\)/,
  );
  expect(stdout).toMatch(/Last Error: +failed to "StartContainer" for "main" with CrashLoopBackOff/);
});

test('secrets in probe output are never printed', async () => {
  const kubelet = await startKubelet({runtime: {exec: () => ({exitCode: 1, stdout: 'key open-sesame'})}});
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'key'},
    stringData: {key: 'open-sesame'},
  };
  const containers = [
    aContainerSpec('main', {
      env: [{name: 'KEY', valueFrom: {secretKeyRef: {name: 'key', key: 'key'}}}],
      readinessProbe: {exec: {command: ['check']}, periodSeconds: 1},
    }),
  ];
  await kubelet.writeManifest('key.yaml', JSON.stringify(secret));
  await kubelet.writeManifest('web.yaml', aManifest({metadata: {uid: 'web-uid'}, containers}));
  const {stdout} = await describeUntil(kubelet, 'web-n1', /Output:/);
  expect(stdout).toMatch(/Output: +"key /);
  expect(stdout).not.toContain('open-sesame');
});

test('commands use the endpoint of the running kubelet, and get kubelet prints its status', async () => {
  const {testbed, writeManifest, run, stop} = await startKubelet();
  await writeManifest('web.yaml', PROBED);
  await until(() => testbed.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
  expect((await run(['ps', '-q'])).stdout.trim()).toHaveLength(64);
  expect(await run(['exec', '-s', 'web-n1/main', 'echo', 'hello'])).toMatchObject({
    stdout: 'hello\n',
    exitCode: 0,
  });
  const table = await run(['get', 'kubelet']);
  expect(table.stdout).toMatch(
    /^PID +STATUS +PODS +AGE +ENDPOINT\n\d+ +(Not)?Ready +1 +\d+s +unix:\/\/\S+\n$/,
  );
  const report = JSON.parse((await run(['get', 'kubelet', '-o', 'json'])).stdout) as object;
  expect(report).toMatchObject({
    pid: programPid(),
    endpoint: testbed.runtime.endpoint,
    wantedPods: 1,
    pods: [{namespace: 'default', name: 'web-n1', worker: {}, containers: [{name: 'main'}]}],
  });

  await stop();
  expect((await run(['ps'])).stderr).toContain('no container runtime found');
  const {stderr, exitCode} = await run(['get', 'kubelet']);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`no kcri kubelet runs with root directory "${testbed.rootDir}"`);
  const described = await run(['describe', 'web-n1']);
  expect(described).toMatchObject({stderr: '', exitCode: 0});
  expect(described.stdout).not.toContain('Kubelet:');
});

test('an unresponsive kubelet is reported in one line, and everything else is printed', async () => {
  const {testbed, writeManifest, run, stop} = await startKubelet();
  await writeManifest('web.yaml', PROBED);
  await until(async () => (await run(['get', 'pods'])).stdout.includes('web-n1'));
  await stop();
  const self = {pid: 1234, startedAt: '2026-05-01T12:00:00Z', endpoint: testbed.runtime.endpoint, urls: {}};
  await using lock = await acquireLock(kubeletLockPath(testbed.rootDir));
  await using published = await publishKubelet(testbed.rootDir, self);
  expect([lock, published]).toHaveLength(2);
  const {stdout, stderr, exitCode} = await run(['describe', 'web-n1']);
  expect(stderr).toMatch(
    /^kcri: warning: kcri kubelet \(PID 1234\) does not respond: .*kubelet\.sock.*; live kubelet details are unavailable\n$/,
  );
  expect(stdout).toContain('Name:         web-n1');
  expect(exitCode).toBe(0);
  expect((await run(['get', 'kubelet'])).exitCode).toBe(1);
});

test("get events lists the kubelet's events and follows them", async () => {
  const {writeManifest, run} = await startKubelet();
  await writeManifest('web.yaml', aManifest({metadata: {uid: 'web-uid'}}));
  await until(async () => (await run(['get', 'events'])).stdout.includes('Started'));
  const {stdout} = await run(['get', 'events', 'web-n1']);
  expect(stdout.replaceAll(/^\d+s {2,}/gm, '<age>   ')).toMatch(
    /^LAST SEEN +TYPE +REASON +OBJECT +CONTAINER +MESSAGE\n(.*\n)*<age> +Normal +Started +pod\/web-n1 +main +Container started\n$/m,
  );
  const json = await run([
    'get',
    'events',
    '-o',
    'jsonpath={.items[*].reason} {.items[0].involvedObject.name}',
  ]);
  expect(json.stdout).toMatch(/Created Started.* web-n1\n?$/);

  const end = new AbortController();
  const reported = {events: '', watch: ''};
  const following = [
    run(['events'], {terminal: true, signal: end.signal, onStdout: (text) => (reported.events += text)}),
    run(['get', 'events', '-w', '-o', 'json'], {
      signal: end.signal,
      onStdout: (text) => (reported.watch += text),
    }),
  ];
  await until(() => reported.watch.includes('"Started"'));
  await writeManifest('crash.yaml', CRASHING);
  await until(
    () => reported.watch.includes('"BackOff"') && /Warning +container +BackOff/.test(reported.events),
  );
  end.abort();
  for (const {exitCode} of await Promise.all(following)) expect(exitCode).toBe(0);
  expect(reported.events).toMatch(
    /^[\d:TZ-]+ {2}Warning {2}container {2}BackOff {8}default\/crash-n1\/main {2}Back-off restarting failed container main/m,
  );
  expect(reported.events).toMatch(/^[\d:TZ-]+ {2}started {2}container /m);
});

// Proves: get events --types, get events --exit-code
test('events of selected pods are printed in any format, with their namespaces', async () => {
  const {writeManifest, run} = await startKubelet();
  await writeManifest('web.yaml', aManifest({metadata: {uid: 'web-uid', labels: {app: 'web'}}}));
  await writeManifest('job.yaml', aManifest({name: 'job', metadata: {uid: 'job-uid', namespace: 'team'}}));
  const events = async (...args: readonly string[]): Promise<string> =>
    (await run(['get', 'events', '--no-headers', ...args])).stdout;
  await until(async () => (await events()).match(/ Started /g)?.length === 2);
  expect(await events('-n', 'team')).toMatch(/^\d+s .*\bpod\/job-n1 /);
  expect(await events('-n', 'team')).not.toContain('web-n1');
  expect(await events('-l', 'app=web')).not.toContain('job-n1');
  expect(await events('-A')).toMatch(/^team +\d+s .* pod\/job-n1 /m);
  expect(await events('-o', 'wide', 'web-n1')).toMatch(
    / pod\/web-n1 +spec\.containers\{main\} +kubelet, n1 +Container started +\d+s +1 +web-n1\.[0-9a-f]{16}\n/,
  );
  expect(await events('--template', '{{(index .items 0).kind}}')).toBe('Event\n');
  expect(await events('-n', 'nowhere')).toBe('');
  expect(await events('--types=warning', 'web-n1')).toBe('');
  expect(await events('--types=Warning,Normal')).toMatch(
    / Normal +Started +pod\/web-n1 +main +Container started\n/,
  );
  expect((await run(['get', 'events', '--types=Error'])).stderr).toContain(
    'invalid --types "Error"\nhint: use Normal or Warning',
  );
  const none = ['get', 'events', '-n', 'nowhere', '--exit-code'];
  expect(await run(none)).toEqual({stdout: '', stderr: '', exitCode: 2});
  expect(await run([...none, '-w'])).toMatchObject({
    stderr: expect.stringContaining('--exit-code and --watch are mutually exclusive') as string,
    exitCode: 1,
  });
  const kubelet = await run(['get', 'kubelet', '--template', '{{.wantedPods}} {{.pleg.mode}}']);
  expect(kubelet.stdout).toMatch(/^2 (events|relists)\n$/);
});

test('a second kubelet reports the first one and leaves it running', async () => {
  const {testbed, writeManifest, run} = await startKubelet();
  await writeManifest('web.yaml', PROBED);
  await until(async () => (await run(['get', 'kubelet'])).exitCode === 0);
  const second = await runKcri(
    testbed.args([
      'kubelet',
      '--pod-manifest-path',
      '/nonexistent',
      '--enable-server=false',
      '--healthz-port=0',
    ]),
    {endpoint: testbed.runtime.endpoint},
  );
  expect(second.exitCode).toBe(1);
  expect(second.stderr).toContain(`another kcri kubelet (PID ${programPid()}) already uses root directory`);
  expect((await run(['get', 'kubelet'])).exitCode).toBe(0);
});

test('runtime errors outside a sync are recorded as events', async () => {
  const {testbed, writeManifest, run} = await startKubelet();
  await writeManifest('web.yaml', aManifest({metadata: {uid: 'web-uid'}}));
  await until(() => testbed.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
  testbed.runtime.injectError('ContainerStatus', {code: 'UNKNOWN', message: 'no such thing'});
  testbed.runtime.exitContainer(testbed.runtime.containers[0]?.id as never, 1);
  const reasons = async (): Promise<readonly string[]> =>
    (await new PodHistories(testbed.rootDir, systemClock).events(podUid('web-uid'))).map(
      ({reason}) => reason,
    );
  await until(async () => (await reasons()).includes('FailedSync'));
  expect((await run(['get', 'events'])).exitCode).toBe(0);
});
