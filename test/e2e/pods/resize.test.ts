import {existsSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {startKubeletTestbed, type KubeletTestbed} from '../harness/kubelet-testbed.js';
import {runtimes} from '../harness/runtimes-under-test.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {podCgroup} from '../harness/pod-cgroups.js';

const NODE = 'resize-node';
const MI = 1024 * 1024;

/** Limits of a container or a pod, in milli-CPUs and MiB. */
interface Limits {
  readonly cpu: number;
  readonly memory: number;
}

const SMALL: Limits = {cpu: 200, memory: 64};
const LARGE: Limits = {cpu: 400, memory: 128};

const limited = (name: string, {cpu, memory}: Limits): Readonly<Record<string, unknown>> =>
  aContainer(name, {
    command: ['sleep', '3600'],
    resizePolicy: [{resourceName: 'cpu', restartPolicy: 'NotRequired'}],
    resources: {
      requests: {cpu: '100m', memory: '32Mi'},
      limits: {cpu: `${cpu}m`, memory: `${memory}Mi`},
    },
  });

const manifest = (name: string, uid: string, limits: Limits): string =>
  aManifest(
    name,
    {hostNetwork: true, terminationGracePeriodSeconds: 0, containers: [limited('main', limits)]},
    {uid},
  );

/** Returns a pod whose init container runs, with limits that the other container does not exceed. */
const initializing = (name: string, uid: string, limits: Limits): string =>
  aManifest(
    name,
    {
      hostNetwork: true,
      terminationGracePeriodSeconds: 0,
      initContainers: [limited('init', limits)],
      containers: [limited('main', SMALL)],
    },
    {uid},
  );

const UNIFIED = existsSync('/sys/fs/cgroup/cgroup.controllers');

describe.each(runtimes)('in-place resize: $name', (which) => {
  let kubelet: KubeletTestbed;

  beforeAll(async () => {
    kubelet = await startKubeletTestbed(which, NODE);
    await kubelet.start();
  });
  afterAll(async () => {
    await kubelet[Symbol.asyncDispose]();
  });

  const container = async (name: string): Promise<string | undefined> =>
    (await kubelet.podTestbed.find(name))?.containers.find(({state}) => state === 'CONTAINER_RUNNING')?.id;

  /** Returns the limits in the container's view of its cgroup. */
  const seen = async (name: string): Promise<Limits> => {
    const id = await container(name);
    const files = UNIFIED
      ? 'cat cpu.max memory.max'
      : 'echo $(cat cpu/cpu.cfs_quota_us) $(cat cpu/cpu.cfs_period_us); cat memory/memory.limit_in_bytes';
    const command = ['sh', '-c', `cd /sys/fs/cgroup && ${files}`];
    return parse(await kubelet.podTestbed.exec(id as never, ...command));
  };

  /** Returns the limits of the pod's cgroup. */
  const ofPod = async (uid: string): Promise<Limits> => {
    const path = podCgroup(kubelet.podTestbed.cgroupRoot, 'burstable', uid);
    const read = async (controller: string, file: string): Promise<string> =>
      (await readFile(`/sys/fs/cgroup${UNIFIED ? '' : `/${controller}`}${path}/${file}`, 'utf8')).trim();
    const quota = UNIFIED
      ? await read('cpu', 'cpu.max')
      : `${await read('cpu', 'cpu.cfs_quota_us')} ${await read('cpu', 'cpu.cfs_period_us')}`;
    return parse(`${quota}\n${await read('memory', UNIFIED ? 'memory.max' : 'memory.limit_in_bytes')}`);
  };

  test.each([
    ['a running container', 'resized', manifest, 'containerStatuses'],
    ['a running init container', 'initializing', initializing, 'initContainerStatuses'],
  ] as const)('a kubelet resizes %s and its pod', async (_, name, manifestOf, list) => {
    const uid = `e2e-${name}`;
    const full = `${name}-${NODE}`;
    await kubelet.put(name, manifestOf(name, uid, SMALL));
    await until(async () => (await container(full)) !== undefined);
    const id = await container(full);
    expect(await seen(full)).toEqual(SMALL);

    const isEverywhere = async (limits: Limits): Promise<boolean> =>
      [await seen(full), await ofPod(uid)].every(
        ({cpu, memory}) => cpu === limits.cpu && memory === limits.memory,
      );
    for (const limits of [LARGE, SMALL]) {
      await kubelet.put(name, manifestOf(name, uid, limits));
      await until(async () => isEverywhere(limits));
    }

    expect(await container(full)).toBe(id);
    const status = await kubelet.podTestbed.runtime.kcri(['get', 'pods', full, '-o', 'json']);
    expect(JSON.parse(status.stdout)).toMatchObject({
      status: {
        [list]: [
          {
            restartCount: 0,
            resources: {limits: {cpu: '200m', memory: '64Mi'}},
            allocatedResources: {cpu: '100m'},
          },
        ],
      },
    });
  });

  test('kcri sync does too, and plan shows it beforehand', async () => {
    const [name, uid] = ['resized-sync', 'e2e-resized-sync'];
    const {podTestbed} = kubelet;
    expect(await podTestbed.sync(manifest(name, uid, SMALL))).toMatchObject({exitCode: 0});
    const id = await container(name);

    const planned = await podTestbed.runtime.kcri(['plan', '-'], {input: manifest(name, uid, LARGE)});
    expect(planned.stdout).toContain('UpdateContainerResources');
    expect(await seen(name)).toEqual(SMALL);

    expect(await podTestbed.sync(manifest(name, uid, LARGE))).toMatchObject({exitCode: 0});
    expect(await seen(name)).toEqual(LARGE);
    expect(await container(name)).toBe(id);
    expect(await podTestbed.delete(name)).toMatchObject({exitCode: 0});
  });
});

function parse(text: string): Limits {
  const [quota = NaN, period = NaN, bytes = NaN] = text.split(/\s+/).map(Number);
  return {cpu: (quota * 1000) / period, memory: bytes / MI};
}
