import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {runKcri} from '../cli/run-kcri.js';
import {aContainer, aSandbox, BUILT_AT_NANOS, FakeRuntime} from '../fakes/fake-runtime.js';

const hex = (start: string): string => start.padEnd(64, '0');
const HASH = '7d4b9c5f68';

/**
 * Starts a runtime with the pods of a kubelet: a Deployment `web` of three, of which the oldest does not run, and a Job
 * `main`, beside a pod `job` with a container `clash`.
 */
async function started({
  namespaces = ['default', 'default', 'default'],
}: {readonly namespaces?: readonly string[]} = {}) {
  const directory = await temporaryDirectory();
  const log = async (text: string): Promise<string> => {
    const path = join(directory, `${text}.log`);
    const lines = Array.from(
      {length: 12},
      (_, index) => `2026-11-21T10:00:00.${String(index).padStart(9, '0')}Z stdout F ${text} ${index}\n`,
    );
    await writeFile(path, lines.join(''));
    return path;
  };
  const names = ['aaaaa', 'bbbbb', 'ccccc'];
  const pods = names.map((suffix, index) =>
    aSandbox({
      id: hex(`a${index}`),
      name: `web-${HASH}-${suffix}`,
      namespace: namespaces[index] ?? 'default',
      createdAt: BUILT_AT_NANOS + BigInt(index),
      labels: {app: 'web', 'pod-template-hash': HASH},
    }),
  );
  const job = aSandbox({id: hex('a8'), name: 'main-x2x2x', labels: {'job-name': 'main', app: 'job'}});
  const clash = aSandbox({id: hex('a9'), name: 'job'});
  const runtime = await FakeRuntime.start({
    sandboxes: [...pods, job, clash],
    containers: [
      ...(await Promise.all(
        pods.map(async (sandbox, index) =>
          aContainer({
            id: hex(`c${index}`),
            sandbox,
            name: 'server',
            state: index === 0 ? 'CONTAINER_EXITED' : 'CONTAINER_RUNNING',
            logPath: await log(`web${index}`),
          }),
        ),
      )),
      aContainer({id: hex('c8'), sandbox: job, name: 'work', logPath: await log('job')}),
      aContainer({id: hex('c9'), sandbox: clash, name: 'clash', logPath: await log('clash')}),
    ],
    exec: () => ({stdout: 'done\n', stderr: '', exitCode: 0}),
  });
  onTestFinished(async () => {
    await runtime.stop();
  });
  const rootDir = join(directory, 'root');
  const kcri = async (...args: readonly string[]) =>
    await runKcri(['--root-dir', rootDir, ...args], {endpoint: runtime.endpoint});
  const executedIn = () => runtime.callsTo('ExecSync').map(({request}) => request['container_id']);
  return {runtime, kcri, executedIn};
}

