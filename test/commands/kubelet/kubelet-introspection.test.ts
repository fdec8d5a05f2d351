import {mkdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {acquireLock} from '../../../src/base/fs/lock.js';
import {podUid} from '../../../src/cri/index.js';
import {PodHistories} from '../../../src/kubelet/pods/history/pod-history.js';
import {kubeletLockPath, publishKubelet} from '../../../src/kubelet/pods/registry/running-kubelet.js';
import {until} from '../../base/until.js';
import {programPid} from '../../cli/program.js';
import {runKcri, type RunOptions, type RunResult} from '../../cli/run-kcri.js';
import type {FakeRuntimeOptions} from '../../fakes/fake-runtime.js';
import {aContainerSpec, aManifest, aScene, type PodScene} from '../pod-scene.js';

/** A kubelet that runs in this process, and what it works on. */
interface KubeletScene {
  readonly scene: PodScene;
  readonly put: (name: string, manifest: string) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
  /** kcri with its root directory, but without the runtime's endpoint. */
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<RunResult>;
  /** Ends the kubelet. */
  readonly stop: () => Promise<RunResult>;
}

async function aKubeletScene(options: FakeRuntimeOptions = {}): Promise<KubeletScene> {
  const scene = await aScene(options);
  const manifests = join(scene.directory, 'manifests');
  await mkdir(manifests);
  const end = new AbortController();
  const quiet = ['--enable-server=false', '--healthz-port=0', '--oom-score-adj=0', '--v=2'];
  const args = scene.args(['kubelet', '--pod-manifest-path', manifests, '--hostname-override=n1', ...quiet]);
  const ended = runKcri(args, {endpoint: scene.runtime.endpoint, signal: end.signal});
  const stop = async (): Promise<RunResult> => {
    end.abort();
    return await ended;
  };
  onTestFinished(async () => {
    await stop();
  });
  const run: KubeletScene['run'] = async (words, more) =>
    await runKcri(['--root-dir', scene.rootDir, ...words], more);
  return {
    scene,
    put: async (name, manifest) => writeFile(join(manifests, name), manifest),
    remove: async (name) => rm(join(manifests, name)),
    run,
    stop,
  };
}

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

/** Without what depends on the moment. */
function canonical(text: string): string {
  return text
    .slice(text.indexOf('Kubelet:'))
    .replaceAll(/\b\d+s\b/g, '<n>s')
    .replace(/\d+ \(up/, '<pid> (up')
    .replaceAll(/(\d+ of )?\d+ in a row/g, '<n> in a row')
    .replace(/\/\S+\/manifests/, '<manifests>');
}

/** What `kcri describe POD` says once it says all of this. */
async function describedWhen(
  {run}: KubeletScene,
  pod: string,
  ...expected: readonly RegExp[]
): Promise<RunResult> {
  let result = await run(['describe', pod]);
  await until(async () => {
    if (expected.every((each) => each.test(result.stdout))) return true;
    result = await run(['describe', pod]);
    return false;
  });
  return result;
}

test('describe shows what the kubelet that keeps a pod knows of it', async () => {
  const ground = await aKubeletScene();
  await ground.put('web.yaml', PROBED);
  const {stdout, stderr} = await describedWhen(
    ground,
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

test('describe shows until when a container that crashes is not started again, and why the last sync failed', async () => {
  const ground = await aKubeletScene();
  await ground.put('crash.yaml', CRASHING);
  const {stdout} = await describedWhen(ground, 'crash-n1', /Back-off:/, /idle/, /Next Sync/);
  expect(canonical(stdout)).toMatch(
    /main:\n +Back-off: +CrashLoopBackOff, next start in <n>s \(back-off <n>s\)/,
  );
  expect(stdout).toMatch(/Last Error: +failed to "StartContainer" for "main" with CrashLoopBackOff/);
});

test('what is secret in a probe’s output is shown to nobody', async () => {
  const ground = await aKubeletScene({exec: () => ({exitCode: 1, stdout: 'key open-sesame'})});
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
  await ground.put('key.yaml', JSON.stringify(secret));
  await ground.put('web.yaml', aManifest({metadata: {uid: 'web-uid'}, containers}));
  const {stdout} = await describedWhen(ground, 'web-n1', /Output:/);
  expect(stdout).toMatch(/Output: +"key /);
  expect(stdout).not.toContain('open-sesame');
});

test('commands find the runtime of the kubelet, and get kubelet tells how it is, as long as it runs', async () => {
  const {scene, put, run, stop} = await aKubeletScene();
  await put('web.yaml', PROBED);
  await until(() => scene.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
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
    endpoint: scene.runtime.endpoint,
    wantedPods: 1,
    pods: [{namespace: 'default', name: 'web-n1', worker: {}, containers: [{name: 'main'}]}],
  });

  await stop();
  expect((await run(['ps'])).stderr).toContain('no container runtime found');
  const {stderr, exitCode} = await run(['get', 'kubelet']);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`no kcri kubelet runs with root directory "${scene.rootDir}"`);
  const described = await run(['describe', 'web-n1']);
  expect(described).toMatchObject({stderr: '', exitCode: 0});
  expect(described.stdout).not.toContain('Kubelet:');
});

test('of a kubelet that does not answer that is told in a line, and the rest is shown', async () => {
  const {scene, put, run, stop} = await aKubeletScene();
  await put('web.yaml', PROBED);
  await until(async () => (await run(['get', 'pods'])).stdout.includes('web-n1'));
  await stop();
  const self = {pid: 1234, startedAt: '2026-05-01T12:00:00Z', endpoint: scene.runtime.endpoint, urls: {}};
  await using lock = await acquireLock(kubeletLockPath(scene.rootDir));
  await using published = await publishKubelet(scene.rootDir, self);
  expect([lock, published]).toHaveLength(2);
  const {stdout, stderr, exitCode} = await run(['describe', 'web-n1']);
  expect(stderr).toMatch(
    /^kcri: warning: kcri kubelet \(PID 1234\) does not respond: .*kubelet\.sock.*; live kubelet details are unavailable\n$/,
  );
  expect(stdout).toContain('Name:         web-n1');
  expect(exitCode).toBe(0);
  expect((await run(['get', 'kubelet'])).exitCode).toBe(1);
});

test('get events lists what the kubelet has told of pods, and follows it', async () => {
  const {put, run} = await aKubeletScene();
  await put('web.yaml', aManifest({metadata: {uid: 'web-uid'}}));
  await until(async () => (await run(['get', 'events'])).stdout.includes('Started'));
  const {stdout} = await run(['get', 'events', 'web-n1']);
  expect(stdout.replaceAll(/^\d+s {2,}/gm, '<age>   ')).toMatch(
    /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n(.*\n)*<age> +Normal +Started +pod\/web-n1 +Container started\n$/m,
  );
  const json = await run([
    'get',
    'events',
    '-o',
    'jsonpath={.items[*].reason} {.items[0].involvedObject.name}',
  ]);
  expect(json.stdout).toMatch(/Created Started.* web-n1\n?$/);

  const end = new AbortController();
  const told = {events: '', watch: ''};
  const following = [
    run(['events'], {terminal: true, signal: end.signal, onStdout: (text) => (told.events += text)}),
    run(['get', 'events', '-w', '-o', 'json'], {
      signal: end.signal,
      onStdout: (text) => (told.watch += text),
    }),
  ];
  await until(() => told.watch.includes('"Started"'));
  await put('crash.yaml', CRASHING);
  await until(() => told.watch.includes('"BackOff"') && /Warning +container +BackOff/.test(told.events));
  end.abort();
  for (const {exitCode} of await Promise.all(following)) expect(exitCode).toBe(0);
  expect(told.events).toMatch(
    /^[\d:TZ-]+ {2}Warning {2}container {2}BackOff {8}default\/crash-n1\/main {2}Back-off restarting failed container main/m,
  );
  expect(told.events).toMatch(/^[\d:TZ-]+ {2}started {2}container /m);
});

test('events of chosen pods alone, with their namespaces, in any form', async () => {
  const {put, run} = await aKubeletScene();
  await put('web.yaml', aManifest({metadata: {uid: 'web-uid', labels: {app: 'web'}}}));
  await put('job.yaml', aManifest({name: 'job', metadata: {uid: 'job-uid', namespace: 'team'}}));
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
  const kubelet = await run(['get', 'kubelet', '--template', '{{.wantedPods}} {{.pleg.mode}}']);
  expect(kubelet.stdout).toMatch(/^2 (events|relists)\n$/);
});

test('a second kubelet says whose place it is, and leaves the first one alone', async () => {
  const {scene, put, run} = await aKubeletScene();
  await put('web.yaml', PROBED);
  await until(async () => (await run(['get', 'kubelet'])).exitCode === 0);
  const second = await runKcri(
    scene.args([
      'kubelet',
      '--pod-manifest-path',
      '/nonexistent',
      '--enable-server=false',
      '--healthz-port=0',
    ]),
    {endpoint: scene.runtime.endpoint},
  );
  expect(second.exitCode).toBe(1);
  expect(second.stderr).toContain(`another kcri kubelet (PID ${programPid()}) already uses root directory`);
  expect((await run(['get', 'kubelet'])).exitCode).toBe(0);
});

test('what the runtime answers outside of a sync is among the events that are kept', async () => {
  const {scene, put, run} = await aKubeletScene();
  await put('web.yaml', aManifest({metadata: {uid: 'web-uid'}}));
  await until(() => scene.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
  scene.runtime.injectError('ContainerStatus', {code: 'UNKNOWN', message: 'no such thing'});
  scene.runtime.exitContainer(scene.runtime.containers[0]?.id as never, 1);
  const reasons = async (): Promise<readonly string[]> =>
    (await new PodHistories(scene.rootDir, systemClock).events(podUid('web-uid'))).map(({reason}) => reason);
  await until(async () => (await reasons()).includes('FailedSync'));
  expect((await run(['get', 'events'])).exitCode).toBe(0);
});
