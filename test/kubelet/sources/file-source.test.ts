import {execFile} from 'node:child_process';
import {mkdir, rename, rm, symlink, unlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {FileSource} from '../../../src/kubelet/sources/file-source.js';
import {ALIAS_BOMBS} from '../../api/decoding/alias-bombs.js';
import {DEPLOYMENT_POD} from '../../api/exported/exported-pods.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {aDirectory, advanceLists, advanceUntil, followPath, NEVER_MS} from './manifest-directory.js';
import {configMapManifest, podManifest, prepareOnNode, runSource, type RunningSource} from './run-source.js';

describe('a directory', () => {
  test('files are read in the order of their names with any extension; hidden files and directories are ignored', async () => {
    const directory = await aDirectory({
      'b.bak': podManifest('b'),
      'a.yaml': podManifest('a'),
      '.c.yaml.swp': 'half',
    });
    await mkdir(join(directory.path, 'sub'));
    await writeFile(join(directory.path, 'sub', 'd.yaml'), podManifest('d'));
    const followed = followPath(`${directory.path}//`);
    await followed.untilNames('a-node1', 'b-node1');
    expect(followed.messages()).toEqual([
      'Provided manifest path is a directory, not recursing into manifest path',
    ]);
    expect(followed.reports[0]?.fields).toEqual({path: join(directory.path, 'sub')});
    expect(followed.sets[0]?.pods[0]?.origin).toBe(join(directory.path, 'a.yaml'));
  });

  test('a pod exported from an API server runs, and what the server added is reported once', async () => {
    const {path} = await aDirectory({'web.yaml': DEPLOYMENT_POD.exported});
    const followed = followPath(path);
    await followed.untilNames('web-6d4cf56db6-x7k2p-node1');
    const removed: unknown = expect.stringContaining('metadata.uid, ');
    expect(followed.reports).toMatchObject([{level: 'info', fields: {removed}}]);
    expect(followed.sets[0]?.pods[0]?.uid).toMatch(/^[0-9a-f]{32}$/);
  });

  test.each(Object.entries(ALIAS_BOMBS))('an alias bomb does not affect other files: %s', async (_, bomb) => {
    const {path} = await aDirectory({'a.yaml': `${podManifest('a')}${bomb}`, 'b.yaml': podManifest('b')});
    const followed = followPath(path);
    await followed.untilNames('b-node1');
    await followed.untilReported(1);
    expect(followed.messages()).toEqual([
      expect.stringMatching(/a\.yaml: .*(nested too deeply|excessive aliasing)/),
    ]);
  });

  test.each([-7_200_000, 7_200_000])(
    'is read periodically after the clock jumps by %d ms',
    async (jumpMs) => {
      const clock = new FakeClock({nowMs: 86_400_000});
      const path = join(await temporaryDirectory(), 'later');
      const followed = followPath(path, {clock, checkFrequencyMs: 20_000});
      await followed.untilNames();
      await until(() => clock.sleeping > 0);
      clock.jump(jumpMs);
      await mkdir(path);
      await writeFile(join(path, 'a.yaml'), podManifest('a'));
      await until(async () => {
        await clock.advance(1000);
        return followed.names()?.includes('a-node1') === true;
      });
      expect(clock.sleeps.every((ms) => ms <= 20_000)).toBe(true);
    },
  );

  test('an empty directory is one set without pods', async () => {
    const {path} = await aDirectory();
    const followed = followPath(path);
    await followed.untilNames();
    expect(followed.sets).toHaveLength(1);
  });

  test('added, changed, renamed and removed files are noticed', async () => {
    const {path, write} = await aDirectory();
    const followed = followPath(path);
    await followed.untilNames();
    await write('a.yaml', podManifest('a'));
    await followed.untilNames('a-node1');
    const [first] = followed.uids();
    await write('a.yaml', podManifest('a', '  hostname: h\n'));
    await until(() => followed.uids().length === 1 && followed.uids()[0] !== first);
    await writeFile(join(path, '.tmp'), podManifest('z'));
    await rename(join(path, '.tmp'), join(path, 'a.yaml'));
    await followed.untilNames('z-node1');
    await rename(join(path, 'a.yaml'), join(path, 'b.yaml'));
    await unlink(join(path, 'b.yaml'));
    await followed.untilNames();
    expect(followed.messages()).toEqual([]);
  });

  test('the last of a thousand edits in a second takes effect', async () => {
    const {path, write} = await aDirectory(
      Object.fromEntries(Array.from({length: 50}, (_, index) => [`${index}.yaml`, podManifest(`p${index}`)])),
    );
    const followed = followPath(path);
    await followed.untilNames(...expectedNames(50));
    for (let edit = 0; edit < 1000; edit += 1)
      await write(`${edit % 50}.yaml`, podManifest(`p${edit % 50}`, `  hostname: h${edit}\n`));
    await write('last.yaml', podManifest('last'));
    await followed.untilNames(...expectedNames(50), 'last-node1');
    const hostnames = followed.sets.at(-1)?.pods.map(({pod}) => pod.spec.hostname);
    expect(hostnames?.filter((name) => name !== undefined)).toHaveLength(50);
    expect(hostnames).toContain('h999');
    expect(followed.sets.length).toBeLessThan(500);
  });
});

/** Returns `p0-node1`, … in the order of the file names. */
function expectedNames(count: number): readonly string[] {
  return Array.from({length: count}, (_, index) => `${index}.yaml`)
    .sort()
    .map((name) => `p${name.replace('.yaml', '')}-node1`);
}

describe('an invalid manifest', () => {
  const invalid = podManifest('a').replace('{name: main, image: busybox}', '{image: busybox}');

  test('at the start is reported with its position; other manifests are not affected', async () => {
    const {path} = await aDirectory({'a.yaml': invalid, 'b.yaml': podManifest('b')});
    const followed = followPath(path);
    await followed.untilNames('b-node1');
    expect(followed.messages()).toEqual([
      'Could not process manifest file: invalid pod: [spec.containers[0].name: Required value]',
    ]);
    expect(followed.reports[0]).toMatchObject({
      level: 'error',
      verbosity: 0,
      fields: {path: join(path, 'a.yaml')},
      issues: [{file: join(path, 'a.yaml'), line: 7, column: 5}],
    });
  });

  test("that is added is reported with the kubelet's message", async () => {
    const {path, write} = await aDirectory();
    const followed = followPath(path);
    await followed.untilNames();
    await write('a.yaml', invalid);
    await followed.untilReported(1);
    expect(followed.messages()).toEqual([
      `Unable to process watch event: can't process config file "${path}/a.yaml": invalid pod: [spec.containers[0].name: Required value]`,
    ]);
  });

  test('is reported once, and again after it has changed', async () => {
    const clock = new FakeClock();
    const {path, write} = await aDirectory({'a.yaml': invalid});
    const followed = followPath(path, {clock, checkFrequencyMs: 20_000});
    await followed.untilReported(1);
    await advanceLists(clock, 3);
    expect(followed.messages()).toHaveLength(1);
    await write('a.yaml', invalid.replace('image: busybox', 'image: busybox, stdin: 7'));
    await advanceLists(clock, 3);
    await followed.untilReported(2);
    expect(followed.messages()[1]).toMatch(/couldn't parse as pod\(.*stdin.*\), please check config file$/);
    await advanceLists(clock, 2);
    expect(followed.messages()).toHaveLength(2);
  });

  test('does not replace the pod of its previous version until the next list', async () => {
    const clock = new FakeClock();
    const {path, write} = await aDirectory({'a.yaml': podManifest('a')});
    const followed = followPath(path, {clock, checkFrequencyMs: 20_000});
    await followed.untilNames('a-node1');
    await write('a.yaml', 'kind: [');
    await advanceUntil(clock, 1000, () => followed.reports.length > 0);
    expect(followed.names()).toEqual(['a-node1']);
    await advanceLists(clock, 1);
    await followed.untilNames();
    expect(followed.messages()).toHaveLength(1);
  });

  test('that is half written is not reported', async () => {
    const clock = new FakeClock();
    const {path, write} = await aDirectory();
    const followed = followPath(path, {clock, checkFrequencyMs: 20_000});
    await followed.untilNames();
    await write('a.yaml', podManifest('a').slice(0, 40));
    await advanceUntil(clock, 100, () => false);
    await write('a.yaml', podManifest('a'));
    await advanceUntil(clock, 1000, () => followed.names()?.length === 1);
    expect(followed.messages()).toEqual([]);
  });

  test.each<[string, string, RegExp]>([
    ['an empty file', '', /couldn't parse as pod\(no Pod in /],
    ['invalid YAML', 'a: b: c', /couldn't parse as pod\(yaml: /],
    [
      'another kind',
      'apiVersion: v1\nkind: Service\n',
      /couldn't parse as pod\(kind: Unsupported value: "Service"/,
    ],
    ['no name', podManifest('""'), /invalid pod: name is needed for the pod$/],
    [
      'a name that is invalid together with the node name',
      podManifest('Bad_Name'),
      /invalid pod: \[metadata\.name: Invalid value: "Bad_Name-node1": a lowercase/,
    ],
    [
      'references that need an API server',
      podManifest('a', '  volumes: [{name: c, configMap: {name: x}}]\n'),
      /: static pods may not reference configmaps$/,
    ],
    [
      'a field that kcri does not support',
      podManifest('a', '  schedulingGates: [{name: g}]\n'),
      /invalid pod: \[spec.schedulingGates: Forbidden: not supported by kcri: /,
    ],
  ])('is reported: %s', async (_title, text, expected) => {
    const {path} = await aDirectory({'a.yaml': text});
    const followed = followPath(path);
    await followed.untilNames();
    expect(followed.messages()).toEqual([expect.stringMatching(expected)]);
  });

  test('unknown fields are only a warning, and the pod runs', async () => {
    const {path} = await aDirectory({'a.yaml': podManifest('a', '  nosuchfield: 1\n')});
    const followed = followPath(path);
    await followed.untilNames('a-node1');
    expect(followed.reports).toMatchObject([{level: 'warning', issues: [{line: 8}]}]);
  });

  test('fields that only the daemon supports, such as deadlines, are valid', async () => {
    const {path} = await aDirectory({
      'a.yaml': podManifest('a', '  activeDeadlineSeconds: 5\n'),
    });
    await followPath(path).untilNames('a-node1');
  });

  test('a second Pod in a file is reported, and the first runs', async () => {
    const {path} = await aDirectory({'a.yaml': `${podManifest('a')}---\n${podManifest('b')}`});
    const followed = followPath(path);
    await followed.untilNames('a-node1');
    expect(followed.reports).toMatchObject([
      {error: expect.stringContaining('only the first Pod') as string, issues: [{line: 9}]},
    ]);
  });
});

describe('entries that are not manifests', () => {
  test('FIFOs and devices are not opened, dangling links are reported', async () => {
    const {path} = await aDirectory({'b.yaml': podManifest('b')});
    await promisify(execFile)('mkfifo', [join(path, 'a.fifo')]);
    await symlink('/dev/zero', join(path, 'zero'));
    await symlink('/nowhere/at/all', join(path, 'link'));
    const followed = followPath(path);
    await followed.untilNames('b-node1');
    expect(followed.messages().toSorted()).toEqual([
      `Could not get metadata: stat ${path}/link: no such file or directory`,
      'Manifest path is not a directory or file',
      'Manifest path is not a directory or file',
    ]);
  });

  test('a file of more than 10 MiB is not read', async () => {
    const {path} = await aDirectory({
      'a.yaml': `${podManifest('a')}#${'x'.repeat(10 * 1024 * 1024)}`,
    });
    const followed = followPath(path);
    await followed.untilNames();
    expect(followed.messages()).toEqual([
      `Could not process manifest file: "${path}/a.yaml" is larger than 10 MiB`,
    ]);
  });
});

describe('two files with the same pod', () => {
  test('the last by name takes precedence, the other is reported and runs once the last is removed', async () => {
    const {path} = await aDirectory({'a.yaml': podManifest('a'), 'b.yaml': podManifest('a')});
    const followed = followPath(path);
    await followed.untilNames('a-node1');
    expect(followed.sets[0]?.pods[0]?.origin).toBe(join(path, 'b.yaml'));
    expect(followed.messages()).toEqual([
      `Could not process manifest file: Pod/default/a-node1 is also defined in ${path}/b.yaml:1, which takes precedence`,
    ]);
    expect(followed.reports[0]?.issues).toMatchObject([{file: join(path, 'a.yaml'), line: 1}]);
    await unlink(join(path, 'b.yaml'));
    await until(() => followed.sets.at(-1)?.pods[0]?.origin === join(path, 'a.yaml'));
  });
});

describe('objects that pods refer to', () => {
  const reader = podManifest('a', '  volumes: [{name: c, configMap: {name: settings}}]\n');

  test('are part of the set, from their own file or that of the Pod', async () => {
    const {path} = await aDirectory({
      'a.yaml': `${configMapManifest('settings', '"1"')}---\n${reader}`,
      'b.yaml': configMapManifest('other', '"2"'),
    });
    const followed = followPath(path);
    await followed.untilNames('a-node1');
    expect(followed.messages()).toEqual([]);
    expect(followed.sets[0]?.objects.map(({metadata}) => metadata.name)).toEqual(['settings', 'other']);
  });

  test('start the pod when they are added; the pod remains when they change or are removed', async () => {
    const {path, write} = await aDirectory({'a.yaml': reader});
    const followed = followPath(path);
    await followed.untilReported(1);
    expect(followed.names()).toEqual([]);
    await write('c.yaml', configMapManifest('settings', '"1"'));
    await followed.untilNames('a-node1');
    const uids = followed.uids();
    await write('c.yaml', configMapManifest('settings', '"2"'));
    await until(() => dataOf(followed) === '2');
    await unlink(join(path, 'c.yaml'));
    await until(() => followed.sets.at(-1)?.objects.length === 0);
    expect(followed.uids()).toEqual(uids);
  });

  test('do not change while their file is invalid', async () => {
    const clock = new FakeClock();
    const {path, write} = await aDirectory({
      'a.yaml': reader,
      'c.yaml': configMapManifest('settings', '"1"'),
    });
    const followed = followPath(path, {clock, checkFrequencyMs: 20_000});
    await followed.untilNames('a-node1');
    await write('c.yaml', configMapManifest('settings', '"2"').replace('data', 'data: ['));
    await advanceLists(clock, 3);
    expect([followed.names(), dataOf(followed), followed.messages().length]).toEqual([['a-node1'], '1', 1]);
  });

  test('in a mounted ConfigMap are updated at once', async () => {
    const {path} = await aDirectory();
    const version = async (name: string, value: string): Promise<void> => {
      await mkdir(join(path, name));
      await writeFile(join(path, name, 'c.yaml'), configMapManifest('settings', value));
      await writeFile(join(path, name, 'a.yaml'), reader);
      await symlink(name, join(path, '..data_tmp'));
      await rename(join(path, '..data_tmp'), join(path, '..data'));
    };
    await version('..1', '"1"');
    for (const name of ['a.yaml', 'c.yaml']) await symlink(`..data/${name}`, join(path, name));
    const followed = followPath(path);
    await followed.untilNames('a-node1');
    await version('..2', '"2"');
    await until(() => dataOf(followed) === '2');
    expect(followed.messages()).toEqual([]);
  });
});

describe('a missing directory', () => {
  test('its pods are removed, and added when it returns', async () => {
    const {path} = await aDirectory({'a.yaml': podManifest('a')});
    const followed = followPath(path);
    await followed.untilNames('a-node1');
    const uids = followed.uids();
    await rename(path, `${path}.away`);
    await followed.untilNames();
    expect(followed.messages()).toEqual(['Unable to read config path: path does not exist, ignoring']);
    await rename(`${path}.away`, path);
    await followed.untilNames('a-node1');
    expect(followed.uids()).toEqual(uids);
    await writeFile(join(path, 'b.yaml'), podManifest('b'));
    await followed.untilNames('a-node1', 'b-node1');
  });

  test('no pod is removed if another directory replaces it at once', async () => {
    const {path, replaceBy} = await aDirectory({'a.yaml': podManifest('a')});
    const followed = followPath(path, {checkFrequencyMs: 100});
    await followed.untilNames('a-node1');
    await mkdir(`${path}.new`);
    for (const name of ['a', 'b']) await writeFile(join(`${path}.new`, `${name}.yaml`), podManifest(name));
    replaceBy(`${path}.new`);
    await followed.untilNames('a-node1', 'b-node1');
    await writeFile(join(path, 'c.yaml'), podManifest('c'));
    await followed.untilNames('a-node1', 'b-node1', 'c-node1');
    expect(followed.sets.map(({pods}) => pods.length)).toEqual([1, 2, 3]);
  });

  test('at the start is a set without pods, and reported once', async () => {
    const path = join(await temporaryDirectory(), 'manifests');
    const clock = new FakeClock();
    const followed = followPath(path, {clock});
    await followed.untilNames();
    await advanceLists(clock, 3);
    expect(followed.messages()).toEqual(['Unable to read config path: path does not exist, ignoring']);
    await mkdir(path);
    await writeFile(join(path, 'a.yaml'), podManifest('a'));
    await advanceUntil(clock, 3000, () => followed.names()?.length === 1);
  });
});

describe('a single file', () => {
  test('changes are noticed, also if another file is renamed over it', async () => {
    const {path, write} = await aDirectory({'a.yaml': podManifest('a'), 'b.yaml': podManifest('b')});
    const followed = followPath(join(path, 'a.yaml'));
    await followed.untilNames('a-node1');
    await rename(join(path, 'b.yaml'), join(path, 'a.yaml'));
    await followed.untilNames('b-node1');
    await write('a.yaml', podManifest('c'));
    await followed.untilNames('c-node1');
    await rm(join(path, 'a.yaml'));
    await followed.untilNames();
  });

  test('an invalid version does not replace the previous one; at the start, the source is not ready', async () => {
    const clock = new FakeClock();
    const {path, write} = await aDirectory({'a.yaml': 'kind: ['});
    const followed = followPath(join(path, 'a.yaml'), {clock, checkFrequencyMs: 20_000});
    await followed.untilReported(1);
    expect(followed.messages()[0]).toMatch(/^Unable to read config path: .*couldn't parse as pod/);
    expect(followed.sets).toEqual([]);
    await write('a.yaml', podManifest('a'));
    await advanceUntil(clock, 1000, () => followed.names()?.length === 1);
    await write('a.yaml', 'kind: [[');
    await advanceLists(clock, 3);
    expect([followed.names(), followed.messages().length]).toEqual([['a-node1'], 2]);
  });
});

test('a reread reads the source at once', async () => {
  const {path} = await aDirectory({'a.yaml': podManifest('a')});
  await symlink(join(path, '..', 'outside.yaml'), join(path, 'b.yaml'));
  const options = {path, checkFrequencyMs: {current: NEVER_MS}, clock: systemClock};
  const source = new FileSource({...options, acceptsWorkloads: false, prepare: prepareOnNode});
  const followed = runSource(source);
  await followed.untilNames('a-node1');
  await writeFile(join(path, '..', 'outside.yaml'), podManifest('b'));
  source.reread();
  await followed.untilNames('a-node1', 'b-node1');
});

function dataOf({sets}: RunningSource): string | undefined {
  const [object] = sets.at(-1)?.objects ?? [];
  return object?.kind === 'ConfigMap' ? object.data?.['key'] : undefined;
}