describe('a workload as the target', () => {
  test.each([['deployment/web'], ['deploy/web'], ['deployments.apps/web'], [`rs/web-${HASH}`]])(
    'of exec is the oldest pod that runs: %s',
    async (word) => {
      const {kcri, executedIn} = await started();
      expect(await kcri('exec', '-s', word, '--', 'true')).toEqual({
        stdout: 'done\n',
        stderr: `Found 3 pods, using pod/web-${HASH}-bbbbb\n`,
        exitCode: 0,
      });
      expect(executedIn()).toEqual([hex('c1')]);
    },
  );

  test('of exec with -q and -c is that container, without a note', async () => {
    const {kcri, executedIn} = await started();
    expect(await kcri('exec', '-sq', '-c', 'server', 'deploy/web', 'true')).toMatchObject({stderr: ''});
    expect(executedIn()).toEqual([hex('c1')]);
  });

  test('of logs is one pod', async () => {
    const {kcri} = await started();
    expect(await kcri('logs', '--tail=1', 'job/main')).toEqual({stdout: 'job 11\n', stderr: '', exitCode: 0});
    expect(await kcri('logs', '--tail=1', 'job/main', 'deploy/web', 'job/clash')).toMatchObject({
      stderr: `Found 3 pods, using pod/web-${HASH}-bbbbb\n`,
      stdout: expect.stringMatching(/job 11\n.*web1 11\n.*clash 11\n/s) as string,
      exitCode: 0,
    });
  });

  test('of inspect and cp is the container of that pod', async () => {
    const {kcri} = await started();
    const {stdout} = await kcri('inspect', 'deploy/web', '-o', 'jsonpath={.status.id}');
    expect(stdout).toContain(hex('c1'));
  });

  test('of describe, get pods, restart and wait are all pods', async () => {
    const {kcri} = await started();
    const {stdout} = await kcri('get', 'pods', 'deploy/web', '-o', 'name');
    expect(stdout).toBe(['aaaaa', 'bbbbb', 'ccccc'].map((end) => `pod/web-${HASH}-${end}\n`).join(''));
    expect((await kcri('describe', 'deploy/web')).stdout.match(/^Name:/gm)).toHaveLength(3);
    expect(
      await kcri('wait', 'deploy/web', '-c', 'server', '--for=condition=Ready', '--timeout=0'),
    ).toMatchObject({
      stdout: ['bbbbb', 'ccccc'].map((end) => `container/web-${HASH}-${end}/server condition met\n`).join(''),
    });
  });

  test.each([
    [['exec', 'deploy/none', 'true']],
    [['logs', 'deploy/none']],
    [['describe', 'deploy/none']],
    [['wait', 'deploy/none', '--for=condition=Ready']],
    [['restart', 'deploy/none']],
    [['get', 'pods', 'deploy/none']],
    [['port-forward', 'deploy/none', ':80']],
    [['wait', 'deploy/none', '--for=condition=Available']],
  ])('without pods is an error: %j', async (args) => {
    const {kcri} = await started();
    expect(await kcri(...args)).toEqual({
      stdout: '',
      stderr: 'kcri: "deploy/none" has no pods here\nhint: run "kcri get pods" to list pods\n',
      exitCode: 1,
    });
  });

  test('that is also POD/CONTAINER is ambiguous', async () => {
    const {kcri, runtime} = await started();
    runtime.state.addContainer(
      aContainer({id: hex('c7'), sandbox: runtime.sandboxes.find(({id}) => id === hex('a9'))!, name: 'main'}),
    );
    const text =
      'kcri: "job/main" is both the Job "main" and a container of a pod\n' +
      'hint: use the names of the pods of the Job, or NAMESPACE/job/main\n';
    for (const args of [
      ['exec', 'job/main', 'true'],
      ['logs', 'job/main'],
      ['restart', 'job/main'],
    ])
      expect(await kcri(...args)).toEqual({stdout: '', stderr: text, exitCode: 1});
  });

  test('with pods in several namespaces is ambiguous for exec', async () => {
    const {kcri} = await started({namespaces: ['default', 'test', 'test']});
    const result = await kcri('exec', 'deploy/web', 'true');
    expect(result.stderr).toContain('kcri: "deploy/web" matches pods in 2 namespaces\nhint: use one of ');
    expect(result.exitCode).toBe(1);
  });

  test('is not looked for under the name crictl', async () => {
    const {runtime} = await started();
    const {exitCode} = await runKcri(['exec', '-s', 'deploy/web', 'true'], {
      endpoint: runtime.endpoint,
      env: {KCRI_COMPAT: 'crictl'},
    });
    expect(exitCode).toBe(1);
    expect(runtime.callsTo('ListPodSandbox')).toEqual([]);
  });
});

describe('--selector', () => {
  // Proves: logs --selector
  test('of logs prints the last ten lines of each pod, with prefixes', async () => {
    const {kcri} = await started();
    const {stdout, exitCode} = await kcri('logs', '-l', 'app=web');
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(30);
    expect(lines.filter((line) => /web[012] [01]$/.test(line))).toEqual([]);
    expect(new Set(lines.map((line) => line.replace(/ *web\d \d+$/, '')))).toHaveLength(3);
    expect(exitCode).toBe(0);
    expect((await kcri('logs', '-l', 'app=web', '--tail=-1', '--no-prefix')).stdout).toMatch(/^web0 0$/m);
  });

  // Proves: logs --max-log-requests
  test('of logs -f is limited', async () => {
    const {kcri} = await started();
    expect(await kcri('logs', '-f', '-l', 'app=web', '--max-log-requests=2')).toEqual({
      stdout: '',
      stderr:
        'kcri: cannot follow 3 logs at once: --max-log-requests is 2\n' +
        'hint: use --max-log-requests=3, or a selector that matches fewer pods\n',
      exitCode: 1,
    });
  });

  // Proves: exec --selector
  test('of exec runs the command in each pod', async () => {
    const {kcri, executedIn} = await started();
    const {stdout, stderr, exitCode} = await kcri('exec', '-sq', '--selector=app=web', 'true');
    expect(executedIn()).toEqual([hex('c0'), hex('c1'), hex('c2')]);
    expect({stdout, exitCode}).toEqual({stdout: 'done\ndone\n', exitCode: 1});
    expect(stderr).toContain('container is in CONTAINER_EXITED state');
  });

  test.each([
    [['logs', '-l', ''], '--selector must not be empty'],
    [['logs', 'web', '-l', 'app=web'], 'cannot use "web" together with --selector'],
    [['logs', '-l', 'app=web', '--name', 'x'], '--selector cannot be combined with filters of containers'],
    [['logs', '-l', 'app=none'], 'No IDs provided or nothing found per filter'],
    [['port-forward', '-l', '', '80'], '--selector must not be empty'],
    [['port-forward', '-l', 'app=none', '80'], 'No IDs provided or nothing found per filter'],
    [
      ['exec', '-l', 'app=web', 'ls'],
      '-l is --latest in exec, as in crictl, and "app=web" would be the command',
    ],
  ])('rejects %j', async (args, text) => {
    const {kcri} = await started();
    const {stderr, exitCode} = await kcri(...args);
    expect(stderr).toContain(`kcri: ${text}\n`);
    expect(exitCode).toBe(1);
  });
});
