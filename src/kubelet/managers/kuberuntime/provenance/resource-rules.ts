import {isRestartableInitContainer} from '../../../../api/pod-containers.js';
import {isHugePageResource} from '../../../../api/resource-list.js';
import type {Json} from '../../../../format/json.js';
import {
  DEFAULT_CONTAINER_POLICY,
  type ContainerPolicy,
} from '../../../contract/resources/container-policy.js';
import {hugePageSizeName} from '../../../resources/huge-pages.js';
import {computePodQosClass} from '../../../resources/qos-class.js';
import {isPositive} from '../../../resources/resource-amounts.js';
import {isNodeCriticalPod} from '../../../sources/critical-pod.js';
import {because, worded, type Named, type PathSegment, type Provenance} from './provenance.js';
import type {Rule, RuleLeaf, RuleTree} from './rule-tree.js';
import {ContainerScope, type PodScope} from './scope.js';

/** Describes the QoS class and what it follows from. */
export function qosClass(scope: PodScope): Provenance {
  const {pod} = scope;
  const {resources} = pod.spec;
  const isPodLevel = [resources?.requests, resources?.limits].some(
    (list) => Object.keys(list ?? {}).length > 0,
  );
  const from = isPodLevel
    ? worded(scope.field('spec', 'resources'), 'spec.resources')
    : scope.everyContainer('resources', 'resources of the containers');
  return because`${computePodQosClass(pod)} by ${from}`;
}

/** Returns the limits of the node beyond those of its pods. */
function policyOf({node}: PodScope): ContainerPolicy {
  return node.containerPolicy ?? DEFAULT_CONTAINER_POLICY;
}

/** Names a CFS period, by default the node's. */
function cfsPeriod(scope: PodScope, micros = Number(policyOf(scope).cpuPeriodMicros)): Named {
  const text = `${micros / 1000} ms`;
  return micros === Number(DEFAULT_CONTAINER_POLICY.cpuPeriodMicros)
    ? scope.rule(`${text}, the CFS period of the kubelet`)
    : worded(scope.setting('cpuCFSQuotaPeriod', `${micros}us`), `cpuCFSQuotaPeriod ${text}`);
}

/** Explains a quota; a container with CPUs of its own has none. */
function cpuQuota(scope: PodScope, value: Json, limit: Provenance): Provenance {
  if (value === '-1')
    return because`no quota, because the CPU manager gives exclusive CPUs (${scope.setting('cpuManagerPolicy', scope.node.cpuManager?.policy)})`;
  return because`${limit} of ${cfsPeriod(scope)}`;
}

/** Rules of fields that sandboxes and containers have in the same form. */
const SHARED = {
  cpu_period: (scope: PodScope, {value}: RuleLeaf) => because`${cfsPeriod(scope, Number(value))}`,
} as const;

/** Rules of the resources of a container (LinuxContainerResources). */
export const CONTAINER_RESOURCES: RuleTree<ContainerScope> = {
  ...SHARED,
  cpu_shares: (scope) => cpuShares(scope),
  cpu_quota: (scope, {value}) => cpuQuota(scope, value, because`${limitOf(scope, 'cpu')}`),
  memory_limit_in_bytes: (scope) => because`${limitOf(scope, 'memory')}`,
  memory_swap_limit_in_bytes: (scope) =>
    because`no swap, so as much as memory: ${limitOf(scope, 'memory')} (${swapSetting(scope)}, ${cgroupVersion(scope)})`,
  oom_score_adj: (scope) => oomScore(scope),
  cpuset_cpus: (scope) => cpuset(scope, ['cpu', 'CPU'], 'cpuManagerPolicy', scope.node.cpuManager?.policy),
  cpuset_mems: (scope) =>
    cpuset(scope, ['memory', 'memory'], 'memoryManagerPolicy', scope.node.memoryManager?.policy),
  unified: (scope, {below: [key], value}) => unified(scope, String(key), value),
  hugepage_limits: (scope, {below: [index]}) => hugePages(scope, index),
};

