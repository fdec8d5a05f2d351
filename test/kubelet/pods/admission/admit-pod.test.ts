import {describe, expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../../src/api/types/v1-pod.js';
import type {NodeSelectorTerm, Toleration} from '../../../../src/api/types/v1-scheduling.js';
import {findRejection} from '../../../../src/kubelet/pods/admission/admit-pod.js';
import type {NodeFacts} from '../../../../src/kubelet/contract/node-facts.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';

function rejection(
  pod: Pod,
  node: Partial<NodeFacts> = {},
  others: readonly Pod[] = [],
): readonly [string, string] | undefined {
  const found = findRejection({pod, others, node: {...GOLDEN_NODE, ...node}});
  return found && [found.reason, found.message];
}

const withSysctl = (name: string, spec: Partial<PodSpec> = {}): Pod =>
  aPod({...spec, securityContext: {sysctls: [{name, value: '1'}]}});

describe('sysctls', () => {
  test.each([
    'kernel.shm_rmid_forced',
    'net.ipv4.ip_unprivileged_port_start',
    'net/ipv4/ip_local_port_range',
    'net.ipv4.tcp_wmem',
  ])('%s is safe', (name) => {
    expect(rejection(withSysctl(name))).toBeUndefined();
  });

  // Proves: PodSpec.hostIPC
  test.each<[string, Partial<PodSpec>, string]>([
    ['kernel.msgmax', {}, 'forbidden sysctl: "kernel.msgmax" not allowlisted'],
    ['net/core/somaxconn', {}, 'forbidden sysctl: "net.core.somaxconn" not allowlisted'],
    [
      'net.ipv4.tcp_syncookies',
      {hostNetwork: true},
      'forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host net enabled',
    ],
    [
      'kernel.shm_rmid_forced',
      {hostIPC: true},
      'forbidden sysctl: "kernel.shm_rmid_forced" not allowed with host ipc enabled',
    ],
  ])('%s in a pod with %j is forbidden', (name, spec, message) => {
    expect(rejection(withSysctl(name, spec))).toEqual(['SysctlForbidden', message]);
  });

  test.each([
    ['4.5.0-rc1', 'net.ipv4.tcp_keepalive_time', undefined],
    ['4.4.302', 'net.ipv4.tcp_keepalive_time', 'SysctlForbidden'],
    ['4.15.0', 'net.ipv4.tcp_rmem', undefined],
    ['4.9.1', 'net.ipv4.tcp_rmem', 'SysctlForbidden'],
    ['5.0', 'net.ipv4.tcp_rmem', undefined],
  ])('on kernel %s, sysctl %s has the rejection reason %s', (kernelRelease, name, reason) => {
    expect(rejection(withSysctl(name), {kernelRelease})?.[0]).toBe(reason);
  });

  test.each([
    ['kernel.msg*', 'kernel.msgmax', undefined],
    ['net/core/*', 'net.core.somaxconn', undefined],
    ['kernel.sem', 'kernel.sem', undefined],
    ['kernel.msgmax', 'kernel.msgmnb', 'SysctlForbidden'],
  ])('with %s allowed, sysctl %s has the rejection reason %s', (allowed, name, reason) => {
    expect(rejection(withSysctl(name), {allowedUnsafeSysctls: [allowed]})?.[0]).toBe(reason);
  });

  test('an allowed sysctl that belongs to a host namespace is still forbidden', () => {
    const pod = withSysctl('net.core.somaxconn', {hostNetwork: true});

    expect(rejection(pod, {allowedUnsafeSysctls: ['net.*']})?.[1]).toBe(
      'forbidden sysctl: "net.core.somaxconn" not allowed with host net enabled',
    );
  });

  test.each([
    ['vm.swappiness', 'the sysctl "vm.swappiness" are not known to be namespaced'],
    ['kernel.*', 'the sysctls "kernel.*" are not known to be namespaced'],
    ['Net.x', 'must have at most 253 characters and match regex'],
  ])('--allowed-unsafe-sysctls %s is invalid', (allowed, problem) => {
    expect(() => rejection(withSysctl('net.x'), {allowedUnsafeSysctls: [allowed]})).toThrow(problem);
  });
});

describe('node affinity', () => {
  const labels = {zone: 'a', cores: '8', 'kubernetes.io/os': 'linux'};
  const needs = (...nodeSelectorTerms: NodeSelectorTerm[]): Pod =>
    aPod({
      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms}}},
    });
  const label = (key: string, operator: string, ...values: string[]): NodeSelectorTerm => ({
    matchExpressions: [{key, operator: operator as 'In', values}],
  });
  const NO_MATCH = [
    'NodeAffinity',
    "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  ];

  test.each<[string, Pod]>([
    ['a nodeSelector', aPod({nodeSelector: {zone: 'a', 'kubernetes.io/os': 'linux'}})],
    ['In', needs(label('zone', 'In', 'b', 'a'))],
    ['NotIn', needs(label('zone', 'NotIn', 'b'))],
    ['NotIn for a missing label', needs(label('disk', 'NotIn', 'b'))],
    ['Exists', needs(label('zone', 'Exists'))],
    ['DoesNotExist', needs(label('disk', 'DoesNotExist'))],
    ['Gt', needs(label('cores', 'Gt', '7'))],
    ['Lt', needs(label('cores', 'Lt', '9'))],
    ['one of several terms', needs(label('zone', 'In', 'b'), label('zone', 'In', 'a'))],
    [
      'matchFields with the node name',
      needs({matchFields: [{key: 'metadata.name', operator: 'In', values: ['goldennode']}]}),
    ],
  ])('%s matches', (_, pod) => {
    expect(rejection(pod, {labels})).toBeUndefined();
  });

  test.each<[string, Pod]>([
    ['a nodeSelector', aPod({nodeSelector: {zone: 'a', disk: 'ssd'}})],
    [
      'a nodeSelector for a property that every JavaScript object inherits',
      aPod({nodeSelector: {toString: 'a'}}),
    ],
    ['In', needs(label('zone', 'In', 'b'))],
    ['In for a missing label', needs(label('disk', 'In', 'b'))],
    ['NotIn', needs(label('zone', 'NotIn', 'a'))],
    ['Exists', needs(label('disk', 'Exists'))],
    ['DoesNotExist', needs(label('zone', 'DoesNotExist'))],
    ['Gt', needs(label('cores', 'Gt', '8'))],
    ['Lt', needs(label('cores', 'Lt', '8'))],
    ['Gt for a label that is not a number', needs(label('zone', 'Gt', '0'))],
    [
      'a term of which only matchExpressions match',
      needs({
        ...label('zone', 'In', 'a'),
        ...{matchFields: [{key: 'metadata.name', operator: 'In', values: ['x']}]},
      }),
    ],
    ['an empty term', needs({})],
  ])('%s does not match', (_, pod) => {
    expect(rejection(pod, {labels})).toEqual(NO_MATCH);
  });
});

