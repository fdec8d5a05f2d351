import type {Finding} from '../finding.js';
import type {PodSnapshot} from '../snapshot/pod-snapshot.js';
import {hostPortsOf} from '../snapshot/wanted-holders.js';
import {holderText, isPort} from './holders.js';
import {explainMessage, quoteMessage, type MessagePattern} from './message-patterns.js';
import {describeAdvice, eventsOf, eventText, sizeText} from './subject.js';

const DESCRIBE_NODE = {kcri: ['describe', 'node']};

/** Eviction signals by the resource in the kubelet's message; a message does not say which of two file systems was short. */
const SIGNALS: Readonly<Record<string, string>> = {
  memory: 'memory.available',
  'ephemeral-storage': 'nodefs.available or imagefs.available',
  inodes: 'nodefs.inodesFree or imagefs.inodesFree',
  pids: 'pid.available',
};

/** Causes of evictions, from the message of the kubelet. */
const EVICTIONS: readonly MessagePattern<PodSnapshot>[] = [
  {
    rule: 'pod-evicted',
    pattern:
      /The node was low on resource: ([\w-]+)\.(?: Threshold quantity: (\S+), available: (\S+?)\.(?=\s|$))?(?:.*?(Container|Pod) (\S+) was using (\S+), request is (\S+),)?/,
    cause: ([
      ,
      resource = '',
      threshold = '',
      available = '',
      kind = '',
      name = '',
      used = '',
      request = '',
    ]) =>
      [
        threshold === ''
          ? `the kubelet evicted the pod, since the node ran short of ${resource}`
          : `the kubelet evicted the pod: ${available} of ${resource} was left on the node, the threshold is ${threshold} (signal ${SIGNALS[resource] ?? 'unknown'})`,
        ...(kind === '' ? [] : [`${kind.toLowerCase()} ${name} was using ${used}, and requests ${request}`]),
      ].join('; '),
    tries: ([, resource = '']) => [
      resource === 'memory'
        ? 'set resources.requests.memory to what the containers use, or free memory of the node'
        : `free ${resource} of the node`,
      DESCRIBE_NODE,
    ],
  },
  {
    rule: 'pod-evicted',
    pattern: /Usage of EmptyDir volume "([^"]*)" exceeds the limit "([^"]*)"/,
    cause: ([, volume = '', limit = '']) =>
      `the kubelet evicted the pod, since volume ${volume} uses more than its sizeLimit of ${limit}`,
    tries: ([, volume = '']) => [`raise emptyDir.sizeLimit of volume ${volume}, or write less to it`],
  },
  {
    rule: 'pod-evicted',
    pattern: /Container (\S+) exceeded its local ephemeral storage limit "([^"]*)"/,
    cause: ([, container = '', limit = '']) =>
      `the kubelet evicted the pod, since log and writable layer of container ${container} use more than its limit of ${limit}`,
    tries: ([, container = '']) => [
      `raise resources.limits.ephemeral-storage of container ${container}, or write less`,
    ],
  },
  {
    rule: 'pod-evicted',
    pattern: /Pod ephemeral local storage usage exceeds the total limit of containers (\S+?)\.?(?:\s|$)/,
    cause: ([, limit = '']) =>
      `the kubelet evicted the pod, since its logs, writable layers and emptyDir volumes use more than the limit of ${limit}`,
    tries: () => ['raise resources.limits.ephemeral-storage of the containers, or write less'],
  },
  {
    rule: 'pod-evicted',
    pattern: /The node had condition: \[([^\]]*)\]/,
    cause: ([, conditions = '']) =>
      `the node was under ${conditions}, so that the kubelet did not admit the pod`,
    tries: () => [DESCRIBE_NODE],
  },
];

/** Resources whose amounts in messages of the kubelet have the unit bytes. */
const isBytes = (resource: string): boolean => /memory|storage|hugepages/.test(resource);

function amountText(resource: string, amount: string): string {
  if (isBytes(resource)) return sizeText(Number(amount));
  // The kubelet counts thousandths of CPUs.
  return resource === 'cpu' ? `${amount}m` : amount;
}

