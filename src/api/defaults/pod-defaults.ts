import {roundUpToMilli} from '../quantity.js';
import {
  aggregateContainerResources,
  isHugePageResource,
  isOvercommitAllowed,
  isPodLevelResource,
  type QuantityArithmetic,
} from '../resource-list.js';
import {normalizeSysctlName} from '../sysctl.js';
import type {
  Container,
  EnvVar,
  EphemeralContainer,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  Pod,
  PodSpec,
  Probe,
} from '../types/v1-pod.js';
import type {PullPolicy, ResourceList, ResourceRequirements} from '../types/v1-meta.js';
import type {PersistentVolumeClaimTemplate} from '../types/v1-attached-volumes.js';
import type {PodSecurityContext} from '../types/v1-security.js';
import type {ObjectFieldSelector, ResourceFieldSelector} from '../types/v1-selectors.js';
import type {DownwardAPIVolumeFile, Volume, VolumeProjection} from '../types/v1-volumes.js';

const FILE_MODE = 0o644;
const TOKEN_SECONDS = 3600;

/** Applies a function to each present part of `object`; absent parts stay absent. */
function mapPresent<T extends object>(
  object: T,
  parts: {readonly [Name in keyof T]?: (part: NonNullable<T[Name]>) => T[Name]},
): T {
  const changed = Object.entries(parts).flatMap(([name, change]) => {
    const part = object[name as keyof T];
    return part === undefined ? [] : [[name, (change as (part: unknown) => unknown)(part)] as const];
  });
  return {...object, ...Object.fromEntries(changed)};
}

/** Reports whether a value is set: in Go, an empty string and zero are unset. */
function orElse<T extends number | string>(value: T | undefined, fallback: T): T {
  return value === undefined || value === '' || value === 0 ? fallback : value;
}

function each<T>(change: (item: T) => T): (items: readonly T[]) => readonly T[] {
  return (items) => items.map(change);
}

const PATH_COMPONENT = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const DOMAIN = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\\[[0-9a-fA-F:]+\\])(?::\\d+)?';
const IMAGE = new RegExp(
  `^(?:${DOMAIN}/)?${PATH_COMPONENT}(?:/${PATH_COMPONENT})*(?::(?<tag>\\w[\\w.-]{0,127}))?(?<digest>@[a-z0-9+._-]+:[0-9a-fA-F]{32,})?$`,
);

/**
 * Returns the default image pull policy: Always for the tag `latest`, which is also the tag without tag and digest,
 * otherwise IfNotPresent (SetDefaults_Container with parsers.ParseImageName).
 */