describe('resources on the node', () => {
  const requesting = (requests: Readonly<Record<string, string>>, spec: Partial<PodSpec> = {}): Pod =>
    aPod({containers: [aContainer({resources: {requests}})], ...spec});

  test.each<[string, Pod, readonly Pod[], readonly [string, string] | undefined]>([
    ['admits a pod that requests all CPUs', requesting({cpu: '2'}), [], undefined],
    [
      'rejects a pod that requests more CPU than the node has',
      requesting({cpu: '2100m'}),
      [],
      ['OutOfcpu', "Node didn't have enough resource: cpu, requested: 2100, used: 0, capacity: 2000"],
    ],
    [
      'rejects a pod that requests CPU which another pod has requested',
      requesting({cpu: '1500m'}),
      [requesting({cpu: '600m'})],
      ['OutOfcpu', "Node didn't have enough resource: cpu, requested: 1500, used: 600, capacity: 2000"],
    ],
    [
      'adds the overhead of the pod to its requests',
      requesting({cpu: '2'}, {overhead: {cpu: '1m'}}),
      [],
      ['OutOfcpu', "Node didn't have enough resource: cpu, requested: 2001, used: 0, capacity: 2000"],
    ],
    ['admits a pod without requests', aPod(), [requesting({cpu: '5'})], undefined],
    [
      'rejects a pod that requests memory below the eviction threshold',
      requesting({memory: '25276502016'}),
      [],
      [
        'OutOfmemory',
        "Node didn't have enough resource: memory, requested: 25276502016, used: 0, capacity: 25171644416",
      ],
    ],
    [
      'rejects a pod beyond the maximum number of pods',
      aPod(),
      Array.from({length: 110}, () => aPod()),
      ['OutOfpods', "Node didn't have enough resource: pods, requested: 1, used: 110, capacity: 110"],
    ],
  ])('%s', (_, pod, others, expected) => {
    expect(rejection(pod, {}, others)).toEqual(expected);
  });

  const hugePages = {hugePageBytes: new Map([['2MB', 8_388_608n]])};

  test.each<[string, Pod, Partial<NodeFacts>, readonly [string, string] | undefined]>([
    [
      'admits a pod that requests huge pages which are free',
      requesting({'hugepages-2Mi': '4Mi'}),
      hugePages,
      undefined,
    ],
    [
      'rejects a pod that requests huge pages which another pod has requested',
      requesting({'hugepages-2Mi': '6Mi'}),
      hugePages,
      [
        'OutOfhugepages-2Mi',
        "Node didn't have enough resource: hugepages-2Mi, requested: 6291456, used: 4194304, capacity: 8388608",
      ],
    ],
    [
      'rejects a pod that requests huge pages of a size that the node does not have',
      requesting({'hugepages-1Gi': '1Gi'}),
      hugePages,
      [
        'OutOfhugepages-1Gi',
        "Node didn't have enough resource: hugepages-1Gi, requested: 1073741824, used: 0, capacity: 0",
      ],
    ],
    [
      'rejects a pod that requests local storage of a node that does not isolate it',
      requesting({'ephemeral-storage': '1Mi'}),
      {ephemeralStorageBytes: 0n},
      [
        'OutOfephemeral-storage',
        "Node didn't have enough resource: ephemeral-storage, requested: 1048576, used: 0, capacity: 0",
      ],
    ],
  ])('%s', (_, pod, node, expected) => {
    expect(rejection(pod, node, [requesting({'hugepages-2Mi': '4Mi'})])).toEqual(expected);
  });

  const STATIC = {annotations: {'kubernetes.io/config.source': 'file'}};
  const oversized = requesting({cpu: '2100m', memory: '25276502016'});

  test.each<[string, Pod, readonly Pod[], string]>([
    [
      'static',
      {...oversized, metadata: {...oversized.metadata, ...STATIC}},
      [],
      '(res: cpu, q: 100), (res: memory, q: 104857600), ',
    ],
    [
      'of system-critical priority',
      requesting({cpu: '1500m'}, {priority: 2_000_000_000}),
      [requesting({cpu: '600m'})],
      '(res: cpu, q: 100), ',
    ],
  ])(
    'for a critical pod (%s) without preemption victims, the error of the preemption is reported',
    (_, pod, others, missing) => {
      expect(rejection(pod, {}, others)).toEqual([
        'UnexpectedAdmissionError',
        `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${missing}]`,
      ]);
    },
  );

  test('a pod just below the system-critical priority is rejected without preemption', () => {
    expect(rejection(requesting({cpu: '3'}, {priority: 1_999_999_999}))?.[0]).toBe('OutOfcpu');
  });

  // Proves: PodSpec.nodeSelector
  test('another reason to reject a critical pod is reported instead of the insufficient resources', () => {
    const priority = 2_000_000_000;
    const elsewhere = requesting({cpu: '3'}, {priority, nodeSelector: {no: 'where'}});
    const ports = [{containerPort: 80, hostPort: 80}];
    const resources = {requests: {cpu: '3'}};
    const listener = aPod({containers: [aContainer({ports, resources})], priority});

    expect(rejection(elsewhere)?.[0]).toBe('NodeAffinity');
    expect(rejection(listener, {}, [aPod({containers: [aContainer({ports})]})])?.[0]).toBe('NodePorts');
    expect(rejection(requesting({cpu: '2'}, {priority}))).toBeUndefined();
  });

  const listening = (hostPort: number, more: object = {}): Pod =>
    aPod({containers: [aContainer({ports: [{containerPort: 80, hostPort, ...more}]})]});

  test.each<[string, boolean, Pod]>([
    ['the same host port', true, listening(80)],
    ['another host port', false, listening(81)],
    ['no host port', false, listening(0)],
    ['the same host port on one address', true, listening(80, {hostIP: '127.0.0.1'})],
    ['the same host port on an empty address', true, listening(80, {hostIP: ''})],
    ['the same host port with another protocol', false, listening(80, {protocol: 'UDP'})],
  ])('a pod with %s as another pod conflicts with it: %s', (_, taken, pod) => {
    expect(rejection(pod, {}, [listening(80)])).toEqual(
      taken
        ? [
            'NodePorts',
            "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
          ]
        : undefined,
    );
  });

  test('two pods may use the same host port on different addresses', () => {
    const [a, b] = ['127.0.0.1', '127.0.0.2'].map((hostIP) => listening(80, {hostIP}));

    expect(rejection(a!, {}, [b!])).toBeUndefined();
  });

  test('an empty hostIP conflicts with every address', () => {
    const [empty, one] = ['', '127.0.0.1'].map((hostIP) => listening(80, {hostIP}));

    expect(rejection(empty!, {}, [one!])?.[0]).toBe('NodePorts');
    expect(rejection(one!, {}, [empty!])?.[0]).toBe('NodePorts');
  });
});

