import {describe, expect, test} from 'vitest';
import {InterruptedError} from '../../../src/cli/interrupt.js';
import {anImage} from '../../fakes/fake-runtime.js';
import {aContainerSpec, aManifest, aScene, aScript, expectUserError, NO_LEFTOVERS} from '../pod-scene.js';
import {until} from '../../base/until.js';
import {AutoAdvance, FakeClock, realTimeClock, TEST_TIME_MS} from '../../fakes/fake-clock.js';
import {runToTimeLimit} from '../run-to-time-limit.js';

describe('waiting for ready', () => {
  test('ends with 0 when every container runs, and shows each step as a line', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest({initContainers: [aScript('setup', 'true')]}));
    const {stdout, stderr, exitCode} = await scene.run(['sync', file]);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout.replaceAll(/[0-9a-f]{13}/g, 'ID').replaceAll(/\(\d+m?s\)/g, '(T)')).toBe(
      [
        'default/web: sandbox ID created (T)',
        'default/web: container setup started (T)',
        'default/web: Pending, IP 10.244.0.2',
        'default/web: container setup completed',
        'default/web: container main started (T)',
        'default/web: Running, IP 10.244.0.2',
        'default/web: container main running',
        'default/web: ready',
        '',
      ].join('\n'),
    );
  });

  test('ends with 1 when a container that is not restarted has failed, and says where to look', async () => {
    const scene = await aScene();
    const containers = [aContainerSpec('main'), aScript('job', 'exit 3')];
    const file = await scene.write('web.json', aManifest({restartPolicy: 'Never', containers}));
    const {stderr, exitCode} = await scene.run(['sync', file]);
    expect(stderr).toBe(
      'kcri: pod "default/web": container "job" exited with code 3\n' +
        'hint: run "kcri logs default/web/job" to print its log\n',
    );
    expect(exitCode).toBe(1);
  });

  test('ends with 1 when only a readiness gate is closed, and leaves the pod running', async () => {
    const scene = await aScene();
    const gated = aManifest({readinessGates: [{conditionType: 'example.com/lb'}]});
    for (const flags of [[], ['--timeout', '1m']]) {
      const {stderr, exitCode} = await scene.run(['sync', '-', ...flags], {stdin: gated});
      expect(exitCode).toBe(1);
      expect(stderr).toContain(
        'all containers are ready, but the pod cannot become ready: nothing on this node sets the readiness gate "example.com/lb"',
      );
      expect(stderr).toContain('still running: "main"');
    }
    const {stdout} = await scene.run(['sync', '-', '-o', 'json'], {stdin: gated});
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1)!)).toMatchObject({
      outcome: 'gated',
      gates: ['example.com/lb'],
      exitCode: 1,
    });
    expect(scene.runtime.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
  });

  test('ends with 1 when a container crashes again and again, and leaves it for a look', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest({containers: [aScript('main', 'exit 2')]}));
    const {stderr, exitCode} = await scene.run(['sync', file]);
    expect(stderr).toContain('container "main": CrashLoopBackOff: back-off 10s restarting failed');
    expect(stderr).toContain(
      'is not removed; no container is running\nhint: run "kcri delete default/web" to delete it',
    );
    expect(exitCode).toBe(1);
    expect(scene.runtime.containers.length).toBeGreaterThan(0);
  });
});

