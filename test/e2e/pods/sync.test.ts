import {existsSync, readFileSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import type {KcriResult} from '../harness/kcri-process.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed, type RunningPodState} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const example = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url)), 'utf8');

/** Returns name, attempt and state of each container, oldest first. */
const summary = ({containers}: RunningPodState): readonly string[] =>
  containers.map(({metadata, state}) => `${metadata?.name}/${metadata?.attempt} ${state}`).toReversed();

const containerNamed = ({containers}: RunningPodState, name: string): RunningPodState['containers'][number] =>
  containers.find(({metadata}) => metadata?.name === name)!;

describe.each(newestRuntime)('the life of a pod: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  /** Syncs a pod until it is ready. Deletes it at the end of the test and expects that nothing is left. */
  async function running(name: string, manifest: string): Promise<RunningPodState> {
    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0, stderr: ''});
    onTestFinished(async () => {
      const pod = await testbed.find(name);
      if (pod === undefined) return;
      expect(await testbed.delete(name)).toMatchObject({exitCode: 0, stderr: ''});
      expect(await testbed.listLeftovers(pod.uid)).toEqual([]);
    });
    return await testbed.pod(name);
  }

  /** Syncs a pod that never ends. Its time limit is doubled until it is long enough for the output on this machine. */
  async function syncUntilTimeout(
    manifest: string,
    args: readonly string[],
    {seconds, output}: {readonly seconds: number; readonly output: string},
  ): Promise<KcriResult> {
    let result: KcriResult | undefined;
    let limit = seconds;
    await until(async () => {
      result = await testbed.sync(manifest, [...args, '--timeout', `${limit}s`]);
      limit *= 2;
      return `${result.stdout}${result.stderr}`.includes(output);
    });
    return result!;
  }

  async function killFirstProcess(pod: RunningPodState, name: string): Promise<void> {
    const {id} = containerNamed(pod, name);
    process.kill(await testbed.pidOf(id), 'SIGKILL');
    await expect.poll(async () => (await testbed.statusOf(id)).state).toBe('CONTAINER_EXITED');
  }

  test('examples/web.yaml serves a page, and its deletion leaves nothing', async () => {
    const {stdout, stderr, exitCode} = await testbed.sync(example('web.yaml'));
    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    const ip = /IP (\S+)/.exec(stdout)?.[1] ?? '';
    const pod = await testbed.pod('web');
    expect(stdout.trimEnd().split('\n').at(-2)).toBe('default/web: ready');
    await expect
      .poll(async () => (await fetch(`http://${ip}:8080/`)).text())
      .toBe('<h1>Hello from web</h1>\n');
    expect(testbed.log({uid: pod.uid, name: 'web'}, 'server', 0)).toContain(
      ` stdout F serving on http://${ip}:8080/\n`,
    );
    const [page, server] = await Promise.all(
      ['page', 'server'].map((name) => testbed.statusOf(containerNamed(pod, name).id)),
    );
    expect(page).toMatchObject({state: 'CONTAINER_EXITED', exitCode: 0, reason: 'Completed'});
    expect(page!.finishedAt < server!.createdAt).toBe(true);

    const netns = await testbed.netnsOf(pod.sandboxes[0]!.id);
    expect(existsSync(netns)).toBe(true);
    expect(await testbed.delete('web')).toEqual({
      stdout: 'pod "default/web" deleted\n',
      stderr: '',
      exitCode: 0,
    });
    expect(await testbed.listLeftovers(pod.uid)).toEqual([]);
    expect(existsSync(netns)).toBe(false);
    expect(await testbed.delete('web')).toMatchObject({exitCode: 1});
  });

  test('a container that exits immediately is not ready, and its crash is reported', async () => {
    const manifest = aManifest('crash', {
      containers: [aContainer('main', {command: shellCommand('echo boom >&2; sleep 0.2; exit 3')})],
    });
    const {stdout, stderr, exitCode} = await testbed.sync(manifest, ['--min-ready', '1m', '--rm']);
    expect(exitCode).toBe(1);
    expect(stdout).not.toContain('crash: ready');
    expect(stderr).toBe(
      'default/crash/main | boom\n' +
        'kcri: pod "default/crash": container "main": CrashLoopBackOff: exited with code 3 (Error), restarted once\n',
    );
  });

  test('a finished job says so, runs again with --replace, and its last output is printed with --rm', async () => {
    const manifest = aManifest('again', {
      restartPolicy: 'Never',
      containers: [aContainer('main', {command: shellCommand('echo ran; exit 5')})],
    });
    const args = ['--wait', 'complete', '--logs'];
    expect(await testbed.sync(manifest, args)).toMatchObject({exitCode: 5});
    const second = await testbed.sync(manifest, args);
    expect(second).toMatchObject({exitCode: 5});
    expect(second.stderr).toContain('default/again: already ran, ');
    const third = await testbed.sync(manifest, [...args, '--replace', '--rm']);
    expect(third).toMatchObject({exitCode: 5});
    expect(third.stdout).toContain('container main started');
    expect(third.stdout).toContain('default/again/main | ran\n');
    expect(third.stderr).toBe('kcri: pod "default/again": container "main" exited with code 5 (Error)\n');
    const trap = aManifest('trap', {
      restartPolicy: 'Never',
      containers: [
        aContainer('main', {
          command: shellCommand('trap "echo last words; exit" TERM; echo waiting; sleep 3600 & wait'),
        }),
      ],
    });
    const limit = {seconds: 2, output: '| waiting'};
    const stopped = await syncUntilTimeout(trap, [...args, '--rm'], limit);
    expect(stopped).toMatchObject({exitCode: 124});
    expect(stopped.stdout).toContain('default/trap/main | last words\n');
  });

  test('a second sync of a running pod changes nothing', async () => {
    const manifest = aManifest('same');
    const before = await running('same', manifest);
    const {stdout, exitCode} = await testbed.sync(manifest);
    expect({stdout, exitCode}).toMatchObject({
      stdout: expect.not.stringMatching(/created|started|stopped/) as string,
      exitCode: 0,
    });
    expect(await testbed.pod('same')).toEqual(before);
  });

  test('a plan lists the calls of a sync, makes none, and is empty afterwards', async () => {
    const file = join(await temporaryDirectory(), 'planned.yaml');
    await writeFile(file, aManifest('planned'));
    const plan = async (): Promise<readonly string[]> =>
      (await testbed.runtime.kcri(['plan', file])).stdout.match(/(?<=^ +\d+\. )\w+/gm) ?? [];
    expect(await plan()).toEqual(['RunPodSandbox', 'CreateContainer', 'StartContainer']);
    expect(await testbed.find('planned')).toBeUndefined();
    await running('planned', aManifest('planned'));
    expect(await plan()).toEqual([]);
  });

  test('a killed container is restarted, and the newest dead instance is kept', async () => {
    const manifest = aManifest('restart', {
      containers: [
        aContainer('main', {command: shellCommand('echo here; exec sleep 3600')}),
        aContainer('other'),
      ],
    });
    const first = await running('restart', manifest);
    await killFirstProcess(first, 'main');
    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0});
    const second = await testbed.pod('restart');
    expect(summary(second)).toEqual([
      'main/0 CONTAINER_EXITED',
      'other/0 CONTAINER_RUNNING',
      'main/1 CONTAINER_RUNNING',
    ]);
    expect(testbed.log({uid: second.uid, name: 'restart'}, 'main', 1)).toContain('here');
    expect(await testbed.statusOf(containerNamed(first, 'main').id)).toMatchObject({exitCode: 137});

    await killFirstProcess(second, 'main');
    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0});
    // The next pass removes the older of two dead instances.
    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0});
    expect(summary(await testbed.pod('restart'))).toEqual([
      'other/0 CONTAINER_RUNNING',
      'main/1 CONTAINER_EXITED',
      'main/2 CONTAINER_RUNNING',
    ]);
    expect(() => testbed.log({uid: second.uid, name: 'restart'}, 'main', 0)).toThrow('ENOENT');
  });

  test('a sandbox stopped by others is replaced, and its init container runs again', async () => {
    const manifest = aManifest('lost', {initContainers: [aContainer('first', {command: ['true']})]});
    const before = await running('lost', manifest);
    await testbed.runtime.connection.runtime.stopPodSandbox({podSandboxId: before.sandboxes[0]!.id});
    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0});
    const after = await testbed.pod('lost');
    expect(after.uid).toBe(before.uid);
    expect(after.sandboxes.map(({metadata, state}) => `${metadata?.attempt} ${state}`)).toEqual([
      '1 SANDBOX_READY',
      '0 SANDBOX_NOTREADY',
    ]);
    expect(summary(after)).toEqual([
      'main/0 CONTAINER_EXITED',
      'first/1 CONTAINER_EXITED',
      'main/1 CONTAINER_RUNNING',
    ]);
  });

  test('a changed manifest is a new pod, and the old one is terminated first and leaves nothing', async () => {
    const before = await running('changed', aManifest('changed'));
    await running('changed', aManifest('changed', {containers: [aContainer('renamed')]}));
    const after = await testbed.pod('changed');
    expect(after.uid).not.toBe(before.uid);
    expect(summary(after)).toEqual(['renamed/0 CONTAINER_RUNNING']);
    expect(await testbed.listLeftovers(before.uid)).toEqual([]);
  });

  test('two pods of one file run concurrently and reach each other', async () => {
    const dir = await temporaryDirectory();
    await writeFile(join(dir, 'a.yaml'), `${aManifest('left')}\n---\n${aManifest('right')}\n`);
    const args = ['--pod-logs-dir', testbed.logsDir, '--cgroup-root', testbed.cgroupRoot];
    expect(await testbed.runtime.kcri(['sync', dir, ...args])).toMatchObject({exitCode: 0, stderr: ''});
    const [left, right] = [await testbed.pod('left'), await testbed.pod('right')];
    const {status} = await testbed.runtime.connection.runtime.podSandboxStatus({
      podSandboxId: right.sandboxes[0]!.id,
    });
    await testbed.exec(left.containers[0]!.id, 'ping', '-c', '1', '-W', '5', status!.network!.ip);
    const {stdout, exitCode} = await testbed.runtime.kcri(['delete', dir]);
    expect({stdout, exitCode}).toEqual({
      stdout: 'pod "default/left" deleted\npod "default/right" deleted\n',
      exitCode: 0,
    });
    for (const {uid} of [left, right]) expect(await testbed.listLeftovers(uid)).toEqual([]);
  });

  test.each([
    [0, 'true'],
    [7, 'exit 7'],
    [137, 'x=a; while :; do x=$x$x; done'],
  ])('sync --wait complete ends with the exit code %d of the job', async (code, script) => {
    const resources = code === 137 ? {limits: {memory: '16Mi'}} : {};
    const manifest = aManifest('job', {
      restartPolicy: 'Never',
      containers: [aContainer('main', {command: shellCommand(script), resources})],
    });
    const {exitCode, stderr} = await testbed.sync(manifest, ['--wait', 'complete']);
    const pod = await testbed.pod('job');
    expect({exitCode, stderr}).toMatchObject({
      exitCode: code,
      stderr: code === 0 ? '' : (expect.stringContaining(`exited with code ${code}`) as string),
    });
    const {reason} = await testbed.statusOf(pod.containers[0]!.id);
    expect(reason).toBe({0: 'Completed', 7: 'Error', 137: 'OOMKilled'}[code]);
    // A finished pod's sandbox is stopped.
    expect(pod.sandboxes[0]!.state).toBe('SANDBOX_NOTREADY');
    expect(await testbed.delete('job')).toMatchObject({exitCode: 0, stderr: ''});
    expect(await testbed.listLeftovers(pod.uid)).toEqual([]);
  });

  test('a job terminated by a signal exits with the code of the signal', async () => {
    const manifest = aManifest('signalled', {restartPolicy: 'Never'});
    const sync = testbed.startSync(manifest, ['--wait', 'complete', '--rm']);
    await sync.waitForOutput(/container main running/);
    const pod = await testbed.pod('signalled');
    process.kill(await testbed.pidOf(pod.containers[0]!.id), 'SIGKILL');
    expect(await sync.exited).toMatchObject({exitCode: 137});
    expect(await testbed.listLeftovers(pod.uid)).toEqual([]);
  });

  test('sync --logs --rm of examples/job.yaml prints every line and leaves nothing', async () => {
    const {stdout, exitCode} = await testbed.sync(example('job.yaml'), [
      '--wait',
      'complete',
      '--logs',
      '--rm',
    ]);
    expect(exitCode).toBe(0);
    expect(stdout.match(/(?<=default\/job\/main \| ).*/g)).toEqual([
      'checking',
      'step 1',
      'step 2',
      'step 3',
      'done',
    ]);
    expect(await testbed.find('job')).toBeUndefined();
    expect((await testbed.delete('job')).stderr).toContain('pod "job" not found');
  });

  test('a failing container is restarted until the timeout, and then the exit code is 124', async () => {
    const manifest = aManifest('crash', {
      restartPolicy: 'OnFailure',
      containers: [aContainer('main', {command: shellCommand('exit 3')})],
    });
    const limit = {seconds: 6, output: 'CrashLoopBackOff'};
    const {exitCode, stderr} = await syncUntilTimeout(manifest, ['--wait', 'complete', '--rm'], limit);
    expect(exitCode).toBe(124);
    expect(stderr).toContain('CrashLoopBackOff');
    expect(await testbed.find('crash')).toBeUndefined();
  });

  test('pods created by others are not changed, whatever their names', async () => {
    const dir = await temporaryDirectory();
    const write = async (name: string, config: object): Promise<string> => {
      const path = join(dir, name);
      await writeFile(path, JSON.stringify(config));
      return path;
    };
    const sandbox = await write('pod.json', {
      metadata: {name: 'beside', namespace: 'default', uid: 'foreign-uid', attempt: 0},
      log_directory: dir,
      linux: {},
    });
    const container = await write('container.json', {
      metadata: {name: 'main'},
      image: {image: 'docker.io/library/busybox:1.36'},
      command: ['sleep', '3600'],
      log_path: 'main.log',
      linux: {},
    });
    const {runtime} = testbed;
    const podId = (await runtime.kcri(['runp', sandbox])).stdout.trim();
    const containerId = (await runtime.kcri(['create', podId, container, sandbox])).stdout.trim();
    expect(await runtime.kcri(['start', containerId])).toMatchObject({
      stdout: `${containerId}\n`,
      exitCode: 0,
    });
    const foreign = await testbed.pod('beside');

    const manifest = aManifest('beside', {containers: [aContainer('own')]});
    expect(await testbed.delete('beside')).toMatchObject({exitCode: 1});
    expect((await runtime.kcri(['plan', '-'], {input: manifest})).stdout).not.toMatch(/Stop|Remove/);
    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0});
    const own = await testbed.pod('beside');
    expect(own.uid).not.toBe('foreign-uid');
    expect(await testbed.sync(aManifest('beside', {}, {uid: 'foreign-uid'}))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('kcri did not create') as string,
    });
    expect(await testbed.delete('beside')).toMatchObject({
      stdout: 'pod "default/beside" deleted\n',
      exitCode: 0,
    });
    expect(await testbed.pod('beside')).toEqual(foreign);
    expect(await testbed.delete('beside', 'foreign-uid')).toMatchObject({stdout: '', exitCode: 1});
    expect(await runtime.kcri(['rmp', '--force', podId])).toMatchObject({exitCode: 0});
  });

  test('exec, logs, inspect and attach accept the ID that runp prints, and the name of the pod', async () => {
    const file = join(await temporaryDirectory(), 'pod.yaml');
    const says = (name: string): object =>
      aContainer(name, {command: ['sh', '-c', `echo from ${name}; exec sleep 3600`]});
    await writeFile(
      file,
      aManifest('by-pod', {
        initContainers: [aContainer('setup', {command: ['true']})],
        containers: [says('app'), says('extra')],
      }),
    );
    const {runtime} = testbed;
    const dirs = ['--pod-logs-dir', testbed.logsDir, '--cgroup-root', testbed.cgroupRoot];
    const id = (await runtime.kcri(['runp', file, ...dirs])).stdout.trim();
    const stderr = 'Defaulted container "app" out of: app, extra, setup (init)\n';
    for (const ref of [id, id.slice(0, 13), 'by-pod', 'default/by-pod']) {
      const command = ['sh', '-c', 'tr "\\0" " " < /proc/1/cmdline'];
      const executed = await runtime.kcri(['exec', ref, ...command]);
      expect(executed).toMatchObject({
        stdout: expect.stringContaining('3600') as string,
        stderr,
        exitCode: 0,
      });
      await expect
        .poll(() => runtime.kcri(['logs', ref]))
        .toEqual({stdout: 'from app\n', stderr, exitCode: 0});
    }
    await expect
      .poll(() => runtime.kcri(['logs', '-c', 'extra', id]))
      .toEqual({stdout: 'from extra\n', stderr: '', exitCode: 0});
    expect(await runtime.kcri(['exec', '-s', '-c', 'setup', id, 'true'])).toMatchObject({exitCode: 1});
    const inspected = await runtime.kcri(['inspect', id, '-o', 'jsonpath={.status.metadata.name}']);
    expect(inspected).toEqual({stdout: 'app\n', stderr, exitCode: 0});
    const literal = await runtime.kcri(['exec', '-s', id, 'true'], {env: {KCRI_COMPAT: 'crictl'}});
    expect(literal).toMatchObject({exitCode: 1, stderr: expect.not.stringContaining('Defaulted') as string});
    const attaching = runtime.start(['attach', id]);
    await attaching.waitForOutput(/^Defaulted container "app" out of: app, extra, setup \(init\)$/m);
    expect(await testbed.delete('by-pod')).toMatchObject({exitCode: 0});
    await attaching.exited;
  });

  test('runp of a Pod manifest syncs the pod and prints only the ID of its sandbox', async () => {
    const file = join(await temporaryDirectory(), 'pod.yaml');
    await writeFile(file, aManifest('runp'));
    const args = ['--pod-logs-dir', testbed.logsDir, '--cgroup-root', testbed.cgroupRoot];
    const {stdout, stderr, exitCode} = await testbed.runtime.kcri(['runp', file, ...args]);
    const pod = await testbed.pod('runp');
    expect({stdout, stderr, exitCode}).toEqual({
      stdout: `${pod.sandboxes[0]!.id}\n`,
      stderr: '',
      exitCode: 0,
    });
    expect(summary(pod)).toEqual(['main/0 CONTAINER_RUNNING']);
    expect(await testbed.delete('runp')).toMatchObject({exitCode: 0});
    expect(await testbed.listLeftovers(pod.uid)).toEqual([]);
  });

  test('sync -o json prints a line of JSON per step, the last with the outcome', async () => {
    const {stdout, exitCode} = await testbed.sync(aManifest('json'), ['-o', 'json', '--rm']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(exitCode).toBe(0);
    expect(lines.length).toBeGreaterThan(3);
    expect(JSON.stringify(lines)).toContain('"RunPodSandbox"');
  });

  test('a static pod has the name of the node appended', async () => {
    const manifest = aManifest('fixed');
    const args = ['--static', '--hostname-override', 'Node-1'];
    expect(await testbed.sync(manifest, args)).toMatchObject({exitCode: 0});
    const pod = await testbed.pod('fixed-node-1');
    expect(pod.sandboxes[0]!.annotations).toMatchObject({
      'kubernetes.io/config.source': 'file',
      'kubernetes.io/config.hash': pod.uid,
    });
    expect(await testbed.runtime.kcri(['delete', '-'], {input: manifest})).toMatchObject({
      stdout: 'pod "default/fixed-node-1" deleted\n',
    });
    expect(await testbed.listLeftovers(pod.uid)).toEqual([]);
  });
});
