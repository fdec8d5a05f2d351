import {createServer, type Server} from 'node:http';
import {networkInterfaces} from 'node:os';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {aContainer, aManifest, shellCommand, type ManifestFields} from '../harness/manifests.js';
import {startKubeletTestbed, type KubeletTestbed} from '../harness/kubelet-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const NODE = 'why-node';

interface Found {
  readonly rule: string;
  readonly cause: string;
  readonly log?: readonly string[];
  readonly next?: string;
}

interface Why {
  readonly items: readonly {
    readonly wrong: boolean;
    readonly state: string;
    readonly findings: readonly Found[];
  }[];
}

/** A pod, and what is wrong with it. */
interface Case {
  readonly spec: ManifestFields;
  readonly rule: string;
  readonly cause: RegExp;
  readonly log?: string;
}

const one = (fields: ManifestFields): ManifestFields => ({containers: [aContainer('main', fields)]});
const script = (text: string, fields: ManifestFields = {}): ManifestFields =>
  one({command: shellCommand(text), ...fields});
const probe = (handler: ManifestFields): ManifestFields => ({
  ...handler,
  periodSeconds: 1,
  failureThreshold: 1,
});

/** Answers of a registry by the first component of the image's name. */
const REGISTRY: Readonly<Record<string, number>> = {limited: 429, denied: 403, none: 404};

/** Returns the pods; images of `local` come from a registry without TLS on loopback, those of `remote` from elsewhere. */
const cases = (local: string, remote: string): Readonly<Record<string, Case>> => ({
  'exit-1': {
    spec: script('echo first; echo "cannot open /etc/app.conf" >&2; exit 1'),
    rule: 'failed',
    cause: /exit code 1; its last line: cannot open \/etc\/app\.conf$/,
    log: 'first',
  },
  'exit-2': {
    spec: script('exit 2'),
    rule: 'failed',
    cause: /exit code 2, which many programs use for wrong arguments/,
  },
  'exit-126': {
    spec: script('/etc/passwd'),
    rule: 'command-not-executable-in-shell',
    cause: /cannot be executed: .*Permission denied/,
  },
  'exit-127': {
    spec: script('no-such-program'),
    rule: 'command-not-found-in-shell',
    cause: /is missing: .*no-such-program: not found/,
  },
  segv: {spec: script('sh -c "kill -SEGV \\$\\$"; exit 139'), rule: 'crashed', cause: /ended by SIGSEGV/},
  killed: {spec: script('exit 137'), rule: 'killed', cause: /ended by SIGKILL, not for memory/},
  'read-only': {
    spec: script('echo x > /etc/x', {securityContext: {readOnlyRootFilesystem: true}}),
    rule: 'read-only-file-system',
    cause: /writes to a file system that is read-only for it: .*Read-only file system$/,
  },
  'no-capability': {
    spec: script('chown 1 /etc/hosts', {securityContext: {capabilities: {drop: ['ALL']}}}),
    rule: 'not-permitted',
    cause: /the kernel does not permit an operation to container main/,
  },
  'port-in-use': {
    spec: {
      containers: [
        aContainer('first', {command: shellCommand('nc -l -p 8080 -e cat')}),
        aContainer('main', {
          command: shellCommand(
            'until netstat -ltn | grep -q :8080; do sleep 0.1; done; nc -l -p 8080 -e cat',
          ),
        }),
      ],
    },
    rule: 'port-in-use',
    cause: /container main cannot listen on its port/,
  },
  'no-name': {
    spec: script('wget -q http://db.invalid/'),
    rule: 'name-not-resolved',
    cause: /container main cannot resolve the name db\.invalid/,
  },
  completed: {spec: script('true'), rule: 'completed', cause: /ends with success/},
  oom: {
    spec: script('x=$(head -c 100m /dev/zero | tr "\\0" x)', {resources: {limits: {memory: '24Mi'}}}),
    rule: 'oom-killed',
    cause: /^container main was killed for memory: limit 24Mi, in use 2[34](\.\d)?Mi, \d process/,
  },
  'oom-child': {
    spec: script('tail /dev/zero; exit 1', {resources: {limits: {memory: '24Mi'}}}),
    rule: 'oom-killed',
    cause: /^process tail of container main was killed for memory, and the main process then ended by itself/,
  },
  'no-command': {
    spec: one({command: ['no-such-program']}),
    rule: 'command-not-found',
    cause: /command "no-such-program" of container main is in no directory of \$PATH in image/,
  },
  'no-file': {
    spec: one({command: ['/no/such']}),
    rule: 'command-missing',
    cause: /\/no\/such of container main does not exist/,
  },
  'not-executable': {
    spec: one({command: ['/etc/passwd']}),
    rule: 'command-not-executable',
    cause: /\/etc\/passwd of container main is not executable/,
  },
  workdir: {
    spec: one({workingDir: '/etc/passwd'}),
    rule: 'working-directory',
    cause: /\/etc\/passwd cannot be used: not a directory/,
  },
  user: {
    spec: one({securityContext: {runAsNonRoot: true}}),
    rule: 'run-as-non-root',
    cause: /may not run as root \(runAsNonRoot\)/,
  },
  'image-none': {
    spec: one({image: `${local}/none:1`}),
    rule: 'image-not-found',
    cause: /does not exist in the registry/,
  },
  'image-denied': {spec: one({image: `${local}/denied:1`}), rule: 'image-denied', cause: /denies access/},
  'image-limited': {
    spec: one({image: `${local}/limited:1`}),
    rule: 'image-rate-limit',
    cause: /refuses more pulls/,
  },
  'image-tls': {
    spec: one({image: `${remote}/none:1`}),
    rule: 'image-tls',
    cause: /server gave HTTP response to HTTPS client/,
  },
  'image-port': {
    spec: one({image: 'localhost:1/none:1'}),
    rule: 'image-unreachable',
    cause: /127\.0\.0\.1:1|\[::1\]:1/,
  },
  'image-dns': {
    spec: one({image: 'registry.invalid/none:1'}),
    rule: 'image-dns',
    cause: /cannot resolve the registry's name registry\.invalid/,
  },
  'image-never': {
    spec: one({image: 'localhost/none:1', imagePullPolicy: 'Never'}),
    rule: 'image-never-pulled',
    cause: /is not on the node, and imagePullPolicy is Never/,
  },
  liveness: {
    spec: one({livenessProbe: probe({exec: {command: shellCommand('echo broken; exit 1')}})}),
    rule: 'liveness-probe-failed',
    cause: /its liveness probe failed: broken/,
  },
  'wrong-port': {
    spec: script('nc -l -p 8081 -e cat & trap "exit 0" TERM; sleep 3600 & wait', {
      readinessProbe: probe({tcpSocket: {port: 8080}}),
    }),
    rule: 'readiness-probe',
    cause: /nothing in the pod listens on port 8080, .*; open is 8081$/,
  },
  slow: {
    spec: one({readinessProbe: probe({exec: {command: ['sleep', '30']}, timeoutSeconds: 1})}),
    rule: 'readiness-probe',
    cause: /gets no answer within 1s: it is too slow/,
  },
  startup: {
    spec: one({startupProbe: {...probe({exec: {command: ['false']}}), failureThreshold: 1000}}),
    rule: 'startup-probe',
    cause: /the startup probe of container main fails/,
  },
  hook: {
    spec: one({lifecycle: {postStart: {exec: {command: shellCommand('exit 3')}}}}),
    rule: 'post-start-hook',
    cause: /the postStart hook of container main failed/,
  },
  'init-runs': {
    spec: {initContainers: [aContainer('wait-db')]},
    rule: 'init-container-runs',
    cause: /init container wait-db has not ended/,
  },
  'init-fails': {
    spec: {initContainers: [aContainer('setup', {command: shellCommand('exit 4')})]},
    rule: 'failed',
    cause: /init container setup ended by itself with exit code 4/,
  },
  volume: {
    spec: {
      volumes: [{name: 'data', hostPath: {path: '/no/such', type: 'Directory'}}],
      containers: [aContainer('main', {volumeMounts: [{name: 'data', mountPath: '/data'}]})],
    },
    rule: 'host-path',
    cause: /volume data needs \/no\/such on the node/,
  },
  throttled: {
    spec: script('while :; do :; done', {resources: {limits: {cpu: '10m'}}}),
    rule: 'cpu-throttled',
    cause: /is slowed down by its CPU limit of 10m in \d+% of the periods/,
  },
});