describe('waiting for complete', () => {
  test.each([
    ['0 when all succeed', {containers: [aScript('main', 'true')]}, 0, ''],
    ['the code of the failed container', {containers: [aScript('main', 'exit 7')]}, 7, 'container "main"'],
    [
      "the code of the first of several, in the pod's order",
      {containers: [aScript('a', 'true'), aScript('b', 'exit 5'), aScript('c', 'exit 6')]},
      5,
      'container "b"',
    ],
    [
      'the code of the init container',
      {initContainers: [aScript('setup', 'exit 9')]},
      9,
      'container "setup"',
    ],
  ])('ends with %s', async (_, spec, code, text) => {
    const scene = await aScene();
    const file = await scene.write('job.json', aManifest({name: 'job', restartPolicy: 'Never', ...spec}));
    const result = await scene.run(['sync', file, '--wait', 'complete']);
    expect(result.exitCode).toBe(code);
    if (code === 0) expect(result.stderr).toBe('');
    else expect(result.stderr).toContain(`${text} exited with code ${code}`);
  });

  test('restarts a container that fails twice, and ends with 0 when it succeeds at last', async () => {
    const clock = realTimeClock({factor: 50});
    let tries = 0;
    const scene = await aScene({clock, behaviour: () => ({exitCode: ++tries < 3 ? 1 : 0})});
    const file = await scene.write('job.json', aManifest({name: 'job', restartPolicy: 'OnFailure'}));
    const {exitCode, stderr} = await scene.run(['sync', file, '--wait', 'complete'], {clock});
    expect({exitCode, stderr, tries}).toEqual({exitCode: 0, stderr: '', tries: 3});
    const [, second, third] = scene.runtime.calls.filter(({method}) => method === 'CreateContainer');
    expect(second?.request).toMatchObject({config: {metadata: {name: 'main', attempt: 1}}});
    expect(third?.request).toMatchObject({config: {metadata: {name: 'main', attempt: 2}}});
  });

  test('warns of a pod that never completes', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest());
    const {stderr, exitCode} = await runToTimeLimit(scene, ['sync', file, '--wait', 'complete'], {
      limitMs: 300,
      isReached: ({stdout}) => stdout.includes('container main running'),
    });
    expect(stderr).toContain('kcri: warning: pod "default/web" never completes: its restartPolicy is Always');
    expect(stderr).toContain('not complete after 300ms; container "main": still running');
    expect(exitCode).toBe(124);
  });
});