const FREE_CPUS = [
  'delete another pod that has exclusive CPUs (Guaranteed, with whole CPUs), or request fewer',
  DESCRIBE_NODE,
];
const CHECK_PLUGIN = ['check the pod of the device plugin on this node, and its log', DESCRIBE_NODE];

/** Causes of refused pods, from the message of the kubelet. */
const REFUSALS: readonly MessagePattern<PodSnapshot>[] = [
  {
    rule: 'out-of-resource',
    pattern: /enough resource: ([^,\s]+), requested: (\d+), used: (\d+), capacity: (\d+)/,
    cause: ([, resource = '', requested = '', used = '', capacity = '']) =>
      `the node has not enough ${resource} left: the pod requests ${amountText(resource, requested)}, and other pods ${amountText(resource, used)} of ${amountText(resource, capacity)}`,
    tries: () => [`lower resources.requests, or delete another pod`, DESCRIBE_NODE],
  },
  {
    rule: 'pod-nodeports',
    pattern: /didn't have free ports/,
    cause: (_, snapshot) => {
      const ports = hostPortsOf(snapshot.pod);
      const taken = ports.map((port) => [port, holderText(snapshot, isPort(port))] as const);
      const known = taken.filter(([, text]) => / by (?!no process)/.test(text));
      return `a host port of the pod is used by another pod${known.map(([port, text]) => `: ${port}${text}`).join('')}`;
    },
    tries: () => ['change hostPort, or delete the pod that uses it', {kcri: ['get', 'pods', '-o', 'wide']}],
  },
  {
    rule: 'cpus-not-whole-cores',
    pattern: /requested (\d+) cpus not multiple cpus per core = (\d+)/,
    cause: ([, count = '', threads = '']) =>
      `a container requests ${count} exclusive CPUs, but full-pcpus-only gives out whole cores of ${threads} CPUs`,
    tries: ([, , threads = '']) => [`request a multiple of ${threads} CPUs`],
  },
  {
    rule: 'no-free-cores',
    pattern: /not enough free physical CPUs: available physical CPUs = (\d+), requested CPUs = (\d+)/,
    cause: ([, available = '', count = '']) =>
      `a container requests ${count} exclusive CPUs, and only ${available} of whole cores are free`,
    tries: () => FREE_CPUS,
  },
  {
    rule: 'no-exclusive-cpus',
    pattern: /not enough cpus available to satisfy request: requested=(\d+), available=(\d+)/,
    cause: ([, count = '', available = '']) =>
      `a container requests ${count} exclusive CPUs, and only ${available} are not given out`,
    tries: () => FREE_CPUS,
  },
  {
    rule: 'topology-affinity',
    pattern: /Resources cannot be allocated with Topology locality/,
    cause: () =>
      'CPUs, memory and devices of the pod cannot be on the NUMA nodes that topologyManagerPolicy demands',
    tries: () => [
      'request what fits on one NUMA node, or set topologyManagerPolicy to best-effort',
      'lscpu; cat /var/lib/kubelet/cpu_manager_state',
    ],
  },
  {
    rule: 'no-numa-memory',
    pattern:
      /\[memorymanager\] (failed to [^,]*?(?:, no NUMA nodes with enough memory is available)?|preferred hint violates[^,]*)(?:, which is unexpected|$)/,
    cause: ([, why = '']) => `the memory manager finds no NUMA nodes with enough memory for the pod: ${why}`,
    tries: () => ['lower memory and hugepages of the pod', 'cat /var/lib/kubelet/memory_manager_state'],
  },
  {
    rule: 'device-plugin-missing',
    pattern: /cannot allocate unregistered device ([^\s,]+)/,
    cause: ([, resource = '']) => `no device plugin for ${resource} has registered since the kubelet started`,
    tries: () => CHECK_PLUGIN,
  },
  {
    rule: 'device-unhealthy',
    pattern:
      /(no healthy devices present|previously allocated devices are no longer healthy); cannot allocate unhealthy devices ([^\s,]+)/,
    cause: ([, why = '', resource = '']) =>
      `the device plugin of ${resource} reports unhealthy devices: ${why}`,
    tries: () => CHECK_PLUGIN,
  },
  {
    rule: 'no-device-left',
    pattern: /requested number of devices unavailable for (\S+?)\. Requested: (\d+), Available: (\d+)/,
    cause: ([, resource = '', requested = '', available = '']) =>
      `the pod requests ${requested} of ${resource}, and ${available} are free`,
    tries: () => ['delete another pod that uses the devices', DESCRIBE_NODE],
  },
  {
    rule: 'device-plugin-failed',
    pattern: /Allocate failed due to (rpc error: .*?), which is unexpected/s,
    cause: ([, error = '']) => `the device plugin does not allocate the devices: ${error}`,
    tries: () => CHECK_PLUGIN,
  },
  {
    rule: 'preemption-failed',
    pattern: /no set of running pods found to reclaim resources: \[(.*)\]/,
    cause: ([, missing = '']) =>
      `the pod is critical, but stopping other pods would not free enough: ${missing.replaceAll(/\(res: ([^,]+), q: ([^)]+)\),? ?/g, '$1 $2 ').trim()}`,
    tries: () => ['lower resources.requests', DESCRIBE_NODE],
  },
];