/** Rules of the resources of a sandbox, the totals of its containers. */
export const SANDBOX_RESOURCES: RuleTree<PodScope> = {
  ...SHARED,
  cpu_shares: (scope) => totalShares(scope),
  cpu_quota: (scope, {value}) => cpuQuota(scope, value, totalOf(scope, 'limits', 'cpu')),
  memory_limit_in_bytes: (scope) => because`${totalOf(scope, 'limits', 'memory')}`,
  unified: (scope, {below: [key], value}) => unified(scope, String(key), value),
};

/** Rules of the overhead of a sandbox. */
export const OVERHEAD_RESOURCES: Rule<PodScope> = (scope) => because`${scope.field('spec', 'overhead')}`;

/** Names the limit of a container, or the pod's. */
function limitOf(scope: ContainerScope, name: 'cpu' | 'memory'): Named {
  const own = scope.container.resources?.limits?.[name];
  return isPositive(own)
    ? scope.own('resources', 'limits', name)
    : scope.field('spec', 'resources', 'limits', name);
}

function cpuShares(scope: ContainerScope): Provenance {
  const request = scope.own('resources', 'requests', 'cpu');
  if (request.source.kind === 'default') {
    const limit = scope.own('resources', 'limits', 'cpu');
    return because`${worded(request, `resources.requests.cpu`)} is by default ${limit}`;
  }
  if (request.source.value !== undefined) return because`${request}`;
  const limit = limitOf(scope, 'cpu');
  if (limit.source.value !== undefined) return because`${request}, so ${limit}`;
  return because`the minimum: ${[request, scope.own('resources', 'limits', 'cpu'), limit].slice(0, 2)}`;
}

function oomScore(scope: ContainerScope): Provenance {
  const {pod, container, node} = scope;
  const qos = qosClass(scope);
  if (isNodeCriticalPod(pod))
    return because`node-critical: ${[scope.field('spec', 'priorityClassName'), scope.field('spec', 'priority')]}`;
  if (computePodQosClass(pod) !== 'Burstable') return qos;
  const request = worded(
    scope.own('resources', 'requests', 'memory'),
    `memory request ${container.resources?.requests?.['memory'] ?? 0}`,
  );
  const memory = worded(
    scope.fact('memoryBytes', String(node.memoryBytes)),
    `${(Number(node.memoryBytes) / 2 ** 30).toFixed(1)}Gi of the node`,
  );
  const podLevel = scope.field('spec', 'resources', 'requests', 'memory');
  const shared = podLevel.source.value === undefined ? '' : because`, with its share of ${podLevel}`;
  const sidecar = isRestartableInitContainer(container)
    ? because`, or the smallest of the containers that it serves (${scope.ofContainers('resources', 'requests', 'memory')})`
    : '';
  const burstable = {...qos, text: 'Burstable'};
  return because`${burstable}, ${request} of ${memory}${shared}${sidecar}`;
}

/** Names the amounts of a resource of which that of the sandbox is the total. */
function totalOf(scope: PodScope, kind: 'requests' | 'limits', name: 'cpu' | 'memory'): Provenance {
  const podLevel = scope.field('spec', 'resources', kind, name);
  if (podLevel.source.value !== undefined) return because`${podLevel}`;
  const amounts = scope.ofContainers('resources', kind, name);
  return because`${kind}.${name} of all containers: ${amounts}`;
}

function totalShares(scope: PodScope): Provenance {
  const has = (kind: 'requests' | 'limits'): boolean =>
    scope.ofContainers('resources', kind, 'cpu').length > 0 ||
    scope.field('spec', 'resources', kind, 'cpu').source.value !== undefined;
  if (has('requests')) return totalOf(scope, 'requests', 'cpu');
  if (has('limits')) return because`no CPU requests, so ${totalOf(scope, 'limits', 'cpu')}`;
  return because`the minimum: ${scope.everyContainer('resources', 'no container requests CPU')}`;
}

