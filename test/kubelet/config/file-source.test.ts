import {execFile} from 'node:child_process';
import {mkdir, rename, rm, symlink, unlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, test} from 'vitest';
import {systemClock, type Clock} from '../../../src/base/clock.js';
import {FileSource} from '../../../src/kubelet/config/file-source.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {ManualClock} from '../../streaming/manual-clock.js';
import {configMapManifest, follow, podManifest, prepareOnNode, type Followed} from './sources.js';

/** Long enough that no test sees a second one. */
const NEVER_MS = 3_600_000;

interface Options {
  readonly clock?: Clock;
  readonly checkFrequencyMs?: number;
}

function followPath(
  path: string,
  {clock = systemClock, checkFrequencyMs = NEVER_MS}: Options = {},
): Followed {
  return follow(new FileSource({path, checkFrequencyMs, clock, prepare: prepareOnNode}));
}

interface Directory {
  readonly path: string;
  readonly write: (name: string, text: string) => Promise<void>;
}

async function aDirectory(files: Readonly<Record<string, string>> = {}): Promise<Directory> {
  const path = join(await temporaryDirectory(), 'manifests');
  await mkdir(path);
  const write = async (name: string, text: string): Promise<void> => {
    await writeFile(join(path, name), text);
  };
  for (const [name, text] of Object.entries(files)) await write(name, text);
  return {path, write};
}

describe('of a directory', () => {
  test('the files are read by name, whatever their ending; hidden ones and directories are not', async () => {
    const directory = await aDirectory({
      'b.bak': podManifest('b'),
      'a.yaml': podManifest('a'),
      '.c.yaml.swp': 'half',
    });
    await mkdir(join(directory.path, 'sub'));
    await writeFile(join(directory.path, 'sub', 'd.yaml'), podManifest('d'));
    const followed = followPath(`${directory.path}//`);
    await followed.untilNames('a-node1', 'b-node1');
    expect(followed.told()).toEqual([
      'Provided manifest path is a directory, not recursing into manifest path',
    ]);
    expect(followed.reports[0]?.fields).toEqual({path: join(directory.path, 'sub')});
    expect(followed.sets[0]?.pods[0]?.origin).toBe(join(directory.path, 'a.yaml'));
  });

  test('without manifests there is one set of no pods', async () => {
    const {path} = await aDirectory();
    const followed = followPath(path);
    await followed.untilNames();
    expect(followed.sets).toHaveLength(1);
  });

  test('files are seen when they come, change, are renamed and go', async () => {
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
    expect(followed.told()).toEqual([]);
  });

  test('a thousand edits in a second end with the last one', async () => {
    const {path, write} = await aDirectory(
      Object.fromEntries(Array.from({length: 50}, (_, index) => [`${index}.yaml`, podManifest(`p${index}`)])),
    );
    const followed = followPath(path);
    await followed.untilNames(...followedNames(50));
    for (let edit = 0; edit < 1000; edit += 1)
      await write(`${edit % 50}.yaml`, podManifest(`p${edit % 50}`, `  hostname: h${edit}\n`));
    await write('last.yaml', podManifest('last'));
    await followed.untilNames(...followedNames(50), 'last-node1');
    const hostnames = followed.sets.at(-1)?.pods.map(({pod}) => pod.spec.hostname);
    expect(hostnames?.filter((name) => name !== undefined)).toHaveLength(50);
    expect(hostnames).toContain('h999');
    expect(followed.sets.length).toBeLessThan(500);
  });
});

/** `p0-node1`… in order of the files' names. */
function followedNames(count: number): readonly string[] {
  return Array.from({length: count}, (_, index) => `${index}.yaml`)
    .sort()
    .map((name) => `p${name.replace('.yaml', '')}-node1`);
}

