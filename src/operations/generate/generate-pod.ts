import {DEBUG_TARGET_ANNOTATION} from '../../api/manager-annotation.js';
import type {Container, ContainerPort, PodDNSConfig, Pod, PodSpec} from '../../api/types/v1-pod.js';
import type {PodSecurityContext} from '../../api/types/v1-security.js';
import type {RuntimeClass} from '../../api/types/v1-objects.js';
import type {
  ContainerConfig,
  ContainerStatus,
  ContainerStatusResponse,
  DNSConfig,
  NamespaceOption,
  PodSandboxConfig,
  PodSandboxStatusResponse,
} from '../../cri/index.js';
import {generateContainer} from './generate-container.js';
import {toDnsLabel, VolumeCollector} from './generate-volumes.js';
import {generateMetadata} from './generate-metadata.js';
import {omitUnset} from './omit-unset.js';
import {lacksProcess, readContainerConfig, readSandboxConfig, type FindImage} from './runtime-configs.js';

/** Facts about a pod, as its runtime reports them. */
export interface RuntimePodFacts {
  readonly sandbox: PodSandboxStatusResponse;
  /** Containers in the order of their creation. */
  readonly containers: readonly ContainerStatusResponse[];
  readonly findImage: FindImage;
}

/** A generated manifest. */
export interface GeneratedPod {
  readonly pod: Pod;
  /** The RuntimeClass that the Pod refers to, if the pod has a runtime handler. */
  readonly runtimeClass: RuntimeClass | undefined;
  /** Notes on parts that are unknown or cannot be in a manifest. */
  readonly notes: readonly string[];
}

const POD_UID_LABEL = 'io.kubernetes.pod.uid';
const GRACE_PERIOD = 'io.kubernetes.pod.terminationGracePeriod';

/** Returns a manifest for a pod that runs, from what its runtime knows about it. */
export function generatePod({sandbox, containers, findImage}: RuntimePodFacts): GeneratedPod {
  const notes = new Set<string>();
  const note = (text: string): void => void notes.add(text);
  const config = readSandboxConfig(sandbox);
  const handler = sandbox.status?.runtimeHandler ?? '';
  const isOfKubelet = config.labels[POD_UID_LABEL] !== undefined;
  const shared = {config, isOfKubelet, note};
  const metadata = generateMetadata(config, note);
  const ownContainers = containers.filter(
    ({status}) => status?.annotations[DEBUG_TARGET_ANNOTATION] === undefined,
  );
  const chosen = chooseContainers(ownContainers, note);
  const spec = specOf(chosen, {...shared, podName: metadata.name ?? '', findImage});
  noteUnknown(isOfKubelet, note);
  const runtimeClassName = toDnsLabel(handler);
  return {
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: {...spec, ...(handler !== '' && {runtimeClassName})},
    },
    runtimeClass:
      handler === ''
        ? undefined
        : {apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: {name: runtimeClassName}, handler},
    notes: [...notes],
  };
}

interface PodContext {
  readonly config: PodSandboxConfig;
  /** True if a kubelet or kcri created the pod, whose labels it has then. */
  readonly isOfKubelet: boolean;
  readonly note: (text: string) => void;
}

/** Returns the running containers, or all if none runs: then the pod is a job. */
function chooseContainers(
  containers: readonly ContainerStatusResponse[],
  note: PodContext['note'],
): readonly ContainerStatusResponse[] {
  if (containers.every(hasExited)) return containers;
  for (const {status} of containers.filter(hasExited))
    note(
      `container "${status?.metadata?.name ?? ''}" has exited and is left out; it may be an init container`,
    );
  return containers.filter((container) => !hasExited(container));
}

function hasExited({status}: ContainerStatusResponse): boolean {
  return status?.state === 'CONTAINER_EXITED';
}

interface SpecContext extends PodContext {
  readonly podName: string;
  readonly findImage: FindImage;
}

