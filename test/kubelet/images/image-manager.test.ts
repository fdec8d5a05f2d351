import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {Pod} from '../../../src/api/v1.js';
import {SystemError} from '../../../src/base/errors.js';
import type {ImageOutcome} from '../../../src/kubelet/images/image-manager.js';
import {FilePullRecords} from '../../../src/kubelet/images/records/pull-records.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {APP, aRuntime, aScene, reasonOf, refused} from './image-scene.js';

describe('the pull policy', () => {
  test.each([
    ['IfNotPresent', true, [`ImageStatus ${APP}`]],
    ['IfNotPresent', false, [`ImageStatus ${APP}`, `PullImage ${APP}`, `ImageStatus ${APP}`]],
    ['Always', true, [`PullImage ${APP}`, `ImageStatus ${APP}`]],
    ['Never', true, [`ImageStatus ${APP}`]],
  ] as const)('%s of an image that is there: %s', async (pullPolicy, there, calls) => {
    const scene = await aScene();
    if (there) scene.present.add(APP);
    expect(await scene.ensure({pullPolicy})).toEqual({kind: 'present', imageRef: `sha256:${APP}`});
    expect(scene.calls).toEqual(calls);
  });

  test('Never of an image that is not there is ErrImageNeverPull in the kubelet’s words', async () => {
    const scene = await aScene();
    const message = `Container image "${APP}" is not present with pull policy of Never`;
    expect(await scene.ensure({pullPolicy: 'Never'})).toEqual({
      kind: 'failed',
      failure: {reason: 'ErrImageNeverPull', message},
    });
    expect(scene.said()).toEqual([`Warning ErrImageNeverPull: ${message}`]);
  });
});

test('events name the image as the Pod does, and the runtime gets it with its tag and the pod’s annotations', async () => {
  const runtime = aRuntime(() => {
    scene.clock.pass(1234);
  });
  const scene: Awaited<ReturnType<typeof aScene>> = await aScene(runtime);
  await scene.ensure({image: 'r.example/app'});
  expect(scene.specs).toEqual([{image: 'r.example/app:latest', annotations: {note: 'x'}}]);
  expect(scene.said()).toEqual([
    'Normal Pulling: Pulling image "r.example/app"',
    'Normal Pulled: Successfully pulled image "r.example/app" in 1.234s (1.234s including waiting). Image size: 1032138 bytes.',
  ]);
});

test.each([
  [false, undefined],
  [true, 'kata'],
])(
  'with the gate RuntimeClassInImageCriApi %s the image is that of the handler %s',
  async (gate, handler) => {
    const runtime = aRuntime();
    const scene = await aScene(runtime, {runtimeClassInImageCriApi: gate});
    await scene.ensure({pullPolicy: 'Always'});
    expect(scene.specs.map(({runtimeHandler}) => runtimeHandler)).toEqual([handler]);
  },
);

test('a name that is no reference is InvalidImageName and asks the runtime nothing', async () => {
  const scene = await aScene();
  const message =
    'Failed to apply default image tag "localhost:5000/UPPER:1": couldn\'t parse image name "localhost:5000/UPPER:1": invalid reference format: repository name (UPPER) must be lowercase';
  expect(await scene.ensure({image: 'localhost:5000/UPPER:1'})).toEqual({
    kind: 'failed',
    failure: {reason: 'InvalidImageName', message},
  });
  expect(scene.said()).toEqual([`Warning InspectFailed: ${message}`]);
  expect(scene.calls).toEqual([]);
});

test('an image that can’t be looked for is ImageInspectError', async () => {
  const runtime = aRuntime();
  const service = {...runtime.service, imageStatus: () => Promise.reject(refused('UNKNOWN', 'broken'))};
  const scene = await aScene({...runtime, service});
  const message = 'Failed to inspect image "": rpc error: code = Unknown desc = broken';
  expect(await scene.ensure()).toMatchObject({failure: {reason: 'ImageInspectError', message}});
  expect(scene.said()).toEqual([`Warning InspectFailed: ${message}`]);
});

test('a pull whose size can’t be asked for has succeeded', async () => {
  const runtime = aRuntime();
  const service = {...runtime.service, imageStatus: () => Promise.reject(refused('UNKNOWN', 'broken'))};
  const scene = await aScene({...runtime, service});
  expect(reasonOf(await scene.ensure({pullPolicy: 'Always'}))).toBe(`sha256:${APP}`);
  expect(scene.said()[1]).toMatch(/Image size: 0 bytes\.$/);
});

