import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../src/base/clock.js';
import {NO_OBJECTS} from '../../../src/kubelet/contract/api-objects.js';
import {formatDeviceCheckpoint} from '../../../src/kubelet/managers/devices/core/device-checkpoint.js';
import {planPods} from '../../../src/kubelet/plan/plan-pods.js';
import type {PlanOptions} from '../../../src/kubelet/plan/planned-registry.js';
import {aContainer, aPod} from '../../fakes/a-pod.js';
import {startRegistryTestbed} from '../pods/registry-testbed.js';

const GPU = 'example.com/gpu';
const {signal} = new AbortController();

/** Checkpoint of a kubelet that has four devices, of which pod `other` uses two: one has become unhealthy. */
const CHECKPOINT = formatDeviceCheckpoint({
  allocations: [
    {
      ...{uid: 'other', container: 'main', resource: GPU},
      devices: new Map([[0, ['gpu-1', 'gpu-bad']]]),
      response: {
        ...{envs: {GPUS: '1'}, mounts: [], annotations: {}, cdiDevices: []},
        devices: [{containerPath: '/dev/gpu', hostPath: '/dev/gpu1', permissions: 'rw'}],
      },
    },
  ],
  registered: new Map([[GPU, ['gpu-0', 'gpu-1', 'gpu-2']]]),
});

/** Returns options for a node with a topology manager and a checkpoint of devices. */
async function planOptions(checkpoint: string | undefined = CHECKPOINT): Promise<PlanOptions> {
  const {runtime, connection: services, node} = await startRegistryTestbed();
  const devicePluginsDir = join(node.rootDir, 'device-plugins');
  await mkdir(devicePluginsDir, {recursive: true});
  await writeFile(join(devicePluginsDir, 'kubelet_internal_checkpoint'), checkpoint);
  const topologyManager = {policy: 'none', scope: 'container', options: {}};
  const machine = () => expect.fail('the machine does not matter');
  const runtimeOptions = {services, endpoint: runtime.endpoint, runtimeName: 'fake', clock: systemClock};
  return {
    ...runtimeOptions,
    node: {...node, devicePluginsDir, topologyManager, machine},
    objects: NO_OBJECTS,
  };
}

function aGpuPod(name: string, limits: Readonly<Record<string, string>>): Pod {
  const container = aContainer({resources: {limits, requests: limits}});
  return aPod({containers: [container]}, {name, uid: `uid-of-${name}`});
}

/** Returns the reasons why containers are created, by pod. */
async function explain(
  options: PlanOptions,
  ...pods: readonly Pod[]
): Promise<readonly (string | undefined)[]> {
  const plans = await planPods(options, pods, signal);
  return plans.map(
    ({calls}) => calls.find(({method}) => method === 'CreateContainer')?.why.text.split('; ')[1],
  );
}

test('a plan shows the devices that new pods would get, and stores nothing', async () => {
  const options = await planOptions();
  const pods = ['a', 'b'].map((name) => aGpuPod(name, {[GPU]: '1'}));
  const texts = await explain(options, ...pods);
  expect(texts.toSorted()).toEqual(
    ['gpu-0', 'gpu-2'].map((id) => `devices ${id} of example.com/gpu, unless its plugin prefers others`),
  );
  const path = join(options.node.devicePluginsDir ?? '', 'kubelet_internal_checkpoint');
  expect(await readFile(path, 'utf8')).toBe(CHECKPOINT);
});

test('a plan fails for a pod that requests more devices than are free', async () => {
  const options = await planOptions();
  await expect(planPods(options, [aGpuPod('a', {[GPU]: '3'})], signal)).rejects.toThrow(
    'UnexpectedAdmissionError: Pod was rejected: Allocate failed due to requested number of devices unavailable for example.com/gpu. Requested: 3, Available: 2',
  );
});

test('a plan says which extended resources nobody offers', async () => {
  const texts = await explain(await planOptions(), aGpuPod('a', {'example.com/nic': '1'}));
  expect(texts).toEqual(['no example.com/nic, which no device plugin offers']);
});

test('a corrupt checkpoint fails the plan', async () => {
  const options = await planOptions('{}garbage');
  await expect(planPods(options, [aGpuPod('a', {[GPU]: '1'})], signal)).rejects.toThrow(
    /^cannot read the devices of the kubelet from ".*kubelet_internal_checkpoint": /,
  );
});

test('without a running kubelet, a note says that devices are not planned', async () => {
  const options = await planOptions();
  const node = {...options.node, devicePluginsDir: undefined};
  const plans = await planPods({...options, node}, [aGpuPod('a', {[GPU]: '1'}), aGpuPod('b', {})], signal);
  expect(plans.map(({note}) => note)).toEqual([
    'devices of example.com/gpu are not planned: only a running "kcri kubelet" knows them',
    undefined,
  ]);
});
