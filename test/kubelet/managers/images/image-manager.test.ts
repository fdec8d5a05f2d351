import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {SystemError} from '../../../../src/base/errors.js';
import {CriError} from '../../../../src/cri/index.js';
import type {ImageResult} from '../../../../src/kubelet/managers/images/image-manager.js';
import {FilePullRecordsAccessor} from '../../../../src/kubelet/managers/images/pull-manager/pull-records-accessor.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aPod} from '../../../fakes/a-pod.js';
import {APP, aRuntime, createImageFixture, reasonOf, pullError} from './image-fixture.js';

describe('the pull policy', () => {
  test.each([
    ['IfNotPresent', true, [`ImageStatus ${APP}`]],
    ['IfNotPresent', false, [`ImageStatus ${APP}`, `PullImage ${APP}`, `ImageStatus ${APP}`]],
    ['Always', true, [`PullImage ${APP}`, `ImageStatus ${APP}`]],
    ['Never', true, [`ImageStatus ${APP}`]],
  ] as const)('%s is followed for an image that is present: %s', async (pullPolicy, isPresent, calls) => {
    const fixture = await createImageFixture();
    if (isPresent) fixture.present.add(APP);
    expect(await fixture.ensure({pullPolicy})).toEqual({kind: 'present', imageRef: `sha256:${APP}`});
    expect(fixture.calls).toEqual(calls);
  });

  test('Never of a missing image fails with ErrImageNeverPull and the kubelet’s message', async () => {
    const fixture = await createImageFixture();
    const message = `Container image "${APP}" is not present with pull policy of Never`;
    expect(await fixture.ensure({pullPolicy: 'Never'})).toEqual({
      kind: 'failed',
      failure: {reason: 'ErrImageNeverPull', message},
    });
    expect(fixture.eventLines()).toEqual([`Warning ErrImageNeverPull: ${message}`]);
  });
});

test('events have the image name of the pod spec, and the runtime gets it with tag and annotations', async () => {
  const runtime = aRuntime(() => {
    fixture.clock.elapse(1234);
  });
  const fixture: Awaited<ReturnType<typeof createImageFixture>> = await createImageFixture(runtime);
  await fixture.ensure({image: 'r.example/app'});
  expect(fixture.specs).toEqual([{image: 'r.example/app:latest', annotations: {note: 'x'}}]);
  expect(fixture.eventLines()).toEqual([
    'Normal Pulling: Pulling image "r.example/app"',
    'Normal Pulled: Successfully pulled image "r.example/app" in 1.234s (1.234s including waiting). Image size: 1032138 bytes.',
  ]);
});

test.each([
  [false, undefined],
  [true, 'kata'],
])('with RuntimeClassInImageCriApi %s the image is requested for the handler %s', async (gate, handler) => {
  const runtime = aRuntime();
  const fixture = await createImageFixture(runtime, {runtimeClassInImageCriApi: gate});
  await fixture.ensure({pullPolicy: 'Always'});
  expect(fixture.specs.map(({runtimeHandler}) => runtimeHandler)).toEqual([handler]);
});

test('an invalid name fails with InvalidImageName and without a CRI call', async () => {
  const fixture = await createImageFixture();
  const message =
    'Failed to apply default image tag "localhost:5000/UPPER:1": couldn\'t parse image name "localhost:5000/UPPER:1": invalid reference format: repository name (UPPER) must be lowercase';
  expect(await fixture.ensure({image: 'localhost:5000/UPPER:1'})).toEqual({
    kind: 'failed',
    failure: {reason: 'InvalidImageName', message},
  });
  expect(fixture.eventLines()).toEqual([`Warning InspectFailed: ${message}`]);
  expect(fixture.calls).toEqual([]);
});

