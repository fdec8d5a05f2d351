import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {createServer, type AddressInfo} from 'node:net';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {
  aContainer,
  aManifest,
  shellCommand,
  SLEEP_COMMAND,
  type ManifestFields,
} from '../harness/manifests.js';
import {startKubeletTestbed, type KubeletTestbed} from '../harness/kubelet-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const NODE = 'cause-node';

interface Found {
  readonly rule: string;
  readonly cause: string;
  readonly evidence: readonly string[];
  readonly next?: string;
}

const pod = (name: string, ...containers: readonly ManifestFields[]): string => aManifest(name, {containers});
const exits = (code: number, fields: ManifestFields): ManifestFields =>
  aContainer('main', {command: shellCommand(`exit ${code}`), ...fields});
const rule = (action: string) => [{action, exitCodes: {operator: 'In', values: [3]}}];

describe.each(newestRuntime)('why, causes of the node: $name', (which) => {
  let testbed: KubeletTestbed;

  beforeAll(async () => {
    testbed = await startKubeletTestbed(which, NODE);
    await testbed.start();
  });
  afterAll(async () => {
    await testbed[Symbol.asyncDispose]();
  });

  const why = async (name: string): Promise<readonly Found[]> => {
    const {stdout} = await testbed.podTestbed.runtime.kcri(['why', `${name}-${NODE}`, '-o', 'json']);
    if (stdout === '') return [];
    return (JSON.parse(stdout) as {items: {findings: readonly Found[]}[]}).items[0]?.findings ?? [];
  };
  const put = async (name: string, manifest: string): Promise<void> => {
    await testbed.put(name, manifest);
    onTestFinished(async () => {
      await testbed.withdraw(name).catch(() => undefined);
    });
  };
  const runs = async (name: string): Promise<void> => {
    await expect
      .poll(async () => {
        const {containers} = await testbed.podTestbed.pod(`${name}-${NODE}`);
        return containers.some(({state}) => state === 'CONTAINER_RUNNING');
      })
      .toBe(true);
  };

  test('a restart rule that matches, and one that does not', async () => {
    await put('rule', pod('rule', exits(3, {restartPolicy: 'Never', restartPolicyRules: rule('Restart')})));
    await put(
      'no-rule',
      pod('no-rule', exits(4, {restartPolicy: 'Never', restartPolicyRules: rule('Restart')})),
    );
    await expect
      .poll(async () => await why('rule'))
      .toMatchObject([
        {
          rule: 'failed',
          evidence: expect.arrayContaining([
            'exit code 3 matches a rule of restartPolicyRules: Restart if In 3',
          ]) as string[],
          next: expect.stringMatching(/^starts again/) as string,
        },
      ]);
    await expect
      .poll(async () => (await why('no-rule'))[0]?.next)
      .toBe('nothing: restartPolicy is Never, and no rule of restartPolicyRules matches exit code 4');
  });

  test('containers that a restart rule restarts with their pod', async () => {
    const once = 'test -e /out/again && exec sleep 3600; touch /out/again; exit 3';
    const volumeMounts = [{name: 'out', mountPath: '/out'}];
    const main = aContainer('main', {
      command: shellCommand(once),
      volumeMounts,
      ...{restartPolicy: 'Never', restartPolicyRules: rule('RestartAllContainers')},
    });
    const spec = {volumes: [{name: 'out', emptyDir: {}}], containers: [aContainer('other'), main]};
    await put('all', aManifest('all', spec));
    await expect
      .poll(async () => await why('all'))
      .toContainEqual(
        expect.objectContaining({
          rule: 'restarted-with-pod',
          cause:
            'the kubelet restarted all containers of the pod, as a restart rule of container main demands',
        }),
      );
  });

  test('a pod that fills its emptyDir is evicted with the limit', async () => {
    const volumes = [{name: 'data', emptyDir: {sizeLimit: '1Mi'}}];
    const container = aContainer('main', {volumeMounts: [{name: 'data', mountPath: '/data'}]});
    const {podTestbed} = testbed;
    const manifest = aManifest('full', {volumes, containers: [container]});
    expect(await podTestbed.sync(manifest)).toMatchObject({exitCode: 0});
    const {containers} = await podTestbed.pod('full');
    await podTestbed.exec(containers[0]!.id, 'dd', 'if=/dev/zero', 'of=/data/x', 'bs=1M', 'count=2');
    expect(await podTestbed.sync(manifest)).toMatchObject({exitCode: 1});
    onTestFinished(async () => {
      await podTestbed.delete('full');
    });
    expect((await podTestbed.runtime.kcri(['why', 'full'])).stdout).toContain(
      'cause      the kubelet evicted the pod, since volume data uses more than its sizeLimit of 1Mi\n',
    );
  });

  test('a port on the network of the node names the process that has it', async () => {
    const server = createServer().listen(0);
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
    });
    const {port} = server.address() as AddressInfo;
    const container = aContainer('main', {
      command: shellCommand(
        `nc -l -p ${port} -e cat || { echo "listen tcp :${port}: address already in use"; exit 1; }`,
      ),
    });
    await put('host', aManifest('host', {hostNetwork: true, containers: [container]}));
    await expect
      .poll(async () => (await why('host'))[0]?.cause)
      .toMatch(
        new RegExp(
          `^container main cannot listen on its port, which is used by \\S+ \\(PID ${process.pid}\\)`,
        ),
      );
  });

  test('a preStop hook that fails is told while its pod terminates', async () => {
    const main = aContainer('main', {
      command: ['sleep', '3600'],
      lifecycle: {preStop: {exec: {command: shellCommand('exit 5')}}},
    });
    await testbed.put('hook', aManifest('hook', {terminationGracePeriodSeconds: 600, containers: [main]}));
    await runs('hook');
    await testbed.withdraw('hook');
    await expect
      .poll(async () => (await why('hook'))[0]?.evidence.join('; '))
      .toMatch(/the preStop hook of main failed: event FailedPreStopHook/);
    const {containers} = await testbed.podTestbed.pod(`hook-${NODE}`);
    process.kill(await testbed.podTestbed.pidOf(containers[0]!.id), 'SIGKILL');
  });

  test('the end of a sandbox explains the restart of its containers', async () => {
    await put('sandbox', pod('sandbox', aContainer('main', {command: SLEEP_COMMAND})));
    await runs('sandbox');
    const {sandboxes} = await testbed.podTestbed.pod(`sandbox-${NODE}`);
    process.kill(await testbed.podTestbed.sandboxPidOf(sandboxes[0]!.id), 'SIGKILL');
    await expect
      .poll(async () => await why('sandbox'))
      .toContainEqual(expect.objectContaining({rule: 'sandbox-changed'}));
  });

  test('a mount that a process of the node uses keeps the pod, and the process is named', async () => {
    const volumes = [{name: 'data', emptyDir: {medium: 'Memory'}}];
    const main = aContainer('main', {volumeMounts: [{name: 'data', mountPath: '/data'}]});
    await testbed.put('busy', aManifest('busy', {volumes, containers: [main]}));
    await runs('busy');
    const {uid} = await testbed.podTestbed.pod(`busy-${NODE}`);
    const {rootDir} = testbed.podTestbed.runtime;
    const cwd = `${rootDir}/pods/${uid}/volumes/kubernetes.io~empty-dir/data`;
    const user = spawn('sleep', ['3600'], {cwd, stdio: 'ignore'});
    onTestFinished(() => {
      user.kill('SIGKILL');
    });
    await testbed.withdraw('busy');
    await expect
      .poll(async () => await why('busy'))
      .toMatchObject([
        {
          rule: 'mount-busy',
          cause: `the pod is being deleted, and one of its mounts is in use by sleep (PID ${user.pid})`,
        },
      ]);
  });

  // The last test, since it stops the runtime.
  test('a container that ended while the runtime did not run', async () => {
    await put('lost', pod('lost', aContainer('main', {command: ['sleep', '3600']})));
    await runs('lost');
    const {runtime} = testbed.podTestbed;
    const {sandboxes} = await testbed.podTestbed.pod(`lost-${NODE}`);
    const {pid} = JSON.parse(await runtime.output('runtime', 'status', '-o', 'json')) as {pid: number};
    process.kill(pid, 'SIGKILL');
    const shims = execFileSync('pgrep', ['-f', `containerd-shim.*${sandboxes[0]!.id}`], {encoding: 'utf8'});
    const [shim = ''] = shims.trim().split('\n');
    const children = execFileSync('pgrep', ['-P', shim], {encoding: 'utf8'});
    for (const each of [shim, ...children.trim().split('\n')]) process.kill(Number(each), 'SIGKILL');
    expect(await runtime.kcri(['runtime', 'up'])).toMatchObject({exitCode: 0});
    await expect
      .poll(async () => await why('lost'))
      .toContainEqual(
        expect.objectContaining({
          rule: 'runtime-restarted',
          evidence: expect.arrayContaining([
            expect.stringMatching(/^the runtime started at /) as string,
          ]) as string[],
        }),
      );
  });
});
