import {expect, onTestFinished, test} from 'vitest';
import {connect} from '../../../../../src/cri/index.js';
import {ImageGcManager} from '../../../../../src/kubelet/managers/images/gc/image-gc-manager.js';
import {
  DEFAULT_IMAGE_GC_POLICY,
  type ImageGcPolicy,
} from '../../../../../src/kubelet/managers/images/gc/image-gc-policy.js';
import {FilePullRecordsAccessor} from '../../../../../src/kubelet/managers/images/pull-manager/pull-records-accessor.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {until} from '../../../../base/until.js';
import {aContainer, anImage, aSandbox} from '../../../../fakes/runtime-builders.js';
import {FakeRuntime} from '../../../../fakes/fake-runtime.js';
import {FakeClock} from '../../../../fakes/fake-clock.js';
import {fakeLogger} from '../../../../base/fake-logger.js';

const {signal} = new AbortController();
const MB = 1_000_000;
/** Names of the images in a fixture; each has 10 MB. */
const NAMES = ['pulled-a', 'imported', 'used', 'desired', 'pinned', 'pause'];
const nameOf = (name: string): string => `docker.io/library/${name}:1`;

interface FixtureOptions {
  readonly policy?: Partial<ImageGcPolicy>;
  /** Free space of a 100 MB disk, in MB. */
  readonly freeMb?: number;
  /** Whether the runtime reports pinned images, as containerd does since 1.7; by default it does. */
  readonly pins?: boolean;
}

/** Creates an image GC manager and a runtime whose images except `imported` were pulled by kcri. */
async function createFixture({policy, freeMb = 10, pins = true}: FixtureOptions = {}) {
  const isPinned = (name: string): boolean => pins && ['pinned', 'pause'].includes(name);
  const images = NAMES.map((name) => anImage({name: nameOf(name), size: 10 * MB, pinned: isPinned(name)}));
  const sandbox = aSandbox({});
  const runtime = await FakeRuntime.start({
    images,
    sandboxes: [sandbox],
    containers: [aContainer({sandbox, image: nameOf('used'), state: 'CONTAINER_EXITED'})],
  });
  const connection = connect(runtime.endpoint);
  onTestFinished(async () => {
    connection.close();
    await runtime.stop();
  });
  const clock = new FakeClock();
  const rootDir = await temporaryDirectory();
  const records = new FilePullRecordsAccessor(rootDir, runtime.endpoint);
  const record = async (imageRef: string): Promise<void> => {
    const access = {nodePodsAccessible: true};
    await records.updatePulled(imageRef, () => ({
      lastUpdatedTime: '1969-12-31T00:00:00Z',
      imageRef,
      credentialMapping: {'docker.io/library/any': access},
    }));
  };
  await (await records.writeIntent('any'))[Symbol.asyncDispose]();
  for (const image of images) if (!image.repoTags.includes(nameOf('imported'))) await record(image.id);
  const [nodeWarnings, logged]: [string[], string[]] = [[], []];
  const rules = {...DEFAULT_IMAGE_GC_POLICY, minAgeMs: 0, ...policy};
  const collector = new ImageGcManager(
    {
      ...connection,
      records,
      desiredImages: () => Promise.resolve(['desired:1']),
      diskUsage: () =>
        Promise.resolve({capacityBytes: BigInt(100 * MB), availableBytes: BigInt(freeMb * MB)}),
      clock,
      logger: fakeLogger({
        info: () => undefined,
        error: (error, message) => void logged.push(`${message}: ${(error as Error).message}`),
      }),
      nodeWarning: (reason, message) => void nodeWarnings.push(`${reason}: ${message}`),
    },
    {current: rules},
  );
  const remaining = (): readonly string[] =>
    NAMES.filter((name) => runtime.images.some(({repoTags}) => repoTags.includes(nameOf(name))));
  return {runtime, connection, clock, records, record, collector, rules, nodeWarnings, logged, remaining};
}

test('a full disk removes unused images in the order of their detection, with their records', async () => {
  const {collector, remaining, records, runtime, nodeWarnings} = await createFixture();
  const [pulled] = runtime.images;
  await collector.collect(signal);
  expect(remaining()).toEqual(NAMES.slice(1));
  expect(await records.pulledRefs()).not.toContain(pulled?.id);
  expect(runtime.callsTo('RemoveImage').map(({request}) => request)).toMatchObject([
    {image: {image: pulled?.id}},
  ]);
  expect(nodeWarnings).toEqual([]);
});

