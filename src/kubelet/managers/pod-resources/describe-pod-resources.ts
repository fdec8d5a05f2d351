import {longRunningContainersOf} from '../../../api/pod-containers.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {
  AllocatableResourcesResponse,
  ContainerDevices,
  ContainerMemory,
  DynamicResource,
  PodResources,
  TopologyInfo,
} from '../../../plugin-api/gen/pod-resources/types.js';
import type {PodResources as AlphaPodResources} from '../../../plugin-api/gen/pod-resources-v1alpha1/types.js';
import {podRef} from '../../contract/pod-ref.js';
import type {DeviceUse} from '../../contract/resources/device-use.js';
import type {
  ClaimUse,
  MemoryUse,
  PodResourceProvider,
  ResourceUse,
} from '../../contract/resources/pod-resource-use.js';

type Providers = readonly PodResourceProvider[];

/** Returns the resources of a pod: those of its containers and sidecars (podresources server_v1.go). */
export function describePodResources(pod: Pod, providers: Providers): PodResources {
  const {uid, name, namespace} = podRef(pod);
  const containers = longRunningContainersOf(pod).map((container) => ({
    name: container.name,
    ...describeUse(unite(providers.map((provider) => provider.ofContainer(uid, container.name)))),
    dynamicResources: providers.flatMap(({claimsOf}) => claimsOf?.(pod, container) ?? []).map(describeClaim),
  }));
  return {name, namespace, containers};
}

/** Returns the resources that containers can have exclusively. */
export function describeAllocatable(providers: Providers): AllocatableResourcesResponse {
  return describeUse(unite(providers.map((provider) => provider.allocatable())));
}

/** Returns the devices of a pod's containers without its sidecars, as the first version of the API has them. */
export function describeAlphaPodResources(pod: Pod, providers: Providers): AlphaPodResources {
  const {uid, name, namespace} = podRef(pod);
  const containers = pod.spec.containers.map((container) => {
    const {devices} = unite(providers.map((provider) => provider.ofContainer(uid, container.name)));
    return {
      name: container.name,
      devices: devices
        .flatMap(describeDevice)
        .map(({resourceName, deviceIds}) => ({resourceName, deviceIds})),
    };
  });
  return {name, namespace, containers};
}

function unite(uses: readonly ResourceUse[]): Required<ResourceUse> {
  return {
    devices: uses.flatMap(({devices = []}) => devices),
    cpus: uses.flatMap(({cpus = []}) => cpus),
    memory: uses.flatMap(({memory = []}) => memory),
  };
}

function describeUse({devices, cpus, memory}: Required<ResourceUse>): AllocatableResourcesResponse {
  return {
    devices: devices.flatMap(describeDevice),
    cpuIds: cpus.map(BigInt),
    memory: memory.map(describeMemory),
  };
}

/** Returns a device in an entry for each of its NUMA nodes, or in one without (containerDevicesFromResourceDeviceInstances). */
function describeDevice({resource: resourceName, id, numaNodes}: DeviceUse): readonly ContainerDevices[] {
  const device = {resourceName, deviceIds: [id]};
  return numaNodes.length === 0
    ? [device]
    : numaNodes.map((node) => ({...device, topology: topologyOf([node])}));
}

function describeMemory({type: memoryType, bytes: size, numaNodes}: MemoryUse): ContainerMemory {
  return {memoryType, size, topology: topologyOf(numaNodes)};
}

function describeClaim({name: claimName, namespace: claimNamespace, devices}: ClaimUse): DynamicResource {
  const claimResources = devices.map(({driver, pool, device, shareId, cdiDevices}) => ({
    cdiDevices: cdiDevices.map((id) => ({name: id})),
    ...{driverName: driver, poolName: pool, deviceName: device, shareId},
  }));
  return {claimName, claimNamespace, claimResources};
}

function topologyOf(numaNodes: readonly number[]): TopologyInfo {
  return {nodes: numaNodes.map((node) => ({ID: BigInt(node)}))};
}