/** Names the manager that chose CPUs or NUMA nodes, and the topology manager if it aligns them. */
function cpuset(
  scope: ContainerScope,
  [manager, title]: readonly [manager: string, title: string],
  name: string,
  policy: string | undefined,
): Provenance {
  const topology = scope.node.topologyManager?.policy ?? 'none';
  const aligned =
    topology === 'none'
      ? ''
      : because`, aligned by the topology manager (${scope.setting('topologyManagerPolicy', topology)})`;
  return because`${title} manager (${scope.setting(name, policy)})${aligned}: ${scope.ofManagers(manager)}`;
}

function cgroupVersion(scope: PodScope): Named {
  return scope.fact('cgroup.version', scope.node.cgroup.version);
}

function swapSetting(scope: PodScope): Named {
  return scope.setting('memorySwap.swapBehavior', policyOf(scope).swapBehavior);
}

/** Names the limit of a huge page size; the runtime gets one for each size of the node. */
function hugePages(scope: ContainerScope, index: PathSegment | undefined): Provenance {
  const size = scope.node.hugePageSizes[Number(index)] ?? '';
  const ofNode = scope.fact('hugePageSizes', size);
  const resource = [
    ...Object.keys(scope.container.resources?.limits ?? {}),
    ...Object.keys(scope.pod.spec.resources?.limits ?? {}),
  ].find((name) => isHugePageResource(name) && hugePageSizeName(name) === size);
  if (resource === undefined)
    return because`every size of the node has a limit, ${ofNode}; the container may use none of it`;
  const own = scope.own('resources', 'limits', resource);
  return because`${own.source.value === undefined ? scope.field('spec', 'resources', 'limits', resource) : own}, ${ofNode}`;
}

function unified(scope: PodScope, key: string, value: unknown): Provenance {
  const version = cgroupVersion(scope);
  switch (key) {
    case 'memory.oom.group':
      return because`${scope.setting('singleProcessOOMKill', policyOf(scope).singleProcessOomKill)}: an OOM kill ends all processes, with ${version}`;
    case 'memory.swap.max':
      return because`${swapSetting(scope)}: ${value === '0' ? 'no swap' : 'a share of the swap'}, with ${version}`;
    case 'memory.min':
    case 'memory.low':
      return because`${scope.setting('memoryReservationPolicy', reservationPolicy(scope))} and ${memoryOf(scope, 'requests')}, with ${version}`;
    case 'memory.high':
      return because`${memoryHigh(scope)}, with ${version}`;
    default:
      return because`${scope.rule('a manager of the node')}, with ${version}`;
  }
}

/** Explains the memory from which a container is throttled; without a limit, what the node has for pods counts. */
function memoryHigh(scope: PodScope): Provenance {
  const factor = scope.setting('memoryThrottlingFactor', policyOf(scope).memoryQos?.throttlingFactor);
  const limit = memoryOf(scope, 'limits');
  const isLimited = limit.sources.some(({value}) => value !== undefined);
  const most = isLimited
    ? limit
    : because`the allocatable part of ${scope.fact('memoryBytes', String(scope.node.memoryBytes))}`;
  return because`${factor} of what is between ${memoryOf(scope, 'requests')} and ${most}`;
}

function reservationPolicy(scope: PodScope): string | undefined {
  const {memoryQos} = policyOf(scope);
  if (memoryQos === undefined) return undefined;
  return memoryQos.protectsRequests ? 'TieredReservation' : 'None';
}

/** Names the memory of a container, or of all containers of a sandbox. */
function memoryOf(scope: PodScope, kind: 'requests' | 'limits'): Provenance {
  return scope instanceof ContainerScope
    ? because`${scope.own('resources', kind, 'memory')}`
    : totalOf(scope, kind, 'memory');
}
