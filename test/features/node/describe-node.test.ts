import {expect, test} from 'vitest';
import type {Node} from '../../../src/api/types/v1-node.js';
import {describeNode, nodeKubeletSection} from '../../../src/features/node/describe-node.js';
import {aPod} from '../../fakes/a-pod.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');

const NODE: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'n1',
    creationTimestamp: '2026-03-01T11:00:00Z',
    labels: {'node-role.kubernetes.io/worker': '', 'kubernetes.io/hostname': 'n1'},
  },
  spec: {
    unschedulable: true,
    podCIDR: '10.0.0.0/24',
    podCIDRs: ['10.0.0.0/24'],
    providerID: 'metal://n1',
    taints: [
      {key: 'z', effect: 'NoSchedule'},
      {key: 'a', value: 'b', effect: 'NoExecute'},
    ],
  },
  status: {
    addresses: [{type: 'InternalIP', address: '192.0.2.1'}],
    capacity: {cpu: '2', memory: '4Gi', 'example.com/gpu': '1'},
    allocatable: {cpu: '2', memory: '4Gi', 'hugepages-2Mi': '8Mi', 'example.com/gpu': '1'},
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'KubeletReady',
        message: 'fine',
        lastHeartbeatTime: '2026-03-01T11:59:00Z',
        lastTransitionTime: '2026-03-01T11:00:00Z',
      },
    ],
    nodeInfo: {
      machineID: 'm',
      systemUUID: 's',
      bootID: 'b',
      kernelVersion: '6.1',
      osImage: 'Debian',
      containerRuntimeVersion: 'containerd://2.1.9',
      kubeletVersion: 'v1.36.2',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  },
};

test('describes a node and the share of its pods', () => {
  const pod = {
    pod: aPod({}, {name: 'web', namespace: 'shop', creationTimestamp: '2026-03-01T11:58:00Z'}),
    requests: {cpu: '500m', memory: '1Gi', 'example.com/gpu': '1'},
    limits: {cpu: '1'},
  };
  const text = describeNode(NODE, [pod], NOW).replaceAll(/[+-]\d{4}/g, '<zone>');
  expect(text).toMatchInlineSnapshot(`
    "Name:               n1
    Roles:              worker
    Labels:             kubernetes.io/hostname=n1
                        node-role.kubernetes.io/worker=
    Annotations:        <none>
    CreationTimestamp:  Sun, 01 Mar 2026 11:00:00 <zone>
    Taints:             a=b:NoExecute
                        z:NoSchedule
    Unschedulable:      true
    Conditions:
      Type    Status  LastHeartbeatTime                 LastTransitionTime                Reason         Message
      ----    ------  -----------------                 ------------------                ------         -------
      Ready   True    Sun, 01 Mar 2026 11:59:00 <zone>   Sun, 01 Mar 2026 11:00:00 <zone>   KubeletReady   fine
    Addresses:
      InternalIP:  192.0.2.1
    Capacity:
      cpu:              2
      example.com/gpu:  1
      memory:           4Gi
    Allocatable:
      cpu:              2
      example.com/gpu:  1
      hugepages-2Mi:    8Mi
      memory:           4Gi
    System Info:
      Machine ID:                 m
      System UUID:                s
      Boot ID:                    b
      Kernel Version:             6.1
      OS Image:                   Debian
      Operating System:           linux
      Architecture:               amd64
      Container Runtime Version:  containerd://2.1.9
      Kubelet Version:            v1.36.2
    PodCIDR:                      10.0.0.0/24
    PodCIDRs:                     10.0.0.0/24
    ProviderID:                   metal://n1
    Non-terminated Pods:          (1 in total)
      Namespace                   Name    CPU Requests  CPU Limits  Memory Requests  Memory Limits  Age
      ---------                   ----    ------------  ----------  ---------------  -------------  ---
      shop                        web     500m (25%)    1 (50%)     1Gi (25%)        0 (0%)         2m
    Allocated resources:
      (Total limits may be over 100 percent, i.e., overcommitted.)
      Resource           Requests    Limits
      --------           --------    ------
      cpu                500m (25%)  1 (50%)
      memory             1Gi (25%)   0 (0%)
      ephemeral-storage  0 (0%)      0 (0%)
      hugepages-2Mi      0 (0%)      0 (0%)
      example.com/gpu    1           0
    "
  `);
});

test('a node without pods, conditions and information is described too', () => {
  const text = describeNode({...NODE, spec: {}, status: {}}, [], NOW);
  expect(text).toMatch(/^Taints: +<none>$/m);
  expect(text).toMatch(/^Unschedulable: +false$/m);
  expect(text).toMatch(/^Non-terminated Pods: +\(0 in total\)$/m);
  expect(text).toMatch(/^ +cpu +0 \(0%\) +0 \(0%\)$/m);
});

test('the kubelet is described with its servers', () => {
  const text = nodeKubeletSection({
    pid: 7,
    startedAt: '2026-03-01T11:00:00Z',
    now: '2026-03-01T12:00:00Z',
    endpoint: 'unix:///run/containerd.sock',
    urls: {main: 'https://192.0.2.1:10250'},
    lastActiveAt: '2026-03-01T12:00:00Z',
    errors: ['the runtime is down'],
    pleg: {mode: 'events'},
    wantedPods: 3,
    pods: [],
  });
  expect(text).toMatchInlineSnapshot(`
    "Kubelet:
      PID:          7 (up 60m)
      Not Syncing:  the runtime is down
      Runtime:      evented PLEG, no relist yet
      Endpoint:     unix:///run/containerd.sock
      Servers:      https://192.0.2.1:10250
      Pods:         3
    "
  `);
});
