import {expect, onTestFinished, test} from 'vitest';
import {connect} from '../../../../src/cri/index.js';
import {ImageCollector} from '../../../../src/kubelet/images/gc/image-collector.js';
import {DEFAULT_IMAGE_GC, type ImageGcPolicy} from '../../../../src/kubelet/images/gc/image-uses.js';
import {FilePullRecords} from '../../../../src/kubelet/images/records/pull-records.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {until} from '../../../base/until.js';
import {aContainer, anImage, aSandbox} from '../../../fakes/builders.js';
import {FakeRuntime} from '../../../fakes/fake-runtime.js';
import {ManualClock} from '../../../streaming/manual-clock.js';
import {fakeLogger} from '../../../base/fake-logger.js';

const {signal} = new AbortController();
const MB = 1_000_000;
/** The names of the images of a ground; each is of 10 MB. */
const NAMES = ['pulled-a', 'pulled-b', 'used', 'wanted', 'pinned', 'foreign'];
const nameOf = (name: string): string => `docker.io/library/${name}:1`;

interface Seed {
  readonly policy?: Partial<ImageGcPolicy>;
  /** How much of a disk of 100 MB is free. */
  readonly freeMb?: number;
}

/** A runtime with images of which all but `foreign` were pulled by kcri, an hour after they were first seen. */
async function aGround({policy, freeMb = 10}: Seed = {}) {
  const images = NAMES.map((name) => anImage({name: nameOf(name), size: 10 * MB, pinned: name === 'pinned'}));
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
  const clock = new ManualClock();
  const rootDir = await temporaryDirectory();
  const records = new FilePullRecords(rootDir, runtime.endpoint);
  const record = async (imageRef: string): Promise<void> => {
    const access = {nodePodsAccessible: true};
    await records.updatePulled(imageRef, () => ({
      lastUpdatedTime: '1969-12-31T00:00:00Z',
      imageRef,
      credentialMapping: {'docker.io/library/any': access},
    }));
  };
  await (await records.writeIntent('any'))[Symbol.asyncDispose]();
  for (const image of images) if (!image.repoTags.includes(nameOf('foreign'))) await record(image.id);
  const [told, logged]: [string[], string[]] = [[], []];
  const rules = {...DEFAULT_IMAGE_GC, minAgeMs: 0, ...policy};
  const collector = new ImageCollector(
    {
      ...connection,
      records,
      wanted: () => Promise.resolve(['wanted:1']),
      diskUsage: () =>
        Promise.resolve({capacityBytes: BigInt(100 * MB), availableBytes: BigInt(freeMb * MB)}),
      clock,
      logger: fakeLogger({
        info: () => undefined,
        error: (error, message) => void logged.push(`${message}: ${(error as Error).message}`),
      }),
      nodeWarning: (reason, message) => void told.push(`${reason}: ${message}`),
    },
    rules,
  );
  const left = (): readonly string[] =>
    NAMES.filter((name) => runtime.images.some(({repoTags}) => repoTags.includes(nameOf(name))));
  return {runtime, clock, rootDir, records, record, collector, rules, told, logged, left};
}

test('only what kcri has pulled itself and nothing uses goes when the disk is too full, and is recorded no more', async () => {
  const {collector, left, records, runtime, told} = await aGround();
  const gone = runtime.images.filter(({repoTags}) => repoTags.some((tag) => tag.includes('pulled-')));
  await collector.collect(signal);
  expect(left()).toEqual(['pulled-b', 'used', 'wanted', 'pinned', 'foreign']);
  expect(await records.pulledRefs()).not.toContain(gone[0]?.id);
  expect(await records.pulledRefs()).toContain(gone[1]?.id);
  expect(runtime.callsTo('RemoveImage').map(({request}) => request)).toMatchObject([
    {image: {image: gone[0]?.id}},
  ]);
  expect(told).toEqual([]);
});

