import {describe, expect, test} from 'vitest';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import {anImage} from '../../fakes/fake-runtime.js';
import {
  aContainerSpec,
  aManifest,
  createTestbed,
  aScript,
  expectUserError,
  NO_LEFTOVERS,
} from '../command-testbed.js';
import {until} from '../../base/until.js';
import {AutoAdvance, FakeClock, realTimeClock, TEST_TIME_MS} from '../../fakes/fake-clock.js';
import {runToTimeLimit} from '../run-to-time-limit.js';

describe('waiting until ready', () => {
  test('exits with 0 when every container is ready, and prints each step as a line', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aManifest({initContainers: [aScript('setup', 'true')]}));
    const {stdout, stderr, exitCode} = await testbed.run(['sync', file]);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    const shown = stdout.replaceAll(/[0-9a-f]{13}/g, 'ID').replaceAll(/\([\d.]+m?s\)/g, '(T)');
    expect(shown.replace(/in [\d.]+m?s$/m, 'in T')).toBe(
      [
        'default/web: sandbox ID created (T)',
        'default/web: container setup started (T)',
        'default/web: Pending, IP 10.244.0.2',
        'default/web: container setup completed',
        'default/web: container main started (T)',
        'default/web: Running, IP 10.244.0.2',
        'default/web: container main running',
        'default/web: ready',
        '1 pod ready in T',
        '',
      ].join('\n'),
    );
  });

  test('exits with 1 if a container that is not restarted fails, with a hint', async () => {
    const testbed = await createTestbed();
    const containers = [aContainerSpec('main'), aScript('job', 'exit 3')];
    const file = await testbed.write('web.json', aManifest({restartPolicy: 'Never', containers}));
    const {stderr, exitCode} = await testbed.run(['sync', file]);
    expect(stderr).toBe(
      'kcri: pod "default/web": container "job" exited with code 3 (Error)\n' +
        'hint: run "kcri logs default/web/job" to print its log\n',
    );
    expect(exitCode).toBe(1);
  });

  test('exits with 1 if only a readiness gate is not met, and leaves the pod running', async () => {
    const testbed = await createTestbed();
    const gated = aManifest({readinessGates: [{conditionType: 'example.com/lb'}]});
    for (const flags of [[], ['--timeout', '10m']]) {
      const {stderr, exitCode} = await testbed.run(['sync', '-', ...flags], {stdin: gated});
      expect(exitCode).toBe(1);
      expect(stderr).toContain(
        'all containers are ready, but the pod cannot become ready: nothing on this node sets the readiness gate "example.com/lb"',
      );
      expect(stderr).toContain('still running: "main"');
    }
    const {stdout} = await testbed.run(['sync', '-', '-o', 'json'], {stdin: gated});
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-2)!)).toMatchObject({
      outcome: 'gated',
      gates: ['example.com/lb'],
      exitCode: 1,
    });
    expect(testbed.runtime.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
  });

  test('exits with 1 if a container is in a crash loop, and leaves the pod for inspection', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aManifest({containers: [aScript('main', 'exit 2')]}));
    const {stderr, exitCode} = await testbed.run(['sync', file]);
    expect(stderr).toContain(
      'container "main": CrashLoopBackOff: exited with code 2 (Error), restarted once\n',
    );
    expect(stderr).toContain(
      'was kept; none of its containers is running\nhint: run "kcri delete default/web" to delete it',
    );
    expect(exitCode).toBe(1);
    expect(testbed.runtime.containers.length).toBeGreaterThan(0);
  });
});

