import {writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {FakeRuntime, aSandbox, anImage} from '../fakes/fake-runtime.js';
import {until} from '../base/until.js';
import {temporaryDirectory} from '../base/temporary-directory.js';

let folder: string;
let container: string;
let pod: string;
beforeEach(async () => {
  folder = await temporaryDirectory();
  container = file('container.yaml', {
    metadata: {name: 'main'},
    image: {image: 'localhost:5000/busybox:1'},
    command: ['sleep', '60'],
    envs: [{key: 'PAGE', value: 'hello'}],
    log_path: 'main.log',
  });
  pod = file('pod.json', {metadata: {name: 'web', namespace: 'default', uid: 'u1'}, logDirectory: folder});
});

function file(name: string, data: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof data === 'string' ? data : JSON.stringify(data));
  return path;
}

const startRuntime = async () => await FakeRuntime.start({images: [anImage()]});
const ID = /^[0-9a-f]{64}\n$/;

describe('run', () => {
  test('runs a container in a new pod and prints its ID', async () => {
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await runKcri(['run', '--no-pull', container, pod], {
      endpoint: runtime.endpoint,
    });
    expect(stdout).toMatch(ID);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(runtime.calls.map(({method}) => method)).toEqual([
      'RunPodSandbox',
      'CreateContainer',
      'StartContainer',
    ]);
    expect(runtime.callsTo('CreateContainer')[0]!.request).toMatchObject({
      config: {
        image: {image: 'localhost:5000/busybox:1', user_specified_image: 'localhost:5000/busybox:1'},
        envs: [{key: 'PAGE', value: Buffer.from('hello').toString('base64')}],
        log_path: 'main.log',
      },
      sandbox_config: {metadata: {name: 'web', uid: 'u1'}, log_directory: folder},
    });
  });

  test('pulls the image for the running sandbox, unless the config file disables it', async () => {
    await using runtime = await startRuntime();
    runtime.publishImage(anImage());
    const methods = () => runtime.calls.map(({method}) => method);
    await runKcri(['run', container, pod], {endpoint: runtime.endpoint});
    expect(methods()).toEqual(['RunPodSandbox', 'PullImage', 'CreateContainer', 'StartContainer']);
    runtime.clearCalls();
    const config = file('crictl.yaml', 'disable-pull-on-run: true\n');
    const again = file('again.json', {metadata: {name: 'again', namespace: 'default', uid: 'u2'}});
    await runKcri(['-c', config, 'run', container, again], {endpoint: runtime.endpoint});
    expect(methods().slice(0, 2)).toEqual(['RunPodSandbox', 'CreateContainer']);
  });

  test('leaves nothing behind when the pull fails', async () => {
    await using runtime = await startRuntime();
    runtime.injectError('PullImage', {code: 'NOT_FOUND', message: 'no such image'});
    const {stderr, exitCode} = await runKcri(['run', container, pod], {endpoint: runtime.endpoint});
    expect(stderr).toContain('kcri: running container: creating container failed: ');
    expect({exitCode, left: runtime.sandboxes}).toEqual({exitCode: 1, left: []});
  });

  test.each([
    ['kcri', 1],
    ['crictl', 2],
  ])('pulls nothing and warns once if the sandbox fails under the name %s', async (name, warnings) => {
    await using runtime = await startRuntime();
    runtime.publishImage(anImage());
    const sandbox = file('linux.json', {metadata: {name: 'web', namespace: 'default'}, linux: {}});
    const options = {endpoint: runtime.endpoint, env: {KCRI_COMPAT: name}};
    const warned = (stderr: string) => stderr.split('cgroup_parent is not set').length - 1;
    const works = await runKcri(['run', container, sandbox], options);
    expect({exitCode: works.exitCode, warned: warned(works.stderr)}).toEqual({exitCode: 0, warned: warnings});
    runtime.clearCalls();
    runtime.injectError('RunPodSandbox', {code: 'UNKNOWN', message: 'no runtime for "x" is configured'});
    const fails = await runKcri(['run', '--runtime=x', container, sandbox], options);
    expect({exitCode: fails.exitCode, warned: warned(fails.stderr)}).toEqual({exitCode: 1, warned: 1});
    expect(runtime.callsTo('PullImage')).toEqual([]);
  });

  test('generates a UID if there is none', async () => {
    await using runtime = await startRuntime();
    const nameless = file('p.yaml', 'metadata:\n  name: a\n  namespace: b\n');
    await runKcri(['run', '--no-pull', container, nameless], {endpoint: runtime.endpoint});
    expect(runtime.sandboxes[0]!.config.metadata?.uid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  test.each(['CreateContainer', 'StartContainer'] as const)('leaves nothing if %s fails', async (rpc) => {
    await using runtime = await startRuntime();
    runtime.injectError(rpc, {code: 'INTERNAL', message: 'no such luck'});
    const {stdout, stderr, exitCode} = await runKcri(['run', '--no-pull', container, pod], {
      endpoint: runtime.endpoint,
    });
    expect(stderr).toMatch(/^kcri: running container: .*: no such luck\n/);
    expect({stdout, exitCode, left: runtime.sandboxes}).toEqual({stdout: '', exitCode: 1, left: []});
  });

  test('leaves nothing if it is interrupted', async () => {
    const {InterruptedError} = await import('../../src/cli/process/interrupt.js');
    await using runtime = await startRuntime();
    runtime.injectDelay('CreateContainer', 60_000);
    const controller = new AbortController();
    const running = runKcri(['run', '--no-pull', container, pod], {
      endpoint: runtime.endpoint,
      signal: controller.signal,
    });
    await until(() => runtime.callsTo('CreateContainer').length !== 0);
    controller.abort(new InterruptedError('SIGINT'));
    expect(await running).toEqual({stdout: '', stderr: 'kcri: interrupted\n', exitCode: 130});
    expect(runtime.sandboxes).toEqual([]);
  });

  test('reports what is left if it cannot be removed', async () => {
    await using runtime = await startRuntime();
    runtime.injectError('StartContainer', {code: 'INTERNAL', message: 'no such luck'});
    runtime.injectError('StopPodSandbox', {code: 'INTERNAL', message: 'stuck'});
    const {stderr} = await runKcri(['run', '--no-pull', container, pod], {endpoint: runtime.endpoint});
    expect(stderr).toContain(`kcri: warning: cannot remove pod sandbox "${runtime.sandboxes[0]!.id}": `);
  });

  test('warns about unknown keys, and accepts numbers and enums in every form', async () => {
    await using runtime = await startRuntime();
    const unusual = file('odd.yaml', {
      metadata: {name: 'main', attempt: '2'},
      image: {image: 'localhost:5000/busybox:1'},
      command: ['sleep', '60'],
      comand: ['x'],
      linux: {
        resources: {memory_limit_in_bytes: '67108864', cpuShares: 512},
        security_context: {namespace_options: {pid: 'CONTAINER', network: 2}},
      },
    });
    const {stderr, exitCode} = await runKcri(['run', '--no-pull', unusual, pod], {
      endpoint: runtime.endpoint,
    });
    expect(stderr).toBe(
      `kcri: warning: ${unusual}: unknown field "comand" in the ContainerConfig, ignored; did you mean "command"?\n`,
    );
    expect(exitCode).toBe(0);
    expect(runtime.callsTo('CreateContainer')[0]!.request).toMatchObject({
      config: {
        metadata: {attempt: 2},
        linux: {
          resources: {memory_limit_in_bytes: '67108864', cpu_shares: '512'},
          security_context: {namespace_options: {pid: 'CONTAINER', network: 'NODE'}},
        },
      },
    });
  });

  const WRONG: readonly (readonly [string, unknown, string])[] = [
    ['no metadata', {image: {image: 'x'}}, 'metadata is not set'],
    ['no name', {metadata: {}, image: {image: 'x'}}, 'name is not in metadata'],
    ['no image', {metadata: {name: 'a'}}, 'image is not set'],
    ['an empty image', {metadata: {name: 'a'}, image: {}}, 'image field is not set in image'],
    ['a wrong type', {metadata: {name: ['x']}}, 'metadata.name: must be a string'],
    ['broken YAML', 'a: [', 'invalid config'],
    ['nothing', '', 'metadata is not set'],
  ];
  test.each(WRONG)('a container config with %s is rejected before any call', async (_, data, message) => {
    await using runtime = await startRuntime();
    const wrong = file('wrong.yaml', data);
    const {stderr, exitCode} = await runKcri(['run', wrong, pod], {endpoint: runtime.endpoint});
    expect(stderr).toContain(`invalid config "${wrong}": `);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect({exitCode, calls: runtime.calls}).toEqual({exitCode: 1, calls: []});
  });

  test.each([
    [['run'], 'no image or config files specified'],
    [['run', '/nowhere/c.yaml', '/nowhere/p.yaml'], 'config at /nowhere/p.yaml not found'],
    [['run', '--no-pull', '--with-pull', 'a.json', 'b.json'], 'conflict: no-pull and with-pull are both set'],
    [['run', 'a.json', tmpdir()], 'EISDIR'],
  ])('%j is rejected', async (args, message) => {
    const {stderr, exitCode} = await runKcri(args, {endpoint: '/nowhere'});
    expect(stderr).toContain(message);
    expect(exitCode).toBe(1);
  });
});

describe('- as a config', () => {
  const stdin = 'metadata: {name: main}\nimage: {image: localhost:5000/busybox:1}\n';

  test.each([
    ['run', (runtime: FakeRuntime, file: string) => ['run', '--no-pull', file, pod]],
    ['create', (runtime: FakeRuntime, file: string) => ['create', runtime.sandboxes[0]?.id ?? '', file, pod]],
  ])('is standard input of %s', async (_, args) => {
    await using runtime = await FakeRuntime.start({
      images: [anImage()],
      sandboxes: [aSandbox({name: 'old'})],
    });
    const {stdout, exitCode} = await runKcri(args(runtime, '-'), {endpoint: runtime.endpoint, stdin});
    expect(stdout).toMatch(ID);
    expect(exitCode).toBe(0);
    expect(runtime.containers).toMatchObject([{config: {metadata: {name: 'main'}}}]);
  });

  test('can be read only once', async () => {
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await runKcri(['run', '-', '-'], {endpoint: runtime.endpoint, stdin});
    expect(stderr).toContain('"-" must not be repeated: standard input can only be read once');
    expect({exitCode, calls: runtime.calls}).toEqual({exitCode: 1, calls: []});
  });

  test('is a file under the name crictl', async () => {
    await using runtime = await startRuntime();
    const options = {endpoint: runtime.endpoint, stdin, env: {KCRI_COMPAT: 'crictl'}};
    const {stderr, exitCode} = await runKcri(['runp', '-'], options);
    expect(stderr).toContain('msg="load podSandboxConfig: config at - not found"');
    expect(exitCode).toBe(1);
  });
});

test('create creates a container in an existing pod', async () => {
  await using runtime = await FakeRuntime.start({images: [anImage()], sandboxes: [aSandbox({name: 'web'})]});
  const {stdout, exitCode} = await runKcri(['create', 'web', container, pod], {endpoint: runtime.endpoint});
  expect(stdout).toMatch(ID);
  expect(exitCode).toBe(0);
  expect(runtime.containers).toMatchObject([{id: stdout.trim(), state: 'CONTAINER_CREATED'}]);
});

describe('pull', () => {
  const startRuntimeWithImages = async () => {
    const runtime = await FakeRuntime.start({images: []});
    runtime.publishImage(anImage());
    return runtime;
  };

  test('prints the image reference returned by the runtime', async () => {
    await using runtime = await startRuntimeWithImages();
    const {stdout, exitCode} = await runKcri(['pull', 'localhost:5000/busybox:1'], {
      endpoint: runtime.endpoint,
    });
    expect(stdout).toBe(`Image is up to date for ${runtime.images[0]!.id}\n`);
    expect(exitCode).toBe(0);
  });

  test.each([
    [['--creds', 'user:pa:ss'], {}, {username: 'user', password: 'pa:ss'}],
    [['--creds', 'user'], {}, {username: 'user'}],
    [['--auth', 'dXNlcg=='], {}, {auth: 'dXNlcg=='}],
    [[], {CRICTL_CREDS: 'user:pw'}, {username: 'user', password: 'pw'}],
    [['-u', 'user'], {}, {username: 'user', password: 'secret'}],
  ])('%j with %j sends the credentials', async (flags, env: Record<string, string>, auth) => {
    await using runtime = await startRuntimeWithImages();
    await runKcri(['pull', ...flags, 'localhost:5000/busybox:1'], {
      endpoint: runtime.endpoint,
      env,
      stdin: 'secret\nmore\n',
    });
    expect(runtime.callsTo('PullImage')[0]!.request['auth']).toEqual(auth);
  });

  test.each([
    ['UNKNOWN', 'pulling image: reading manifest: denied'],
    ['INTERNAL', 'pulling image: rpc error: code = Internal desc = reading manifest: denied'],
  ] as const)('a failure with the code %s has crictl’s message', async (code, message) => {
    await using runtime = await startRuntimeWithImages();
    runtime.injectError('PullImage', {code, message: 'reading manifest: denied'});
    const env = {KCRI_COMPAT: 'crictl'};
    const args = ['pull', 'localhost:5000/busybox:1'];
    const {stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint, env});
    expect(stderr).toContain(`level=error msg="${message}"\n`);
    expect(exitCode).toBe(1);
  });

  test('-a sends annotations', async () => {
    await using runtime = await startRuntimeWithImages();
    await runKcri(['pull', '-a', 'a=1,b=2', 'localhost:5000/busybox:1'], {endpoint: runtime.endpoint});
    expect(runtime.callsTo('PullImage')[0]!.request['image']).toMatchObject({annotations: {a: '1', b: '2'}});
  });

  test.each([
    [['pull'], 'image name cannot be empty'],
    [['pull', 'a', 'b'], 'unexpected argument "b"'],
    [['pull', '--creds', 'a', '--auth', 'b', 'c'], 'both `--creds` and `--auth` are specified'],
    [['pull', '--creds', ':b', 'c'], "username can't be empty"],
    [['pull', '--pull-timeout', '-1s', 'c'], 'pulling image: timeout should be bigger than 0'],
    [['pull', '-u', 'me', 'c'], 'no password was given'],
    [['pull', 'localhost:5000/none:1'], 'pulling image: failed to pull and unpack image'],
  ])('%j exits with 1', async (args, message) => {
    await using runtime = await startRuntimeWithImages();
    const {stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect(stderr).toContain(`kcri: ${message}`);
    expect(exitCode).toBe(1);
  });
});