test('that not enough could go is told, and nothing else is removed for it', async () => {
  const {collector, left, told} = await aGround({freeMb: 0});
  const message =
    "Insufficient free disk space on the node's image filesystem (100% of 95.4 MiB used). Failed to free sufficient space by deleting unused images (freed 20000000 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.";
  await expect(collector.collect(signal)).resolves.toBeUndefined();
  expect(left()).toEqual(['used', 'wanted', 'pinned', 'foreign']);
  const second = await aGround({freeMb: 0, policy: {lowThresholdPercent: 70}});
  await expect(second.collector.collect(signal)).rejects.toThrow(message);
  expect(second.left()).toEqual(['used', 'wanted', 'pinned', 'foreign']);
  expect(second.told).toEqual([`FreeDiskSpaceFailed: ${message}`]);
  expect(told).toEqual([]);
});

test('nothing goes while there is room, unless it is unused for too long', async () => {
  const {collector, left, clock} = await aGround({freeMb: 50, policy: {maxAgeMs: 3_600_000}});
  await collector.collect(signal);
  await clock.advance(3_600_000);
  await collector.collect(signal);
  expect(left()).toEqual(NAMES);
  await clock.advance(1);
  await collector.collect(signal);
  expect(left()).toEqual(['used', 'wanted', 'pinned', 'foreign']);
});

test('nothing goes when another runtime has pulled for the same root directory', async () => {
  const {collector, left, rootDir} = await aGround({freeMb: 0});
  await (
    await new FilePullRecords(rootDir, 'unix:///run/other.sock').writeIntent('any')
  )[Symbol.asyncDispose]();
  await expect(collector.collect(signal)).rejects.toThrow('freed 0 bytes');
  expect(left()).toEqual(NAMES);
});

test('nothing goes when it is not known what containers use', async () => {
  const {collector, left, runtime} = await aGround({freeMb: 0});
  runtime.injectError('ContainerStatus', {code: 'UNKNOWN', message: 'busy'});
  await expect(collector.collect(signal)).rejects.toThrow('busy');
  expect(left()).toEqual(NAMES);
});

test('a pull of an image that is gone is forgotten, also when nothing has to go', async () => {
  const {collector, records, record, clock} = await aGround({freeMb: 50});
  await record('sha256:gone');
  await clock.advance(1000);
  await collector.collect(signal);
  expect([...((await records.pulledRefs()) ?? [])]).toHaveLength(5);
});

test('images are looked after every five minutes; from the second failure on a node event tells of it', async () => {
  const {collector, runtime, clock, logged, told} = await aGround();
  runtime.injectError('ListImages', {code: 'UNKNOWN', message: 'busy'});
  const end = new AbortController();
  const ended = collector.run(end.signal);
  await until(() => clock.sleeping > 0);
  expect([logged.length, told]).toEqual([1, []]);
  await clock.advance(300_000);
  await until(() => clock.sleeping > 0);
  expect(logged.at(-1)).toMatch(/^Image garbage collection failed multiple times in a row: .*busy$/);
  expect(told).toEqual([expect.stringMatching(/^ImageGCFailed: .*busy$/)]);
  end.abort();
  await ended;
});

test('who asks gets a round at once, and another one when one is under way', async () => {
  const {collector, runtime, clock, rules, left} = await aGround({policy: {highThresholdPercent: 95}});
  const end = new AbortController();
  const ended = collector.run(end.signal);
  await until(() => clock.sleeping > 0);
  expect(left()).toEqual(NAMES);
  rules.highThresholdPercent = 85;
  collector.ask();
  await until(() => !left().includes('pulled-a') && clock.sleeping > 0);
  const rounds = runtime.callsTo('ImageFsInfo').length;
  runtime.injectDelay('ImageFsInfo', 50, {times: 1});
  collector.ask();
  await until(() => runtime.callsTo('ImageFsInfo').length === rounds + 1);
  collector.ask();
  await until(() => runtime.callsTo('ImageFsInfo').length === rounds + 2 && clock.sleeping > 0);
  end.abort();
  await ended;
});

test('with a threshold of 100 percent and no age nothing is looked at, until that changes', async () => {
  const {collector, runtime, clock, rules, left} = await aGround({policy: {highThresholdPercent: 100}});
  const end = new AbortController();
  const ended = collector.run(end.signal);
  await until(() => clock.sleeping > 0);
  await clock.advance(300_000);
  expect(runtime.callsTo('ListImages')).toEqual([]);
  rules.highThresholdPercent = 85;
  await clock.advance(300_000);
  await until(() => !left().includes('pulled-a') && clock.sleeping > 0);
  end.abort();
  await ended;
});
