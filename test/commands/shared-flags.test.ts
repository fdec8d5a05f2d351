import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {runKcri} from '../cli/run-kcri.js';
import {aContainer, anImage, aSandbox, BUILT_AT_NANOS, FakeRuntime} from '../fakes/fake-runtime.js';

/** Flags shared by many commands, tested on commands whose own tests do not use them. */
const OTHER_IMAGE = 'localhost:5000/other:1';

async function startRuntime() {
  const directory = await temporaryDirectory();
  const logPath = join(directory, 'b.log');
  await writeFile(logPath, '2026-11-21T10:00:00.000000000Z stdout F from other\n');
  const sandbox = aSandbox({name: 'web'});
  const runtime = await FakeRuntime.start({
    images: [anImage(), anImage({name: OTHER_IMAGE})],
    sandboxes: [sandbox],
    containers: [
      aContainer({sandbox, name: 'a', labels: {app: 'a'}}),
      aContainer({sandbox, name: 'b', image: OTHER_IMAGE, createdAt: BUILT_AT_NANOS + 5n, logPath}),
    ],
    exec: (command) => ({stdout: command.join(' '), stderr: '', exitCode: 0}),
  });
  onTestFinished(() => runtime.stop());
  const kcri = async (...args: readonly string[]) => await runKcri(args, {endpoint: runtime.endpoint});
  return {runtime, kcri, directory, ids: runtime.containers.map(({id}) => id)};
}

describe('--template prints the same as -o go-template', () => {
  test.each([
    ['ps', '{{len .containers}}', '2'],
    ['pods', '{{len .items}}', '1'],
    ['images', '{{len .images}}', '2'],
    ['metricdescs', '{{len .descriptors}}', /^\d+$/],
    ['metricsp', '{{len .podMetrics}}', '1'],
    ['stats', '{{len .stats}}', '2'],
    ['statsp', '{{len .stats}}', '1'],
    ['runtime-config', '{{.linux.cgroupDriver}}', 'CGROUPFS'],
  ])('%s', async (command, template, printed) => {
    const {kcri} = await startRuntime();
    const {stdout, stderr, exitCode} = await kcri(command, '--template', template);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout.trim()).toMatch(printed);
  });
});

describe('filter flags', () => {
  test('exec runs in the containers of an image, and in the newest one', async () => {
    const {kcri, runtime, ids} = await startRuntime();
    await kcri('exec', '-s', '--image', OTHER_IMAGE, 'say');
    await kcri('exec', '-s', '--last', '1', 'say');
    const requests = runtime.callsTo('ExecSync').map(({request}) => request);
    expect(requests).toEqual([
      {container_id: ids[1], cmd: ['say']},
      {container_id: ids[1], cmd: ['say']},
    ]);
  });

  test('exec --user wraps the command', async () => {
    const {kcri} = await startRuntime();
    const {stdout} = await kcri('exec', '-s', '--user', 'nobody', 'a', 'say');
    expect(stdout).toMatch(/^\/?(bin\/)?sh -c [\s\S]* nobody say$/);
  });

  test('logs prints those of an image', async () => {
    const {kcri} = await startRuntime();
    expect((await kcri('logs', '--image', OTHER_IMAGE, '--no-prefix')).stdout).toBe('from other\n');
  });

  test('stop selects containers by image or name', async () => {
    const {kcri, runtime, ids} = await startRuntime();
    await kcri('stop', '--image', OTHER_IMAGE);
    await kcri('stop', '--name', '^a$');
    expect(runtime.callsTo('StopContainer').map(({request}) => request)).toMatchObject([
      {container_id: ids[1]},
      {container_id: ids[0]},
    ]);
  });

  test('rm selects containers by label or image', async () => {
    const {kcri, runtime, ids} = await startRuntime();
    await kcri('rm', '-f', '--label', 'app=a');
    await kcri('rm', '-f', '--image', OTHER_IMAGE);
    expect(runtime.callsTo('RemoveContainer').map(({request}) => request)).toEqual([
      {container_id: ids[0]},
      {container_id: ids[1]},
    ]);
  });

  test('images --reverse reverses the order', async () => {
    const {kcri} = await startRuntime();
    const names = async (...flags: readonly string[]) =>
      (await kcri('images', '-o', 'name', '--sort', 'name', ...flags)).stdout.trim().split('\n');
    expect(await names('--reverse')).toEqual((await names()).toReversed());
  });
});

test('attach accepts detach keys like exec, and reports invalid ones', async () => {
  const {kcri} = await startRuntime();
  const {stderr, exitCode} = await kcri('attach', '--detach-keys', 'ctrl-nonsense', 'a');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('ctrl-nonsense');
});

test('metricsp --seconds must be a duration', async () => {
  const {kcri} = await startRuntime();
  const {stderr, exitCode} = await kcri('metricsp', '--seconds', '0');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('--seconds');
});

describe.each(['create', 'run'])('%s pulls with', (command) => {
  async function pullRequest(flags: readonly string[], stdin?: string) {
    const {runtime, directory} = await startRuntime();
    const [container, pod] = [join(directory, 'container.json'), join(directory, 'pod.json')];
    await writeFile(container, JSON.stringify({metadata: {name: 'c'}, image: {image: OTHER_IMAGE}}));
    await writeFile(pod, JSON.stringify({metadata: {name: 'p', namespace: 'default', uid: 'u'}}));
    runtime.publishImage(anImage({name: OTHER_IMAGE}));
    const target = command === 'create' ? ['web'] : [];
    const {exitCode, stderr} = await runKcri([command, '--with-pull', ...flags, ...target, container, pod], {
      endpoint: runtime.endpoint,
      env: {HOME: directory},
      ...(stdin === undefined ? {} : {stdin}),
    });
    expect({exitCode, stderr: stderr.replace(/^.*password.*\n/im, '')}).toEqual({exitCode: 0, stderr: ''});
    return (runtime.callsTo('PullImage')[0]!.request as {auth?: object}).auth;
  }

  // Proves: create --auth, create --creds, create --username
  test('the credentials of --creds, --auth and --username', async () => {
    const alice = {username: 'alice', password: 'secret'};
    expect(await pullRequest(['--creds', 'alice:secret'])).toMatchObject(alice);
    expect(await pullRequest(['--auth', Buffer.from('alice:secret').toString('base64')])).toMatchObject({
      auth: Buffer.from('alice:secret').toString('base64'),
    });
    expect(await pullRequest(['-u', 'alice'], 'secret\n')).toMatchObject(alice);
  });

  // Proves: create --auth-file
  test('those of --auth-file unless --no-auth-file is set, within --pull-timeout', async () => {
    const file = join(await temporaryDirectory(), 'auth.json');
    const auth = Buffer.from('alice:secret').toString('base64');
    await writeFile(file, JSON.stringify({auths: {'localhost:5000': {auth}}}));
    const alice = {username: 'alice', password: 'secret'};
    expect(await pullRequest(['--auth-file', file, '--pull-timeout', '1m'])).toMatchObject(alice);
    expect(await pullRequest(['--no-auth-file'])).toBeUndefined();
  });
});