describe('a pull that fails', () => {
  test.each([
    ['NOT_FOUND', 'no such tag', 'ErrImagePull', 'rpc error: code = NotFound desc = no such tag'],
    // The CRI client leaves a code out that says nothing.
    ['UNKNOWN', 'no such tag', 'ErrImagePull', 'no such tag'],
    [
      'UNKNOWN',
      'RegistryUnavailable: down',
      'RegistryUnavailable',
      `image pull failed for ${APP} because the registry is unavailable: down`,
    ],
    [
      'UNKNOWN',
      'RegistryUnavailable',
      'RegistryUnavailable',
      `image pull failed for ${APP} because the registry is unavailable`,
    ],
    [
      'UNKNOWN',
      'SignatureValidationFailed: bad',
      'SignatureValidationFailed',
      `image pull failed for ${APP} because the signature validation failed: bad`,
    ],
    [
      'NOT_FOUND',
      'RegistryUnavailable',
      'ErrImagePull',
      'rpc error: code = NotFound desc = RegistryUnavailable',
    ],
  ] as const)('%s %s is %s', async (code, details, reason, message) => {
    const scene = await aScene(
      aRuntime(() => {
        throw refused(code, details);
      }),
    );
    expect(await scene.ensure()).toMatchObject({failure: {reason, message}});
    const text = code === 'UNKNOWN' ? details : `rpc error: code = NotFound desc = ${details}`;
    expect(scene.said()).toEqual([
      `Normal Pulling: Pulling image "${APP}"`,
      `Warning Failed: Failed to pull image "${APP}": ${text}`,
    ]);
  });

  test('is not tried again before its back-off has passed, which doubles and repeats why', async () => {
    const scene = await aScene(
      aRuntime(() => {
        throw refused('NOT_FOUND', 'gone');
      }),
    );
    const reasons: string[] = [];
    for (const passed of [0, 9_999, 1, 19_999, 1]) {
      scene.clock.pass(passed);
      reasons.push(reasonOf(await scene.ensure()));
    }
    expect(reasons).toEqual([
      'ErrImagePull',
      'ImagePullBackOff',
      'ErrImagePull',
      'ImagePullBackOff',
      'ErrImagePull',
    ]);
    const now = scene.clock.now();
    expect(await scene.ensure()).toEqual({
      kind: 'failed',
      failure: {
        reason: 'ImagePullBackOff',
        message: `Back-off pulling image "${APP}": ErrImagePull: rpc error: code = NotFound desc = gone`,
        cause: expect.anything() as unknown,
        retryAt: now + 40_000,
        backOffMs: 40_000,
      },
    });
    expect(scene.said().at(-1)).toBe(`Normal BackOff: Back-off pulling image "${APP}"`);
  });

  test('holds up nobody else’s pull of the image', async () => {
    const scene = await aScene(
      aRuntime(() => {
        throw refused('NOT_FOUND', 'gone');
      }),
    );
    await scene.ensure();
    const other: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {name: 'o', namespace: 'default', uid: 'u2'},
      spec: {containers: []},
    };
    expect(reasonOf(await scene.ensure({pod: other}))).toBe('ErrImagePull');
  });
});

describe('limits', () => {
  test('eleven pulls at once are one too many, which is nothing that was tried', async () => {
    const scene = await aScene();
    const outcomes: ImageOutcome[] = [];
    for (let count = 0; count < 11; count++) outcomes.push(await scene.ensure({pullPolicy: 'Always'}));
    expect(outcomes.map(({kind}) => kind)).toEqual([...Array<string>(10).fill('present'), 'failed']);
    expect(outcomes.at(-1)).toMatchObject({
      failure: {reason: 'ErrImagePull', message: 'pull QPS exceeded', transient: true},
    });
    expect(await scene.ensure({pullPolicy: 'Always'})).toMatchObject({
      failure: {reason: 'ImagePullBackOff', transient: true},
    });
    scene.clock.pass(10_000);
    expect(reasonOf(await scene.ensure({pullPolicy: 'Always'}))).toBe(`sha256:${APP}`);
  });

  test('there may be none', async () => {
    const scene = await aScene(aRuntime(), {limits: {registryPullQps: 0}});
    for (let count = 0; count < 30; count++)
      expect(reasonOf(await scene.ensure({pullPolicy: 'Always'}))).toBe(`sha256:${APP}`);
  });

  test.each([
    [undefined, 1],
    [2, 2],
  ])('%s at once are %i', async (maxParallelImagePulls, most) => {
    let running = 0;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const runtime = aRuntime(async () => {
      running += 1;
      await released;
    });
    const limits = maxParallelImagePulls === undefined ? {} : {limits: {maxParallelImagePulls}};
    const scene = await aScene(runtime, limits);
    const all = ['a', 'b', 'c', 'd'].map(async (name) => scene.ensure({image: `r.example/${name}`}));
    await expect.poll(() => scene.said().length).toBe(all.length);
    await new Promise((resolve) => setImmediate(resolve));
    expect(running).toBe(most);
    release();
    await Promise.all(all);
    expect(running).toBe(all.length);
  });
});

test('an aborted pull rejects with the signal’s reason, is no failure, and leaves its intent', async () => {
  const controller = new AbortController();
  const reason = new Error('stop');
  const scene = await aScene(
    aRuntime(() => {
      controller.abort(reason);
    }),
  );
  await expect(scene.ensure({}, controller.signal)).rejects.toBe(reason);
  expect(scene.said()).toEqual([`Normal Pulling: Pulling image "${APP}"`]);
  expect(await readdir(join(scene.rootDir, 'image_manager', 'pulling'))).toHaveLength(1);
});

describe('records that can’t be written', () => {
  const broken = (method: 'writeIntent' | 'updatePulled', rootDir: string): FilePullRecords => {
    const records = new FilePullRecords(rootDir);
    records[method] = (): Promise<never> => Promise.reject(new SystemError('the disk is full'));
    return records;
  };

  test('keep an image from being pulled before the pull', async () => {
    const scene = await aScene(aRuntime(), {records: broken('writeIntent', await temporaryDirectory())});
    expect(await scene.ensure()).toMatchObject({
      failure: {
        reason: 'ErrImagePull',
        message: `Failed to record image pull intent for container image "${APP}": the disk is full`,
      },
    });
    expect(scene.calls).toEqual([`ImageStatus ${APP}`]);
  });

  test('leave the intent after it, so that nobody gets in', async () => {
    const scene = await aScene(aRuntime(), {records: broken('updatePulled', await temporaryDirectory())});
    expect(reasonOf(await scene.ensure())).toBe(`sha256:${APP}`);
    expect(scene.said().at(-1)).toBe('Warning FailedToRecordImagePull: the disk is full');
    expect(reasonOf(await scene.ensure({pullPolicy: 'Never'}))).toBe('ErrImageNeverPull');
  });
});