test('a failed ImageStatus call fails with ImageInspectError', async () => {
  const runtime = aRuntime();
  const error = new CriError({
    method: 'ImageStatus',
    endpoint: 'unix:///test',
    grpcCode: 'UNKNOWN',
    details: 'broken',
  });
  const service = {...runtime.service, imageStatus: () => Promise.reject(error)};
  const fixture = await createImageFixture({...runtime, service});
  const message = 'Failed to inspect image "": rpc error: code = Unknown desc = broken';
  expect(await fixture.ensure()).toMatchObject({failure: {reason: 'ImageInspectError', message}});
  expect(fixture.eventLines()).toEqual([`Warning InspectFailed: ${message}`]);
});

test('a pull succeeds even if the image size cannot be read', async () => {
  const runtime = aRuntime();
  const service = {...runtime.service, imageStatus: () => Promise.reject(pullError('UNKNOWN', 'broken'))};
  const fixture = await createImageFixture({...runtime, service});
  expect(reasonOf(await fixture.ensure({pullPolicy: 'Always'}))).toBe(`sha256:${APP}`);
  expect(fixture.eventLines()[1]).toMatch(/Image size: 0 bytes\.$/);
});

describe('a failed pull', () => {
  test.each([
    ['NOT_FOUND', 'no such tag', 'ErrImagePull', 'rpc error: code = NotFound desc = no such tag'],
    // The CRI client omits the code Unknown.
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
  ] as const)('with %s %s has the reason %s', async (code, details, reason, message) => {
    const fixture = await createImageFixture(
      aRuntime(() => {
        throw pullError(code, details);
      }),
    );
    expect(await fixture.ensure()).toMatchObject({failure: {reason, message}});
    const text = code === 'UNKNOWN' ? details : `rpc error: code = NotFound desc = ${details}`;
    expect(fixture.eventLines()).toEqual([
      `Normal Pulling: Pulling image "${APP}"`,
      `Warning Failed: Failed to pull image "${APP}": ${text}`,
    ]);
  });

  test('is retried after its back-off, which doubles and repeats the failure', async () => {
    const fixture = await createImageFixture(
      aRuntime(() => {
        throw pullError('NOT_FOUND', 'not found');
      }),
    );
    const reasons: string[] = [];
    for (const passed of [0, 9_999, 1, 19_999, 1]) {
      fixture.clock.elapse(passed);
      reasons.push(reasonOf(await fixture.ensure()));
    }
    expect(reasons).toEqual([
      'ErrImagePull',
      'ImagePullBackOff',
      'ErrImagePull',
      'ImagePullBackOff',
      'ErrImagePull',
    ]);
    const now = fixture.clock.now();
    expect(await fixture.ensure()).toEqual({
      kind: 'failed',
      failure: {
        reason: 'ImagePullBackOff',
        message: `Back-off pulling image "${APP}": ErrImagePull: rpc error: code = NotFound desc = not found`,
        cause: expect.anything() as unknown,
        retryAt: now + 40_000,
        backOffMs: 40_000,
      },
    });
    expect(fixture.eventLines().at(-1)).toBe(`Normal BackOff: Back-off pulling image "${APP}"`);
  });

  test('does not delay another pod’s pull of the image', async () => {
    const fixture = await createImageFixture(
      aRuntime(() => {
        throw pullError('NOT_FOUND', 'not found');
      }),
    );
    await fixture.ensure();
    expect(reasonOf(await fixture.ensure({pod: aPod({}, {uid: 'u2'})}))).toBe('ErrImagePull');
  });
});