describe('taints', () => {
  const taints = [
    {key: 'soft', effect: 'NoSchedule'},
    {key: 'hard', value: 'yes', effect: 'NoExecute'},
  ];
  const tolerating = (...tolerations: readonly Toleration[]): Pod => aPod({tolerations});

  test.each<[string, Pod]>([
    ['its key and value', tolerating({key: 'hard', value: 'yes'})],
    ['its key', tolerating({key: 'hard', operator: 'Exists', effect: 'NoExecute'})],
    ['everything', tolerating({operator: 'Exists'})],
  ])('a pod that tolerates %s is admitted', (_, pod) => {
    expect(rejection(pod, {taints})).toBeUndefined();
  });

  test.each<[string, Pod]>([
    ['nothing', tolerating()],
    ['another value', tolerating({key: 'hard', value: 'no'})],
    ['another key', tolerating({key: 'soft', operator: 'Exists'})],
    ['another effect', tolerating({key: 'hard', operator: 'Exists', effect: 'NoSchedule'})],
  ])('a pod that tolerates %s is rejected', (_, pod) => {
    expect(rejection(pod, {taints})).toEqual([
      'TaintToleration',
      "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    ]);
  });

  test('a static pod is admitted', () => {
    const pod = aPod();
    const annotations = {'kubernetes.io/config.source': 'file'};
    expect(rejection({...pod, metadata: {...pod.metadata, annotations}}, {taints})).toBeUndefined();
  });
});

describe('node features', () => {
  const strict = aPod({securityContext: {supplementalGroupsPolicy: 'Strict'}});
  const confined = aPod({securityContext: {appArmorProfile: {type: 'RuntimeDefault'}}});

  test('supplementalGroupsPolicy Strict requires a runtime that supports it', () => {
    const runtime = {handlers: new Map(), supplementalGroupsPolicy: false};

    expect(rejection(strict)).toBeUndefined();
    expect(rejection(strict, {runtime})).toEqual([
      'SupplementalGroupsPolicyNotSupported',
      'SupplementalGroupsPolicy=Strict is not supported in this node',
    ]);
  });

  test('AppArmor profiles require a kernel with AppArmor, Unconfined does not', () => {
    const unconfined = aPod({securityContext: {appArmorProfile: {type: 'Unconfined'}}});

    expect(rejection(confined, {appArmorEnabled: true})).toBeUndefined();
    expect(rejection(unconfined)).toBeUndefined();
    expect(rejection(confined)).toEqual([
      'AppArmor',
      'Cannot enforce AppArmor: AppArmor is not enabled on the host',
    ]);
  });

  test('a pod with the label of another operating system is rejected', () => {
    expect(rejection(aPod({}, {labels: {'kubernetes.io/os': 'linux'}}))).toBeUndefined();
    expect(rejection(aPod({}, {labels: {'kubernetes.io/os': 'windows'}}))).toEqual([
      'PodOSSelectorNodeLabelDoesNotMatch',
      "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    ]);
  });

  test('a pod of another operating system is rejected', () => {
    expect(rejection(aPod({os: {name: 'linux'}}))).toBeUndefined();
    expect(rejection(aPod({os: {name: 'windows'}}))).toEqual([
      'PodOSNotSupported',
      "Failed to admit pod as the OS field doesn't match node OS",
    ]);
  });
});

test('the first of several rejections in the order of the kubelet is reported', () => {
  const pod = aPod({
    nodeSelector: {no: 'where'},
    securityContext: {sysctls: [{name: 'vm.x', value: '1'}], supplementalGroupsPolicy: 'Strict'},
  });

  expect(rejection(pod)?.[0]).toBe('SysctlForbidden');
});
