import {mkdir, readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {podUid} from '../../../src/cri/index.js';
import type {PodEvent} from '../../../src/kubelet/container/events.js';
import {PodHistories} from '../../../src/kubelet/events/pod-history.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aLocalPod} from '../pod-ground.js';

const UID = podUid('u1');
const EVENT: PodEvent = {type: 'Normal', reason: 'Pulled', message: 'pulled', pod: aLocalPod()};
const KNOWN = {status: {phase: 'Running'}, reasons: {}} as const;

const refuse = (error: unknown): never => {
  throw error;
};

test('events and the status are read back, by another process too', async () => {
  const rootDir = await temporaryDirectory();
  const history = new PodHistories(rootDir, systemClock).of(UID, refuse);
  history.event(EVENT);
  history.event(EVENT);
  history.remember(KNOWN);
  await history.settled();
  const others = new PodHistories(rootDir, systemClock);
  expect(await others.events(UID)).toMatchObject([{reason: 'Pulled', count: 2}]);
  expect(await others.lastKnown(UID)).toMatchObject(KNOWN);
});

test('only root reads them, and nothing of the Pod is in the events', async () => {
  const rootDir = await temporaryDirectory();
  const history = new PodHistories(rootDir, systemClock).of(UID, refuse);
  history.event(EVENT);
  history.remember(KNOWN);
  await history.settled();
  for (const name of ['events', 'statuses']) {
    expect((await stat(join(rootDir, name))).mode & 0o777).toBe(0o700);
    expect((await stat(join(rootDir, name, 'u1.json'))).mode & 0o777).toBe(0o600);
  }
  expect(await readFile(join(rootDir, 'events', 'u1.json'), 'utf8')).not.toContain('spec');
});

test('deleting removes both, and what a killed kcri left half written', async () => {
  const rootDir = await temporaryDirectory();
  const histories = new PodHistories(rootDir, systemClock);
  const history = histories.of(UID, refuse);
  history.event(EVENT);
  history.remember(KNOWN);
  await history.settled();
  await writeFile(join(rootDir, 'events', '.u1.json.0a1b2c.tmp'), 'half');
  await histories.delete(UID);
  expect([await readdir(join(rootDir, 'events')), await readdir(join(rootDir, 'statuses'))]).toEqual([
    [],
    [],
  ]);
  await histories.delete(UID);
});

test.each(['not json', '[]', 'null', '{"version":2,"events":[]}', '{"version":1,"events":{}}'])(
  'events that read %s count as none, and new ones replace them',
  async (text) => {
    const rootDir = await temporaryDirectory();
    await mkdir(join(rootDir, 'events'));
    await writeFile(join(rootDir, 'events', 'u1.json'), text);
    const histories = new PodHistories(rootDir, systemClock);
    expect(await histories.events(UID)).toEqual([]);
    const history = histories.of(UID, refuse);
    history.event(EVENT);
    await history.settled();
    expect(await histories.events(UID)).toHaveLength(1);
  },
);

test('what can not be written is told once and keeps nobody', async () => {
  const rootDir = join(await temporaryDirectory(), 'root');
  await writeFile(rootDir, 'a file in the place of the directory');
  const failures: unknown[] = [];
  const history = new PodHistories(rootDir, systemClock).of(UID, (error) => failures.push(error));
  history.event(EVENT);
  await history.settled();
  history.remember(KNOWN);
  await history.settled();
  expect(failures).toHaveLength(1);
  expect(String(failures[0])).toContain('not a directory');
});

test('a UID that climbs out of the directory is refused', async () => {
  const histories = new PodHistories(await temporaryDirectory(), systemClock);
  await expect(histories.events(podUid('../u1'))).rejects.toThrow("can't be the name of a file");
});
