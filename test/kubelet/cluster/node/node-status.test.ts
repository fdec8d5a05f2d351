import {describe, expect, test} from 'vitest';
import type {NodeCondition, NodeStatus} from '../../../../src/api/types/v1-node.js';
import {
  computeInitialNode,
  computeNodeConditions,
  computeNodeImages,
  computeNodeStatus,
  type NodeStatusInput,
} from '../../../../src/kubelet/cluster/node/node-status.js';
import {hasChanged} from '../../../../src/kubelet/cluster/node/node-status-updater.js';
import {osImageOf} from '../../../../src/base/host/os-release.js';
import {swapOf} from '../../../../src/kubelet/cluster/node/read-system-info.js';
import {imageId, type Image} from '../../../../src/cri/index.js';
import {createMergePatch} from '../../../../src/kube-api/index.js';
import {omit} from '../../../../src/base/omit.js';
import {TEST_TIME_MS} from '../../../fakes/fake-clock.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {CLUSTER_DEFAULTS} from '../cluster-defaults.js';

const NOW = '2026-05-01T12:00:00Z';

function anInput(fields: Partial<NodeStatusInput> = {}): NodeStatusInput {
  return {
    node: GOLDEN_NODE,
    info: undefined,
    settings: CLUSTER_DEFAULTS.settings,
    addresses: [
      {type: 'InternalIP', address: '192.0.2.2'},
      {type: 'Hostname', address: 'goldennode'},
    ],
    images: [],
    errors: [],
    pressures: [],
    features: GOLDEN_NODE.runtime,
    previous: {},
    now: TEST_TIME_MS,
    ...fields,
  };
}

const image = (size: bigint, repoTags: readonly string[]): Image => ({
  ...{id: imageId(`sha256:${size}`), repoTags, repoDigests: ['a@sha256:1'], size},
  ...{username: '', pinned: false},
});

const condition = (
  type: string,
  status: 'True' | 'False',
  reason: string,
  message: string,
): NodeCondition => ({
  ...{type, status, reason, message},
  lastHeartbeatTime: NOW,
  lastTransitionTime: NOW,
});

// From the kubelet's POST of a Node on two processors.
test('the initial Node is the one that a kubelet registers', () => {
  const common = {cpu: '2', 'hugepages-1Gi': '0', 'hugepages-2Mi': '0', pods: '110'};
  expect(computeInitialNode(anInput())).toEqual({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'goldennode',
      labels: GOLDEN_NODE.labels,
      annotations: {'volumes.kubernetes.io/controller-managed-attach-detach': 'true'},
    },
    spec: {},
    status: {
      addresses: [
        {address: '192.0.2.2', type: 'InternalIP'},
        {address: 'goldennode', type: 'Hostname'},
      ],
      capacity: {...common, memory: '24684084Ki', 'ephemeral-storage': '97656250Ki'},
      allocatable: {...common, memory: '24581684Ki', 'ephemeral-storage': '89999999851'},
      conditions: [
        condition(
          'MemoryPressure',
          'False',
          'KubeletHasSufficientMemory',
          'kubelet has sufficient memory available',
        ),
        condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
        condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
        condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
      ],
      daemonEndpoints: {kubeletEndpoint: {Port: 10_250}},
      declaredFeatures: [
        'ExtendWebSocketsToKubelet',
        'InPlacePodLevelResourcesVerticalScaling',
        'InPlacePodVerticalScalingInitContainers',
        'RestartAllContainersOnContainerExits',
      ],
      features: {supplementalGroupsPolicy: true},
      runtimeHandlers: [{name: '', features: {recursiveReadOnlyMounts: true, userNamespaces: false}}],
    },
  });
});

test('provider ID and taints are in the spec', () => {
  const taints = [{key: 'dedicated', effect: 'NoSchedule'}];
  const settings = {...anInput().settings, providerId: 'cloud://1', registerWithTaints: taints};
  expect(computeInitialNode(anInput({settings})).spec).toEqual({providerID: 'cloud://1', taints});
});

describe('the condition Ready', () => {
  test.each<[readonly string[], string]>([
    [['PLEG is not healthy'], 'PLEG is not healthy'],
    [['a', 'b'], '[a, b]'],
  ])('is false for the errors %j', (errors, message) => {
    const ready = computeNodeConditions(anInput({errors})).at(-1);
    expect(ready).toEqual(condition('Ready', 'False', 'KubeletNotReady', message));
  });

  test('keeps its transition time as long as its status is the same', () => {
    const conditions = [
      {...condition('Ready', 'False', 'NodeStatusUnknown', ''), lastTransitionTime: 'earlier'},
    ];
    const readyTime = (errors: readonly string[]): string | undefined =>
      computeNodeConditions(anInput({errors, previous: {conditions}}))[0]?.lastTransitionTime;
    expect([readyTime(['x']), readyTime([])]).toEqual(['earlier', NOW]);
  });
});