function specOf(responses: readonly ContainerStatusResponse[], context: SpecContext): PodSpec {
  const {config, isOfKubelet, podName, findImage, note} = context;
  const volumes = new VolumeCollector(note);
  const options = config.linux?.securityContext?.namespaceOptions;
  const isHostNetwork = options?.network === 'NODE';
  const configs = responses.map((response) => readContainerConfig(response, findImage));
  if (responses.some(lacksProcess))
    note('the runtime does not return commands and environment: those of the images are used');
  const containers = configs.map((created, index) =>
    generateContainer(created, {
      image: imageName(created, responses[index]?.status),
      volumes,
      isHostNetwork,
      note,
    }),
  );
  return {
    ...omitUnset<PodSpec>({
      containers: isHostNetwork ? containers : withForwardedPorts(containers, config, note),
      volumes: volumes.volumes,
      restartPolicy: responses.every(hasExited) ? 'Never' : undefined,
      hostname: isHostNetwork ? undefined : ownHostname(config, podName),
      securityContext: podSecurityContext(config, configs[0]),
      ...(isOfKubelet ? {} : dnsOf(config.dnsConfig)),
    }),
    ...namespacesOf(options),
    ...gracePeriodOf(configs[0]),
  };
}

function namespacesOf(options: NamespaceOption | undefined): Partial<PodSpec> {
  const {network, pid, ipc, usernsOptions} = options ?? {};
  return {
    ...(network === 'NODE' && {hostNetwork: true}),
    ...(pid === 'NODE' && {hostPID: true}),
    ...(pid === 'POD' && {shareProcessNamespace: true}),
    ...(ipc === 'NODE' && {hostIPC: true}),
    ...(usernsOptions?.mode === 'POD' && {hostUsers: false}),
  };
}

/** Returns the host name if it differs from the pod's name and is valid in a Pod. */
function ownHostname({hostname}: PodSandboxConfig, podName: string): string | undefined {
  return hostname !== podName && toDnsLabel(hostname) === hostname ? hostname : undefined;
}

function gracePeriodOf(config: ContainerConfig | undefined): Partial<PodSpec> {
  const seconds = Number(config?.annotations[GRACE_PERIOD] ?? Number.NaN);
  return Number.isInteger(seconds) ? {terminationGracePeriodSeconds: seconds} : {};
}

function podSecurityContext(
  {linux}: PodSandboxConfig,
  first: ContainerConfig | undefined,
): PodSecurityContext {
  const groups = first?.linux?.securityContext?.supplementalGroups ?? [];
  return omitUnset<PodSecurityContext>({
    supplementalGroups: groups.map(Number),
    sysctls: Object.entries(linux?.sysctls ?? {}).map(([name, value]) => ({name, value})),
  });
}

/** Returns the name of an image: what the user specified, and not an ID, which only this node knows. */
function imageName({image}: ContainerConfig, status: ContainerStatus | undefined): string {
  const names = [image?.userSpecifiedImage, image?.image, status?.image?.image, status?.imageRef];
  const known = names.flatMap((name = '') => (name === '' ? [] : [name]));
  return known.find((name) => !/^(?:sha256:)?[0-9a-f]{64}$/.test(name)) ?? known[0] ?? '';
}

/** Adds the ports of the pod to its first container, unless a kubelet recorded those of the containers. */
function withForwardedPorts(
  containers: readonly Container[],
  {portMappings}: PodSandboxConfig,
  note: PodContext['note'],
): readonly Container[] {
  const [first, ...others] = containers;
  const isRecorded = containers.some(({ports}) => ports !== undefined);
  if (first === undefined || isRecorded || portMappings.length === 0) return containers;
  if (others.length > 0) note(`the ports of the pod are assigned to container "${first.name}"`);
  const ports = portMappings.map(({containerPort, hostPort, hostIp, protocol}) =>
    omitUnset<ContainerPort>({
      containerPort,
      hostPort: hostPort > 0 ? hostPort : undefined,
      hostIP: hostPort > 0 ? hostIp : undefined,
      protocol,
    }),
  );
  return [{...first, ports}, ...others];
}

/** Returns the DNS configuration that a config for the CRI sets; a kubelet computes it for each node. */
function dnsOf(dns: DNSConfig | undefined): Partial<PodSpec> {
  if (dns === undefined || dns.servers.length === 0) return {};
  const dnsConfig = omitUnset<PodDNSConfig>({
    nameservers: dns.servers,
    searches: dns.searches,
    options: dns.options.map((option) => {
      const [name = '', value] = option.split(':');
      return omitUnset<{readonly name: string; readonly value?: string}>({name, value});
    }),
  });
  return {dnsPolicy: 'None', dnsConfig};
}

function noteUnknown(isOfKubelet: boolean, note: (text: string) => void): void {
  note(
    isOfKubelet
      ? 'probes, restart policy, memory requests, and references to ConfigMaps and Secrets are unknown to the runtime'
      : 'the restart policy is unknown to the runtime: Always is assumed',
  );
}
