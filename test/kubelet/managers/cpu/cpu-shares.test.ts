import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {SystemError} from '../../../../src/base/errors.js';
import {cpuSection} from '../../../../src/features/node/describe-cpus.js';
import {listCpuShares} from '../../../../src/kubelet/managers/cpu/list-cpu-shares.js';
import {
  readCpuShares,
  readExclusiveCpus,
} from '../../../../src/kubelet/pods/node-managers/read-exclusive-cpus.js';
import {parseCpuSet} from '../../../../src/kubelet/resources/cpu-set.js';
import {ORACLE_MACHINES, topologyOf} from '../../resources/machine/machine-oracle.js';

test('CPUs are described by socket, NUMA node and owner', () => {
  const {discovered} = ORACLE_MACHINES.get('s2n1c4t2-split') ?? expect.fail();
  const containers = new Map([
    [
      'uid-a',
      new Map([
        ['init', parseCpuSet('1,9')],
        ['main', parseCpuSet('1,9')],
      ]),
    ],
    ['uid-b', new Map([['main', parseCpuSet('3-4,11')]])],
  ]);
  const shares = listCpuShares(topologyOf(discovered), containers);
  expect(cpuSection(shares, (uid) => (uid === 'uid-a' ? 'default/web' : undefined))).toBe(`CPUs:
  Socket  NUMA Node  Cores  CPUs       Owner
  ------  ---------  -----  ----       -----
  0       0          0,2    0,2,8,10   <shared>
  0       0          1      1,9        default/web (init), default/web (main)
  0       0          3      3,11       uid-b (main)
  1       1          4      4          uid-b (main)
  1       1          4-7    5-7,12-15  <shared>
`);
});

test('another process reads the state of a kubelet with the policy static only', async () => {
  const rootDir = await mkdtemp(join(tmpdir(), 'kcri-shares-'));
  const file = join(rootDir, 'cpu_manager_state');
  expect(await readCpuShares(rootDir)).toBeUndefined();
  await writeFile(file, '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}');
  expect(await readCpuShares(rootDir)).toBeUndefined();
  await writeFile(
    file,
    '{"policyName":"static","defaultCpuSet":"1","entries":{"u":{"main":"0"}},"checksum":0}',
  );
  expect((await readCpuShares(rootDir))?.[0]).toMatchObject({
    cpus: '0',
    owners: [{uid: 'u', container: 'main'}],
  });
  expect(await readExclusiveCpus(rootDir)).toEqual(new Map([['u', new Map([['main', '0']])]]));
  await writeFile(file, '{"policyName":"static","defaultCpuSet":"1","checksum":7}');
  await expect(readCpuShares(rootDir)).rejects.toThrow(new SystemError('checkpoint is corrupted'));
  await rm(rootDir, {recursive: true});
});