/** Meanings of the reasons of pods that a node does not run. */
const REASONS: Readonly<Record<string, string>> = {
  Evicted: 'the kubelet evicted the pod, since the node ran short of a resource',
  Preempting: 'the pod was preempted: its resources were needed for a critical pod',
  DeadlineExceeded: 'activeDeadlineSeconds of the pod has passed',
  NodeAffinity: 'the labels of this node do not match nodeSelector or affinity of the pod',
  NodePorts: 'a host port of the pod is used by another pod',
  NodeName: 'the pod names another node in nodeName',
  TaintToleration: 'the pod does not tolerate a taint of this node',
  SysctlForbidden: 'the pod sets a sysctl that this kubelet does not allow',
  AppArmor: 'the AppArmor profile of the pod cannot be used on this node',
  PodOSNotSupported: 'the pod is for another operating system',
  PodOSSelectorNodeLabelDoesNotMatch: 'the pod is for another operating system',
  SupplementalGroupsPolicyNotSupported: 'the runtime does not support supplementalGroupsPolicy of the pod',
  TopologyAffinityError: 'CPUs, memory or devices cannot be aligned as topologyManagerPolicy demands',
  SMTAlignmentError: 'the CPUs of the pod cannot be whole cores, as full-pcpus-only demands',
  EmptyPodSharedPoolError: 'the exclusive CPUs of the pod leave none for its other containers',
  UnexpectedAdmissionError: 'the kubelet did not admit the pod to this node',
  NodeShutdown: 'the node was shutting down, and the kubelet admitted no pod',
  Terminated: 'the kubelet terminated the pod, since the node was shutting down',
};

/** Explains a pod that the node rejected, evicted or ended. */
export function explainRejection(snapshot: PodSnapshot): Finding | undefined {
  const {status = {}} = snapshot.pod;
  const {phase, reason = '', message = ''} = status;
  if (phase !== 'Failed' || reason === '') return undefined;
  const [event] = eventsOf(snapshot, undefined, reason);
  return {
    severity: 'problem',
    ...causeOf(reason, message, snapshot),
    evidence: [
      reason,
      ...(message === '' ? [] : [quoteMessage(message)]),
      ...(event === undefined ? [] : [eventText(event, snapshot)]),
    ],
    next: 'nothing: a pod that has failed is not started again',
  };
}

function causeOf(
  reason: string,
  message: string,
  snapshot: PodSnapshot,
): Pick<Finding, 'rule' | 'cause' | 'tries'> {
  const known = explainMessage(reason === 'Evicted' ? EVICTIONS : REFUSALS, message, snapshot);
  if (known !== undefined) return known;
  const resource = /^OutOf(.+)$/.exec(reason)?.[1];
  const tries = [DESCRIBE_NODE, describeAdvice(snapshot)];
  if (resource !== undefined)
    return {
      rule: 'out-of-resource',
      cause: `the node has not enough ${resource} left for the requests of the pod`,
      tries,
    };
  return {
    rule: `pod-${reason.toLowerCase()}`,
    cause: REASONS[reason] ?? `the pod has failed with reason ${reason}`,
    tries,
  };
}
