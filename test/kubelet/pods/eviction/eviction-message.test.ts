import {expect, test} from 'vitest';
import {NO_FILES} from '../../../../src/base/fs/file-usage.js';
import {parseThresholds} from '../../../../src/kubelet/resources/eviction-thresholds.js';
import {computeEvictionMessage} from '../../../../src/kubelet/pods/eviction/eviction-message.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';

const MEBIBYTE = 1024n * 1024n;
const thresholds = parseThresholds({
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'pid.available': '5',
});
const observations = new Map([
  ['memory.available', {available: 64n * MEBIBYTE, capacity: 4096n * MEBIBYTE}],
  ['nodefs.available', {available: MEBIBYTE, capacity: 100n * MEBIBYTE}],
  ['pid.available', {available: 3n, capacity: 100n}],
] as const);
const pod = aPod({
  containers: [
    aContainer({name: 'web', resources: {requests: {memory: '10Mi', 'ephemeral-storage': '5Mi'}}}),
    aContainer({name: 'log'}),
  ],
  ephemeralContainers: [{name: 'debug', image: 'busybox'}],
});
const container = (name: string, mebibytes: bigint) => ({
  name,
  memoryBytes: mebibytes * MEBIBYTE,
  layer: {usedBytes: mebibytes * MEBIBYTE, inodesUsed: 1n},
  logs: {usedBytes: 1024n, inodesUsed: 1n},
});
const usage = {
  ...{memoryBytes: 30n * MEBIBYTE, processes: 1n, volumes: NO_FILES},
  containers: [container('web', 20n), container('log', 0n), container('debug', 9n)],
};

test('the message names the threshold and the containers above their requests', () => {
  const memory = computeEvictionMessage(pod, usage, {resource: 'memory', thresholds, observations});
  expect(memory).toEqual({
    message:
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 64Mi. Container web was using 20Mi, request is 10Mi, has larger consumption of memory. ',
    annotations: {
      offending_containers: 'web',
      offending_containers_usage: '20Mi',
      starved_resource: 'memory',
    },
  });
  const storage = computeEvictionMessage(pod, usage, {
    resource: 'ephemeral-storage',
    thresholds,
    observations,
  });
  expect(storage.message).toBe(
    'The node was low on resource: ephemeral-storage. Threshold quantity: 10Mi, available: 1Mi. Container web was using 20481Ki, request is 5Mi, has larger consumption of ephemeral-storage. Container log was using 1Ki, request is 0, has larger consumption of ephemeral-storage. ',
  );
});

test('the message has no containers for processes, and nothing about a pod that was not measured', () => {
  const details = {resource: 'pids', thresholds, observations} as const;
  const message = 'The node was low on resource: pids. Threshold quantity: 5, available: 3. ';
  expect(computeEvictionMessage(pod, usage, details).message).toBe(message);
  expect(computeEvictionMessage(pod, undefined, details)).toEqual({message, annotations: {}});
});

test('the message names a pod with a memory request of its own', () => {
  const {spec, metadata} = pod;
  const limited = {...pod, metadata, spec: {...spec, resources: {requests: {memory: '16Mi'}}}};
  const details = {resource: 'memory', thresholds: [], observations} as const;
  const {message, annotations} = computeEvictionMessage(limited, {...usage, containers: []}, details);
  expect(message).toBe(
    `The node was low on resource: memory. Pod ${metadata.name ?? ''} was using 30Mi, request is 16Mi, has larger consumption of memory. `,
  );
  expect(annotations).toMatchObject({offending_pod: metadata.name, offending_pod_usage: '30Mi'});
});