export function defaultPullPolicy(image: string | undefined): PullPolicy {
  const parts = IMAGE.exec(image ?? '')?.groups;
  // A reference that is missing or cannot be parsed has no tag; pulling the image will fail.
  if (parts === undefined) return 'IfNotPresent';
  const tag = parts['tag'] ?? (parts['digest'] === undefined ? 'latest' : undefined);
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function roundResources(resources: ResourceList): ResourceList {
  return Object.fromEntries(
    Object.entries(resources).map(([name, amount]) => [name, roundUpToMilli(amount)]),
  );
}

function roundRequirements(resources: ResourceRequirements): ResourceRequirements {
  return mapPresent(resources, {limits: roundResources, requests: roundResources});
}

/** Sets missing requests of a container to its limits (SetDefaults_Pod). */
function requestLimits(resources: ResourceRequirements): ResourceRequirements {
  return resources.limits === undefined
    ? resources
    : {...resources, requests: {...resources.limits, ...resources.requests}};
}

function defaultFieldRef(selector: ObjectFieldSelector): ObjectFieldSelector {
  return {...selector, apiVersion: orElse(selector.apiVersion, 'v1')};
}

/** Sets a zero divisor to 1. */
function defaultResourceFieldRef(selector: ResourceFieldSelector): ResourceFieldSelector {
  return {divisor: '0', ...selector};
}

function defaultEnv(variable: EnvVar): EnvVar {
  return mapPresent(variable, {
    valueFrom: (source) =>
      mapPresent(source, {
        fieldRef: defaultFieldRef,
        resourceFieldRef: defaultResourceFieldRef,
        fileKeyRef: (selector) => ({optional: false, ...selector}),
      }),
  });
}

function defaultHttpGet(action: HTTPGetAction): HTTPGetAction {
  return {...action, path: orElse(action.path, '/'), scheme: action.scheme ?? 'HTTP'};
}

function defaultHandler(handler: LifecycleHandler): LifecycleHandler {
  return mapPresent(handler, {httpGet: defaultHttpGet});
}

function defaultLifecycle(lifecycle: Lifecycle): Lifecycle {
  return mapPresent(lifecycle, {postStart: defaultHandler, preStop: defaultHandler});
}

/** Sets the defaults of a probe (SetDefaults_Probe); zero counts as unset. */
function defaultProbe(probe: Probe): Probe {
  return {
    ...mapPresent(probe, {httpGet: defaultHttpGet, grpc: (action) => ({service: '', ...action})}),
    timeoutSeconds: orElse(probe.timeoutSeconds, 1),
    periodSeconds: orElse(probe.periodSeconds, 10),
    successThreshold: orElse(probe.successThreshold, 1),
    failureThreshold: orElse(probe.failureThreshold, 3),
  };
}

function defaultContainer<T extends Container>(container: T): T {
  const present: Container = mapPresent<Container>(container, {
    env: each(defaultEnv),
    lifecycle: defaultLifecycle,
    livenessProbe: defaultProbe,
    ports: each((port) => ({...port, protocol: port.protocol ?? 'TCP'})),
    readinessProbe: defaultProbe,
    startupProbe: defaultProbe,
  });
  return {
    ...container,
    ...present,
    resources: container.resources ?? {},
    terminationMessagePath: orElse(container.terminationMessagePath, '/dev/termination-log'),
    terminationMessagePolicy: container.terminationMessagePolicy ?? 'File',
    imagePullPolicy: container.imagePullPolicy ?? defaultPullPolicy(container.image),
  };
}

function defaultPodContainer(container: Container): Container {
  const defaulted = defaultContainer(container);
  return mapPresent(defaulted, {resources: requestLimits});
}

function defaultEphemeralContainer(container: EphemeralContainer): EphemeralContainer {
  return defaultContainer(container);
}

function defaultDownwardFile(file: DownwardAPIVolumeFile): DownwardAPIVolumeFile {
  return mapPresent(file, {fieldRef: defaultFieldRef, resourceFieldRef: defaultResourceFieldRef});
}

function defaultProjection(projection: VolumeProjection): VolumeProjection {
  return mapPresent(projection, {
    downwardAPI: (source) => mapPresent(source, {items: each(defaultDownwardFile)}),
    serviceAccountToken: (source) => ({expirationSeconds: TOKEN_SECONDS, ...source}),
  });
}

function defaultClaimTemplate(template: PersistentVolumeClaimTemplate): PersistentVolumeClaimTemplate {
  return {...template, spec: {volumeMode: 'Filesystem', ...template.spec}};
}

/** Sets the defaults of a volume and its source (SetDefaults_Volume). */
function defaultVolume(volume: Volume): Volume {
  const {name, ...source} = volume;
  if (Object.keys(source).length === 0) return {name, emptyDir: {}};
  return mapPresent(volume, {
    azureDisk: (disk) => ({
      cachingMode: 'ReadWrite',
      kind: 'Shared',
      fsType: 'ext4',
      readOnly: false,
      ...disk,
    }),
    configMap: (map) => ({defaultMode: FILE_MODE, ...map}),
    downwardAPI: (api) => ({defaultMode: FILE_MODE, ...mapPresent(api, {items: each(defaultDownwardFile)})}),
    ephemeral: (claim) => mapPresent(claim, {volumeClaimTemplate: defaultClaimTemplate}),
    hostPath: (path) => ({...path, type: path.type ?? ''}),
    image: (image) => ({...image, pullPolicy: image.pullPolicy ?? defaultPullPolicy(image.reference ?? '')}),
    iscsi: (iscsi) => ({iscsiInterface: 'default', ...iscsi}),
    projected: (projected) => ({
      defaultMode: FILE_MODE,
      ...mapPresent(projected, {sources: each(defaultProjection)}),
    }),
    rbd: (rbd) => ({pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring', ...rbd}),
    scaleIO: (scale) => ({storageMode: 'ThinProvisioned', fsType: 'xfs', ...scale}),
    secret: (secret) => ({defaultMode: FILE_MODE, ...secret}),
  });
}

/** Sets the host ports of containers in the host network to their container ports (defaultHostNetworkPorts). */
function useHostPorts(container: Container): Container {
  return mapPresent(container, {
    ports: each((port) => ({...port, hostPort: orElse(port.hostPort, port.containerPort)})),
  });
}

function pick(resources: ResourceList, wanted: (name: string) => boolean): ResourceList {
  return Object.fromEntries(Object.entries(resources).filter(([name]) => wanted(name)));
}

/**
 * Sets pod-level limits of huge pages and requests from the containers (defaultHugePagePodLimits, defaultPodRequests).
 */
function defaultPodResources(
  spec: PodSpec,
  resources: ResourceRequirements,
  arithmetic: QuantityArithmetic | undefined,
): ResourceRequirements {
  const {limits = {}, requests = {}} = resources;
  if (Object.keys(limits).length + Object.keys(requests).length === 0) return resources;
  const wantedPages = (name: string): boolean => isHugePageResource(name) && !Object.hasOwn(requests, name);
  const allLimits = {
    ...pick(aggregateContainerResources(spec, 'limits', arithmetic), wantedPages),
    ...limits,
  };
  if (Object.keys(allLimits).length === 0) return resources;
  const wanted = (name: string): boolean => isPodLevelResource(name) && isOvercommitAllowed(name);
  const allRequests = {
    ...pick(allLimits, isPodLevelResource),
    ...pick(aggregateContainerResources(spec, 'requests', arithmetic), wanted),
    ...requests,
  };
  const nothing = Object.keys(allRequests).length === 0;
  return {...resources, limits: allLimits, ...(nothing ? {} : {requests: allRequests})};
}

/** Returns the grace period of a pod; a negative one becomes 1 (Convert_v1_Pod_To_core_Pod). */
function gracePeriod(seconds = 30): number {
  return seconds < 0 ? 1 : seconds;
}

function defaultSpec(written: PodSpec, arithmetic: QuantityArithmetic | undefined): PodSpec {
  const spec = mapPresent(written, {
    containers: each(defaultPodContainer),
    initContainers: each(defaultPodContainer),
    ephemeralContainers: each(defaultEphemeralContainer),
    volumes: each(defaultVolume),
  });
  const ports =
    spec.hostNetwork === true ? {containers: each(useHostPorts), initContainers: each(useHostPorts)} : {};
  const serviceAccountName = orElse(spec.serviceAccountName, spec.serviceAccount ?? '');
  return {
    ...mapPresent(spec, {
      ...ports,
      resources: (resources) => defaultPodResources(spec, resources, arithmetic),
    }),
    ...(serviceAccountName === '' ? {} : {serviceAccountName}),
    dnsPolicy: spec.dnsPolicy ?? 'ClusterFirst',
    enableServiceLinks: spec.enableServiceLinks ?? true,
    restartPolicy: spec.restartPolicy ?? 'Always',
    schedulerName: orElse(spec.schedulerName, 'default-scheduler'),
    securityContext: spec.securityContext ?? {},
    terminationGracePeriodSeconds: gracePeriod(spec.terminationGracePeriodSeconds),
  };
}

function roundContainer<T extends Container>(container: T): T {
  const rounded: Container = mapPresent<Container>(container, {resources: roundRequirements});
  return {...container, ...rounded};
}

/** Normalizes sysctl names to dots. */
function normalizeSysctls(security: PodSecurityContext): PodSecurityContext {
  return mapPresent(security, {
    sysctls: each((sysctl) => ({...sysctl, name: normalizeSysctlName(sysctl.name)})),
  });
}

/** Rounds amounts of resources up to thousandths (SetDefaults_ResourceList), and normalizes names of sysctls. */
function normalizeSpec(spec: PodSpec): PodSpec {
  return mapPresent(spec, {
    containers: each(roundContainer),
    initContainers: each(roundContainer),
    ephemeralContainers: each((container) => roundContainer(container)),
    overhead: roundResources,
    resources: roundRequirements,
    securityContext: normalizeSysctls,
  });
}

/**
 * Returns the Pod with defaults like applyPodDefaults, but with amounts and sysctls as written and its own namespace.
 * `arithmetic` adds amounts of containers.
 */
export function applyExactPodDefaults(pod: Pod, arithmetic?: QuantityArithmetic): Pod {
  return {...pod, spec: defaultSpec(pod.spec, arithmetic)};
}

/**
 * Returns the Pod with the defaults of the API server and, for manifest files, of the kubelet: core/v1's SetDefaults
 * functions and the namespace `default`. Pure and idempotent.
 */
export function applyPodDefaults(pod: Pod): Pod {
  const {metadata, spec, ...rest} = applyExactPodDefaults(pod);
  return {
    ...rest,
    metadata: {...metadata, namespace: orElse(metadata.namespace, 'default')},
    spec: normalizeSpec(spec),
  };
}
