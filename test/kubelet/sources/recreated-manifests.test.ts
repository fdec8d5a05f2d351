import {renameSync, unlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {InotifyWatch} from '../../../src/kubelet/sources/inotify-watch.js';
import {ManifestFiles, type ManifestFileContent} from '../../../src/kubelet/sources/manifest-files.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {aDirectory, advanceLists, followPath} from './manifest-directory.js';
import {podManifest, prepareOnNode, type RunningSource} from './run-source.js';

const TEXT = podManifest('a');

/** Returns the names of the pods of all sets. */
function history({sets}: RunningSource): readonly (readonly (string | undefined)[])[] {
  return sets.map(({pods}) => pods.map(({pod}) => pod.metadata.name));
}

test.each<[string, (path: string, elsewhere: string) => void]>([
  [
    'deleted and written again',
    (path) => {
      unlinkSync(path);
      writeFileSync(path, TEXT);
    },
  ],
  [
    'moved away and back',
    (path, elsewhere) => {
      renameSync(path, elsewhere);
      renameSync(elsewhere, path);
    },
  ],
  [
    'deleted, with another one moved to its name',
    (path, elsewhere) => {
      writeFileSync(elsewhere, TEXT);
      unlinkSync(path);
      renameSync(elsewhere, path);
    },
  ],
])('a pod whose unchanged file is %s at once is removed and added', async (_, change) => {
  const {path} = await aDirectory({'a.yaml': TEXT, 'b.yaml': podManifest('b')});
  const followed = followPath(path);
  await followed.untilNames('a-node1', 'b-node1');
  const uids = followed.uids();
  change(join(path, 'a.yaml'), join(await temporaryDirectory(), 'a.yaml'));
  await until(() => followed.sets.length >= 3);
  const both = ['a-node1', 'b-node1'];
  expect(history(followed)).toEqual([both, ['b-node1'], both]);
  expect(followed.uids()).toEqual(uids);
  expect(followed.messages()).toEqual([]);
});

test('several files that are deleted and then written again are all removed and added', async () => {
  const {path} = await aDirectory({'a.yaml': TEXT, 'b.yaml': podManifest('b')});
  const followed = followPath(path);
  await followed.untilNames('a-node1', 'b-node1');
  for (const name of ['b', 'a']) unlinkSync(join(path, `${name}.yaml`));
  for (const name of ['a', 'b']) writeFileSync(join(path, `${name}.yaml`), podManifest(name));
  await until(() => followed.sets.length >= 3);
  expect(history(followed).slice(0, 3)).toEqual([['a-node1', 'b-node1'], [], ['a-node1', 'b-node1']]);
});

test.each<[string, (path: string) => void]>([
  [
    'replaced by a renamed one',
    (path) => {
      writeFileSync(join(path, '..', '.a.tmp'), TEXT);
      renameSync(join(path, '..', '.a.tmp'), path);
    },
  ],
  [
    'overwritten',
    (path) => {
      writeFileSync(path, TEXT);
    },
  ],
])('a pod whose file is %s with the same content remains', async (_, change) => {
  const directory = await aDirectory({'a.yaml': TEXT});
  const followed = followPath(directory.path);
  await followed.untilNames('a-node1');
  change(join(directory.path, 'a.yaml'));
  await directory.write('z.yaml', podManifest('z'));
  await followed.untilNames('a-node1', 'z-node1');
  expect(history(followed).every((names) => names.includes('a-node1'))).toBe(true);
});

test('the pod of a single manifest file is removed and added as well', async () => {
  const path = join(await temporaryDirectory(), 'pod.yaml');
  writeFileSync(path, TEXT);
  const followed = followPath(path);
  await followed.untilNames('a-node1');
  unlinkSync(path);
  writeFileSync(path, TEXT);
  await until(() => followed.sets.length >= 3);
  expect(history(followed)).toEqual([['a-node1'], [], ['a-node1']]);
});

test('without inotify, a file that was written again between two lists is unchanged, as with a kubelet', async () => {
  const opened = vi
    .spyOn(InotifyWatch, 'open')
    .mockRejectedValue(Object.assign(new Error('ENOSPC'), {errno: -28, syscall: 'watch', code: 'ENOSPC'}));
  onTestFinished(() => {
    opened.mockRestore();
  });
  const clock = new FakeClock();
  const {path} = await aDirectory({'a.yaml': TEXT});
  const followed = followPath(path, {clock, checkFrequencyMs: 20_000});
  await followed.untilNames('a-node1');
  unlinkSync(join(path, 'a.yaml'));
  writeFileSync(join(path, 'a.yaml'), TEXT);
  await advanceLists(clock, 2);
  writeFileSync(join(path, 'z.yaml'), podManifest('z'));
  await advanceLists(clock, 1);
  await followed.untilNames('a-node1', 'z-node1');
  expect(history(followed).every((names) => names.includes('a-node1'))).toBe(true);
});

/** One read: the identity of the file that was found, and the changes of its entry before that. */
type Read = readonly [identity: string, entryChanges: number];

test.each<[string, readonly Read[], boolean]>([
  ['replaced once', [['2', 1]], false],
  [
    'replaced twice',
    [
      ['2', 1],
      ['3', 1],
    ],
    false,
  ],
  [
    'replaced after its creation was reported late',
    [
      ['1', 1],
      ['2', 1],
    ],
    false,
  ],
  [
    'found again before its creation was reported',
    [
      ['2', 1],
      ['2', 1],
    ],
    true,
  ],
  [
    'written again twice',
    [
      ['2', 2],
      ['3', 2],
    ],
    true,
  ],
  ['replaced without a report', [['2', 0]], false],
])('a file that was %s', (_, reads, isRecreated) => {
  const files = new ManifestFiles({
    prepare: prepareOnNode,
    acceptsWorkloads: false,
    report: () => undefined,
  });
  const content = (identity: string): ManifestFileContent => ({
    kind: 'text',
    text: TEXT,
    stamp: identity,
    identity,
    isConfirmed: true,
  });
  files.put('a.yaml', content('1'), {isSettled: true});
  files.refresh('list');
  const sets = reads.flatMap(([identity, entryChanges]) => {
    files.put('a.yaml', content(identity), {entryChanges});
    return files.refresh('change').map(({pods}) => pods.length);
  });
  expect(sets.includes(0)).toBe(isRecreated);
  expect(sets.at(-1) ?? 1).toBe(1);
});
