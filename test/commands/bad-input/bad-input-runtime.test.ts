import {describe, expect, test} from 'vitest';
import {InterruptedError} from '../../../src/cli/interrupt.js';
import type {RunResult} from '../../cli/run-kcri.js';
import {anImage} from '../../fakes/fake-runtime.js';
import type {Rpc} from '../../fakes/runtime/cri-messages.js';
import {
  aContainerSpec,
  aManifest,
  aScene,
  aScript,
  expectUserError,
  isMutatingCall,
  NO_LEFTOVERS,
  type PodScene,
} from '../pod-scene.js';
import {until} from '../../base/until.js';
import {realTimeClock} from '../../fakes/fake-clock.js';

const PULLED = 'localhost:5000/pulled:1';

/** A pod that needs every RPC of a sync: a pull, an init container, three containers. */
const MANIFEST = aManifest({
  initContainers: [aScript('setup', 'true')],
  containers: [aContainerSpec('one'), aContainerSpec('two', {image: PULLED}), aContainerSpec('three')],
});

async function aFullScene(): Promise<{scene: PodScene; file: string}> {
  const scene = await aScene({registry: [anImage({name: PULLED})]});
  return {scene, file: await scene.write('pod.json', MANIFEST)};
}

async function expectCleanDelete(scene: PodScene): Promise<void> {
  if ((await scene.records()).length > 0)
    expect(await scene.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
  expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
}

function expectFailure(result: RunResult, ...texts: readonly string[]): void {
  expectUserError(result);
  for (const text of texts) expect(result.stderr).toContain(text);
  expect(result.exitCode).toBe(1);
}

describe('an image', () => {
  test.each([
    [
      'that no registry has',
      {image: 'localhost:5000/nothing:1'},
      ['container "main": ErrImagePull: ', 'not found', 'hint: check the image name', '"kcri runtime load'],
    ],
    [
      'that is absent and never pulled',
      {image: 'localhost:5000/nothing:1', imagePullPolicy: 'Never'},
      ['container "main": ErrImageNeverPull: ', 'hint: load the image first'],
    ],
    [
      'whose name is none',
      {image: 'Not/A/Name!'},
      ['container "main": InvalidImageName: ', 'hint: use [REGISTRY/]NAME[:TAG|@DIGEST]'],
    ],
  ])('%s fails the sync, and nothing is left', async (_, fields, texts) => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest({containers: [aContainerSpec('main', fields)]}));
    expectFailure(await scene.run(['sync', file]), 'kcri: pod "default/web": ', ...texts);
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('of an init container that is missing is said to be its', async () => {
    const scene = await aScene();
    const initContainers = [aContainerSpec('setup', {image: 'localhost:5000/nothing:1'})];
    const file = await scene.write('pod.json', aManifest({initContainers}));
    expectFailure(await scene.run(['sync', file]), 'init container "setup": ErrImagePull: ');
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

test("a command that isn't in the image fails the sync in the runtime's words, and nothing is left", async () => {
  const startError = 'OCI runtime create failed: exec: "/nope": stat /nope: no such file or directory';
  const scene = await aScene({behaviour: () => ({startError})});
  const file = await scene.write('pod.json', aManifest());
  const result = await scene.run(['sync', file]);
  expectFailure(
    result,
    'container "main": RunContainerError: ',
    startError,
    "hint: check the container's command",
  );
  expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
});

describe('a call that fails', () => {
  /** Which call of a sync fails, and what is said of it. */
  const FAILURES: readonly (readonly [string, Rpc, number, string])[] = [
    [
      'RunPodSandbox',
      'RunPodSandbox',
      0,
      'CreatePodSandboxError: rpc error: code = Unknown desc = the disk is gone',
    ],
    ['PodSandboxStatus', 'PodSandboxStatus', 0, 'the disk is gone'],
    [
      'CreateContainer of the init container',
      'CreateContainer',
      0,
      'init container "setup": CreateContainerError: ',
    ],
    [
      'StartContainer of the init container',
      'StartContainer',
      0,
      'init container "setup": RunContainerError: ',
    ],
    [
      'CreateContainer of the first container',
      'CreateContainer',
      1,
      'container "one": CreateContainerError: ',
    ],
    [
      'CreateContainer of the second of three',
      'CreateContainer',
      2,
      'container "two": CreateContainerError: ',
    ],
    ['StartContainer of the third', 'StartContainer', 3, 'container "three": RunContainerError: '],
    ['PullImage', 'PullImage', 0, 'container "two": ErrImagePull: '],
    ['ImageStatus', 'ImageStatus', 0, 'init container "setup": ImageInspectError: '],
    ['ContainerStatus', 'ContainerStatus', 0, 'the disk is gone'],
    ['ListContainers', 'ListContainers', 0, 'the disk is gone'],
  ];

  test.each(
    FAILURES.flatMap(([title, rpc, skip, text]) =>
      [false, true].map((afterEffect) => ({title, rpc, skip, text, afterEffect})),
    ),
  )('$title (its effect taken: $afterEffect) leaves nothing', async ({rpc, skip, text, afterEffect}) => {
    const {scene, file} = await aFullScene();
    const message = 'the disk is gone';
    scene.runtime.injectError(rpc, {code: 'UNKNOWN', message, skip, times: 1, afterEffect});
    expectFailure(await scene.run(['sync', file]), text, message);
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test.each(FAILURES)(
    '%s is made up for by the next try when there is a time limit',
    async (_, rpc, skip) => {
      const {scene, file} = await aFullScene();
      scene.runtime.injectError(rpc, {
        code: 'UNAVAILABLE',
        message: 'in a moment',
        skip,
        times: 1,
        afterEffect: true,
      });
      const {exitCode} = await scene.run(['sync', file, '--timeout', '5m'], {
        clock: realTimeClock({factor: 10}),
      });
      expect(exitCode).toBe(0);
      expect(scene.runtime.sandboxes).toHaveLength(1);
      const running = scene.runtime.containers.filter(({state}) => state === 'CONTAINER_RUNNING');
      expect(running.map(({config}) => config.metadata?.name).toSorted()).toEqual(['one', 'three', 'two']);
      await expectCleanDelete(scene);
    },
    60_000,
  );
});

describe('a runtime that crashes at', () => {
  const RPCS: readonly Rpc[] = [
    'Version',
    'ListPodSandbox',
    'ListContainers',
    'RunPodSandbox',
    'PodSandboxStatus',
    'ImageStatus',
    'PullImage',
    'CreateContainer',
    'StartContainer',
    'ContainerStatus',
  ];

  test.each(RPCS.flatMap((rpc) => [false, true].map((afterEffect) => [rpc, afterEffect] as const)))(
    '%s (its effect taken: %s) is told of; a delete then leaves nothing',
    async (rpc, afterEffect) => {
      const {scene, file} = await aFullScene();
      scene.runtime.injectCrash(rpc, {afterEffect});
      const result = await scene.run(['sync', file]);
      expectFailure(result);
      expect(result.stderr).toMatch(/code = Unavailable|the connection to the runtime was lost/);
      await scene.runtime.restart();
      await expectCleanDelete(scene);
    },
  );

  test.each(RPCS)('%s is back for the next sync, which takes up what there is', async (rpc) => {
    const {scene, file} = await aFullScene();
    scene.runtime.injectCrash(rpc, {afterEffect: true});
    expect(await scene.run(['sync', file])).toMatchObject({exitCode: 1});
    await scene.runtime.restart();
    expect(await scene.run(['sync', file])).toMatchObject({stderr: '', exitCode: 0});
    expect(scene.runtime.sandboxes).toHaveLength(1);
    const running = scene.runtime.containers.filter(({state}) => state === 'CONTAINER_RUNNING');
    expect(running.map(({config}) => config.metadata?.name).toSorted()).toEqual(['one', 'three', 'two']);
    await expectCleanDelete(scene);
  });

  test('the sandbox says how to end what is left, and why it could not', async () => {
    const {scene, file} = await aFullScene();
    scene.runtime.injectCrash('RunPodSandbox', {afterEffect: true});
    const result = await scene.run(['sync', file]);
    expectFailure(
      result,
      'kcri: pod "default/web": CreatePodSandboxError: ',
      'kcri: pod "default/web": cannot be removed: rpc error: code = Unavailable',
      'hint: run "kcri delete default/web" to delete it',
    );
    expect(result.stderr.match(/^kcri: /gm)).toHaveLength(2);
    expect(await scene.records()).toHaveLength(1);
  });
});

describe('Ctrl-C', () => {
  /** Runs a sync and interrupts it when its n-th call that changes something begins. */
  async function interrupted(
    scene: PodScene,
    file: string,
    n: number,
    ...flags: readonly string[]
  ): Promise<RunResult> {
    const controller = new AbortController();
    const syncing = scene.run(['sync', file, ...flags], {signal: controller.signal});
    await until(() => scene.mutatingCalls.length >= n);
    controller.abort(new InterruptedError('SIGINT'));
    return await syncing;
  }

  /** RunPodSandbox, CreateContainer and StartContainer of four, PullImage. */
  const CALLS = Array.from({length: 10}, (_, index) => index + 1);

  test.each(CALLS.slice(0, -1))('at call %i says what is left, and a delete leaves nothing', async (n) => {
    const {scene, file} = await aFullScene();
    for (const rpc of ['RunPodSandbox', 'CreateContainer', 'StartContainer', 'PullImage'] as const)
      scene.runtime.injectDelay(rpc, 20);
    const {stderr, exitCode} = await interrupted(scene, file, n);
    expect(stderr).toMatch(
      /^kcri: interrupted\nkcri: pod "default\/web": is not removed; .*\nhint: run "kcri delete default\/web" to delete it\n$/,
    );
    const running = scene.runtime.containers
      .filter(({state}) => state === 'CONTAINER_RUNNING')
      .map(({config}) => `"${config.metadata!.name}"`);
    if (running.length === 0) expect(stderr).toContain('no container is running');
    else for (const name of running) expect(stderr).toContain(name);
    expect(exitCode).toBe(130);
    expect(scene.runtime.calls.filter(({method}) => isMutatingCall(method)).length).toBeLessThanOrEqual(
      n + 1,
    );
    await expectCleanDelete(scene);
  });

  test.each(CALLS.slice(0, -1))('at call %i with --rm leaves nothing', async (n) => {
    const {scene, file} = await aFullScene();
    for (const rpc of ['RunPodSandbox', 'CreateContainer', 'StartContainer', 'PullImage'] as const)
      scene.runtime.injectDelay(rpc, 20);
    const {stderr, exitCode} = await interrupted(scene, file, n, '--rm');
    expect(stderr).toContain('kcri: interrupted\n');
    expect(exitCode).toBe(130);
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('ends the wait for an image that takes its time', async () => {
    const {scene, file} = await aFullScene();
    scene.runtime.injectDelay('PullImage', 600_000);
    const controller = new AbortController();
    const syncing = scene.run(['sync', file], {signal: controller.signal});
    await until(() => scene.runtime.callsTo('PullImage').length > 0);
    controller.abort(new InterruptedError('SIGTERM'));
    const {stderr, exitCode} = await syncing;
    expect(stderr).toContain('is not removed; still running: "one"');
    expect(exitCode).toBe(143);
    await expectCleanDelete(scene);
  });

  test('while nothing is made yet leaves nothing to tell of', async () => {
    const scene = await aScene();
    scene.runtime.injectDelay('Version', 600_000);
    const controller = new AbortController();
    const file = await scene.write('pod.json', aManifest());
    const syncing = scene.run(['sync', file], {signal: controller.signal});
    await until(() => scene.runtime.calls.length > 0);
    controller.abort(new InterruptedError('SIGINT'));
    expect(await syncing).toEqual({stdout: '', stderr: 'kcri: interrupted\n', exitCode: 130});
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('tells of each of several pods, and the last JSON lines are their results', async () => {
    const scene = await aScene();
    const job = (name: string): string => aManifest({name, restartPolicy: 'Never'});
    const file = await scene.write('pods.yaml', `${job('a')}\n---\n${job('b')}\n`);
    const controller = new AbortController();
    const syncing = scene.run(['sync', file, '--wait', 'complete', '-o', 'json'], {
      signal: controller.signal,
    });
    await until(() => scene.runtime.callsTo('StartContainer').length >= 2);
    controller.abort(new InterruptedError('SIGINT'));
    const {stdout, stderr, exitCode} = await syncing;
    for (const name of ['a', 'b'])
      expect(stderr).toContain(`hint: run "kcri delete default/${name}" to delete it`);
    const results = stdout.trimEnd().split('\n').slice(-2);
    for (const line of results)
      expect(JSON.parse(line)).toMatchObject({type: 'result', outcome: 'interrupted', exitCode: 130});
    expect(exitCode).toBe(130);
  });
});

describe('two syncs of one pod at the same time', () => {
  test('make one sandbox, and both end with 0', async () => {
    const {scene, file} = await aFullScene();
    for (const rpc of ['RunPodSandbox', 'CreateContainer'] as const) scene.runtime.injectDelay(rpc, 20);
    const results = await Promise.all([1, 2, 3].map(async () => await scene.run(['sync', file])));
    expect(results.map(({exitCode}) => exitCode)).toEqual([0, 0, 0]);
    expect(scene.runtime.callsTo('RunPodSandbox')).toHaveLength(1);
    expect(scene.runtime.callsTo('CreateContainer')).toHaveLength(4);
    expect(results.map(({stderr}) => stderr).join('')).toMatch(
      /waiting for another kcri process \(PID \d+\)/,
    );
    await expectCleanDelete(scene);
  });

  test('that fail both leave nothing', async () => {
    const scene = await aScene({images: []});
    scene.runtime.injectDelay('PullImage', 30);
    const file = await scene.write('pod.json', aManifest());
    const results = await Promise.all([1, 2].map(async () => await scene.run(['sync', file])));
    expect(results.map(({exitCode}) => exitCode)).toEqual([1, 1]);
    for (const result of results) expectUserError(result);
    await expectCleanDelete(scene);
  });

  test('of different manifests end with one pod, of either', async () => {
    const scene = await aScene();
    scene.runtime.injectDelay('RunPodSandbox', 30);
    const files = await Promise.all(
      [60, 61].map(async (seconds) => {
        const containers = [aContainerSpec('main', {command: ['sleep', String(seconds)]})];
        return await scene.write(`${seconds}.json`, aManifest({containers}));
      }),
    );
    const results = await Promise.all(files.map(async (file) => await scene.run(['sync', file])));
    expect(results.some(({exitCode}) => exitCode === 0)).toBe(true);
    for (const {stderr} of results) expect(stderr).not.toMatch(/^\s+at /m);
    expect(scene.runtime.sandboxes).toHaveLength(1);
    expect(await scene.records()).toHaveLength(1);
    await expectCleanDelete(scene);
  });

  test('and a delete: the sync says that the pod is gone, and makes no new one', async () => {
    const scene = await aScene();
    const file = await scene.write('job.json', aManifest({restartPolicy: 'Never'}));
    const syncing = scene.run(['sync', file, '--wait', 'complete']);
    await until(() => scene.runtime.callsTo('StartContainer').length !== 0);
    expect(await scene.run(['delete', 'web'])).toMatchObject({exitCode: 0});
    const result = await syncing;
    expectFailure(
      result,
      'was deleted by another kcri process while this one was waiting\nhint: run "kcri sync" again\n',
    );
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('with --rm, and another makes it its own: that one keeps it', async () => {
    const scene = await aScene();
    const file = await scene.write(
      'job.json',
      aManifest({restartPolicy: 'Never', metadata: {uid: 'my-uid'}}),
    );
    const first = scene.run(['sync', file, '--wait', 'complete', '--rm']);
    await until(() => scene.runtime.callsTo('StartContainer').length !== 0);
    const other = aManifest({restartPolicy: 'Never', metadata: {uid: 'my-uid'}, hostname: 'other'});
    expect(await scene.run(['sync', await scene.write('b.json', other)])).toMatchObject({exitCode: 0});
    expectFailure(await first, 'was changed by another kcri');
    expect(await scene.records()).toHaveLength(1);
    expect(scene.runtime.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
  });

  test('that want different containers under one UID do not fight for it', async () => {
    const scene = await aScene();
    const manifest = (seconds: number): string =>
      aManifest({
        restartPolicy: 'Never',
        metadata: {uid: 'my-uid'},
        containers: [aContainerSpec('main', {command: ['sleep', String(seconds)]})],
      });
    const first = scene.run(['sync', await scene.write('a.json', manifest(60)), '--wait', 'complete']);
    await until(() => scene.runtime.callsTo('StartContainer').length !== 0);
    expect(await scene.run(['sync', await scene.write('b.json', manifest(61))])).toMatchObject({exitCode: 0});
    expectFailure(await first, 'was changed by another kcri process while this one was waiting');
    expect(await scene.records()).toHaveLength(1);
  });
});