test('conditions of others stay as they are, and before those that are new', () => {
  const network = condition('NetworkUnavailable', 'False', 'CalicoIsUp', 'Calico is running on this node');
  const kernel = condition('KernelDeadlock', 'False', 'KernelHasNoDeadlock', '');
  const disk = condition('DiskPressure', 'True', 'KubeletHasDiskPressure', 'kubelet has disk pressure');
  const conditions = computeNodeConditions(anInput({previous: {conditions: [network, disk, kernel]}}));
  expect(conditions.map(({type, status}) => `${type}=${status}`)).toEqual([
    ...['NetworkUnavailable=False', 'DiskPressure=False', 'KernelDeadlock=False'],
    ...['MemoryPressure=False', 'PIDPressure=False', 'Ready=True'],
  ]);
  expect([conditions[0], conditions[2]]).toEqual([network, kernel]);
});

describe('the features of the runtime', () => {
  test('are left out until the runtime has reported them', () => {
    const {features, runtimeHandlers} = computeNodeStatus(anInput({features: undefined}));
    expect([features, runtimeHandlers]).toEqual([undefined, undefined]);
  });

  test('are left out if the runtime reports only handlers', () => {
    const {handlers} = GOLDEN_NODE.runtime;
    const status = computeNodeStatus(anInput({features: {handlers, supplementalGroupsPolicy: undefined}}));
    expect(status).not.toHaveProperty('features');
    expect(status.runtimeHandlers).toHaveLength(1);
  });

  test('are removed from the Node if no handlers are reported anymore', () => {
    const before = computeNodeStatus(anInput());
    const features = {handlers: new Map(), supplementalGroupsPolicy: true};
    const after = computeNodeStatus(anInput({features, previous: before}));
    expect(hasChanged(before, after)).toBe(true);
    expect(createMergePatch({...before}, {...before, ...after})).toMatchObject({runtimeHandlers: null});
  });
});

test('a node without images has no list of them, as the API server stores it', () => {
  const images = [image(1n, ['a:1'])];
  const settings = {...anInput().settings, maxImages: 0};
  const stored = JSON.parse(JSON.stringify(computeNodeStatus(anInput({images, settings})))) as NodeStatus;
  expect(stored).not.toHaveProperty('images');
  expect(hasChanged(stored, computeNodeStatus(anInput({images, settings, previous: stored})))).toBe(false);
  const before = computeNodeStatus(anInput({images}));
  expect(hasChanged(before, computeNodeStatus(anInput({images, settings, previous: before})))).toBe(true);
});

test('the largest images come first, each with at most five names', () => {
  const images = [image(1n, ['a:1']), image(3n, ['a:1', 'a:2', 'a:3', 'a:4', 'a:5']), image(2n, ['c:1'])];
  expect(computeNodeImages(images, 2)).toEqual([
    {names: ['a@sha256:1', 'a:1', 'a:2', 'a:3', 'a:4'], sizeBytes: 3},
    {names: ['a@sha256:1', 'c:1'], sizeBytes: 2},
  ]);
  expect(computeNodeImages(images, -1)).toHaveLength(3);
});

test.each<[string, (status: NodeStatus) => NodeStatus, boolean]>([
  [
    'a heartbeat',
    (status) => ({
      ...status,
      conditions: status.conditions?.map((each) => ({...each, lastHeartbeatTime: 'later'})) ?? [],
    }),
    false,
  ],
  [
    'another reason',
    (status) => ({...status, conditions: computeNodeConditions(anInput({errors: ['x']}))}),
    true,
  ],
  ['another image', (status) => ({...status, images: [{names: ['a'], sizeBytes: 1}]}), true],
  ['no answer about images', (status) => omit(status, 'images'), false],
])('%s counts as a change of the status: %#', (_title, change, expected) => {
  const before = computeNodeStatus(anInput());
  expect(hasChanged(before, change(before))).toBe(expected);
});

test('the swap of the node is that of /proc/meminfo', () => {
  expect(swapOf('MemTotal:       8000 kB\nSwapTotal:       2048 kB\n')).toEqual({
    swap: {capacity: 2_097_152},
  });
  expect(swapOf('SwapTotal:             0 kB\n')).toEqual({});
});

test('the OS image is the pretty name of os-release', () => {
  expect(osImageOf('NAME=Debian\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nID=debian\n')).toBe(
    'Debian GNU/Linux 13 (trixie)',
  );
  expect(osImageOf('')).toBe('');
});

test.each([
  ['MemoryPressure', 'KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
  ['DiskPressure', 'KubeletHasDiskPressure', 'kubelet has disk pressure'],
  ['PIDPressure', 'KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
] as const)('%s is true with the reason of a kubelet', (type, reason, message) => {
  const conditions = computeNodeConditions(anInput({pressures: [type]}));
  expect(conditions.find((each) => each.type === type)).toEqual(condition(type, 'True', reason, message));
  expect(conditions.filter(({status}) => status === 'True').map((each) => each.type)).toEqual([
    type,
    'Ready',
  ]);
});
