import {existsSync, readdirSync} from 'node:fs';
import {hostname} from 'node:os';
import {join} from 'node:path';
import {beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import {InterruptedError} from '../../src/cli/process/interrupt.js';
import {until} from '../base/until.js';
import {runKcri, type RunOptions, type RunResult} from '../cli/run-kcri.js';
import {aContainer, aSandbox, anImage, BUSYBOX, type FakeRuntimeOptions} from '../fakes/fake-runtime.js';
import {FakeStreamingServer, type ServerSession} from '../fakes/streaming/fake-streaming-server.js';
import {aManifest, createTestbed, type CommandTestbed} from './command-testbed.js';

const KUBELET_LABELS = {
  'io.kubernetes.pod.name': 'web',
  'io.kubernetes.pod.namespace': 'default',
  'io.kubernetes.pod.uid': 'u1',
};
const WEB = aSandbox({name: 'web', uid: 'u1', labels: {...KUBELET_LABELS, app: 'web'}});
const MAIN = aContainer({sandbox: WEB, name: 'main'});

/** Returns a sandbox of a program that is no kubelet. */
function withoutLabels(sandbox: typeof WEB): typeof WEB {
  return {...sandbox, config: {...sandbox.config, labels: {}}};
}

let testbed: CommandTestbed;
async function use(options: FakeRuntimeOptions): Promise<void> {
  testbed = await createTestbed(options);
}
beforeEach(async () => {
  await use({sandboxes: [WEB], containers: [MAIN]});
});

async function kcri(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return await runKcri(['--root-dir', testbed.rootDir, ...args], {
    endpoint: testbed.runtime.endpoint,
    ...options,
  });
}

const debug = async (args: readonly string[], options?: RunOptions): Promise<RunResult> =>
  await kcri(['debug', ...args], options);

interface Created {
  readonly config: {
    readonly metadata: {readonly name: string};
    readonly labels?: object;
    readonly linux: {readonly security_context: Record<string, unknown>};
  };
  readonly sandbox_config: {readonly log_directory: string};
}
const created = (index = 0): Created =>
  testbed.runtime.callsTo('CreateContainer')[index]!.request as unknown as Created;

const logs = (): readonly string[] => {
  const directory = join(testbed.rootDir, 'kcri/run');
  return existsSync(directory) ? readdirSync(directory) : [];
};
const names = (): readonly string[] =>
  testbed.runtime.containers.map(({config}) => config.metadata?.name ?? '');

describe('debug CONTAINER', () => {
  // Proves: debug --image, debug --container, debug --env
  test('runs a container with the processes and labels of the pod, exits with its exit code, and removes it', async () => {
    const args = [
      'web',
      `--image=${BUSYBOX}`,
      '-c',
      'tool',
      '-e',
      'A=1',
      '--',
      'sh',
      '-c',
      'echo hello; exit 3',
    ];
    const {stdout, stderr, exitCode} = await debug(args);
    expect({stdout, exitCode, names: names(), logs: logs()}).toEqual({
      stdout: 'hello\n',
      exitCode: 3,
      names: ['main'],
      logs: [],
    });
    expect(stderr).toContain('kcri: note: debug container "tool" in pod "default/web"');
    expect(testbed.runtime.containers[0]!.state).toBe('CONTAINER_RUNNING');
    expect(created()).toMatchObject({
      config: {
        metadata: {name: 'tool'},
        command: ['sh', '-c', 'echo hello; exit 3'],
        envs: [{key: 'A', value: Buffer.from('1').toString('base64')}],
        labels: {...KUBELET_LABELS, 'io.kubernetes.container.name': 'tool'},
        annotations: {'kcri/debug-target': 'main', 'io.kubernetes.container.restartCount': '0'},
        linux: {
          security_context: {
            namespace_options: {pid: 'TARGET', target_id: MAIN.id},
            capabilities: {add_capabilities: ['SYS_PTRACE']},
          },
        },
      },
      sandbox_config: {metadata: {name: 'web'}, log_directory: join(testbed.rootDir, 'kcri/run')},
    });
    expect(Object.keys(created().config.labels ?? {})).not.toContain('app');
  });

  test('the container has no labels in a pod that no kubelet manages', async () => {
    const sandbox = withoutLabels(aSandbox({name: 'bare'}));
    await use({sandboxes: [sandbox], containers: [aContainer({sandbox, name: 'main'})]});
    await debug(['bare', `--image=${BUSYBOX}`, '--', 'true']);
    expect(created().config.labels ?? {}).toEqual({});
    expect(created().config.metadata.name).toMatch(/^debugger-[0-9a-f]{5}$/);
  });

  // Proves: debug --target
  test('--target chooses the container of the pod', async () => {
    const side = aContainer({sandbox: WEB, name: 'side'});
    await use({sandboxes: [WEB], containers: [MAIN, side]});
    await debug(['web', '--target=side', `--image=${BUSYBOX}`, '--', 'true']);
    await debug(['web/side', `--image=${BUSYBOX}`, '--', 'true']);
    for (const index of [0, 1])
      expect(created(index).config.linux.security_context['namespace_options']).toMatchObject({
        target_id: side.id,
      });
  });

  // Proves: debug --profile
  test.each([
    // RuntimeDefault is the first value of the enum, which is not sent.
    ['baseline', {capabilities: {}, seccomp: {}}],
    ['netadmin', {capabilities: {add_capabilities: ['NET_ADMIN', 'NET_RAW']}}],
    ['sysadmin', {privileged: true}],
  ])('the profile %s', async (profile, context) => {
    await debug(['web', `--profile=${profile}`, `--image=${BUSYBOX}`, '--', 'true']);
    expect(created().config.linux.security_context).toMatchObject(context);
  });

  test('a sandbox without privileged containers gets one with all capabilities', async () => {
    testbed.runtime.injectError('CreateContainer', {
      code: 'UNKNOWN',
      message: 'failed to generate container spec opts: no privileged container allowed in sandbox',
      times: 1,
    });
    const {stderr, exitCode} = await debug(['web', '--profile=sysadmin', `--image=${BUSYBOX}`, '--', 'true']);
    expect({exitCode, names: names()}).toEqual({exitCode: 0, names: ['main']});
    expect(stderr).toContain('kcri: note: the pod does not permit privileged containers');
    expect(created(1).config.linux.security_context).toMatchObject({
      capabilities: {add_capabilities: ['ALL']},
    });
  });

  // Proves: debug --pull
  test('a missing image is pulled, unless --pull=never', async () => {
    await use({sandboxes: [WEB], containers: [MAIN], images: [], registry: [anImage()]});
    const never = await debug(['web', '--pull=never', `--image=${BUSYBOX}`, '--', 'true']);
    expect(never.stderr).toContain(`image "${BUSYBOX}" not found`);
    expect((await debug(['web', `--image=${BUSYBOX}`, '--', 'true'])).exitCode).toBe(0);
    expect(testbed.runtime.callsTo('PullImage')).toHaveLength(1);
  });

  // Proves: debug --keep
  test('--keep keeps the container and its log', async () => {
    await debug(['web', '-c', 'tool', '--keep', `--image=${BUSYBOX}`, '--', 'echo', 'hello']);
    expect({names: names(), logs: logs().length}).toEqual({names: ['main', 'tool'], logs: 1});
    expect((await kcri(['logs', 'tool'])).stdout).toBe('hello\n');
    const again = await debug(['web', '-c', 'tool', `--image=${BUSYBOX}`]);
    expect(again.stderr).toContain('the pod already has a container "tool"');
  });

  test('an interruption removes the container', async () => {
    const controller = new AbortController();
    const running = debug(['web', `--image=${BUSYBOX}`, '--', 'sleep', '60'], {signal: controller.signal});
    await until(() => testbed.runtime.containers[1]?.state === 'CONTAINER_RUNNING');
    controller.abort(new InterruptedError('SIGTERM'));
    expect((await running).exitCode).toBe(143);
    expect({names: names(), logs: logs()}).toEqual({names: ['main'], logs: []});
  });

  test('a failed start leaves nothing', async () => {
    testbed.runtime.injectError('StartContainer', {code: 'INTERNAL', message: 'no such luck'});
    const {stderr, exitCode} = await debug(['web', `--image=${BUSYBOX}`, '--', 'true']);
    expect(stderr).toContain('kcri: starting the debug container: ');
    expect({exitCode, names: names(), logs: logs()}).toEqual({exitCode: 1, names: ['main'], logs: []});
  });

  test('a container that has exited is debugged in a copy', async () => {
    await use({
      sandboxes: [WEB],
      containers: [aContainer({sandbox: WEB, name: 'main', state: 'CONTAINER_EXITED'})],
    });
    const {stderr, exitCode} = await debug(['web', `--image=${BUSYBOX}`]);
    expect(stderr).toMatch(/is not running\nhint: debug a copy of its pod: kcri debug web --copy-to NAME/);
    expect({exitCode, calls: testbed.mutatingCalls}).toEqual({exitCode: 1, calls: []});
  });

  test.each([
    [[], 'no container or pod specified'],
    [['web'], 'no image specified'],
    [['web', '--image='], '--image must not be empty'],
    [['nope', '--image=x'], 'no such container "nope"'],
    [['web', 'sh', '--image=x'], 'unexpected argument "sh"'],
    [['web', '--image=x', '--profile=x'], 'invalid --profile "x": must be one of general, baseline'],
    [['web', '--image=x', '--pull=x'], 'invalid --pull "x"'],
    [['web', '--image=x', '-c', 'A'], 'invalid --container "A"'],
    [['web', '--image=x', '--replace'], '--replace requires --copy-to'],
    [['web', '--copy-to=a', '--target=x'], '--target and --copy-to are mutually exclusive'],
    [['web', '--copy-to=a', '--set-image=x'], 'invalid --set-image "x"'],
    [['web', '--copy-to=a', '--set-image=x=y'], '--set-image: no container "x"'],
    [['web', '--copy-to=a', '-c', 'x', '--', 'sh'], 'pod "web" has no container "x"'],
    [['web', '--copy-to=web', '--', 'sh'], 'pod "default/web" already exists'],
    [['node/elsewhere.example'], '"elsewhere.example" is not this node'],
    [['--node', 'web'], 'unexpected argument "web": --node needs no container'],
    [['--node', '--copy-to=a'], '--copy-to and --node are mutually exclusive'],
    [['web', `--image=${BUSYBOX}`, '--profile=restricted'], 'which the profile restricted forbids'],
  ])('%j is rejected', async (args, message) => {
    const {stdout, stderr, exitCode} = await debug(args);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect({stdout, exitCode, calls: testbed.mutatingCalls}).toEqual({stdout: '', exitCode: 1, calls: []});
  });
});

describe('debug --copy-to', () => {
  const copy = async (args: readonly string[]): Promise<RunResult> =>
    await debug(['web', '--copy-to=web2', `--pod-logs-dir=${testbed.logsDir}`, ...args]);
  const sandboxes = (): readonly string[] =>
    testbed.runtime.sandboxes.map(({config}) => config.metadata?.name ?? '');

  beforeEach(async () => {
    await use({});
    const probe = {httpGet: {path: '/', port: 80}, initialDelaySeconds: 3600};
    const main = {
      name: 'main',
      image: BUSYBOX,
      command: ['sleep', '3600'],
      livenessProbe: probe,
      args: ['x'],
    };
    const stdin = aManifest({containers: [main], metadata: {labels: {app: 'web'}}});
    expect(await testbed.run(['sync', '-'], {stdin})).toMatchObject({exitCode: 0});
    testbed.runtime.clearCalls();
  });

  // Proves: debug --copy-to, debug --pod-logs-dir
  test('runs the pod with another command, without labels and probes, and kcri manages it', async () => {
    const {stdout, exitCode} = await copy(['-e', 'A=1', '--', 'sleep', '60']);
    const id = testbed.runtime.sandboxes[1]!.id;
    expect({stdout, exitCode, pods: sandboxes()}).toEqual({
      stdout: `${id}\n`,
      exitCode: 0,
      pods: ['web', 'web2'],
    });
    expect(created().config).toMatchObject({metadata: {name: 'main'}, command: ['sleep', '60']});
    const {metadata, spec} = JSON.parse((await kcri(['generate', 'web2', '-o', 'json'])).stdout) as {
      metadata: object;
      spec: {containers: object[]};
    };
    expect(metadata).toEqual({name: 'web2'});
    expect(spec).toMatchObject({shareProcessNamespace: true});
    expect(spec.containers).toEqual([
      {
        name: 'main',
        image: BUSYBOX,
        command: ['sleep', '60'],
        env: [{name: 'A', value: '1'}],
        securityContext: {capabilities: {add: ['SYS_PTRACE']}},
      },
    ]);
    expect((await kcri(['delete', 'web2'])).stdout).toBe('pod "default/web2" deleted\n');
  });

  // Proves: debug --set-image, debug --share-processes
  test('adds a container with an image, and changes images', async () => {
    testbed.runtime.publishImage(anImage({name: 'localhost:5000/new:1'}));
    const flags = [
      '--image',
      BUSYBOX,
      '-c',
      'tool',
      '--set-image=main=localhost:5000/new:1',
      '--share-processes=false',
    ];
    const {exitCode, stderr} = await copy([...flags, '--', 'sleep', '60']);
    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(names()).toEqual(['main', 'main', 'tool']);
    const {spec} = JSON.parse((await kcri(['generate', 'web2', '-o', 'json'])).stdout) as {spec: object};
    expect(spec).not.toHaveProperty('shareProcessNamespace');
    expect(spec).toMatchObject({
      containers: [{image: 'localhost:5000/new:1'}, {name: 'tool', image: BUSYBOX}],
    });
  });

  // Proves: debug --replace
  test('--replace deletes the original', async () => {
    const {exitCode, stdout} = await copy(['--replace', '--', 'sleep', '60']);
    expect({exitCode, pods: sandboxes()}).toEqual({exitCode: 0, pods: ['web2']});
    expect(stdout).toContain('pod "default/web" deleted\n');
  });

  test('copies a pod of another manager from what the runtime knows', async () => {
    await use({sandboxes: [WEB], containers: [MAIN]});
    const {exitCode, stderr} = await copy(['--', 'sleep', '60']);
    expect({exitCode, pods: sandboxes()}).toEqual({exitCode: 0, pods: ['web', 'web2']});
    expect(stderr).toContain('kcri: note: pod "default/web": ');
    const replaced = await debug(['web', '--copy-to=web3', '--replace', '--', 'sh']);
    expect(replaced).toMatchObject({exitCode: 1});
    expect(replaced.stderr).toContain('pod "default/web" not found');
  });
});

describe('debug --node', () => {
  // Proves: debug --node
  test('runs a shell of the node in its namespaces, with any image', async () => {
    await use({
      sandboxes: [withoutLabels(aSandbox({name: 'bare'}))],
      behaviour: () => ({stdout: 'hello\n', exitCode: 4}),
    });
    expect(await debug(['--node', '--', 'echo', 'hello'])).toEqual({
      stdout: 'hello\n',
      stderr: '',
      exitCode: 4,
    });
    expect(created().config).toMatchObject({
      command: ['chroot', '/host', 'echo', 'hello'],
      mounts: expect.arrayContaining([{container_path: '/host', host_path: '/'}]) as unknown,
      linux: {
        security_context: {
          privileged: true,
          run_as_user: {},
          namespace_options: {network: 'NODE', pid: 'NODE', ipc: 'NODE'},
        },
      },
    });
  });

  test('runs an image with the files of the node at /host, and removes it', async () => {
    const line = [`node/${hostname()}`, `--image=${BUSYBOX}`, '--image-pull-policy=Never'];
    const {stdout, exitCode} = await debug([...line, '--', 'echo', 'hello']);
    expect({stdout, exitCode, names: names(), logs: logs()}).toEqual({
      stdout: 'hello\n',
      exitCode: 0,
      names: ['main'],
      logs: [],
    });
    expect(created().config).toMatchObject({
      command: ['echo', 'hello'],
      mounts: [{container_path: '/host', host_path: '/'}],
    });
  });
});

describe('credentials of debug and run', () => {
  const LINES = [
    ['debug', 'web'],
    ['run', '--rm'],
  ] as const;
  const auth = async (line: readonly string[], flags: readonly string[], options: RunOptions = {}) => {
    testbed.runtime.publishImage(anImage());
    const words = [...line, '--pull=always', ...flags];
    const image = line[0] === 'debug' ? [`--image=${BUSYBOX}`] : [BUSYBOX];
    expect((await kcri([...words, ...image, '--', 'true'], options)).exitCode).toBe(0);
    return (testbed.runtime.callsTo('PullImage')[0]!.request as {auth?: object}).auth;
  };

  // Proves: debug --creds, debug --auth, debug --username, debug --pull-timeout, run --creds, run --auth, run --pull-timeout
  test.each(LINES)('%s uses those of the command line', async (...line) => {
    const alice = {username: 'alice', password: 'secret'};
    expect(await auth(line, ['--creds=alice:secret', '--pull-timeout=1m'])).toEqual(alice);
    testbed.runtime.clearCalls();
    expect(await auth(line, ['--auth=YWxpY2U='])).toEqual({auth: 'YWxpY2U='});
    testbed.runtime.clearCalls();
    expect(await auth(line, ['--username=alice'], {stdin: 'secret\n'})).toEqual(alice);
  });

  // Proves: debug --auth-file, debug --no-auth-file, run --auth-file, run --no-auth-file
  test.each(LINES)('%s uses those of a file', async (...line) => {
    const entry = {auth: Buffer.from('alice:secret').toString('base64')};
    const file = await testbed.write('auth.json', JSON.stringify({auths: {'localhost:5000': entry}}));
    expect(await auth(line, [`--auth-file=${file}`])).toMatchObject({username: 'alice'});
    testbed.runtime.clearCalls();
    expect(await auth(line, ['--no-auth-file'], {env: {REGISTRY_AUTH_FILE: file}})).toBeUndefined();
  });
});

describe('a session of debug', () => {
  const startServer = async (handleSession: (session: ServerSession) => Promise<void> | void) => {
    const server = await FakeStreamingServer.start({handleSession});
    onTestFinished(async () => {
      await server[Symbol.asyncDispose]();
    });
    return server.url;
  };
  const exitLast = (exitCode: number): void => {
    testbed.runtime.exitContainer(testbed.runtime.containers.at(-1)!.id, exitCode);
  };

  // Proves: debug, debug --interactive
  test('-i passes on standard input, also to a container of a copy', async () => {
    const streamingUrl = await startServer(async (session) => {
      await session.stream('stdin').waitUntil((_text, {isEnded}) => isEnded);
      exitLast(4);
      session.sendExitCode(0);
    });
    await use({streamingUrl, sandboxes: [WEB], containers: [MAIN]});
    const session = await debug(['web', '-i', `--image=${BUSYBOX}`, '--', 'cat'], {stdin: 'words'});
    expect(session.exitCode).toBe(4);
    expect(created().config).toMatchObject({stdin: true, stdin_once: true});
    const flags = ['--copy-to=web2', '-i', `--pod-logs-dir=${testbed.logsDir}`];
    const copy = await debug(['web', ...flags, '--', 'cat'], {stdin: 'words'});
    expect(copy).toMatchObject({exitCode: 4, stdout: ''});
    expect(copy.stderr).toContain('kcri: "kcri delete web2" deletes the copy\n');
  });

  // Proves: debug --tty
  test('-t shows what the terminal shows', async () => {
    const streamingUrl = await startServer((session) => {
      session.stream('stdout').send('# ');
      exitLast(0);
      session.sendExitCode(0);
    });
    await use({streamingUrl, sandboxes: [WEB], containers: [MAIN]});
    const session = await debug(['web', '-t', `--image=${BUSYBOX}`]);
    expect(session).toMatchObject({exitCode: 0, stdout: '# '});
    expect(created().config).toMatchObject({tty: true});
  });
});
