import {describe, expect, test} from 'vitest';
import {answersText} from '../../../../src/features/why/answer-text.js';
import {answerWhy} from '../../../../src/features/why/answer.js';
import {diagnose} from '../../../../src/features/why/causes/diagnose.js';
import type {Holder} from '../../../../src/features/why/snapshot/pod-snapshot.js';
import {anEvent, aSnapshot, aStatusPod} from '../a-snapshot.js';

const refused = (reason: string, message: string, container = {}, holders?: readonly Holder[]) =>
  diagnose(
    aSnapshot({
      pod: aStatusPod([], {status: {phase: 'Failed', reason, message}, container}),
      ...(holders !== undefined && {node: {holders}}),
    }),
  );
const unexpected = (why: string): string =>
  `Pod was rejected: Allocate failed due to ${why}, which is unexpected`;

describe('evictions', () => {
  test.each([
    [
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. Container main was using 80Mi, request is 0, has larger consumption of memory. ',
      'the kubelet evicted the pod: 90Mi of memory was left on the node, the threshold is 100Mi (signal memory.available); container main was using 80Mi, and requests 0',
    ],
    [
      'The node was low on resource: pids. Threshold quantity: 10, available: 9. ',
      'the kubelet evicted the pod: 9 of pids was left on the node, the threshold is 10 (signal pid.available)',
    ],
    [
      'The node was low on resource: ephemeral-storage. ',
      'the kubelet evicted the pod, since the node ran short of ephemeral-storage',
    ],
    [
      'Usage of EmptyDir volume "cache" exceeds the limit "10Mi". ',
      'the kubelet evicted the pod, since volume cache uses more than its sizeLimit of 10Mi',
    ],
    [
      'Container main exceeded its local ephemeral storage limit "5Mi". ',
      'the kubelet evicted the pod, since log and writable layer of container main use more than its limit of 5Mi',
    ],
    [
      'Pod ephemeral local storage usage exceeds the total limit of containers 7Mi. ',
      'the kubelet evicted the pod, since its logs, writable layers and emptyDir volumes use more than the limit of 7Mi',
    ],
    [
      'Pod was rejected: The node had condition: [DiskPressure]. ',
      'the node was under DiskPressure, so that the kubelet did not admit the pod',
    ],
  ])('%s', (message, cause) => {
    expect(refused('Evicted', message)).toMatchObject([{rule: 'pod-evicted', cause}]);
  });
});

