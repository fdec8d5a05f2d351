import {existsSync} from 'node:fs';
import {mkdir, readFile, readlink, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {collectedLogs, podLogs, promtailLogs, vectorLogs} from '../../managers/logs/collector-patterns.js';
import {DaemonTestbed} from '../daemon-testbed.js';

const MANIFEST = aManifest({
  metadata: {namespace: 'shop'},
  containers: [aContainerSpec('main'), aContainerSpec('side-car')],
});

/** Starts a kubelet that links logs into a directory, and returns what log collectors find there. */
async function startWithLinks(prepare: (directory: string) => Promise<void> = async () => undefined) {
  const directory = join(await temporaryDirectory(), 'containers');
  await prepare(directory);
  const testbed = await DaemonTestbed.start({node: {containerLogsDir: directory}});
  return {testbed, directory, found: () => collectedLogs(directory)};
}

test('log collectors find the containers of a pod with its name and namespace, until they are removed', async () => {
  const {testbed: started, directory, found} = await startWithLinks();
  await using testbed = started;
  await testbed.until('the directory exists', () => existsSync(directory));
  await testbed.put('web.yaml', MANIFEST);
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 2);
  const expected = ['main', 'side-car'].map((container) => ({
    pod: 'web-goldennode',
    namespace: 'shop',
    container,
  }));
  expect(found()).toMatchObject(expected);
  const ids = testbed.ownContainers.map(({id}) => id);
  expect(
    found()
      .map(({id}) => id)
      .toSorted(),
  ).toEqual(ids.toSorted());
  const targets = await Promise.all(found().map(async ({path}) => readlink(path)));
  expect(targets.toSorted()).toEqual(podLogs(testbed.logsDir));

  const {name = '', uid = ''} = testbed.view.pods()[0]!.metadata;
  for (const container of ['main', 'side-car'])
    expect(promtailLogs(testbed.logsDir, uid, container)).toEqual([
      join(testbed.logsDir, `shop_web-goldennode_${uid}`, container, '0.log'),
    ]);
  const about = {namespace: 'shop', pod: 'web-goldennode', uid};
  expect(vectorLogs(testbed.logsDir, {namespace: 'shop', name, uid})).toEqual(
    ['main', 'side-car'].map((container) => ({...about, container})),
  );

  for (const restarts of [1, 2]) {
    testbed.kill('main', 1);
    await testbed.until('it restarts', () => testbed.statusOf('web').restarts === restarts);
  }
  const logsOfMain = async () =>
    (
      await Promise.all(
        found()
          .filter(({container}) => container === 'main')
          .map(async ({path}) => (await readlink(path)).slice(-'/2.log'.length)),
      )
    ).toSorted();
  await testbed.until('the first instance is removed', async () => (await logsOfMain()).length === 2);
  expect(await logsOfMain()).toEqual(['/1.log', '/2.log']);

  await testbed.remove('web.yaml');
  await testbed.untilAllRemoved();
  expect(found()).toEqual([]);
});

test('what others have in the directory stays, and dead links of removed pods go', async () => {
  const {
    testbed: started,
    directory,
    found,
  } = await startWithLinks(async (path) => {
    await mkdir(path);
    await writeFile(join(path, 'own.log'), 'text');
    await symlink('/nowhere/pods/a_b_c/d/0.log', join(path, 'foreign.log'));
  });
  await using testbed = started;
  await symlink(join(testbed.logsDir, 'a_b_c/main/0.log'), join(directory, `b_a_main-${'0'.repeat(64)}.log`));
  await testbed.until('the dead link is removed', () => found().length === 2);
  expect(found().map(({path}) => path)).toEqual([join(directory, 'foreign.log'), join(directory, 'own.log')]);
  expect(await readFile(join(directory, 'own.log'), 'utf8')).toBe('text');
  expect(await readlink(join(directory, 'foreign.log'))).toBe('/nowhere/pods/a_b_c/d/0.log');
});

test('a pod runs if the directory of links cannot be used, which is logged', async () => {
  const {testbed: started} = await startWithLinks(async (path) => writeFile(path, ''));
  await using testbed = started;
  await testbed.put('web.yaml', MANIFEST);
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 2);
  const errors = testbed.errors.join('\n');
  expect(errors).toMatch(
    /Failed to create the directory of links to container logs: creating the directory "/,
  );
  expect(errors).toMatch(/Failed to create legacy symbolic link: creating the link ".*": not a directory/);
});
