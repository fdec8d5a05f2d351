import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {availableParallelism} from 'node:os';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {startKubeletTestbed, type KubeletTestbed, type ServingDaemon} from '../harness/kubelet-testbed.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const NODE = 'cpu-node';
/** All CPUs but the first, which is reserved. */
const OWN = availableParallelism() - 1;
const STATIC = `cpuManagerPolicy: static
cpuManagerReconcilePeriod: 1s
reservedSystemCPUs: "0"
`;
const LIMITS = {limits: {cpu: String(OWN), memory: '64Mi'}};

describe.each(newestRuntime)('exclusive CPUs: $name', (which) => {
  let testbed: KubeletTestbed;
  let daemon: ServingDaemon;

  /** Returns the CPUs on which the process of a container may run; empty before it runs. */
  const cpusOf = async (name: string): Promise<string> => {
    const pod = await testbed.podTestbed.find(`${name}-${NODE}`);
    const container = pod?.containers.find(({state}) => state === 'CONTAINER_RUNNING');
    if (container === undefined) return '';
    const pid = await testbed.podTestbed.pidOf(container.id);
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '';
  };
  const state = async (): Promise<{defaultCpuSet: string; entries?: object}> =>
    JSON.parse(await readFile(join(testbed.podTestbed.runtime.rootDir, 'cpu_manager_state'), 'utf8')) as {
      defaultCpuSet: string;
    };

  beforeAll(async () => {
    testbed = await startKubeletTestbed(which, NODE);
    daemon = await testbed.start(STATIC);
  });
  afterAll(async () => {
    await testbed[Symbol.asyncDispose]();
  });

  test('a Guaranteed pod runs on CPUs of its own, the others on what remains, and a killed kubelet keeps that', async () => {
    await testbed.put('shared', aManifest('shared'));
    const all = OWN === 1 ? '0-1' : `0-${OWN}`;
    await until(async () => (await cpusOf('shared')) === all);
    await testbed.put('own', aManifest('own', {containers: [aContainer('main', {resources: LIMITS})]}));
    const own = OWN === 1 ? '1' : `1-${OWN}`;
    await until(async () => (await cpusOf('own')) === own);
    await until(async () => (await cpusOf('shared')) === '0');
    const before = await state();
    expect(before).toMatchObject({defaultCpuSet: '0'});

    daemon.kcri.kill('SIGKILL');
    await daemon.kcri.exited;
    daemon = await testbed.start(STATIC);
    await testbed.put('more', aManifest('more', {containers: [aContainer('main', {resources: LIMITS})]}));
    await daemon.kcri.waitForOutput(/not enough cpus available to satisfy request/);
    expect(await state()).toEqual(before);
    expect([await cpusOf('own'), await cpusOf('shared')]).toEqual([own, '0']);

    await testbed.withdraw('own');
    await until(async () => (await cpusOf('shared')) === all);
    expect(await state()).toMatchObject({defaultCpuSet: all});
  });

  test('a kubelet with another policy says what to do', async () => {
    daemon.kcri.kill('SIGKILL');
    await daemon.kcri.exited;
    await expect(testbed.start('cpuManagerPolicy: none\n')).rejects.toThrow(
      'configured policy \\"none\\" differs from state checkpoint policy \\"static\\"',
    );
  });
});
