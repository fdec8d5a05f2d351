import {describe, expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../../src/api/types/v1-pod.js';
import type {NodeSelectorTerm} from '../../../../src/api/types/v1-scheduling.js';
import {findRejection} from '../../../../src/kubelet/pods/admission/admit-pod.js';
import type {NodeFacts} from '../../../../src/kubelet/contract/node-facts.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {aContainer, aPod} from '../../pod-builders.js';

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

describe('sysctls:', () => {
  test.each([
    'kernel.shm_rmid_forced',
    'net.ipv4.ip_unprivileged_port_start',
    'net/ipv4/ip_local_port_range',
    'net.ipv4.tcp_wmem',
  ])('%s is safe', (name) => {
    expect(rejection(withSysctl(name))).toBeUndefined();
  });

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
  ])('%s of %j is forbidden', (name, spec, message) => {
    expect(rejection(withSysctl(name, spec))).toEqual(['SysctlForbidden', message]);
  });

  test.each([
    ['4.5.0-rc1', 'net.ipv4.tcp_keepalive_time', undefined],
    ['4.4.302', 'net.ipv4.tcp_keepalive_time', 'SysctlForbidden'],
    ['4.15.0', 'net.ipv4.tcp_rmem', undefined],
    ['4.9.1', 'net.ipv4.tcp_rmem', 'SysctlForbidden'],
    ['5.0', 'net.ipv4.tcp_rmem', undefined],
  ])('on kernel %s %s gives %s', (kernelRelease, name, reason) => {
    expect(rejection(withSysctl(name), {kernelRelease})?.[0]).toBe(reason);
  });

  test.each([
    ['kernel.msg*', 'kernel.msgmax', undefined],
    ['net/core/*', 'net.core.somaxconn', undefined],
    ['kernel.sem', 'kernel.sem', undefined],
    ['kernel.msgmax', 'kernel.msgmnb', 'SysctlForbidden'],
  ])('with %s allowed %s gives %s', (allowed, name, reason) => {
    expect(rejection(withSysctl(name), {allowedUnsafeSysctls: [allowed]})?.[0]).toBe(reason);
  });

  test('an allowed one that is the host’s stays forbidden', () => {
    const pod = withSysctl('net.core.somaxconn', {hostNetwork: true});

    expect(rejection(pod, {allowedUnsafeSysctls: ['net.*']})?.[1]).toBe(
      'forbidden sysctl: "net.core.somaxconn" not allowed with host net enabled',
    );
  });

  test.each([
    ['vm.swappiness', 'the sysctl "vm.swappiness" are not known to be namespaced'],
    ['kernel.*', 'the sysctls "kernel.*" are not known to be namespaced'],
    ['Net.x', 'must have at most 253 characters and match regex'],
  ])('%s can not be allowed', (allowed, problem) => {
    expect(() => rejection(withSysctl('net.x'), {allowedUnsafeSysctls: [allowed]})).toThrow(problem);
  });
});

describe('the node’s labels:', () => {
  const labels = {zone: 'a', cores: '8', 'kubernetes.io/os': 'linux'};
  const needs = (...nodeSelectorTerms: NodeSelectorTerm[]): Pod =>
    aPod({
      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms}}},
    });
  const label = (key: string, operator: string, ...values: string[]): NodeSelectorTerm => ({
    matchExpressions: [{key, operator: operator as 'In', values}],
  });
  const NOT_HERE = [
    'NodeAffinity',
    "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  ];

  test.each<[string, Pod]>([
    ['a selector', aPod({nodeSelector: {zone: 'a', 'kubernetes.io/os': 'linux'}})],
    ['In', needs(label('zone', 'In', 'b', 'a'))],
    ['NotIn', needs(label('zone', 'NotIn', 'b'))],
    ['NotIn of what isn’t there', needs(label('disk', 'NotIn', 'b'))],
    ['Exists', needs(label('zone', 'Exists'))],
    ['DoesNotExist', needs(label('disk', 'DoesNotExist'))],
    ['Gt', needs(label('cores', 'Gt', '7'))],
    ['Lt', needs(label('cores', 'Lt', '9'))],
    ['one of the terms', needs(label('zone', 'In', 'b'), label('zone', 'In', 'a'))],
    ['the name', needs({matchFields: [{key: 'metadata.name', operator: 'In', values: ['goldennode']}]})],
  ])('%s fits', (_, pod) => {
    expect(rejection(pod, {labels})).toBeUndefined();
  });

  test.each<[string, Pod]>([
    ['a selector', aPod({nodeSelector: {zone: 'a', disk: 'ssd'}})],
    ['a selector for what every object has', aPod({nodeSelector: {toString: 'a'}})],
    ['In', needs(label('zone', 'In', 'b'))],
    ['In of what isn’t there', needs(label('disk', 'In', 'b'))],
    ['NotIn', needs(label('zone', 'NotIn', 'a'))],
    ['Exists', needs(label('disk', 'Exists'))],
    ['DoesNotExist', needs(label('zone', 'DoesNotExist'))],
    ['Gt', needs(label('cores', 'Gt', '8'))],
    ['Lt', needs(label('cores', 'Lt', '8'))],
    ['Gt of no number', needs(label('zone', 'Gt', '0'))],
    [
      'half a term',
      needs({
        ...label('zone', 'In', 'a'),
        ...{matchFields: [{key: 'metadata.name', operator: 'In', values: ['x']}]},
      }),
    ],
    ['an empty term', needs({})],
  ])('%s does not fit', (_, pod) => {
    expect(rejection(pod, {labels})).toEqual(NOT_HERE);
  });
});