test('images that another program has pulled or imported are removed as well', async () => {
  const {collector, remaining} = await createFixture({freeMb: 0});
  await collector.collect(signal);
  expect(remaining()).toEqual(['used', 'desired', 'pinned', 'pause']);
});

test('images of a runtime without pins are removed except a possible sandbox image', async () => {
  const {collector, remaining} = await createFixture({
    freeMb: 0,
    pins: false,
    policy: {lowThresholdPercent: 70},
  });
  await collector.collect(signal);
  expect(remaining()).toEqual(['used', 'desired', 'pause']);
});

test('an image that was found at the start is kept until it has the minimum age', async () => {
  const {collector, remaining, clock} = await createFixture({freeMb: 0, policy: {minAgeMs: 120_000}});
  await expect(collector.collect(signal)).rejects.toThrow('freed 0 bytes');
  await clock.advance(120_000);
  await collector.collect(signal);
  expect(remaining()).toEqual(['used', 'desired', 'pinned', 'pause']);
});

const AGE_FAILURE =
  /^wanted to free images older than 1h0m0s, encountered errors in image deletion: [^[].*in use$/;

test('an old image that cannot be removed does not keep other old ones', async () => {
  const {collector, runtime, remaining, clock} = await createFixture({
    freeMb: 50,
    policy: {maxAgeMs: 3_600_000},
  });
  await collector.collect(signal);
  await clock.advance(3_600_001);
  runtime.injectError('RemoveImage', {code: 'UNKNOWN', message: 'in use', times: 1});
  await expect(collector.collect(signal)).rejects.toThrow(AGE_FAILURE);
  expect(remaining()).toEqual(['pulled-a', 'used', 'desired', 'pinned', 'pause']);
});

test('a full disk is freed although old images cannot be removed', async () => {
  const {collector, rules, connection, runtime, remaining, clock} = await createFixture({
    freeMb: 20,
    policy: {highThresholdPercent: 90},
  });
  await clock.advance(3_600_001);
  await collector.collect(signal);
  const {containers} = await connection.runtime.listContainers({});
  await connection.runtime.removeContainer({containerId: containers[0]!.id});
  Object.assign(rules, {maxAgeMs: 3_600_000, highThresholdPercent: 80, lowThresholdPercent: 75});
  runtime.injectError('RemoveImage', {code: 'UNKNOWN', message: 'in use', times: 2});
  await clock.advance(1);
  await expect(collector.collect(signal)).rejects.toThrow(AGE_FAILURE);
  expect(remaining()).toEqual(['pulled-a', 'imported', 'desired', 'pinned', 'pause']);
});

test('an image that cannot be removed for space does not keep others, and is reported', async () => {
  const {collector, runtime, remaining, records, nodeWarnings} = await createFixture();
  const [, imported] = runtime.images;
  runtime.injectError('RemoveImage', {code: 'UNKNOWN', message: 'in use', times: 1});
  await expect(collector.collect(signal)).rejects.toThrow(
    /^wanted to free 10000000 bytes, but freed 10000000 bytes space with errors in image deletion: .*in use$/,
  );
  expect(remaining()).toEqual(['pulled-a', 'used', 'desired', 'pinned', 'pause']);
  expect(await records.pulledRefs()).not.toContain(imported?.id);
  expect(nodeWarnings).toEqual([]);
});

test('a failure to free enough space is reported, and no used or pinned image is removed', async () => {
  const message =
    "Insufficient free disk space on the node's image filesystem (100% of 95.4 MiB used). Failed to free sufficient space by deleting unused images (freed 20000000 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.";
  const {collector, remaining, nodeWarnings} = await createFixture({
    freeMb: 0,
    policy: {lowThresholdPercent: 70},
  });
  await expect(collector.collect(signal)).rejects.toThrow(message);
  expect(remaining()).toEqual(['used', 'desired', 'pinned', 'pause']);
  expect(nodeWarnings).toEqual([`FreeDiskSpaceFailed: ${message}`]);
});

test('with enough free space only images unused for too long are removed', async () => {
  const {collector, remaining, clock} = await createFixture({freeMb: 50, policy: {maxAgeMs: 3_600_000}});
  await collector.collect(signal);
  await clock.advance(3_600_000);
  await collector.collect(signal);
  expect(remaining()).toEqual(NAMES);
  await clock.advance(1);
  await collector.collect(signal);
  expect(remaining()).toEqual(['used', 'desired', 'pinned', 'pause']);
});

test('all unused images are removed from a node that lacks space, even if their filesystem is not full', async () => {
  const {collector, remaining, records, runtime} = await createFixture({freeMb: 50});
  await collector.deleteUnused(signal);
  expect(remaining()).toEqual(['used', 'desired', 'pinned', 'pause']);
  expect([...((await records.pulledRefs()) ?? [])]).toHaveLength(4);
  const failing = await createFixture();
  failing.runtime.injectError('RemoveImage', {code: 'UNKNOWN', message: 'in use'});
  await expect(failing.collector.deleteUnused(signal)).rejects.toThrow('errors in image deletion: ');
  expect(runtime.callsTo('RemoveImage')).toHaveLength(2);
});

test('no image is removed if the images used by containers are unknown', async () => {
  const {collector, remaining, runtime} = await createFixture({freeMb: 0});
  runtime.injectError('ContainerStatus', {code: 'UNKNOWN', message: 'busy'});
  await expect(collector.collect(signal)).rejects.toThrow('busy');
  expect(remaining()).toEqual(NAMES);
});

test('records of images that no longer exist are removed even if no space is needed', async () => {
  const {collector, records, record, clock} = await createFixture({freeMb: 50});
  await record('sha256:gone');
  await clock.advance(1000);
  await collector.collect(signal);
  expect([...((await records.pulledRefs()) ?? [])]).toHaveLength(5);
});

test('images are collected every five minutes, and from the second failure on a node event is recorded', async () => {
  const {collector, runtime, clock, logged, nodeWarnings} = await createFixture();
  runtime.injectError('ListImages', {code: 'UNKNOWN', message: 'busy'});
  const end = new AbortController();
  const ended = collector.run(end.signal);
  await until(() => clock.sleeping > 0);
  expect([logged.length, nodeWarnings]).toEqual([1, []]);
  await clock.advance(300_000);
  await until(() => clock.sleeping > 0);
  expect(logged.at(-1)).toMatch(/^Image garbage collection failed multiple times in a row: .*busy$/);
  expect(nodeWarnings).toEqual([expect.stringMatching(/^ImageGCFailed: .*busy$/)]);
  end.abort();
  await ended;
});

test('a trigger starts a collection at once, or another one after a running one', async () => {
  const {collector, runtime, clock, rules, remaining} = await createFixture({
    policy: {highThresholdPercent: 95},
  });
  const end = new AbortController();
  const ended = collector.run(end.signal);
  await until(() => clock.sleeping > 0);
  expect(remaining()).toEqual(NAMES);
  rules.highThresholdPercent = 85;
  collector.trigger();
  await until(() => !remaining().includes('pulled-a') && clock.sleeping > 0);
  const rounds = runtime.callsTo('ImageFsInfo').length;
  runtime.injectDelay('ImageFsInfo', 50, {times: 1});
  collector.trigger();
  await until(() => runtime.callsTo('ImageFsInfo').length === rounds + 1);
  collector.trigger();
  await until(() => runtime.callsTo('ImageFsInfo').length === rounds + 2 && clock.sleeping > 0);
  end.abort();
  await ended;
});

test('with a threshold of 100 percent and no maximum age no images are listed until the policy changes', async () => {
  const {collector, runtime, clock, rules, remaining} = await createFixture({
    policy: {highThresholdPercent: 100},
  });
  const end = new AbortController();
  const ended = collector.run(end.signal);
  await until(() => clock.sleeping > 0);
  await clock.advance(300_000);
  expect(runtime.callsTo('ListImages')).toEqual([]);
  rules.highThresholdPercent = 85;
  await clock.advance(300_000);
  await until(() => !remaining().includes('pulled-a') && clock.sleeping > 0);
  end.abort();
  await ended;
});
