import type {Container, Pod, PodSpec} from '../../api/v1.js';
import type {PodSecurityContext, ProcMountType, SecurityContext} from '../../api/v1-security.js';
import type {
  Init,
  Int64Value,
  LinuxContainerSecurityContext,
  LinuxSandboxSecurityContext,
} from '../../cri/index.js';
import type {NodeFacts} from '../container/node.js';
import type {IdMapping} from '../container/pod-filesystem.js';
import {formatPod, podRef} from '../container/pod-ref.js';
import {ContainerConfigError} from './config-errors.js';
import {namespaceOptions} from './namespaces.js';
import {apparmorProfiles, seccompProfile} from './security-profiles.js';

/** Whom an image says that it runs as: a number or a name. */
export type ImageUser = {readonly uid: bigint} | {readonly username: string};

/** Hidden from containers, for what they tell of the node (securitycontext defaultMaskedPaths). */
const MASKED_PATHS = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** The security settings of the sandbox itself (generatePodSandboxLinuxConfig). */
export function sandboxSecurityContext(
  pod: Pod,
  userNamespace?: IdMapping,
): Init<LinuxSandboxSecurityContext> {
  const {runAsUser, runAsGroup, seLinuxOptions, ...context} = pod.spec.securityContext ?? {};
  return {
    privileged: containersOf(pod.spec).some((container) => container.securityContext?.privileged === true),
    seccomp: {profileType: 'RuntimeDefault'},
    runAsUser: int64(runAsUser),
    runAsGroup: int64(runAsGroup),
    selinuxOptions: seLinuxOptions,
    namespaceOptions: namespaceOptions(pod, userNamespace),
    ...groups(context),
  };
}

/** What a container's security settings are made from. */
export interface SecurityContextInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly imageUser: ImageUser;
  /** The pod's own ids; absent when its users are the node's. */
  readonly userNamespace?: IdMapping | undefined;
  readonly node: Pick<NodeFacts, 'rootDir' | 'seccompDefault' | 'thermalThrottlePaths'>;
}

/** The security settings of one container (determineEffectiveSecurityContext): its own before its pod's. */
export function containerSecurityContext({
  pod,
  container,
  imageUser,
  userNamespace,
  node,
}: SecurityContextInput): Init<LinuxContainerSecurityContext> {
  const context = effectiveContext(pod, container);
  return {
    capabilities: context.capabilities && {
      addCapabilities: context.capabilities.add,
      dropCapabilities: context.capabilities.drop,
    },
    privileged: context.privileged,
    readonlyRootfs: context.readOnlyRootFilesystem,
    noNewPrivs: context.allowPrivilegeEscalation === false,
    selinuxOptions: context.seLinuxOptions,
    ...user(context, imageUser),
    runAsGroup: int64(context.runAsGroup),
    namespaceOptions: namespaceOptions(pod, userNamespace),
    ...groups(pod.spec.securityContext ?? {}),
    ...procPaths(context.procMount, node.thermalThrottlePaths),
    seccomp: seccompProfile(pod, container, node),
    ...apparmorProfiles(pod, container),
  };
}

/**
 * Refuses a container that must not run as root but would or might (verifyRunAsNonRoot).
 *
 * @throws ContainerConfigError
 */
export function verifyRunAsNonRoot(pod: Pod, container: Container, imageUser: ImageUser): void {
  const {runAsNonRoot = false, runAsUser} = effectiveContext(pod, container);
  const problem = runAsNonRoot ? rootProblem(runAsUser, imageUser) : undefined;
  if (problem === undefined) return;
  throw new ContainerConfigError(
    `${problem} (pod: "${formatPod(podRef(pod))}", container: ${container.name})`,
    {hint: 'set securityContext.runAsUser to the number of another user'},
  );
}

function rootProblem(runAsUser: number | undefined, imageUser: ImageUser): string | undefined {
  if (runAsUser !== undefined)
    return runAsUser === 0 ? "container's runAsUser breaks non-root policy" : undefined;
  if ('username' in imageUser)
    return `container has runAsNonRoot and image has non-numeric user (${imageUser.username}), cannot verify user is non-root`;
  return imageUser.uid === 0n ? 'container has runAsNonRoot and image will run as root' : undefined;
}

type EffectiveContext = {readonly [Key in keyof SecurityContext]?: SecurityContext[Key] | undefined};

/** What the pod says for all its containers, under what this one says (securitycontext.DetermineEffectiveSecurityContext). */
function effectiveContext({spec}: Pod, {securityContext}: Container): EffectiveContext {
  const {seLinuxOptions, runAsUser, runAsGroup, runAsNonRoot} = spec.securityContext ?? {};
  return {seLinuxOptions, runAsUser, runAsGroup, runAsNonRoot, ...securityContext};
}

function user(
  {runAsUser}: EffectiveContext,
  imageUser: ImageUser,
): Pick<Init<LinuxContainerSecurityContext>, 'runAsUser' | 'runAsUsername'> {
  if (runAsUser !== undefined) return {runAsUser: int64(runAsUser)};
  return 'uid' in imageUser ? {runAsUser: {value: imageUser.uid}} : {runAsUsername: imageUser.username};
}

/** The groups that the pod's processes are in beside their own: that of its volumes and those asked for. */
function groups({
  fsGroup,
  supplementalGroups = [],
  supplementalGroupsPolicy,
}: PodSecurityContext): Pick<
  Init<LinuxContainerSecurityContext>,
  'supplementalGroups' | 'supplementalGroupsPolicy'
> {
  const all = fsGroup === undefined ? supplementalGroups : [fsGroup, ...supplementalGroups];
  return {supplementalGroups: all.map(BigInt), supplementalGroupsPolicy};
}

function procPaths(
  procMount: ProcMountType | undefined,
  thermalThrottlePaths: readonly string[],
): Pick<Init<LinuxContainerSecurityContext>, 'maskedPaths' | 'readonlyPaths'> {
  if (procMount === 'Unmasked') return {};
  return {maskedPaths: [...MASKED_PATHS, ...thermalThrottlePaths], readonlyPaths: READONLY_PATHS};
}

function int64(value: number | undefined): Init<Int64Value> | undefined {
  return value === undefined ? undefined : {value: BigInt(value)};
}

function containersOf({
  containers,
  initContainers = [],
  ephemeralContainers = [],
}: PodSpec): readonly Container[] {
  return [...containers, ...initContainers, ...ephemeralContainers];
}