describe('waiting until complete', () => {
  test.each([
    ['0 if all succeed', {containers: [aScript('main', 'true')]}, 0, ''],
    [
      'the exit code of the failed container',
      {containers: [aScript('main', 'exit 7')]},
      7,
      'container "main"',
    ],
    [
      "the first failed container's exit code, in the pod's order",
      {containers: [aScript('a', 'true'), aScript('b', 'exit 5'), aScript('c', 'exit 6')]},
      5,
      'container "b"',
    ],
    [
      'the exit code of the init container',
      {initContainers: [aScript('setup', 'exit 9')]},
      9,
      'container "setup"',
    ],
  ])('exits with %s', async (_, spec, code, text) => {
    const testbed = await createTestbed();
    const file = await testbed.write('job.json', aManifest({name: 'job', restartPolicy: 'Never', ...spec}));
    const result = await testbed.run(['sync', file, '--wait', 'complete']);
    expect(result.exitCode).toBe(code);
    if (code === 0) expect(result.stderr).toBe('');
    else expect(result.stderr).toContain(`${text} exited with code ${code}`);
  });

  test('restarts a container that fails twice, and exits with 0 when it succeeds', async () => {
    const clock = realTimeClock({factor: 50});
    let attempts = 0;
    const testbed = await createTestbed({clock, behaviour: () => ({exitCode: ++attempts < 3 ? 1 : 0})});
    const file = await testbed.write('job.json', aManifest({name: 'job', restartPolicy: 'OnFailure'}));
    const {exitCode, stderr} = await testbed.run(['sync', file, '--wait', 'complete'], {clock});
    expect({exitCode, stderr, attempts}).toEqual({exitCode: 0, stderr: '', attempts: 3});
    const [, second, third] = testbed.runtime.calls.filter(({method}) => method === 'CreateContainer');
    expect(second?.request).toMatchObject({config: {metadata: {name: 'main', attempt: 1}}});
    expect(third?.request).toMatchObject({config: {metadata: {name: 'main', attempt: 2}}});
  });

  test('warns about a pod that never completes', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aManifest());
    const {stderr, exitCode} = await runToTimeLimit(testbed, ['sync', file, '--wait', 'complete'], {
      limitMs: 300,
      isReached: ({stdout}) => stdout.includes('container main running'),
    });
    expect(stderr).toContain('kcri: warning: pod "default/web" never completes: its restartPolicy is Always');
    expect(stderr).toContain('not complete after 300ms; container "main": still running');
    expect(exitCode).toBe(124);
  });
});

describe('a timeout', () => {
  test('exits with 124 and all reasons, and reports what is left', async () => {
    const testbed = await createTestbed();
    const containers = [aContainerSpec('main'), aContainerSpec('other', {image: 'localhost:5000/nothing:1'})];
    const file = await testbed.write('web.json', aManifest({containers}));
    const {stderr, exitCode} = await runToTimeLimit(testbed, ['sync', file], {
      limitMs: 400,
      isReached: ({stderr}) => stderr.includes('Error: ImagePullBackOff'),
    });
    expectUserError({stdout: '', stderr, exitCode});
    expect(stderr).toMatch(
      /^kcri: pod "default\/web": not ready after 400ms; container "other": (ErrImagePull|ImagePullBackOff): .*nothing:1/m,
    );
    expect(stderr).toContain(
      'kcri: pod "default/web": was kept; still running: "main"\nhint: run "kcri delete default/web" to delete it\n',
    );
    expect(exitCode).toBe(124);
  });

  test('reports why the sandbox is not ready', async () => {
    const testbed = await createTestbed();
    testbed.runtime.injectError('RunPodSandbox', {code: 'UNKNOWN', message: 'cni: no addresses left'});
    const file = await testbed.write('web.json', aManifest());
    const {stderr, exitCode} = await runToTimeLimit(testbed, ['sync', file], {
      limitMs: 400,
      isReached: ({stderr}) => stderr.includes('FailedCreatePodSandBox'),
    });
    expect(stderr).toContain(
      'not ready after 400ms; CreatePodSandboxError: rpc error: code = Unknown desc = cni: no',
    );
    expect(stderr).toContain('default/web: FailedCreatePodSandBox: Failed to create pod sandbox: rpc error');
    expect(exitCode).toBe(124);
  });

  test('retries a failed sandbox after the back-off of a pod worker, at least 10 s', async () => {
    const clock = new FakeClock({nowMs: TEST_TIME_MS});
    const testbed = await createTestbed({clock});
    testbed.runtime.injectError('RunPodSandbox', {code: 'UNKNOWN', message: 'cni: no addresses left'});
    const file = await testbed.write('web.json', aManifest());
    const controller = new AbortController();
    const options = {clock, signal: controller.signal};
    const syncing = testbed.run(['sync', file, '-o', 'json', '--timeout', '1h'], options);
    await until(() => testbed.runtime.callsTo('RunPodSandbox').length > 0);
    using _ = new AutoAdvance(clock);
    await until(() => testbed.runtime.callsTo('RunPodSandbox').length > 2);
    controller.abort(new InterruptedError('SIGINT'));
    const {stdout} = await syncing;
    const failures = stdout.split('\n').filter((line) => line.includes('"reason":"FailedCreatePodSandBox"'));
    const [first = NaN, second = NaN, third = NaN] = failures.map((line) =>
      Date.parse((JSON.parse(line) as {readonly time: string}).time),
    );
    expect(second - first).toBeGreaterThanOrEqual(10_000);
    expect(third - second).toBeGreaterThanOrEqual(10_000);
  });

  test('reports a back-off once, and checks the other containers meanwhile', async () => {
    const clock = new FakeClock({nowMs: TEST_TIME_MS});
    const testbed = await createTestbed({clock});
    const containers = [aContainerSpec('main'), aContainerSpec('other', {image: 'localhost:5000/nothing:1'})];
    const file = await testbed.write('web.json', aManifest({containers}));
    const syncing = testbed.run(['sync', file, '--timeout', '9s'], {clock});
    await until(() => testbed.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
    testbed.runtime.exitContainer(testbed.runtime.containers[0]!.id, 1);
    await until(() => testbed.runtime.callsTo('StartContainer').length === 2);
    using _ = new AutoAdvance(clock);
    const {stderr} = await syncing;
    expect(testbed.runtime.callsTo('StartContainer')).toHaveLength(2);
    expect(testbed.runtime.callsTo('PullImage')).toHaveLength(1);
    const reports = stderr.match(/container other: Failed: Error: ImagePullBackOff/g) ?? [];
    expect(reports.length).toBeGreaterThan(0);
    expect(reports.length).toBeLessThan(6);
  });

  test('retries until the image exists', async () => {
    const clock = realTimeClock({factor: 50});
    const testbed = await createTestbed({images: [], clock});
    const file = await testbed.write('web.json', aManifest());
    const controller = new AbortController();
    const syncing = testbed.run(['sync', file, '--timeout', '10h'], {clock, signal: controller.signal});
    await until(() => testbed.runtime.callsTo('PullImage').length > 0);
    testbed.runtime.publishImage(anImage());
    expect(await syncing).toMatchObject({exitCode: 0});
  });

  test.each([
    ['ready', undefined],
    ['while it is starting, like containerd before 2.0', 'UNKNOWN'],
    ['while it is starting, like containerd since 2.0', 'UNAVAILABLE'],
  ] as const)('waits for a runtime that was unavailable and is back %s', async (_, code) => {
    const testbed = await createTestbed();
    testbed.runtime.injectCrash('CreateContainer');
    const file = await testbed.write('web.json', aManifest());
    const syncing = testbed.run(['sync', file, '--timeout', '10m']);
    await until(() => testbed.runtime.callsTo('CreateContainer').length > 0);
    if (code !== undefined)
      testbed.runtime.injectError('ListPodSandbox', {
        code,
        message: 'server is not initialized yet',
        times: 2,
      });
    await testbed.runtime.restart();
    expect(await syncing).toMatchObject({exitCode: 0});
    expect(testbed.runtime.sandboxes).toHaveLength(1);
  });

  test('above the maximum of a Node.js timer does not expire immediately', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aManifest());
    expect(await testbed.run(['sync', file, '--timeout', '9000h'])).toMatchObject({exitCode: 0});
  });
});