describe('limits', () => {
  test('the eleventh pull at once exceeds the QPS limit and fails as transient', async () => {
    const fixture = await createImageFixture();
    const results: ImageResult[] = [];
    for (let count = 0; count < 11; count++) results.push(await fixture.ensure({pullPolicy: 'Always'}));
    expect(results.map(({kind}) => kind)).toEqual([...Array<string>(10).fill('present'), 'failed']);
    expect(results.at(-1)).toMatchObject({
      failure: {reason: 'ErrImagePull', message: 'pull QPS exceeded', transient: true},
    });
    expect(await fixture.ensure({pullPolicy: 'Always'})).toMatchObject({
      failure: {reason: 'ImagePullBackOff', transient: true},
    });
    fixture.clock.elapse(10_000);
    expect(reasonOf(await fixture.ensure({pullPolicy: 'Always'}))).toBe(`sha256:${APP}`);
  });

  test('pulls are unlimited with a QPS of 0', async () => {
    const fixture = await createImageFixture(aRuntime(), {limits: {registryPullQps: 0}});
    for (let count = 0; count < 30; count++)
      expect(reasonOf(await fixture.ensure({pullPolicy: 'Always'}))).toBe(`sha256:${APP}`);
  });

  test.each([
    [undefined, 1],
    [2, 2],
  ])('with maxParallelImagePulls %s, %i pulls run at once', async (maxParallelImagePulls, expected) => {
    let running = 0;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const runtime = aRuntime(async () => {
      running += 1;
      await released;
    });
    const limits = maxParallelImagePulls === undefined ? {} : {limits: {maxParallelImagePulls}};
    const fixture = await createImageFixture(runtime, limits);
    const all = ['a', 'b', 'c', 'd'].map(async (name) => fixture.ensure({image: `r.example/${name}`}));
    await expect.poll(() => fixture.eventLines().length).toBe(all.length);
    await new Promise((resolve) => setImmediate(resolve));
    expect(running).toBe(expected);
    release();
    await Promise.all(all);
    expect(running).toBe(all.length);
  });
});

test('an aborted pull rejects with the signal’s reason and leaves its intent, but no lock', async () => {
  const controller = new AbortController();
  const reason = new Error('stop');
  const fixture = await createImageFixture(
    aRuntime(() => {
      controller.abort(reason);
    }),
  );
  await expect(fixture.ensure({}, controller.signal)).rejects.toBe(reason);
  expect(fixture.eventLines()).toEqual([`Normal Pulling: Pulling image "${APP}"`]);
  expect(await readdir(join(fixture.rootDir, 'image_manager', 'pulling'))).toHaveLength(1);
  expect(await readdir(join(fixture.rootDir, 'kcri/image_manager', 'pullers'))).toEqual([]);
});

describe('a failure to write records', () => {
  const broken = (method: 'writeIntent' | 'updatePulled', rootDir: string): FilePullRecordsAccessor => {
    const records = new FilePullRecordsAccessor(rootDir);
    records[method] = (): Promise<never> => Promise.reject(new SystemError('the disk is full'));
    return records;
  };

  test('prevents the pull if it occurs before', async () => {
    const fixture = await createImageFixture(aRuntime(), {
      records: broken('writeIntent', await temporaryDirectory()),
    });
    expect(await fixture.ensure()).toMatchObject({
      failure: {
        reason: 'ErrImagePull',
        message: `Failed to record image pull intent for container image "${APP}": the disk is full`,
      },
    });
    expect(fixture.calls).toEqual([`ImageStatus ${APP}`]);
  });

  test('leaves the intent if it occurs after the pull, so that no pod may use the image', async () => {
    const fixture = await createImageFixture(aRuntime(), {
      records: broken('updatePulled', await temporaryDirectory()),
    });
    expect(reasonOf(await fixture.ensure())).toBe(`sha256:${APP}`);
    expect(fixture.eventLines().at(-1)).toBe('Warning FailedToRecordImagePull: the disk is full');
    expect(reasonOf(await fixture.ensure({pullPolicy: 'Never'}))).toBe('ErrImageNeverPull');
  });
});

test('a programming error in a pull is no pull failure: it is rejected and delays no pull', async () => {
  const bug = new TypeError('a bug');
  let isBroken = true;
  const fixture = await createImageFixture(
    aRuntime(() => {
      if (isBroken) throw bug;
    }),
  );
  await expect(fixture.ensure()).rejects.toThrow(bug);
  expect(fixture.eventLines()).toEqual([`Normal Pulling: Pulling image "${APP}"`]);
  isBroken = false;
  expect(reasonOf(await fixture.ensure())).toBe(`sha256:${APP}`);
});
