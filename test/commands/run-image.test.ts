import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import {InterruptedError} from '../../src/cli/process/interrupt.js';
import {until} from '../base/until.js';
import {runKcri, type RunOptions, type RunResult} from '../cli/run-kcri.js';
import {aSandbox, anImage, BUSYBOX, type FakeRuntimeOptions} from '../fakes/fake-runtime.js';
import {FakeStreamingServer} from '../fakes/streaming/fake-streaming-server.js';
import {createTestbed, type CommandTestbed} from './command-testbed.js';

let testbed: CommandTestbed;
beforeEach(async () => {
  testbed = await createTestbed();
});

async function use(options: FakeRuntimeOptions): Promise<void> {
  testbed = await createTestbed(options);
}

async function kcri(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return await runKcri(['--root-dir', testbed.rootDir, ...args], {
    endpoint: testbed.runtime.endpoint,
    ...options,
  });
}

const logs = (): readonly string[] => {
  const directory = join(testbed.rootDir, 'kcri/run');
  return existsSync(directory) ? readdirSync(directory) : [];
};

const left = () => ({
  sandboxes: testbed.runtime.sandboxes.map(({config, state}) => `${config.metadata?.name ?? ''} ${state}`),
  logs: logs().length,
});

describe('run IMAGE', () => {
  test('shows the output until the container exits, and exits with its exit code', async () => {
    const result = await kcri(['run', '--name=job', BUSYBOX, '--', 'sh', '-c', 'echo hello; exit 3']);
    expect(result).toEqual({stdout: 'hello\n', stderr: '', exitCode: 3});
    expect(left()).toEqual({sandboxes: ['job SANDBOX_NOTREADY'], logs: 1});
    expect((await kcri(['logs', 'job'])).stdout).toBe('hello\n');
    await kcri(['rm', 'job']);
    expect(logs()).toEqual([]);
  });

  test('a command without "--" before it has flags of its own', async () => {
    expect(await kcri(['run', BUSYBOX, '--rm', 'sh', '-c', 'echo hello; exit 3'])).toEqual({
      stdout: 'hello\n',
      stderr: '',
      exitCode: 3,
    });
    expect(left()).toEqual({sandboxes: [], logs: 0});
  });

  test('a directory is not a config file', async () => {
    expect((await kcri(['run', 'src', 'true'])).stderr).toContain('kcri: pulling image "src": ');
  });

  // Proves: run --rm
  test('--rm removes the pod and its log', async () => {
    const {stdout, exitCode} = await kcri(['run', '--rm', BUSYBOX, '--', 'echo', 'hello']);
    expect({stdout, exitCode, ...left()}).toEqual({stdout: 'hello\n', exitCode: 0, sandboxes: [], logs: 0});
  });

  test('-d prints the ID and leaves the container running', async () => {
    const {stdout, exitCode} = await kcri(['run', '-d', BUSYBOX, '--', 'sleep', '60']);
    expect({stdout, exitCode}).toEqual({stdout: `${testbed.runtime.containers[0]!.id}\n`, exitCode: 0});
    expect(testbed.runtime.containers[0]!.state).toBe('CONTAINER_RUNNING');
    const [pod] = (await kcri(['ps', '--no-headers', '-o', 'name'])).stdout.split('\n');
    expect(pod).toMatch(/^default\/(busybox-[0-9a-f]{5})\/\1$/);
  });

  // Proves: run --env, run --env-file, run --interactive, run --tty, run --detach, run --name, run --workdir, run --volume, run --publish, run --user, run --read-only, run --hostname, run --label, run --privileged, run --cap-add, run --cap-drop, run --memory, run --cpus, run --entrypoint
  test('the flags become the configs of the pod and the container', async () => {
    const envFile = await testbed.write('env', 'A=1\nB=2\n');
    await testbed.write('data', '');
    const flags = [
      ...['-d', '-it', '--name=web', `--env-file=${envFile}`, '-e', 'B=3', '-e', 'HOME', '-w', '/srv'],
      ...['-v', `${testbed.directory}/data:/data:ro`, '-p', '127.0.0.1:8080:80', '-u', '7:8', '--read-only'],
      ...['--hostname=www', '--label=app=web', '--privileged', '--cap-add=net_admin', '--cap-drop=CAP_KILL'],
      ...['-m', '64Mi', '--cpus=0.5', '--entrypoint=/bin/sh'],
    ];
    const {exitCode, stderr} = await kcri(['run', ...flags, BUSYBOX, '--', '-c', 'sleep 60'], {
      env: {HOME: '/root'},
    });
    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    const {config, sandbox_config: pod} = testbed.runtime.callsTo('CreateContainer')[0]!.request as {
      config: Record<string, unknown>;
      sandbox_config: Record<string, unknown>;
    };
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    expect(config).toMatchObject({
      metadata: {name: 'web'},
      image: {image: BUSYBOX},
      command: ['/bin/sh'],
      args: ['-c', 'sleep 60'],
      working_dir: '/srv',
      envs: [
        {key: 'A', value: base64('1')},
        {key: 'B', value: base64('3')},
        {key: 'HOME', value: base64('/root')},
      ],
      mounts: [{host_path: `${testbed.directory}/data`, container_path: '/data', readonly: true}],
      labels: {app: 'web'},
      stdin: true,
      tty: true,
      linux: {
        resources: {cpu_quota: '50000', cpu_period: '100000', memory_limit_in_bytes: '67108864'},
        security_context: {
          privileged: true,
          readonly_rootfs: true,
          run_as_user: {value: '7'},
          run_as_group: {value: '8'},
          capabilities: {add_capabilities: ['NET_ADMIN'], drop_capabilities: ['KILL']},
        },
      },
    });
    expect(pod).toMatchObject({
      metadata: {name: 'web', namespace: 'default'},
      hostname: 'www',
      labels: {app: 'web'},
      port_mappings: [{host_ip: '127.0.0.1', host_port: 8080, container_port: 80}],
      linux: {security_context: {privileged: true}},
    });
  });

  // Proves: run --mount, run --device, run --dns, run --dns-search, run --dns-option, run --group-add, run --sysctl, run --security-opt, run --annotation, run --pid, run --ipc, run --cpuset-cpus, run --cpuset-mems, run --cpu-shares, run --oom-score-adj, run --restart
  test("docker's flags for isolation become fields of the configs", async () => {
    const flags = [
      ...['--mount', `type=bind,src=${testbed.directory},dst=/data,readonly`, '--device=/dev/null:/dev/f:rw'],
      ...['--dns=1.2.3.4', '--dns-search=a.example', '--dns-option=ndots:2', '--group-add=5', '-l', 'a=b=c'],
      ...['--sysctl=net.core.somaxconn=9', '--security-opt=no-new-privileges', '--annotation=x=y=z'],
      ...['--security-opt', 'seccomp=unconfined', '--security-opt=apparmor=web', '--pid=host', '--ipc=host'],
      ...[
        '--cpuset-cpus=0-1',
        '--cpuset-mems=0',
        '--cpu-shares=512',
        '--oom-score-adj=-5',
        '--net=bridge',
        '--restart=no',
      ],
    ];
    expect(await kcri(['run', '-d', '--name=web', ...flags, BUSYBOX])).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    const {config, sandbox_config: pod} = testbed.runtime.callsTo('CreateContainer')[0]!.request as {
      config: object;
      sandbox_config: object;
    };
    const namespaces = {pid: 'NODE', ipc: 'NODE'};
    expect(config).toMatchObject({
      mounts: [{host_path: testbed.directory, container_path: '/data', readonly: true}],
      devices: [{host_path: '/dev/null', container_path: '/dev/f', permissions: 'rw'}],
      annotations: {x: 'y=z'},
      labels: {a: 'b=c'},
      linux: {
        resources: {cpuset_cpus: '0-1', cpuset_mems: '0', cpu_shares: '512', oom_score_adj: '-5'},
        security_context: {
          supplemental_groups: ['5'],
          no_new_privs: true,
          seccomp: {profile_type: 'Unconfined'},
          apparmor: {profile_type: 'Localhost', localhost_ref: 'web'},
          namespace_options: namespaces,
        },
      },
    });
    expect(pod).toMatchObject({
      dns_config: {servers: ['1.2.3.4'], searches: ['a.example'], options: ['ndots:2']},
      annotations: {x: 'y=z'},
      linux: {
        sysctls: {'net.core.somaxconn': '9'},
        security_context: {namespace_options: namespaces},
      },
    });
  });

  // Proves: run --cidfile
  test('--cidfile receives the ID, and is not left by a failure', async () => {
    const path = join(testbed.directory, 'cid');
    const {stdout} = await kcri(['run', '-d', '--cidfile', path, BUSYBOX, '--', 'sleep', '60']);
    expect(readFileSync(path, 'utf8')).toBe(stdout.trim());
    const other = join(testbed.directory, 'other');
    testbed.runtime.injectError('RunPodSandbox', {code: 'INTERNAL', message: 'no such luck'});
    expect((await kcri(['run', '-d', '--cidfile', other, BUSYBOX])).exitCode).toBe(125);
    expect(existsSync(other)).toBe(false);
  });

  test('a port that another pod publishes is an error, unless it is that of another address', async () => {
    const publish = async (port: string, name: string) =>
      await kcri(['run', '-d', `--name=${name}`, '-p', port, BUSYBOX, '--', 'sleep', '60']);
    expect((await publish('127.0.0.1:8080:80', 'one')).exitCode).toBe(0);
    for (const port of ['8080:81', '0.0.0.0:8080:81', '127.0.0.1:8080:81']) {
      const {stderr, exitCode} = await publish(port, 'two');
      expect(stderr).toMatch(/^kcri: port 8080\/tcp of the host .* by the pod "default\/one"\nhint: /);
      expect(exitCode).toBe(125);
    }
    for (const [index, port] of ['127.0.0.2:8080:80', '8080:80/udp', '8081:80'].entries())
      expect((await publish(port, `other-${index}`)).exitCode).toBe(0);
    await kcri(['stopp', 'one']);
    expect((await publish('127.0.0.1:8080:80', 'next')).exitCode).toBe(0);
  });

  test('an unknown user of the image is named', async () => {
    testbed.runtime.injectError('CreateContainer', {
      code: 'UNKNOWN',
      message: 'mount callback failed: no users found',
    });
    const {stderr, exitCode} = await kcri(['run', '-u', 'alice', BUSYBOX]);
    expect(stderr).toMatch(/^kcri: the image ".*" has no user "alice"\nhint: /);
    expect(exitCode).toBe(125);
  });

  // Proves: run --network
  test('--network=host uses the network of the node, which names the host', async () => {
    await kcri(['run', '-d', '--network=host', BUSYBOX, '--', 'sleep', '60']);
    const {config} = testbed.runtime.sandboxes[0]!;
    expect({hostname: config.hostname, ...config.linux?.securityContext?.namespaceOptions}).toMatchObject({
      network: 'NODE',
    });
    expect(config.hostname).toBeFalsy();
  });

  test('a runtime with the systemd driver gets a slice as the parent of the cgroup', async () => {
    await use({cgroupDriver: 'SYSTEMD'});
    await kcri(['run', '-d', BUSYBOX, '--', 'sleep', '60']);
    expect(testbed.runtime.sandboxes[0]!.config.linux?.cgroupParent).toBe('system.slice');
  });

  // Proves: run --pull
  test('the image is pulled if it is missing, always, or never', async () => {
    await use({images: [], registry: [anImage()]});
    const line = ['run', '--rm', BUSYBOX, '--', 'true'];
    const never = await kcri([...line.slice(0, 1), '--pull=never', ...line.slice(1)]);
    expect(never).toMatchObject({exitCode: 125, stdout: ''});
    expect(never.stderr).toContain(`kcri: image "${BUSYBOX}" not found\nhint: `);
    expect(testbed.runtime.sandboxes).toEqual([]);
    expect((await kcri(line)).exitCode).toBe(0);
    expect((await kcri(line)).exitCode).toBe(0);
    expect(testbed.runtime.callsTo('PullImage')).toHaveLength(1);
    await kcri(['run', '--pull=always', ...line.slice(1)]);
    expect(testbed.runtime.callsTo('PullImage')).toHaveLength(2);
    const missing = await kcri(['run', 'localhost:5000/none:1']);
    expect(missing.stderr).toContain('kcri: pulling image "localhost:5000/none:1": ');
    expect(left()).toEqual({sandboxes: [], logs: 0});
  });

  test.each(['RunPodSandbox', 'CreateContainer', 'StartContainer'] as const)(
    'nothing is left if %s fails',
    async (rpc) => {
      testbed.runtime.injectError(rpc, {code: 'INTERNAL', message: 'no such luck'});
      const {stdout, stderr, exitCode} = await kcri(['run', BUSYBOX, '--', 'true']);
      expect(stderr).toMatch(/^kcri: .*: no such luck\n/);
      expect({stdout, exitCode, ...left()}).toEqual({stdout: '', exitCode: 125, sandboxes: [], logs: 0});
    },
  );

  test('a missing command exits with 127', async () => {
    await use({
      behaviour: () => ({startError: 'exec: "nope": executable file not found in $PATH: unknown'}),
    });
    const {stderr, exitCode} = await kcri(['run', BUSYBOX, '--', 'nope']);
    expect({exitCode, ...left()}).toEqual({exitCode: 127, sandboxes: [], logs: 0});
    expect(stderr).toContain('"nope": executable file not found in $PATH');
  });

  test.each([
    [true, [], 0],
    [false, ['job SANDBOX_NOTREADY'], 1],
  ])('an interruption stops the container and exits with 130 (--rm: %j)', async (rm, sandboxes, count) => {
    const controller = new AbortController();
    const args = [
      'run',
      ...(rm ? ['--rm'] : []),
      '--name=job',
      BUSYBOX,
      '--',
      'sh',
      '-c',
      'echo a; sleep 60',
    ];
    let stdout = '';
    const running = kcri(args, {
      signal: controller.signal,
      onStdout: (text) => {
        stdout += text;
      },
    });
    await until(() => stdout === 'a\n');
    controller.abort(new InterruptedError('SIGINT'));
    expect(await running).toEqual({stdout: 'a\n', stderr: 'kcri: interrupted\n', exitCode: 130});
    expect(testbed.runtime.callsTo('StopContainer')[0]!.request).toMatchObject({timeout: '10'});
    expect(left()).toEqual({sandboxes, logs: count});
  });

  test('-i passes on standard input, and the output is complete', async () => {
    const server = await FakeStreamingServer.start({
      handleSession: async (session) => {
        await session.stream('stdin').waitUntil((_text, {isEnded}) => isEnded);
        expect([...session.streams.keys()].toSorted()).toEqual(['error', 'stdin']);
        testbed.runtime.exitContainer(testbed.runtime.containers[0]!.id, 4);
        session.sendExitCode(0);
      },
    });
    onTestFinished(async () => {
      await server[Symbol.asyncDispose]();
    });
    await use({streamingUrl: server.url, behaviour: () => ({stdout: 'early\n'})});
    const result = await kcri(['run', '-i', '--rm', BUSYBOX, '--', 'cat'], {stdin: 'words'});
    expect(result).toEqual({stdout: 'early\n', stderr: '', exitCode: 4});
    const {config} = testbed.runtime.callsTo('CreateContainer')[0]!.request as {config: object};
    expect(config).toMatchObject({stdin: true, stdin_once: true});
  });

  test('-t shows what the container wrote before the session, also if it has exited', async () => {
    const server = await FakeStreamingServer.start({
      handleSession: (session) => {
        session.stream('stdout').send('late\r\n');
        testbed.runtime.exitContainer(testbed.runtime.containers[0]!.id, 0);
        session.sendExitCode(0);
      },
    });
    onTestFinished(async () => {
      await server[Symbol.asyncDispose]();
    });
    await use({streamingUrl: server.url, behaviour: () => ({stdout: 'early\n'})});
    const session = await kcri(['run', '-t', '--rm', BUSYBOX]);
    expect(session).toEqual({stdout: 'early\nlate\r\n', stderr: '', exitCode: 0});
    await use({streamingUrl: server.url, behaviour: () => ({stdout: 'early\n', exitCode: 2})});
    expect(await kcri(['run', '-t', '--rm', BUSYBOX])).toEqual({stdout: 'early\n', stderr: '', exitCode: 2});
  });

  test.each([
    ['has reported its exit', 'container is in CONTAINER_EXITED state', 0],
    ['has removed its task and reports the exit later', 'task 1f not found: not found', 3],
  ])(
    '-t shows the output of a container that exits before the session, when the runtime %s',
    async (_, message, calls) => {
      const statusCalls = () => testbed.runtime.callsTo('ContainerStatus').length;
      const server = await FakeStreamingServer.start({
        handleSession: async (session) => {
          const before = statusCalls();
          const exit = () => {
            testbed.runtime.exitContainer(testbed.runtime.containers[0]!.id, 4);
          };
          if (calls === 0) exit();
          session.sendStatus({status: 'Failure', message});
          if (calls === 0) return;
          await until(() => statusCalls() >= before + calls);
          exit();
        },
      });
      onTestFinished(async () => {
        await server[Symbol.asyncDispose]();
      });
      await use({streamingUrl: server.url, behaviour: () => ({stdout: 'early\n'})});
      expect(await kcri(['run', '-t', '--rm', BUSYBOX])).toEqual({
        stdout: 'early\n',
        stderr: '',
        exitCode: 4,
      });
    },
  );

  test('a kubelet on the node causes a note', async () => {
    await use({sandboxes: [aSandbox({name: 'web', labels: {'io.kubernetes.pod.uid': 'u1'}})]});
    const {stderr} = await kcri(['run', '--rm', BUSYBOX, '--', 'true']);
    expect(stderr).toBe(
      'kcri: note: a kubelet manages pods of this runtime; it stops pods that it does not know, usually within seconds\n',
    );
  });

  test.each([
    [['--name=web', BUSYBOX], 'pod "default/web" already exists'],
    [['--name=Web', BUSYBOX], 'invalid --name "Web"'],
    [['--name=', BUSYBOX], '--name must not be empty'],
    [['-d', '--rm', BUSYBOX], '--detach and --rm are mutually exclusive'],
    [['--network=host', '-p', '1:1', BUSYBOX], '--publish and --network=host are mutually exclusive'],
    [['--network=x', BUSYBOX], 'invalid --network "x"'],
    [['--pull=x', BUSYBOX], 'invalid --pull "x"'],
    [['-v', '/nowhere:/x', BUSYBOX], 'the path to mount "/nowhere" does not exist'],
    [['--mount', 'type=bind,src=/nowhere,dst=/x', BUSYBOX], 'the path to mount "/nowhere" does not exist'],
    [['--device=/dev/nowhere', BUSYBOX], 'the device "/dev/nowhere" does not exist'],
    [['--cap-add=SYS_ADMN', BUSYBOX], 'unknown capability\nhint: did you mean "SYS_ADMIN"?'],
    [['--network=none', BUSYBOX], 'CRI has no pods without a network'],
    [['--pid=container:x', BUSYBOX], 'invalid --pid "container:x": must be host'],
    [['--dns=example', BUSYBOX], 'invalid --dns "example": must be an IP address'],
    [['--group-add=wheel', BUSYBOX], 'invalid --group-add "wheel": must be a number'],
    [['--sysctl=x', BUSYBOX], 'invalid --sysctl "x": must be KEY=VALUE'],
    [['--cidfile=/proc/version', BUSYBOX], '"/proc/version" exists already'],
    [['--env-file=/nowhere', BUSYBOX], 'reading "/nowhere"'],
    [['--restart=always', BUSYBOX], '--restart "always" is not supported'],
    [['--bogus', BUSYBOX], 'unknown flag: --bogus'],
    [['--no-pull', BUSYBOX], '--no-pull is only for config files'],
    [['--rm', 'a.json', 'b.json'], '--rm requires an image'],
    [['--user=x:y', BUSYBOX], 'invalid --user "x:y"'],
  ])('%j is rejected before anything is created', async (args, message) => {
    await use({sandboxes: [aSandbox({name: 'web'})]});
    const {stdout, stderr, exitCode} = await kcri(['run', ...args]);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect({stdout, exitCode, calls: testbed.mutatingCalls, logs: logs()}).toEqual({
      stdout: '',
      // docker's exit code; config files have crictl's.
      exitCode: args.includes('a.json') ? 1 : 125,
      calls: [],
      logs: [],
    });
  });

  // Proves: run --username
  test('-u is --username with config files', async () => {
    const container = await testbed.write(
      'c.json',
      JSON.stringify({metadata: {name: 'a'}, image: {image: BUSYBOX}}),
    );
    const pod = await testbed.write(
      'p.json',
      JSON.stringify({metadata: {name: 'a', namespace: 'b', uid: 'u'}}),
    );
    testbed.runtime.publishImage(anImage());
    await kcri(['run', '-u', 'alice', container, pod], {stdin: 'secret\n'});
    expect(testbed.runtime.callsTo('PullImage')[0]!.request).toMatchObject({
      auth: {username: 'alice', password: 'secret'},
    });
  });
});
