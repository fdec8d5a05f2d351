import {describe, expect, test} from 'vitest';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import type {RunResult} from '../../cli/run-kcri.js';
import {anImage} from '../../fakes/fake-runtime.js';
import type {Rpc} from '../../fakes/runtime/cri-messages.js';
import {
  aContainerSpec,
  aManifest,
  createTestbed,
  aScript,
  expectUserError,
  isMutatingCall,
  NO_LEFTOVERS,
  type CommandTestbed,
} from '../command-testbed.js';
import {until} from '../../base/until.js';
import {realTimeClock} from '../../fakes/fake-clock.js';

const PULLED = 'localhost:5000/pulled:1';

/**
 * Creates a testbed and the manifest of a pod whose sync uses every RPC: a pull, an init container, three containers.
 */
const MANIFEST = aManifest({
  initContainers: [aScript('setup', 'true')],
  containers: [aContainerSpec('one'), aContainerSpec('two', {image: PULLED}), aContainerSpec('three')],
});

async function createFullTestbed(): Promise<{testbed: CommandTestbed; file: string}> {
  const testbed = await createTestbed({registry: [anImage({name: PULLED})]});
  return {testbed, file: await testbed.write('pod.json', MANIFEST)};
}

async function expectCleanDelete(testbed: CommandTestbed): Promise<void> {
  if ((await testbed.records()).length > 0)
    expect(await testbed.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
  expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
}

function expectFailure(result: RunResult, ...texts: readonly string[]): void {
  expectUserError(result);
  for (const text of texts) expect(result.stderr).toContain(text);
  expect(result.exitCode).toBe(1);
}

describe('an image', () => {
  test.each([
    [
      'missing in the registry',
      {image: 'localhost:5000/nothing:1'},
      [
        'container "main": ErrImagePull: ',
        'not found',
        'hint: check the image name and the connection to the registry\n',
      ],
    ],
    [
      'absent with the pull policy Never',
      {image: 'localhost:5000/nothing:1', imagePullPolicy: 'Never'},
      ['container "main": ErrImageNeverPull: ', 'hint: load the image first'],
    ],
    [
      'with an invalid name',
      {image: 'Not/A/Name!'},
      ['container "main": InvalidImageName: ', 'hint: use [REGISTRY/]NAME[:TAG|@DIGEST]'],
    ],
  ])('%s fails the sync, and nothing is left', async (_, fields, texts) => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest({containers: [aContainerSpec('main', fields)]}));
    expectFailure(await testbed.run(['sync', file]), 'kcri: pod "default/web": ', ...texts);
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('missing for an init container is reported for that container', async () => {
    const testbed = await createTestbed();
    const initContainers = [aContainerSpec('setup', {image: 'localhost:5000/nothing:1'})];
    const file = await testbed.write('pod.json', aManifest({initContainers}));
    expectFailure(await testbed.run(['sync', file]), 'init container "setup": ErrImagePull: ');
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

test("a missing command fails the sync with the runtime's message, and nothing is left", async () => {
  const startError = 'OCI runtime create failed: exec: "/nope": stat /nope: no such file or directory';
  const testbed = await createTestbed({behaviour: () => ({startError})});
  const file = await testbed.write('pod.json', aManifest());
  const result = await testbed.run(['sync', file]);
  expectFailure(
    result,
    'container "main": RunContainerError: ',
    startError,
    "hint: check the container's command",
  );
  expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
});

describe('a failed call', () => {
  /** The failed RPC, the number of successful calls before, and the expected message. */
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
  )('$title (after its effect: $afterEffect) leaves nothing', async ({rpc, skip, text, afterEffect}) => {
    const {testbed, file} = await createFullTestbed();
    const message = 'the disk is gone';
    testbed.runtime.injectError(rpc, {code: 'UNKNOWN', message, skip, times: 1, afterEffect});
    expectFailure(await testbed.run(['sync', file]), text, message);
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test.each(FAILURES)('%s is retried with a timeout', async (_, rpc, skip) => {
    const {testbed, file} = await createFullTestbed();
    testbed.runtime.injectError(rpc, {
      code: 'UNAVAILABLE',
      message: 'in a moment',
      skip,
      times: 1,
      afterEffect: true,
    });
    const {exitCode} = await testbed.run(['sync', file, '--timeout', '2h'], {
      clock: realTimeClock({factor: 10}),
    });
    expect(exitCode).toBe(0);
    expect(testbed.runtime.sandboxes).toHaveLength(1);
    const running = testbed.runtime.containers.filter(({state}) => state === 'CONTAINER_RUNNING');
    expect(running.map(({config}) => config.metadata?.name).toSorted()).toEqual(['one', 'three', 'two']);
    await expectCleanDelete(testbed);
  });
});

describe('a runtime that crashes during', () => {
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
    '%s (after its effect: %s) fails the sync, and a later delete leaves nothing',
    async (rpc, afterEffect) => {
      const {testbed, file} = await createFullTestbed();
      testbed.runtime.injectCrash(rpc, {afterEffect});
      const result = await testbed.run(['sync', file]);
      expectFailure(result);
      expect(result.stderr).toMatch(/code = Unavailable|the connection to the runtime was lost/);
      await testbed.runtime.restart();
      await expectCleanDelete(testbed);
    },
  );

  test.each(RPCS)('%s and is restarted lets the next sync continue', async (rpc) => {
    const {testbed, file} = await createFullTestbed();
    testbed.runtime.injectCrash(rpc, {afterEffect: true});
    expect(await testbed.run(['sync', file])).toMatchObject({exitCode: 1});
    await testbed.runtime.restart();
    expect(await testbed.run(['sync', file])).toMatchObject({stderr: '', exitCode: 0});
    expect(testbed.runtime.sandboxes).toHaveLength(1);
    const running = testbed.runtime.containers.filter(({state}) => state === 'CONTAINER_RUNNING');
    expect(running.map(({config}) => config.metadata?.name).toSorted()).toEqual(['one', 'three', 'two']);
    await expectCleanDelete(testbed);
  });

  test('RunPodSandbox fails the sync with a hint how to delete the rest', async () => {
    const {testbed, file} = await createFullTestbed();
    testbed.runtime.injectCrash('RunPodSandbox', {afterEffect: true});
    const result = await testbed.run(['sync', file]);
    expectFailure(
      result,
      'kcri: pod "default/web": CreatePodSandboxError: ',
      'kcri: pod "default/web": cannot be deleted: rpc error: code = Unavailable',
      'hint: run "kcri delete default/web" to delete it',
    );
    expect(result.stderr.match(/^kcri: /gm)).toHaveLength(2);
    expect(await testbed.records()).toHaveLength(1);
  });
});

describe('Ctrl-C', () => {
  /** Runs a sync and interrupts it at the start of its n-th mutating call. All of them take a while. */
  async function syncAndInterrupt(
    testbed: CommandTestbed,
    file: string,
    n: number,
    ...flags: readonly string[]
  ): Promise<RunResult> {
    const controller = new AbortController();
    let begun = 0;
    const interrupt = (): void => {
      begun += 1;
      if (begun === n) controller.abort(new InterruptedError('SIGINT'));
    };
    for (const rpc of ['RunPodSandbox', 'CreateContainer', 'StartContainer', 'PullImage'] as const) {
      testbed.runtime.injectAction(rpc, interrupt, {times: Infinity});
      testbed.runtime.injectDelay(rpc, 20);
    }
    return await testbed.run(['sync', file, ...flags], {signal: controller.signal});
  }

  /** RunPodSandbox, CreateContainer and StartContainer of four containers, PullImage. */
  const CALLS = Array.from({length: 10}, (_, index) => index + 1);

  test.each(CALLS.slice(0, -1))('at call %i reports what is left, and a delete leaves nothing', async (n) => {
    const {testbed, file} = await createFullTestbed();
    const {stderr, exitCode} = await syncAndInterrupt(testbed, file, n);
    expect(stderr).toMatch(
      /^kcri: interrupted\nkcri: pod "default\/web": was kept; .*\nhint: run "kcri delete default\/web" to delete it\n$/,
    );
    const running = testbed.runtime.containers
      .filter(({state}) => state === 'CONTAINER_RUNNING')
      .map(({config}) => `"${config.metadata!.name}"`);
    if (running.length === 0) expect(stderr).toContain('none of its containers is running');
    else for (const name of running) expect(stderr).toContain(name);
    expect(exitCode).toBe(130);
    expect(testbed.runtime.calls.filter(({method}) => isMutatingCall(method)).length).toBeLessThanOrEqual(
      n + 1,
    );
    await expectCleanDelete(testbed);
  });

  test.each(CALLS.slice(0, -1))('at call %i with --rm leaves nothing', async (n) => {
    const {testbed, file} = await createFullTestbed();
    const {stderr, exitCode} = await syncAndInterrupt(testbed, file, n, '--rm');
    expect(stderr).toContain('kcri: interrupted\n');
    expect(exitCode).toBe(130);
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('ends the wait for a slow pull', async () => {
    const {testbed, file} = await createFullTestbed();
    testbed.runtime.injectDelay('PullImage', 600_000);
    const controller = new AbortController();
    const syncing = testbed.run(['sync', file], {signal: controller.signal});
    await until(() => testbed.runtime.callsTo('PullImage').length > 0);
    controller.abort(new InterruptedError('SIGTERM'));
    const {stderr, exitCode} = await syncing;
    expect(stderr).toContain('was kept; still running: "one"');
    expect(exitCode).toBe(143);
    await expectCleanDelete(testbed);
  });

  test('before the first change reports nothing', async () => {
    const testbed = await createTestbed();
    testbed.runtime.injectDelay('Version', 600_000);
    const controller = new AbortController();
    const file = await testbed.write('pod.json', aManifest());
    const syncing = testbed.run(['sync', file], {signal: controller.signal});
    await until(() => testbed.runtime.calls.length > 0);
    controller.abort(new InterruptedError('SIGINT'));
    expect(await syncing).toEqual({stdout: '', stderr: 'kcri: interrupted\n', exitCode: 130});
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('reports each of several pods, and the last JSON lines are their results and the summary', async () => {
    const testbed = await createTestbed();
    const job = (name: string): string => aManifest({name, restartPolicy: 'Never'});
    const file = await testbed.write('pods.yaml', `${job('a')}\n---\n${job('b')}\n`);
    const controller = new AbortController();
    const syncing = testbed.run(['sync', file, '--wait', 'complete', '-o', 'json'], {
      signal: controller.signal,
    });
    await until(() => testbed.runtime.callsTo('StartContainer').length >= 2);
    controller.abort(new InterruptedError('SIGINT'));
    const {stdout, stderr, exitCode} = await syncing;
    for (const name of ['a', 'b'])
      expect(stderr).toContain(`hint: run "kcri delete default/${name}" to delete it`);
    const results = stdout.trimEnd().split('\n').slice(-3, -1);
    for (const line of results)
      expect(JSON.parse(line)).toMatchObject({type: 'result', outcome: 'interrupted', exitCode: 130});
    expect(exitCode).toBe(130);
  });
});

describe('concurrent syncs of one pod', () => {
  test('create one sandbox, and all exit with 0', async () => {
    const {testbed, file} = await createFullTestbed();
    for (const rpc of ['RunPodSandbox', 'CreateContainer'] as const) testbed.runtime.injectDelay(rpc, 20);
    const results = await Promise.all([1, 2, 3].map(async () => await testbed.run(['sync', file])));
    expect(results.map(({exitCode}) => exitCode)).toEqual([0, 0, 0]);
    expect(testbed.runtime.callsTo('RunPodSandbox')).toHaveLength(1);
    expect(testbed.runtime.callsTo('CreateContainer')).toHaveLength(4);
    expect(results.map(({stderr}) => stderr).join('')).toMatch(
      /waiting for another kcri process \(PID \d+\)/,
    );
    await expectCleanDelete(testbed);
  });

  test('leave nothing if they fail', async () => {
    const testbed = await createTestbed({images: []});
    testbed.runtime.injectDelay('PullImage', 30);
    const file = await testbed.write('pod.json', aManifest());
    const results = await Promise.all([1, 2].map(async () => await testbed.run(['sync', file])));
    expect(results.map(({exitCode}) => exitCode)).toEqual([1, 1]);
    for (const result of results) expectUserError(result);
    await expectCleanDelete(testbed);
  });

  test('with different manifests result in one pod', async () => {
    const testbed = await createTestbed();
    testbed.runtime.injectDelay('RunPodSandbox', 30);
    const files = await Promise.all(
      [60, 61].map(async (seconds) => {
        const containers = [aContainerSpec('main', {command: ['sleep', String(seconds)]})];
        return await testbed.write(`${seconds}.json`, aManifest({containers}));
      }),
    );
    const results = await Promise.all(files.map(async (file) => await testbed.run(['sync', file])));
    expect(results.some(({exitCode}) => exitCode === 0)).toBe(true);
    for (const {stderr} of results) expect(stderr).not.toMatch(/^\s+at /m);
    expect(testbed.runtime.sandboxes).toHaveLength(1);
    expect(await testbed.records()).toHaveLength(1);
    await expectCleanDelete(testbed);
  });

  test('end with an error if the pod is deleted, and do not create it again', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('job.json', aManifest({restartPolicy: 'Never'}));
    const syncing = testbed.run(['sync', file, '--wait', 'complete']);
    await until(() => testbed.runtime.callsTo('StartContainer').length !== 0);
    expect(await testbed.run(['delete', 'web'])).toMatchObject({exitCode: 0});
    const result = await syncing;
    expectFailure(
      result,
      'another kcri process deleted it while this one was waiting\nhint: run "kcri sync" again\n',
    );
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('with --rm keep a pod that another sync has replaced', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write(
      'job.json',
      aManifest({restartPolicy: 'Never', metadata: {uid: 'my-uid'}}),
    );
    const first = testbed.run(['sync', file, '--wait', 'complete', '--rm']);
    await until(() => testbed.runtime.callsTo('StartContainer').length !== 0);
    const other = aManifest({restartPolicy: 'Never', metadata: {uid: 'my-uid'}, hostname: 'other'});
    expect(await testbed.run(['sync', await testbed.write('b.json', other)])).toMatchObject({exitCode: 0});
    expectFailure(await first, 'another kcri process changed it');
    expect(await testbed.records()).toHaveLength(1);
    expect(testbed.runtime.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
  });

  test('with different containers and one UID do not revert each other', async () => {
    const testbed = await createTestbed();
    const manifest = (seconds: number): string =>
      aManifest({
        restartPolicy: 'Never',
        metadata: {uid: 'my-uid'},
        containers: [aContainerSpec('main', {command: ['sleep', String(seconds)]})],
      });
    const first = testbed.run(['sync', await testbed.write('a.json', manifest(60)), '--wait', 'complete']);
    await until(() => testbed.runtime.callsTo('StartContainer').length !== 0);
    expect(await testbed.run(['sync', await testbed.write('b.json', manifest(61))])).toMatchObject({
      exitCode: 0,
    });
    expectFailure(await first, 'another kcri process changed it while this one was waiting');
    expect(await testbed.records()).toHaveLength(1);
  });
});
