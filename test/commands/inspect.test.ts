import {describe, expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {FakeRuntime, aContainer, aSandbox, anImage, BUILT_AT_NANOS} from '../fakes/fake-runtime.js';

async function startRuntime() {
  const [web, api] = [aSandbox({name: 'web'}), aSandbox({name: 'api'})];
  return await FakeRuntime.start({
    sandboxes: [web, api],
    containers: [
      aContainer({
        sandbox: web,
        name: 'main',
        createdAt: BUILT_AT_NANOS + 5n,
        annotations: {note: 'a', 'io.kubernetes.container.restartCount': '4'},
      }),
      aContainer({sandbox: api, name: 'server'}),
      aContainer({
        sandbox: api,
        name: 'done',
        state: 'CONTAINER_EXITED',
        exitCode: 3,
        message: 'first line\nsecond line',
        logPath: '/var/log/pods/done/0.log',
      }),
    ],
  });
}

interface Inspected {
  readonly status: Readonly<Record<string, unknown>>;
  readonly info?: unknown;
}

describe('inspect', () => {
  test('prints one object with sorted keys and RFC 3339 times', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['inspect', 'done'], {endpoint: runtime.endpoint, env: {TZ: 'UTC'}});
    const {status} = JSON.parse(stdout) as Inspected;
    expect(Object.keys(status)).toEqual(Object.keys(status).toSorted());
    expect(status).toMatchObject({exitCode: 3, state: 'CONTAINER_EXITED'});
    expect(Date.parse(String(status['createdAt']))).toBe(Number(BUILT_AT_NANOS / 1_000_000n));
  });

  test('prints the zero time for times not reached yet', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['inspect', 'main'], {endpoint: runtime.endpoint});
    expect((JSON.parse(stdout) as Inspected).status['finishedAt']).toBe('0001-01-01T00:00:00Z');
  });

  test('reports an invalid ID and prints the other containers', async () => {
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await runKcri(['inspect', 'main', 'nope', 'server'], {
      endpoint: runtime.endpoint,
    });
    const names = (JSON.parse(stdout) as Inspected[]).map(
      ({status}) => (status['metadata'] as {name: string}).name,
    );
    expect(names).toEqual(['main', 'server']);
    expect(stderr).toContain('kcri: no such container "nope"');
    expect(exitCode).toBe(1);
  });

  // Proves: inspect --name
  test('without names selects by filters, by default running containers', async () => {
    await using runtime = await startRuntime();
    const several = JSON.parse(
      (await runKcri(['inspect'], {endpoint: runtime.endpoint})).stdout,
    ) as Inspected[];
    expect(several).toHaveLength(2);
    const {stdout} = await runKcri(['inspect', '-q', '--name', 'done', '-a'], {endpoint: runtime.endpoint});
    expect(Object.keys(JSON.parse(stdout) as Inspected)).toEqual(['status']);
  });

  test('-o table prints the state and the history of a container', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['inspect', '-o', 'table', 'done'], {endpoint: runtime.endpoint});
    const lines = stdout.split('\n').map((line) => line.replace(/ {2,}/, ' '));
    expect(lines).toEqual(
      expect.arrayContaining([
        'Name: done',
        'Pod: default/api',
        'State: Exited (failed)',
        'Exit code: 3',
        'Reason: Error',
        'Image: localhost:5000/busybox:1',
        'User: 0:0',
        'Log: /var/log/pods/done/0.log',
        'Labels:',
        ' io.kubernetes.pod.name=api',
      ]),
    );
    expect(stdout).toMatch(/\nMessage: +first line\n +second line\n/);
    expect(stdout).toMatch(/\nFinished: +2026-05-01T\d\d:00:02\S* \(.* ago\)\n/);
    expect(stdout).not.toContain('map[');
  });

  test('-o table omits missing values and separates objects with an empty line', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['inspect', '-o', 'table', 'main', 'server'], {
      endpoint: runtime.endpoint,
    });
    const [main = '', server = ''] = stdout.split('\n\n');
    expect(main).toMatch(/^Name: +main\n(.*\n)*Restarts: +4\n/);
    expect(server).toMatch(/^Name: +server\n/);
    expect(stdout).not.toMatch(/^(Exit code|Reason|Message|Finished|Log):/m);
    expect(server).not.toMatch(/^(Restarts|Annotations):/m);
  });

  // Proves: inspect --pod
  test('filters restrict name lookup', async () => {
    await using runtime = await startRuntime();
    const found = await runKcri(['inspect', '-q', '--pod', 'api', 'done'], {endpoint: runtime.endpoint});
    expect(JSON.parse(found.stdout)).toMatchObject({status: {metadata: {name: 'done'}}});
    const missing = await runKcri(['inspect', '--pod', 'api', 'main'], {endpoint: runtime.endpoint});
    expect(missing).toMatchObject({stdout: '', exitCode: 1});
    expect(missing.stderr).toContain('kcri: no such container "main"');
  });

  test('-o yaml prints the same data', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['inspect', '-qo', 'yaml', 'done'], {endpoint: runtime.endpoint});
    expect(stdout).toMatch(/^status:\n {2}annotations: \{\}\n {2}createdAt: /);
    expect(stdout.endsWith('\n\n')).toBe(true);
  });

  test('reports that nothing was found', async () => {
    await using runtime = await FakeRuntime.start();
    for (const [args, text] of [
      [['inspect'], 'there are no running containers'],
      [['inspectp'], 'there are no pods'],
      [['inspectp', '--name', 'web'], 'no pod matches --name web'],
    ] as const) {
      const {stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
      expect(stderr).toContain(`kcri: ${text}\n`);
      expect(exitCode).toBe(1);
    }
  });
});