/** Rules of pods that are not wrong: they are slow, or have not finished their start. */
const NOT_WRONG = new Set(['init-container-runs', 'cpu-throttled']);

function startRegistry(): Server {
  return createServer(({url = ''}, response) => {
    const [, name = ''] = /^\/v2\/([^/]+)\//.exec(url) ?? [];
    response.writeHead(url === '/v2/' ? 200 : (REGISTRY[name] ?? 404)).end();
  });
}

function ownAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({family, internal}) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}

describe.each(newestRuntime)('why: $name', (which) => {
  let testbed: KubeletTestbed;
  let pods: Readonly<Record<string, Case>> = {};
  const registry = startRegistry();

  beforeAll(async () => {
    testbed = await startKubeletTestbed(which, NODE);
    await new Promise<void>((resolve) => registry.listen(0, '0.0.0.0', resolve));
    const {port} = registry.address() as {port: number};
    pods = cases(`127.0.0.1:${port}`, `${ownAddress()}:${port}`);
    for (const [name, {spec}] of Object.entries(pods)) await testbed.put(name, aManifest(name, spec));
    await testbed.put('well', aManifest('well'));
    await testbed.put('done', aManifest('done', {restartPolicy: 'Never', ...script('true')}));
    await testbed.start();
  });
  afterAll(async () => {
    await testbed[Symbol.asyncDispose]();
    registry.close();
  });

  const kcri = async (...args: readonly string[]) => await testbed.podTestbed.runtime.kcri(args);
  const why = async (name: string): Promise<Why['items'][number] | undefined> => {
    const {stdout} = await kcri('why', `${name}-${NODE}`, '-o', 'json');
    return stdout === '' ? undefined : (JSON.parse(stdout) as Why).items[0];
  };

  test.each(Object.keys(cases('', '')))('the cause of %s is found', async (name) => {
    const {rule, cause, log} = pods[name]!;
    const causes = async (): Promise<readonly Found[]> => (await why(name))?.findings ?? [];
    await expect
      .poll(causes)
      .toContainEqual(expect.objectContaining({rule, cause: expect.stringMatching(cause) as string}));
    if (log !== undefined) await expect.poll(async () => (await causes())[0]?.log).toContain(log);
    await expect
      .poll(async () => (await kcri('why', `${name}-${NODE}`)).exitCode)
      .toBe(NOT_WRONG.has(rule) ? 0 : 1);
  });

  test('nothing is wrong with a pod that runs, or that has completed', async () => {
    await expect
      .poll(async () => await kcri('why', `well-${NODE}`, `done-${NODE}`))
      .toMatchObject({
        stdout: `default/well-${NODE}  Running, 1/1 ready: nothing is wrong\n\ndefault/done-${NODE}  Completed: nothing is wrong\n`,
        stderr: '',
        exitCode: 0,
      });
  });

  test('the end of the back-off is told', async () => {
    await expect
      .poll(async () => (await why('exit-1'))?.findings[0]?.next)
      .toMatch(/^starts again at \d\d:\d\d:\d\d \(back-off [\dms]+\)$/);
  });

  test('a process that ignores SIGTERM is told while its pod terminates', async () => {
    const spec = {
      terminationGracePeriodSeconds: 600,
      containers: [aContainer('main', {command: ['sleep', '3600']})],
    };
    await testbed.put('deaf', aManifest('deaf', spec));
    await expect.poll(async () => (await why('deaf'))?.state).toBe('Running, 1/1 ready');
    await testbed.withdraw('deaf');
    await expect
      .poll(async () => (await why('deaf'))?.findings)
      .toMatchObject([
        {
          rule: 'ignores-sigterm',
          cause: 'the pod is being deleted, and the main process of container main ignores SIGTERM',
          next: expect.stringMatching(/^its processes are killed at \d\d:\d\d:\d\d$/) as string,
        },
      ]);
    const {stdout, exitCode} = await kcri('why', `deaf-${NODE}`);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^evidence {3}deletion began at \S+ \([\dms]+ ago\); grace period 600s; process \d+ of main in state S$/m,
    );
    const {containers} = await testbed.podTestbed.pod(`deaf-${NODE}`);
    process.kill(await testbed.podTestbed.pidOf(containers[0]!.id), 'SIGKILL');
  });

  test('a pod that kcri sync leaves behind is explained, with the missing key of its ConfigMap', async () => {
    const env = [{name: 'URL', valueFrom: {configMapKeyRef: {name: 'settings', key: 'url'}}}];
    const pod = aManifest('no-key', {containers: [aContainer('main', {env})]});
    const settings = JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {name: 'settings'},
      data: {},
    });
    const isExplained = async (): Promise<boolean> => (await kcri('why', 'no-key')).exitCode === 1;
    await testbed.podTestbed.leaveWhen(isExplained, `${pod}\n---\n${settings}`);
    onTestFinished(async () => {
      await testbed.podTestbed.delete('no-key');
    });
    const {stdout, exitCode} = await kcri('why', 'no-key');
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      'cause      container main needs key url of ConfigMap default/settings, which has no such key\n',
    );
  });

  test('the pods of the node that are not well have a line each', async () => {
    const {stdout, exitCode} = await kcri('why', 'node');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^node \S+ {2}\d+ pods, \d+ not well\n/);
    expect(stdout).toContain(`default/oom-${NODE}  `);
    expect(stdout).not.toContain(`default/well-${NODE}`);
  });

  test('the log of a hostile container cannot control the terminal', async () => {
    await testbed.put(
      'hostile',
      aManifest('hostile', script(`printf '\\033[31mred\\033]0;title\\007\\n'; exit 1`)),
    );
    await expect
      .poll(async () => (await kcri('why', `hostile-${NODE}`)).stdout)
      .toContain(String.raw`log        \x1b[31mred\x1b]0;title\x07`);
  });

  test('a pod of another root directory is explained by what the runtime and the kernel know', async () => {
    const elsewhere = async () =>
      await kcri('--root-dir', `${testbed.podTestbed.runtime.rootDir}-other`, 'why', `oom-${NODE}`);
    await expect
      .poll(async () => (await elsewhere()).stdout)
      .toContain('cause      container main was killed for memory: limit 24Mi');
    expect((await elsewhere()).stdout).toContain(
      'not read   events: only the API server of its kubelet has them',
    );
  });
});