describe('--rm', () => {
  test.each([
    ['a success', {restartPolicy: 'Never', containers: [aScript('main', 'true')]}, ['--wait', 'complete'], 0],
    [
      'a failure',
      {restartPolicy: 'Never', containers: [aScript('main', 'exit 4')]},
      ['--wait', 'complete'],
      4,
    ],
    ['a time limit', {}, ['--wait', 'complete', '--timeout', '200ms'], 124],
    ['a crash loop', {containers: [aScript('main', 'exit 1')]}, [], 1],
    ['an image that is missing', {containers: [aContainerSpec('main', {image: 'nothing:1'})]}, [], 1],
  ])('leaves nothing after %s', async (_, spec, flags, code) => {
    const testbed = await createTestbed();
    const file = await testbed.write('job.json', aManifest(spec));
    const {exitCode, stderr} = await testbed.run(['sync', file, '--rm', ...flags]);
    expect(exitCode).toBe(code);
    expect(stderr).not.toContain('left');
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('leaves nothing after Ctrl-C', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aManifest({restartPolicy: 'Never'}));
    const controller = new AbortController();
    const syncing = testbed.run(['sync', file, '--rm', '--wait', 'complete'], {signal: controller.signal});
    await until(() => testbed.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
    controller.abort(new InterruptedError('SIGINT'));
    const {stderr, exitCode} = await syncing;
    expect({stderr, exitCode}).toEqual({
      stderr:
        'default/web: is being deleted; interrupt again to leave it partially deleted\nkcri: interrupted\n',
      exitCode: 130,
    });
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('reports a pod that could not be deleted, in addition to the result of the sync', async () => {
    const testbed = await createTestbed();
    testbed.runtime.injectError('RemovePodSandbox', {code: 'UNKNOWN', message: 'device busy'});
    const spec = {restartPolicy: 'Never', containers: [aScript('main', 'exit 4')]};
    const file = await testbed.write('job.json', aManifest(spec));
    const {stderr, exitCode} = await testbed.run(['sync', file, '--rm', '--wait', 'complete']);
    expect(stderr).toContain('container "main" exited with code 4');
    expect(stderr).toContain('device busy');
    expect(stderr).toContain('is partially deleted\nhint: run "kcri delete default/web" to delete it');
    expect(exitCode).toBe(4);
    expect(await testbed.records()).toHaveLength(1);
  });
});
