import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {appendFile, mkdir, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {podUid} from '../../../../src/cri/index.js';
import type {PodEvent} from '../../../../src/kubelet/contract/pod-event.js';
import {MAX_ADDED} from '../../../../src/kubelet/pods/history/history-writer.js';
import {PodHistories} from '../../../../src/kubelet/pods/history/pod-history.js';
import {countFileRequests} from '../../../base/count-file-requests.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {until} from '../../../base/until.js';
import {ABANDONED_FILE} from '../../../base/abandoned-file.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aLocalPod} from '../registry-testbed.js';

const UID = podUid('u1');
const EVENT: PodEvent = {type: 'Normal', reason: 'Pulled', message: 'pulled', pod: aLocalPod()};
const KNOWN = {status: {phase: 'Running'}, reasons: {}} as const;

const rethrow = (error: unknown): never => {
  throw error;
};

test('events and status are read back by the same and by another process', async () => {
  const rootDir = await temporaryDirectory();
  const history = new PodHistories(rootDir, systemClock).of(UID, rethrow);
  history.event(EVENT);
  history.event(EVENT);
  history.remember(KNOWN);
  await history.flush();
  const another = new PodHistories(rootDir, systemClock);
  expect(await another.events(UID)).toMatchObject([{reason: 'Pulled', count: 2}]);
  expect(await another.lastKnown(UID)).toMatchObject(KNOWN);
});

test('the files are readable by root only, and the events do not contain the Pod', async () => {
  const rootDir = await temporaryDirectory();
  const history = new PodHistories(rootDir, systemClock).of(UID, rethrow);
  history.event(EVENT);
  history.remember(KNOWN);
  await history.flush();
  for (const name of ['kcri/events', 'kcri/statuses']) {
    expect((await stat(join(rootDir, name))).mode & 0o777).toBe(0o700);
    expect((await stat(join(rootDir, name, 'u1.json'))).mode & 0o777).toBe(0o600);
  }
  expect(await readFile(join(rootDir, 'kcri/events', 'u1.json'), 'utf8')).not.toContain('spec');
});

test('deleting removes both files and temporary files of an interrupted write', async () => {
  const rootDir = await temporaryDirectory();
  const histories = new PodHistories(rootDir, systemClock);
  const history = histories.of(UID, rethrow);
  history.event(EVENT);
  history.remember(KNOWN);
  await history.flush();
  await writeFile(join(rootDir, 'kcri/events', ABANDONED_FILE), 'half');
  await histories.delete(UID);
  expect([
    await readdir(join(rootDir, 'kcri/events')),
    await readdir(join(rootDir, 'kcri/statuses')),
  ]).toEqual([[], []]);
  await histories.delete(UID);
});

test.each(['', 'not json', '[]', 'null', '{"version":2,"events":[]}', '{"version":1,"events":{}}'])(
  'an events file with the content %s is treated as empty and is replaced by the next event',
  async (text) => {
    const rootDir = await temporaryDirectory();
    await mkdir(join(rootDir, 'kcri/events'), {recursive: true});
    await writeFile(join(rootDir, 'kcri/events', 'u1.json'), text);
    const histories = new PodHistories(rootDir, systemClock);
    expect(await histories.events(UID)).toEqual([]);
    const history = histories.of(UID, rethrow);
    history.event(EVENT);
    await history.flush();
    expect(await histories.events(UID)).toHaveLength(1);
  },
);

test('events are appended to the file until there are so many that they are merged', async () => {
  const rootDir = await temporaryDirectory();
  const file = join(rootDir, 'kcri/events', 'u1.json');
  const history = new PodHistories(rootDir, systemClock).of(UID, rethrow);
  const happen = async (): Promise<string> => {
    history.event(EVENT);
    await history.flush();
    const {ino, size} = await stat(file);
    return `${ino}:${size}`;
  };
  const states = [];
  for (let count = 0; count < MAX_ADDED + 2; count += 1) states.push(await happen());
  const files = [...new Set(states.map((state) => state.split(':')[0]))];
  expect(files).toHaveLength(2);
  const sizes = states.map((state) => Number(state.split(':')[1]));
  expect(sizes.slice(0, -1)).toEqual(sizes.slice(0, -1).toSorted((a, b) => a - b));
  expect(sizes.at(-1)).toBeLessThan(300);
  expect(await new PodHistories(rootDir, systemClock).events(UID)).toMatchObject([{count: MAX_ADDED + 2}]);
});

test('an event cut off by a kill is ignored and does not affect other events', async () => {
  const rootDir = await temporaryDirectory();
  const file = join(rootDir, 'kcri/events', 'u1.json');
  const before = new PodHistories(rootDir, systemClock).of(UID, rethrow);
  for (const reason of ['Pulled', 'Created']) {
    before.event({...EVENT, reason});
    await before.flush();
  }
  await appendFile(file, '{"at":5,"type":"Nor');
  const histories = new PodHistories(rootDir, systemClock);
  expect((await histories.events(UID)).map(({reason}) => reason)).toEqual(['Pulled', 'Created']);
  const after = histories.of(UID, rethrow);
  after.event({...EVENT, reason: 'Started'});
  await after.flush();
  expect((await histories.events(UID)).map(({reason}) => reason)).toEqual(['Pulled', 'Created', 'Started']);
});

test('a failed write is reported once and does not block', async () => {
  const rootDir = join(await temporaryDirectory(), 'root');
  await writeFile(rootDir, 'a file in the place of the directory');
  const failures: unknown[] = [];
  const history = new PodHistories(rootDir, systemClock).of(UID, (error) => failures.push(error));
  history.event(EVENT);
  await history.flush();
  history.remember(KNOWN);
  await history.flush();
  expect(failures).toHaveLength(1);
  expect(String(failures[0])).toContain('not a directory');
});

test('a failed write is retried later, and the next failure is reported again', async () => {
  const rootDir = join(await temporaryDirectory(), 'root');
  const failures: unknown[] = [];
  const histories = new PodHistories(rootDir, systemClock);
  const history = histories.of(UID, (error) => failures.push(error));
  for (let round = 1; round <= 2; round += 1) {
    await writeFile(rootDir, 'a file in the place of the directory');
    for (const reason of ['Pulled', 'Created']) {
      history.event({...EVENT, reason});
      history.remember(KNOWN);
      await history.flush();
    }
    expect(failures).toHaveLength(round);
    await rm(rootDir);
    await history.flush();
    expect((await histories.events(UID)).map(({reason}) => reason)).toEqual(['Pulled', 'Created']);
    expect(await histories.lastKnown(UID)).toMatchObject(KNOWN);
    await rm(rootDir, {recursive: true});
  }
});

/** Mounting requires root. */
test.skipIf(process.getuid?.() !== 0)(
  'a disk that fills up while an event is appended keeps no part of it (needs root)',
  async () => {
    const rootDir = await temporaryDirectory();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', rootDir]);
    onTestFinished(() => {
      execFileSync('umount', [rootDir]);
    });
    const failures: unknown[] = [];
    const histories = new PodHistories(rootDir, systemClock);
    const history = histories.of(UID, (error) => failures.push(error));
    history.event(EVENT);
    await history.flush();
    const ballast = join(rootDir, 'ballast');
    await expect(writeFile(ballast, Buffer.alloc(65_536))).rejects.toThrow('ENOSPC');
    const size = async (): Promise<number> => (await stat(join(rootDir, 'kcri/events', 'u1.json'))).size;
    const before = await size();
    history.event({...EVENT, reason: 'Long', message: 'x'.repeat(8000)});
    await history.flush();
    expect(await size()).toBe(before);
    expect(failures.map(String).join()).toContain('no space left on device');
    await rm(ballast);
    await history.flush();
    expect(await histories.events(UID)).toMatchObject([{reason: 'Pulled'}, {reason: 'Long', count: 1}]);
  },
);

/** Time in which what is recorded is gathered, in ms. */
const GATHER_MS = 1000;

test('what happens to a new pod within a second takes six calls on files, and one to know that it is new', async () => {
  const rootDir = await temporaryDirectory();
  const clock = new FakeClock();
  const histories = new PodHistories(rootDir, clock);
  // The directories exist.
  const first = histories.of(podUid('u0'), rethrow);
  first.event(EVENT);
  first.remember(KNOWN);
  await first.flush();
  using requests = countFileRequests();
  const history = histories.of(UID, rethrow);
  expect(await history.lastKnown()).toBeUndefined();
  for (const reason of ['Pulled', 'Created', 'Started']) {
    history.event({...EVENT, reason});
    history.remember({...KNOWN, status: {phase: 'Running', message: reason}});
    await clock.advance(0);
    await clock.advance(GATHER_MS / 4);
  }
  const file = join(rootDir, 'kcri/events', `${UID}.json`);
  expect(existsSync(file)).toBe(false);
  await clock.advance(GATHER_MS / 4);
  await until(() => existsSync(file));
  await history.flush();
  // Each file is opened and written. A file that is absent is not looked for by another thread.
  expect(requests.count).toBe(2 * 2);
  expect((await histories.events(UID)).map(({reason}) => reason)).toEqual(['Pulled', 'Created', 'Started']);
  expect(await histories.lastKnown(UID)).toMatchObject({status: {message: 'Started'}});
});

test.each([
  {...KNOWN, status: {phase: 'Failed'} as const},
  {...KNOWN, deletion: {deletionTimestamp: '2026-05-01T12:00:00Z', deletionGracePeriodSeconds: 0}},
])('the status of a pod that has ended or is being deleted is written at once', async (known) => {
  const rootDir = await temporaryDirectory();
  const clock = new FakeClock();
  const histories = new PodHistories(rootDir, clock);
  const history = histories.of(UID, rethrow);
  history.remember(KNOWN);
  history.remember(known);
  await until(async () => (await histories.lastKnown(UID)) !== undefined);
  expect(await histories.lastKnown(UID)).toMatchObject(known);
  expect(clock.now()).toBe(0);
});

test('nothing of a deleted pod is written that was recorded before', async () => {
  const rootDir = await temporaryDirectory();
  const clock = new FakeClock();
  const histories = new PodHistories(rootDir, clock);
  const [history, other] = [histories.of(UID, rethrow), histories.of(podUid('u2'), rethrow)];
  for (const each of [history, other]) {
    each.event(EVENT);
    each.remember(KNOWN);
    each.volume({step: 'Mounted', volume: {name: 'data', volume: 'data', plugin: 'p', path: '/p'}, ms: 1});
  }
  await histories.delete(UID);
  await clock.advance(GATHER_MS);
  await history.flush();
  await other.flush();
  for (const name of ['events', 'statuses', 'mounts'])
    expect(await readdir(join(rootDir, 'kcri', name))).toEqual(['u2.json']);
});

test('a UID with a path outside the directory is rejected', async () => {
  const histories = new PodHistories(await temporaryDirectory(), systemClock);
  await expect(histories.events(podUid('../u1'))).rejects.toThrow('cannot be a file name');
});