describe('inspectp and inspecti', () => {
  test('inspectp prints a pod by name', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['inspectp', 'web'], {endpoint: runtime.endpoint});
    expect((JSON.parse(stdout) as Inspected).status).toMatchObject({
      metadata: {name: 'web'},
      state: 'SANDBOX_READY',
      network: {ip: '10.244.0.2'},
    });
  });

  test('inspectp -o table prints addresses', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['inspectp', '-o', 'table', 'web'], {endpoint: runtime.endpoint});
    expect(stdout).toMatch(/\nState: +Ready\n(.*\n)*IP: +10\.244\.0\.2\n(.*\n)*Created: +2026-05-01T/);
  });

  // Proves: inspectp --state
  test('inspectp accepts a UID, and filters with names', async () => {
    await using runtime = await startRuntime();
    const uid = runtime.sandboxes[0]!.config.metadata!.uid;
    for (const args of [[uid], ['web', '--state', 'ready']]) {
      const {stdout} = await runKcri(['inspectp', '-q', ...args], {endpoint: runtime.endpoint});
      expect(JSON.parse(stdout)).toMatchObject({status: {metadata: {name: 'web'}}});
    }
    const {exitCode} = await runKcri(['inspectp', 'web', '--state', 'notready'], {
      endpoint: runtime.endpoint,
    });
    expect(exitCode).toBe(1);
  });

  test('inspecti -o table prints how an image was built', async () => {
    const image = anImage({entrypoint: ['/app'], cmd: ['serve', "it's"], builtAt: '2026-05-01T00:00:00Z'});
    await using runtime = await FakeRuntime.start({images: [image]});
    const {stdout} = await runKcri(['inspecti', '-o', 'table', 'localhost:5000/busybox'], {
      endpoint: runtime.endpoint,
    });
    const lines = stdout.split('\n').map((line) => line.replace(/ {2,}/, ' '));
    expect(lines).toEqual(
      expect.arrayContaining([
        'Tags:',
        ' localhost:5000/busybox:1',
        'Size: 2.17MB',
        'Platform: linux/amd64',
        'Entrypoint: /app',
        "Command: serve 'it'\\''s'",
      ]),
    );
    expect(stdout).toMatch(/^Created: +2026-05-01T.* ago\)$/m);
  });

  test('inspecti prints an image', async () => {
    await using runtime = await FakeRuntime.start({images: [anImage()]});
    const {stdout} = await runKcri(['inspecti', '-q', 'localhost:5000/busybox:1'], {
      endpoint: runtime.endpoint,
    });
    expect((JSON.parse(stdout) as Inspected).status).toMatchObject({
      repoTags: ['localhost:5000/busybox:1'],
      pinned: false,
      size: '2165000',
    });
  });

  test('inspecti reports a missing image', async () => {
    await using runtime = await FakeRuntime.start({images: [anImage()]});
    const {stderr, exitCode} = await runKcri(['inspecti', 'nope'], {endpoint: runtime.endpoint});
    expect(stderr).toContain('kcri: no such image "nope" present');
    expect(exitCode).toBe(1);
  });

  // Proves: inspecti --name
  test('inspecti --name filters', async () => {
    await using runtime = await FakeRuntime.start({images: [anImage()]});
    expect((await runKcri(['inspecti', '--name', 'nope'], {endpoint: runtime.endpoint})).exitCode).toBe(1);
    expect(
      (await runKcri(['inspecti', '--name', 'localhost:5000/busybox'], {endpoint: runtime.endpoint}))
        .exitCode,
    ).toBe(0);
  });
});

test('info prints the status with sorted keys', async () => {
  await using runtime = await FakeRuntime.start();
  const {stdout} = await runKcri(['info'], {endpoint: runtime.endpoint});
  const info = JSON.parse(stdout) as Inspected;
  expect(Object.keys(info)).toEqual(Object.keys(info).toSorted());
  expect(info.status['conditions']).toEqual(
    expect.arrayContaining([expect.objectContaining({type: 'RuntimeReady', status: true})]),
  );
});
