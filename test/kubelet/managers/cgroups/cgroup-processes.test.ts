import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {CgroupRoot} from '../../../../src/kubelet/resources/cgroup-root.js';
import {hasEndedProcesses} from '../../../../src/kubelet/managers/cgroups/cgroup-processes.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

const POD = '/kubepods/podu1';

/** Creates the cgroup of a pod with children of these processes in ordinary directories. */
async function createCgroup(version: 1 | 2, children: Readonly<Record<string, string>>): Promise<CgroupRoot> {
  const mount = await temporaryDirectory();
  if (version === 2) await writeFile(join(mount, 'cgroup.controllers'), 'cpu memory pids');
  const directory = join(mount, version === 1 ? 'cpu' : '', POD);
  await mkdir(directory, {recursive: true});
  await writeFile(join(directory, 'cgroup.procs'), '');
  for (const [name, pids] of Object.entries(children)) {
    await mkdir(join(directory, name), {recursive: true});
    await writeFile(join(directory, name, 'cgroup.procs'), pids);
  }
  return {mount, version, rootDir: await temporaryDirectory()};
}

describe.each([1, 2] as const)('on cgroup v%d', (version) => {
  test.each<[string, boolean, Readonly<Record<string, string>>]>([
    ['all run', false, {sandbox: '12\n', main: '13\n14\n'}],
    ['all run in scopes of systemd', false, {'cri-sandbox.scope': '12\n', 'cri-main.scope': '13\n'}],
    ['the processes are in a child', false, {sandbox: '12\n', main: '', 'main/init.scope': '13\n'}],
    ['the sandbox has no process', true, {sandbox: '', main: '13\n'}],
    ['the container has no process', true, {sandbox: '12\n', main: ''}],
    ['the cgroup of the sandbox was removed', true, {main: '13\n'}],
    ['all cgroups were removed', true, {}],
    ['the runtime uses other names', false, {vm: '12\n'}],
  ])('if %s, ended processes: %s', async (_, expected, children) => {
    expect(await hasEndedProcesses(await createCgroup(version, children), POD, ['sandbox', 'main'])).toBe(
      expected,
    );
  });

  test('a pod without a cgroup has no ended processes', async () => {
    expect(await hasEndedProcesses(await createCgroup(version, {}), '/kubepods/podu2', ['sandbox'])).toBe(
      false,
    );
  });
});