describe('room on the node:', () => {
  const asking = (requests: Readonly<Record<string, string>>, spec: Partial<PodSpec> = {}): Pod =>
    aPod({containers: [aContainer({resources: {requests}})], ...spec});

  test.each<[string, Pod, readonly Pod[], readonly [string, string] | undefined]>([
    ['all CPUs are there', asking({cpu: '2'}), [], undefined],
    [
      'more CPUs than there are',
      asking({cpu: '2100m'}),
      [],
      ['OutOfcpu', "Node didn't have enough resource: cpu, requested: 2100, used: 0, capacity: 2000"],
    ],
    [
      'CPUs that another pod has',
      asking({cpu: '1500m'}),
      [asking({cpu: '600m'})],
      ['OutOfcpu', "Node didn't have enough resource: cpu, requested: 1500, used: 600, capacity: 2000"],
    ],
    [
      'overhead counts',
      asking({cpu: '2'}, {overhead: {cpu: '1m'}}),
      [],
      ['OutOfcpu', "Node didn't have enough resource: cpu, requested: 2001, used: 0, capacity: 2000"],
    ],
    ['a pod that asks for nothing', aPod(), [asking({cpu: '5'})], undefined],
    [
      'memory, of which eviction keeps some',
      asking({memory: '25276502016'}),
      [],
      [
        'OutOfmemory',
        "Node didn't have enough resource: memory, requested: 25276502016, used: 0, capacity: 25171644416",
      ],
    ],
    [
      'too many pods',
      aPod(),
      Array.from({length: 110}, () => aPod()),
      ['OutOfpods', "Node didn't have enough resource: pods, requested: 1, used: 110, capacity: 110"],
    ],
  ])('%s', (_, pod, others, expected) => {
    expect(rejection(pod, {}, others)).toEqual(expected);
  });

  const hugePages = {hugePageBytes: new Map([['2MB', 8_388_608n]])};

  test.each<[string, Pod, Partial<NodeFacts>, readonly [string, string] | undefined]>([
    ['all huge pages are there', asking({'hugepages-2Mi': '4Mi'}), hugePages, undefined],
    [
      'huge pages that another pod has',
      asking({'hugepages-2Mi': '6Mi'}),
      hugePages,
      [
        'OutOfhugepages-2Mi',
        "Node didn't have enough resource: hugepages-2Mi, requested: 6291456, used: 4194304, capacity: 8388608",
      ],
    ],
    [
      'huge pages of a size that the node has none of',
      asking({'hugepages-1Gi': '1Gi'}),
      hugePages,
      [
        'OutOfhugepages-1Gi',
        "Node didn't have enough resource: hugepages-1Gi, requested: 1073741824, used: 0, capacity: 0",
      ],
    ],
  ])('%s', (_, pod, node, expected) => {
    expect(rejection(pod, node, [asking({'hugepages-2Mi': '4Mi'})])).toEqual(expected);
  });

  const STATIC = {annotations: {'kubernetes.io/config.source': 'file'}};
  const hungry = asking({cpu: '2100m', memory: '25276502016'});

  test.each<[string, Pod, readonly Pod[], string]>([
    [
      'static',
      {...hungry, metadata: {...hungry.metadata, ...STATIC}},
      [],
      '(res: cpu, q: 100), (res: memory, q: 104857600), ',
    ],
    [
      'of a critical priority',
      asking({cpu: '1500m'}, {priority: 2_000_000_000}),
      [asking({cpu: '600m'})],
      '(res: cpu, q: 100), ',
    ],
  ])('a pod that is %s is critical, and no room can be made for it', (_, pod, others, missing) => {
    expect(rejection(pod, {}, others)).toEqual([
      'UnexpectedAdmissionError',
      `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${missing}]`,
    ]);
  });

  test('just below a critical priority a pod is refused like any other', () => {
    expect(rejection(asking({cpu: '3'}, {priority: 1_999_999_999}))?.[0]).toBe('OutOfcpu');
  });

  test('whatever else is against a critical pod is told in the place of resources', () => {
    const priority = 2_000_000_000;
    const elsewhere = asking({cpu: '3'}, {priority, nodeSelector: {no: 'where'}});
    const ports = [{containerPort: 80, hostPort: 80}];
    const resources = {requests: {cpu: '3'}};
    const listener = aPod({containers: [aContainer({ports, resources})], priority});

    expect(rejection(elsewhere)?.[0]).toBe('NodeAffinity');
    expect(rejection(listener, {}, [aPod({containers: [aContainer({ports})]})])?.[0]).toBe('NodePorts');
    expect(rejection(asking({cpu: '2'}, {priority}))).toBeUndefined();
  });

  const listening = (hostPort: number, more: object = {}): Pod =>
    aPod({containers: [aContainer({ports: [{containerPort: 80, hostPort, ...more}]})]});

  test.each<[string, Pod, boolean]>([
    ['the same port', listening(80), true],
    ['another one', listening(81), false],
    ['no port of the host', listening(0), false],
    ['the same on one address', listening(80, {hostIP: '127.0.0.1'}), true],
    ['the same on an empty address', listening(80, {hostIP: ''}), true],
    ['the same of another protocol', listening(80, {protocol: 'UDP'}), false],
  ])('a pod that listens on %s as another', (_, pod, taken) => {
    expect(rejection(pod, {}, [listening(80)])).toEqual(
      taken
        ? [
            'NodePorts',
            "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
          ]
        : undefined,
    );
  });

  test('on two addresses both pods may listen', () => {
    const [a, b] = ['127.0.0.1', '127.0.0.2'].map((hostIP) => listening(80, {hostIP}));

    expect(rejection(a!, {}, [b!])).toBeUndefined();
  });

  test('an empty address is that of every other', () => {
    const [empty, one] = ['', '127.0.0.1'].map((hostIP) => listening(80, {hostIP}));

    expect(rejection(empty!, {}, [one!])?.[0]).toBe('NodePorts');
    expect(rejection(one!, {}, [empty!])?.[0]).toBe('NodePorts');
  });
});