describe('a time limit', () => {
  test('ends with 124 and every reason, and says what is left', async () => {
    const scene = await aScene();
    const containers = [aContainerSpec('main'), aContainerSpec('other', {image: 'localhost:5000/nothing:1'})];
    const file = await scene.write('web.json', aManifest({containers}));
    const {stderr, exitCode} = await runToTimeLimit(scene, ['sync', file], {
      limitMs: 400,
      isReached: ({stderr}) => stderr.includes('Error: ImagePullBackOff'),
    });
    expectUserError({stdout: '', stderr, exitCode});
    expect(stderr).toMatch(
      /^kcri: pod "default\/web": not ready after 400ms; container "other": (ErrImagePull|ImagePullBackOff): .*nothing:1/m,
    );
    expect(stderr).toContain(
      'kcri: pod "default/web": is not removed; still running: "main"\nhint: run "kcri delete default/web" to delete it\n',
    );
    expect(exitCode).toBe(124);
  });

  test('names what keeps the sandbox from coming up', async () => {
    const scene = await aScene();
    scene.runtime.injectError('RunPodSandbox', {code: 'UNKNOWN', message: 'cni: no addresses left'});
    const file = await scene.write('web.json', aManifest());
    const {stderr, exitCode} = await runToTimeLimit(scene, ['sync', file], {
      limitMs: 400,
      isReached: ({stderr}) => stderr.includes('FailedCreatePodSandBox'),
    });
    expect(stderr).toContain(
      'not ready after 400ms; CreatePodSandboxError: rpc error: code = Unknown desc = cni: no',
    );
    expect(stderr).toContain('default/web: FailedCreatePodSandBox: Failed to create pod sandbox: rpc error');
    expect(exitCode).toBe(124);
  });

  test('a failed sandbox is tried again after the back-off of a pod worker, 10 s at least', async () => {
    const clock = new FakeClock({nowMs: TEST_TIME_MS});
    const scene = await aScene({clock});
    scene.runtime.injectError('RunPodSandbox', {code: 'UNKNOWN', message: 'cni: no addresses left'});
    const file = await scene.write('web.json', aManifest());
    const controller = new AbortController();
    const options = {clock, signal: controller.signal};
    const syncing = scene.run(['sync', file, '-o', 'json', '--timeout', '1h'], options);
    await until(() => scene.runtime.callsTo('RunPodSandbox').length > 0);
    using _ = new AutoAdvance(clock);
    await until(() => scene.runtime.callsTo('RunPodSandbox').length > 2);
    controller.abort(new InterruptedError('SIGINT'));
    const {stdout} = await syncing;
    const failures = stdout.split('\n').filter((line) => line.includes('"reason":"FailedCreatePodSandBox"'));
    const [first = NaN, second = NaN, third = NaN] = failures.map((line) =>
      Date.parse((JSON.parse(line) as {readonly time: string}).time),
    );
    expect(second - first).toBeGreaterThanOrEqual(10_000);
    expect(third - second).toBeGreaterThanOrEqual(10_000);
  });

  test('tells of a back-off once, and looks at the other containers meanwhile', async () => {
    const clock = new FakeClock({nowMs: TEST_TIME_MS});
    const scene = await aScene({clock});
    const containers = [aContainerSpec('main'), aContainerSpec('other', {image: 'localhost:5000/nothing:1'})];
    const file = await scene.write('web.json', aManifest({containers}));
    const syncing = scene.run(['sync', file, '--timeout', '9s'], {clock});
    await until(() => scene.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
    scene.runtime.exitContainer(scene.runtime.containers[0]!.id, 1);
    await until(() => scene.runtime.callsTo('StartContainer').length === 2);
    using _ = new AutoAdvance(clock);
    const {stderr} = await syncing;
    expect(scene.runtime.callsTo('StartContainer')).toHaveLength(2);
    expect(scene.runtime.callsTo('PullImage')).toHaveLength(1);
    const reports = stderr.match(/container other: Failed: Error: ImagePullBackOff/g) ?? [];
    expect(reports.length).toBeGreaterThan(0);
    expect(reports.length).toBeLessThan(6);
  });

  test('retries until the image is there', async () => {
    const clock = realTimeClock({factor: 50});
    const scene = await aScene({images: [], clock});
    const file = await scene.write('web.json', aManifest());
    const controller = new AbortController();
    const syncing = scene.run(['sync', file, '--timeout', '5m'], {clock, signal: controller.signal});
    await until(() => scene.runtime.callsTo('PullImage').length > 0);
    scene.runtime.publishImage(anImage());
    expect(await syncing).toMatchObject({exitCode: 0});
  });

  test.each([
    ['ready', undefined],
    ['still starting, as containerd before 2.0', 'UNKNOWN'],
    ['still starting, as containerd since 2.0', 'UNAVAILABLE'],
  ] as const)('waits for a runtime that went away and comes back %s', async (_, code) => {
    const scene = await aScene();
    scene.runtime.injectCrash('CreateContainer');
    const file = await scene.write('web.json', aManifest());
    const syncing = scene.run(['sync', file, '--timeout', '20s']);
    await until(() => scene.runtime.callsTo('CreateContainer').length > 0);
    if (code !== undefined)
      scene.runtime.injectError('ListPodSandbox', {code, message: 'server is not initialized yet', times: 2});
    await scene.runtime.restart();
    expect(await syncing).toMatchObject({exitCode: 0});
    expect(scene.runtime.sandboxes).toHaveLength(1);
  });

  test('longer than a timer of Node.js can be is no limit that is over at once', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest());
    expect(await scene.run(['sync', file, '--timeout', '9000h'])).toMatchObject({exitCode: 0});
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
    const scene = await aScene();
    const file = await scene.write('job.json', aManifest(spec));
    const {exitCode, stderr} = await scene.run(['sync', file, '--rm', ...flags]);
    expect(exitCode).toBe(code);
    expect(stderr).not.toContain('left');
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('leaves nothing after Ctrl-C', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest({restartPolicy: 'Never'}));
    const controller = new AbortController();
    const syncing = scene.run(['sync', file, '--rm', '--wait', 'complete'], {signal: controller.signal});
    await until(() => scene.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
    controller.abort(new InterruptedError('SIGINT'));
    const {stderr, exitCode} = await syncing;
    expect({stderr, exitCode}).toEqual({
      stderr:
        'default/web: is being deleted; interrupt again to leave it partially deleted\nkcri: interrupted\n',
      exitCode: 130,
    });
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('says when a pod could not be deleted, beside how the sync ended', async () => {
    const scene = await aScene();
    scene.runtime.injectError('RemovePodSandbox', {code: 'UNKNOWN', message: 'device busy'});
    const spec = {restartPolicy: 'Never', containers: [aScript('main', 'exit 4')]};
    const file = await scene.write('job.json', aManifest(spec));
    const {stderr, exitCode} = await scene.run(['sync', file, '--rm', '--wait', 'complete']);
    expect(stderr).toContain('container "main" exited with code 4');
    expect(stderr).toContain('device busy');
    expect(stderr).toContain('is partially deleted\nhint: run "kcri delete default/web" to delete it');
    expect(exitCode).toBe(4);
    expect(await scene.records()).toHaveLength(1);
  });
});
