import {mkdir, readdir, readlink, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {containerId} from '../../../../src/cri/index.js';
import type {CreatedContainer} from '../../../../src/kubelet/contract/pod-filesystem.js';
import {
  containerLogLinkName,
  openContainerLogLinks,
  type ContainerLogLinks,
} from '../../../../src/kubelet/managers/pod-filesystem/container-log-links.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aPod} from '../../../fakes/a-pod.js';

const ID = '0123456789abcdef'.repeat(4);
const POD = aPod({}, {name: 'web', namespace: 'shop', uid: 'u1'});
const MAIN: CreatedContainer = {id: containerId(ID), name: 'main', restartCount: 2};
const LINK = `web_shop_main-${ID}.log`;

interface Testbed {
  readonly links: ContainerLogLinks;
  readonly directory: string;
  readonly logs: string;
  /** Log of MAIN. */
  readonly log: string;
}

/** Returns links of a node that has a log of MAIN; the directory of the links does not exist yet. */
async function aNodeWithLog(): Promise<Testbed> {
  const root = await temporaryDirectory();
  const [directory, logs] = [join(root, 'containers'), join(root, 'pods')];
  const log = join(logs, 'shop_web_u1/main/2.log');
  await mkdir(join(log, '..'), {recursive: true});
  await writeFile(log, '');
  const links = openContainerLogLinks({containerLogsDir: directory, podLogsDir: logs});
  if (links === undefined) throw new Error('there are no links');
  return {links, directory, logs, log};
}

test('without a directory there are no links', () => {
  for (const containerLogsDir of [undefined, ''])
    expect(openContainerLogLinks({containerLogsDir, podLogsDir: '/var/log/pods'})).toBeUndefined();
});

test.each([
  ['short', 'web', LINK],
  // A pod's name has at most 253 characters; the ID is cut then.
  ['long', 'p'.repeat(220), `${'p'.repeat(220)}_shop_main-${ID.slice(0, 20)}.log`],
  ['longer than a file name', 'p'.repeat(253), `${'p'.repeat(251)}.log`],
])('the name of a link of a pod with a %s name is that of the kubelet', (_, name, expected) => {
  const link = containerLogLinkName({name, namespace: 'shop'}, MAIN);
  expect(link).toBe(expected);
  expect(link.length).toBeLessThanOrEqual(255);
});

test('the log of a container is linked with its full path, in a directory that is created', async () => {
  const {links, directory, log} = await aNodeWithLog();
  await links.create(POD, MAIN);
  expect(await readdir(directory)).toEqual([LINK]);
  expect(await readlink(join(directory, LINK))).toBe(log);
  await links.create(POD, MAIN);
  expect(await readdir(directory)).toEqual([LINK]);
});

test('a log that the runtime has not created is not linked', async () => {
  const {links, directory, log} = await aNodeWithLog();
  await rm(log);
  await links.create(POD, MAIN);
  await expect(readdir(directory)).rejects.toThrow('ENOENT');
});

test('the link of a container can be removed, and is not missed', async () => {
  const {links, directory} = await aNodeWithLog();
  await links.create(POD, MAIN);
  await links.create(POD, {...MAIN, id: containerId(ID.replace('0', 'f'))});
  await links.remove(POD, MAIN);
  await links.remove(POD, MAIN);
  expect(await readdir(directory)).toEqual([LINK.replace('-0', '-f')]);
});

test('all links of a pod can be removed, and those of others stay', async () => {
  const {links, directory, logs} = await aNodeWithLog();
  const kept = [`web_shop_main-${'a'.repeat(64)}.log`, 'web_shop_notes.log', `webshop_shop_main-${ID}.log`];
  await links.create(POD, MAIN);
  await symlink(join(logs, 'shop_web_u2/main/0.log'), join(directory, kept[0] ?? ''));
  await writeFile(join(directory, kept[1] ?? ''), 'text');
  await symlink(join(logs, 'shop_webshop_u3/main/0.log'), join(directory, kept[2] ?? ''));
  await links.removePod(POD);
  expect((await readdir(directory)).sort()).toEqual(kept.sort());
});

test.each<[string, (path: string) => Promise<void>]>([
  ['a file', async (path) => writeFile(path, 'text')],
  [
    'a directory',
    async (path) => {
      await mkdir(path);
    },
  ],
  ['a link to somewhere else', async (path) => symlink('/etc/shadow', path)],
  ['a link beside the pod log directory', async (path) => symlink(join(path, '../../pods-old/0.log'), path)],
  [
    'a link out of the pod log directory',
    async (path) => symlink(`${join(path, '../../pods')}/../0.log`, path),
  ],
])('%s in the place of a link is neither replaced nor removed', async (_, put) => {
  const {links, directory} = await aNodeWithLog();
  await mkdir(directory);
  await put(join(directory, LINK));
  await expect(links.create(POD, MAIN)).rejects.toThrow(/^creating the link ".*": file already exists$/);
  await links.remove(POD, MAIN);
  await links.removePod(POD);
  expect(await links.listDead()).toEqual([]);
  expect(await readdir(directory)).toEqual([LINK]);
});

test('a directory that cannot be created is an error that names it', async () => {
  const {links, directory} = await aNodeWithLog();
  await writeFile(directory, '');
  await expect(links.create(POD, MAIN)).rejects.toThrow(/^creating the link ".*": not a directory$/);
  await expect(links.makeDirectory()).rejects.toThrow(/^creating the directory ".*": /);
});

test('links to logs that do not exist are dead, with the container and the pod in them', async () => {
  const {links, directory, logs, log} = await aNodeWithLog();
  await links.create(POD, MAIN);
  await mkdir(join(logs, 'shop_api_u2/main'), {recursive: true});
  await symlink(join(logs, 'shop_api_u2/main/0.log'), join(directory, 'api_shop_main-abcdef.log'));
  await symlink(join(logs, 'shop_old_u3/main/0.log'), join(directory, 'old_shop_main-abc.log'));
  await symlink('/nowhere/0.log', join(directory, 'foreign_shop_main-abcdef.log'));
  await symlink(join(logs, 'shop_old_u3/main/0.log'), join(directory, 'backup'));
  const api = {
    name: 'api_shop_main-abcdef.log',
    containerId: 'abcdef',
    podUid: 'u2',
    hasPodLogs: true,
  };
  const old = {name: 'old_shop_main-abc.log', containerId: undefined, podUid: 'u3', hasPodLogs: false};
  const byName = async () =>
    (await links.listDead()).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  expect(await byName()).toEqual([api, old]);
  await rm(log);
  expect(await byName()).toEqual([api, old, {name: LINK, containerId: ID, podUid: 'u1', hasPodLogs: true}]);
  for (const link of await byName()) await links.removeDead(link);
  expect((await readdir(directory)).sort()).toEqual(['backup', 'foreign_shop_main-abcdef.log']);
});