describe('refusals', () => {
  test.each([
    [
      'OutOfcpu',
      "Pod was rejected: Node didn't have enough resource: cpu, requested: 500, used: 3800, capacity: 4000",
      'out-of-resource',
      'the node has not enough cpu left: the pod requests 500m, and other pods 3800m of 4000m',
    ],
    [
      'OutOfmemory',
      "Pod was rejected: Node didn't have enough resource: memory, requested: 2147483648, used: 1073741824, capacity: 2684354560",
      'out-of-resource',
      'the node has not enough memory left: the pod requests 2Gi, and other pods 1Gi of 2.5Gi',
    ],
    [
      'SMTAlignmentError',
      'Pod was rejected: SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2',
      'cpus-not-whole-cores',
      'a container requests 3 exclusive CPUs, but full-pcpus-only gives out whole cores of 2 CPUs',
    ],
    [
      'SMTAlignmentError',
      'Pod was rejected: SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 2, requested CPUs = 4, CPUs per core = 2',
      'no-free-cores',
      'a container requests 4 exclusive CPUs, and only 2 of whole cores are free',
    ],
    [
      'UnexpectedAdmissionError',
      unexpected('not enough cpus available to satisfy request: requested=4, available=1'),
      'no-exclusive-cpus',
      'a container requests 4 exclusive CPUs, and only 1 are not given out',
    ],
    [
      'TopologyAffinityError',
      'Pod was rejected: Resources cannot be allocated with Topology locality',
      'topology-affinity',
      'CPUs, memory and devices of the pod cannot be on the NUMA nodes that topologyManagerPolicy demands',
    ],
    [
      'UnexpectedAdmissionError',
      unexpected(
        '[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available',
      ),
      'no-numa-memory',
      'the memory manager finds no NUMA nodes with enough memory for the pod: failed to get the default NUMA affinity, no NUMA nodes with enough memory is available',
    ],
    [
      'UnexpectedAdmissionError',
      unexpected('cannot allocate unregistered device example.com/gpu'),
      'device-plugin-missing',
      'no device plugin for example.com/gpu has registered since the kubelet started',
    ],
    [
      'UnexpectedAdmissionError',
      unexpected('no healthy devices present; cannot allocate unhealthy devices example.com/gpu'),
      'device-unhealthy',
      'the device plugin of example.com/gpu reports unhealthy devices: no healthy devices present',
    ],
    [
      'UnexpectedAdmissionError',
      unexpected('requested number of devices unavailable for example.com/gpu. Requested: 2, Available: 1'),
      'no-device-left',
      'the pod requests 2 of example.com/gpu, and 1 are free',
    ],
    [
      'UnexpectedAdmissionError',
      unexpected('rpc error: code = Internal desc = broken'),
      'device-plugin-failed',
      'the device plugin does not allocate the devices: rpc error: code = Internal desc = broken',
    ],
    [
      'UnexpectedAdmissionError',
      'Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 200), ]',
      'preemption-failed',
      'the pod is critical, but stopping other pods would not free enough: cpu 200',
    ],
    [
      'NodeShutdown',
      'Pod was rejected: Pod was rejected as the node is shutting down.',
      'pod-nodeshutdown',
      'the node was shutting down, and the kubelet admitted no pod',
    ],
    [
      'Terminated',
      'Pod was terminated in response to imminent node shutdown.',
      'pod-terminated',
      'the kubelet terminated the pod, since the node was shutting down',
    ],
  ])('%s: %s', (reason, message, rule, cause) => {
    expect(refused(reason, message)).toMatchObject([{rule, cause, evidence: [reason, expect.any(String)]}]);
  });

  const predicate =
    "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
  const ports = {ports: [{hostPort: 80, containerPort: 80}]};

  test('the user of a host port is named', () => {
    const processes = [{pid: 7, name: 'nginx', containerId: 'a'.repeat(64)}];
    const holders = [{of: {port: 80}, processes, pods: ['default/old']}];
    expect(refused('NodePorts', predicate, ports, holders)[0]?.cause).toBe(
      'a host port of the pod is used by another pod: 80 by nginx (PID 7 in container aaaaaaaaaaaaa), pod default/old',
    );
  });

  test('a host port without a known user is not a guess', () => {
    const holders = [{of: {port: 80}, processes: [], pods: []}];
    expect(refused('NodePorts', predicate, ports, holders)[0]?.cause).toBe(
      'a host port of the pod is used by another pod',
    );
  });
});

describe('users of ports and mounts', () => {
  const preparation = (message: string, holders: readonly Holder[]) =>
    diagnose(
      aSnapshot({
        pod: aStatusPod([{state: {waiting: {reason: 'ContainerCreating'}}}]),
        events: [anEvent({reason: 'FailedMount', message, fieldPath: undefined} as never)],
        node: {holders},
      }),
    )[0]?.cause;

  test('of a busy mount', () => {
    expect(
      preparation('MountVolume.SetUp failed for volume "d" : unmount /pods/u/d: device or resource busy', [
        {of: {path: '/pods/u/d'}, processes: [{pid: 9, name: 'tail'}], pods: []},
      ]),
    ).toBe('a volume is in use by tail (PID 9): device or resource busy');
  });

  test('of a taken port; that none was found is said', () => {
    const message = 'cannot open hostport 8080 for pod web: listen tcp4 :8080: bind: address already in use';
    expect(preparation(message, [{of: {port: 8080}, processes: [{pid: 9, name: 'nc'}], pods: []}])).toBe(
      'host port 8080 is taken by nc (PID 9)',
    );
    expect(preparation(message, [{of: {port: 8080}, processes: [], pods: []}])).toBe(
      'host port 8080 is taken by no process that kcri can see',
    );
  });

  test('the title of a hostile process cannot control the terminal', () => {
    const processes = [{pid: 9, name: '\x1b]0;x\x07\nok'}];
    const snapshot = aSnapshot({
      pod: aStatusPod([{state: {waiting: {reason: 'ContainerCreating'}}}]),
      events: [
        anEvent({message: 'umount /d: device or resource busy', reason: 'FailedMount', fieldPath: ''}),
      ],
      node: {holders: [{of: {path: '/d'}, processes, pods: []}]},
    });
    const text = answersText({node: undefined, pods: [answerWhy(snapshot)], count: 1}, ['kcri']);
    expect(text).toContain(String.raw`in use by \x1b]0;x\x07\nok (PID 9)`);
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  });
});