describe('what only some nodes have:', () => {
  const strict = aPod({securityContext: {supplementalGroupsPolicy: 'Strict'}});
  const confined = aPod({securityContext: {appArmorProfile: {type: 'RuntimeDefault'}}});

  test('a strict policy for groups needs a runtime that knows it', () => {
    const runtime = {handlers: new Map(), supplementalGroupsPolicy: false};

    expect(rejection(strict)).toBeUndefined();
    expect(rejection(strict, {runtime})).toEqual([
      'SupplementalGroupsPolicyNotSupported',
      'SupplementalGroupsPolicy=Strict is not supported in this node',
    ]);
  });

  test('AppArmor profiles need a kernel with AppArmor, unconfined needs nothing', () => {
    const unconfined = aPod({securityContext: {appArmorProfile: {type: 'Unconfined'}}});

    expect(rejection(confined, {appArmorEnabled: true})).toBeUndefined();
    expect(rejection(unconfined)).toBeUndefined();
    expect(rejection(confined)).toEqual([
      'AppArmor',
      'Cannot enforce AppArmor: AppArmor is not enabled on the host',
    ]);
  });

  test('a pod that is labelled for another system is refused', () => {
    expect(rejection(aPod({}, {labels: {'kubernetes.io/os': 'linux'}}))).toBeUndefined();
    expect(rejection(aPod({}, {labels: {'kubernetes.io/os': 'windows'}}))).toEqual([
      'PodOSSelectorNodeLabelDoesNotMatch',
      "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    ]);
  });
});

test('of several reasons the first is told, in the kubelet’s order', () => {
  const pod = aPod({
    nodeSelector: {no: 'where'},
    securityContext: {sysctls: [{name: 'vm.x', value: '1'}], supplementalGroupsPolicy: 'Strict'},
  });

  expect(rejection(pod)?.[0]).toBe('SysctlForbidden');
});