describe('a faulty manifest', () => {
  const faulty = podManifest('a').replace('{name: main, image: busybox}', '{image: busybox}');

  test('at the start is told of, with its place, and harms no other', async () => {
    const {path} = await aDirectory({'a.yaml': faulty, 'b.yaml': podManifest('b')});
    const followed = followPath(path);
    await followed.untilNames('b-node1');
    expect(followed.told()).toEqual([
      'Could not process manifest file: invalid pod: [spec.containers[0].name: Required value]',
    ]);
    expect(followed.reports[0]).toMatchObject({
      level: 'error',
      verbosity: 0,
      fields: {path: join(path, 'a.yaml')},
      issues: [{file: join(path, 'a.yaml'), line: 7, column: 5}],
    });
  });

  test('that is added is told of as a kubelet does', async () => {
    const {path, write} = await aDirectory();
    const followed = followPath(path);
    await followed.untilNames();
    await write('a.yaml', faulty);
    await followed.untilTold(1);
    expect(followed.told()).toEqual([
      `Unable to process watch event: can't process config file "${path}/a.yaml": invalid pod: [spec.containers[0].name: Required value]`,
    ]);
  });

  test('is told of once, however often it is looked at, and again when it is another', async () => {
    const clock = new ManualClock();
    const {path, write} = await aDirectory({'a.yaml': faulty});
    const followed = followPath(path, {clock, checkFrequencyMs: 20_000});
    await followed.untilTold(1);
    await listed(clock, 3);
    expect(followed.told()).toHaveLength(1);
    await write('a.yaml', faulty.replace('image: busybox', 'image: busybox, stdin: 7'));
    await listed(clock, 3);
    await followed.untilTold(2);
    expect(followed.told()[1]).toMatch(/couldn't parse as pod\(.*stdin.*\), please check config file$/);
    await listed(clock, 2);
    expect(followed.told()).toHaveLength(2);
  });

  test('leaves its previous version running until the next list but one look', async () => {
    const clock = new ManualClock();
    const {path, write} = await aDirectory({'a.yaml': podManifest('a')});
    const followed = followPath(path, {clock, checkFrequencyMs: 20_000});
    await followed.untilNames('a-node1');
    await write('a.yaml', 'kind: [');
    await clockRuns(clock, 1000, () => followed.reports.length > 0);
    expect(followed.names()).toEqual(['a-node1']);
    await listed(clock, 1);
    await followed.untilNames();
    expect(followed.told()).toHaveLength(1);
  });

  test('that is only half written is not told of', async () => {
    const clock = new ManualClock();
    const {path, write} = await aDirectory();
    const followed = followPath(path, {clock, checkFrequencyMs: 20_000});
    await followed.untilNames();
    await write('a.yaml', podManifest('a').slice(0, 40));
    await clockRuns(clock, 100, () => false);
    await write('a.yaml', podManifest('a'));
    await clockRuns(clock, 1000, () => followed.names()?.length === 1);
    expect(followed.told()).toEqual([]);
  });

  test.each<[string, string, RegExp]>([
    ['an empty file', '', /couldn't parse as pod\(no Pod in /],
    ['no YAML', 'a: b: c', /couldn't parse as pod\(yaml: /],
    [
      'another kind',
      'apiVersion: v1\nkind: Service\n',
      /couldn't parse as pod\(kind: Unsupported value: "Service"/,
    ],
    ['no name', podManifest('""'), /invalid pod: name is needed for the pod$/],
    [
      'a name that is none with the node’s',
      podManifest('Bad_Name'),
      /invalid pod: \[metadata\.name: Invalid value: "Bad_Name-node1": a lowercase/,
    ],
    [
      'references that need an API server',
      podManifest('a', '  volumes: [{name: c, configMap: {name: x}}]\n'),
      /: static pods may not reference configmaps$/,
    ],
    [
      'what kcri can’t',
      podManifest('a', '  schedulingGates: [{name: g}]\n'),
      /invalid pod: \[spec.schedulingGates: Forbidden: not supported by kcri: /,
    ],
  ])('with %s', async (_title, text, expected) => {
    const {path} = await aDirectory({'a.yaml': text});
    const followed = followPath(path);
    await followed.untilNames();
    expect(followed.told()).toEqual([expect.stringMatching(expected)]);
  });

  test('is no one with unknown fields: they are warned of and the pod runs', async () => {
    const {path} = await aDirectory({'a.yaml': podManifest('a', '  nosuchfield: 1\n')});
    const followed = followPath(path);
    await followed.untilNames('a-node1');
    expect(followed.reports).toMatchObject([{level: 'warning', issues: [{line: 8}]}]);
  });

  test('is no one that the foreground can’t keep: probes and deadlines are for the daemon', async () => {
    const {path} = await aDirectory({'a.yaml': podManifest('a', '  activeDeadlineSeconds: 5\n')});
    await followPath(path).untilNames('a-node1');
  });

  test('is a second Pod in a file: the first runs', async () => {
    const {path} = await aDirectory({'a.yaml': `${podManifest('a')}---\n${podManifest('b')}`});
    const followed = followPath(path);
    await followed.untilNames('a-node1');
    expect(followed.reports).toMatchObject([
      {error: expect.stringContaining('only the first Pod') as string, issues: [{line: 9}]},
    ]);
  });
});

describe('what is no manifest', () => {
  test('FIFOs and devices are not opened, dangling links are told of', async () => {
    const {path} = await aDirectory({'b.yaml': podManifest('b')});
    await promisify(execFile)('mkfifo', [join(path, 'a.fifo')]);
    await symlink('/dev/zero', join(path, 'zero'));
    await symlink('/nowhere/at/all', join(path, 'link'));
    const followed = followPath(path);
    await followed.untilNames('b-node1');
    expect(followed.told().toSorted()).toEqual([
      `Could not get metadata: stat ${path}/link: no such file or directory`,
      'Manifest path is not a directory or file',
      'Manifest path is not a directory or file',
    ]);
  });

  test('a file of more than 10 MiB is not read', async () => {
    const {path} = await aDirectory({'a.yaml': `${podManifest('a')}#${'x'.repeat(10 * 1024 * 1024)}`});
    const followed = followPath(path);
    await followed.untilNames();
    expect(followed.told()).toEqual([
      `Could not process manifest file: "${path}/a.yaml" is larger than 10 MiB`,
    ]);
  });
});

describe('two files of one pod', () => {
  test('the last by name counts, the other is told of with both places; it runs when the last goes', async () => {
    const {path} = await aDirectory({'a.yaml': podManifest('a'), 'b.yaml': podManifest('a')});
    const followed = followPath(path);
    await followed.untilNames('a-node1');
    expect(followed.sets[0]?.pods[0]?.origin).toBe(join(path, 'b.yaml'));
    expect(followed.told()).toEqual([
      `Could not process manifest file: Pod/default/a-node1 is defined again in ${path}/b.yaml:1, which counts`,
    ]);
    expect(followed.reports[0]?.issues).toMatchObject([{file: join(path, 'a.yaml'), line: 1}]);
    await unlink(join(path, 'b.yaml'));
    await until(() => followed.sets.at(-1)?.pods[0]?.origin === join(path, 'a.yaml'));
  });
});

describe('objects that pods refer to', () => {
  const reader = podManifest('a', '  volumes: [{name: c, configMap: {name: settings}}]\n');

  test('come with the set, from a file of their own or the Pod’s', async () => {
    const {path} = await aDirectory({
      'a.yaml': `${configMapManifest('settings', '"1"')}---\n${reader}`,
      'b.yaml': configMapManifest('other', '"2"'),
    });
    const followed = followPath(path);
    await followed.untilNames('a-node1');
    expect(followed.told()).toEqual([]);
    expect(followed.sets[0]?.objects.map(({metadata}) => metadata.name)).toEqual(['settings', 'other']);
  });

  test('that come later let the pod run; when they change or go, it stays the same', async () => {
    const {path, write} = await aDirectory({'a.yaml': reader});
    const followed = followPath(path);
    await followed.untilTold(1);
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

  test('stay as they were while their file is faulty', async () => {
    const clock = new ManualClock();
    const {path, write} = await aDirectory({
      'a.yaml': reader,
      'c.yaml': configMapManifest('settings', '"1"'),
    });
    const followed = followPath(path, {clock, checkFrequencyMs: 20_000});
    await followed.untilNames('a-node1');
    await write('c.yaml', configMapManifest('settings', '"2"').replace('data', 'data: ['));
    await listed(clock, 3);
    expect([followed.names(), dataOf(followed), followed.told().length]).toEqual([['a-node1'], '1', 1]);
  });

  test('in a mounted ConfigMap are exchanged at once', async () => {
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
    expect(followed.told()).toEqual([]);
  });
});

describe('a directory that vanishes', () => {
  test('takes its pods with it and brings them when it returns', async () => {
    const {path} = await aDirectory({'a.yaml': podManifest('a')});
    const followed = followPath(path);
    await followed.untilNames('a-node1');
    const uids = followed.uids();
    await rename(path, `${path}.away`);
    await followed.untilNames();
    expect(followed.told()).toEqual(['Unable to read config path: path does not exist, ignoring']);
    await rename(`${path}.away`, path);
    await followed.untilNames('a-node1');
    expect(followed.uids()).toEqual(uids);
    await writeFile(join(path, 'b.yaml'), podManifest('b'));
    await followed.untilNames('a-node1', 'b-node1');
  });

  test('for a moment only, because another takes its place, ends no pod', async () => {
    const {path} = await aDirectory({'a.yaml': podManifest('a')});
    const followed = followPath(path, {checkFrequencyMs: 100});
    await followed.untilNames('a-node1');
    await mkdir(`${path}.new`);
    for (const name of ['a', 'b']) await writeFile(join(`${path}.new`, `${name}.yaml`), podManifest(name));
    await rename(path, `${path}.old`);
    await rename(`${path}.new`, path);
    await followed.untilNames('a-node1', 'b-node1');
    await writeFile(join(path, 'c.yaml'), podManifest('c'));
    await followed.untilNames('a-node1', 'b-node1', 'c-node1');
    expect(followed.sets.map(({pods}) => pods.length)).toEqual([1, 2, 3]);
  });

  test('before the start is no pods, and told of once', async () => {
    const path = join(await temporaryDirectory(), 'manifests');
    const clock = new ManualClock();
    const followed = followPath(path, {clock});
    await followed.untilNames();
    await listed(clock, 3);
    expect(followed.told()).toEqual(['Unable to read config path: path does not exist, ignoring']);
    await mkdir(path);
    await writeFile(join(path, 'a.yaml'), podManifest('a'));
    await clockRuns(clock, 3000, () => followed.names()?.length === 1);
  });
});

describe('of a single file', () => {
  test('changes are seen, also when another is renamed over it', async () => {
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

  test('a fault leaves the previous version for ever, and at the start the source isn’t ready', async () => {
    const clock = new ManualClock();
    const {path, write} = await aDirectory({'a.yaml': 'kind: ['});
    const followed = followPath(join(path, 'a.yaml'), {clock, checkFrequencyMs: 20_000});
    await followed.untilTold(1);
    expect(followed.told()[0]).toMatch(/^Unable to read config path: .*couldn't parse as pod/);
    expect(followed.sets).toEqual([]);
    await write('a.yaml', podManifest('a'));
    await clockRuns(clock, 1000, () => followed.names()?.length === 1);
    await write('a.yaml', 'kind: [[');
    await listed(clock, 3);
    expect([followed.names(), followed.told().length]).toEqual([['a-node1'], 2]);
  });
});

test('a reread looks at once', async () => {
  const {path} = await aDirectory({'a.yaml': podManifest('a')});
  await symlink(join(path, '..', 'outside.yaml'), join(path, 'b.yaml'));
  const source = new FileSource({
    path,
    checkFrequencyMs: NEVER_MS,
    clock: systemClock,
    prepare: prepareOnNode,
  });
  const followed = follow(source);
  await followed.untilNames('a-node1');
  await writeFile(join(path, '..', 'outside.yaml'), podManifest('b'));
  source.reread();
  await followed.untilNames('a-node1', 'b-node1');
});

function dataOf({sets}: Followed): string | undefined {
  const [object] = sets.at(-1)?.objects ?? [];
  return object?.kind === 'ConfigMap' ? object.data?.['key'] : undefined;
}

/** Lets time pass in small steps, with pauses for the disk, until the condition holds or so much has passed. */
async function clockRuns(clock: ManualClock, ms: number, condition: () => boolean): Promise<void> {
  const end = clock.now() + ms;
  while (clock.now() < end && !condition()) {
    await systemClock.sleep(2);
    await clock.advance(10);
  }
}

/** Lets that many periodic lists happen. */
async function listed(clock: ManualClock, count: number): Promise<void> {
  for (let list = 0; list < count; list += 1) {
    await clockRuns(clock, 500, () => false);
    await clock.advance(20_000);
    await clockRuns(clock, 50, () => false);
  }
}
