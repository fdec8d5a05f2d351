import {allContainersOf} from '../../../../api/pod-containers.js';
import {MASKED_PATHS, READONLY_PATHS} from '../../../../api/proc-paths.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {PodSecurityContext, ProcMountType, SecurityContext} from '../../../../api/types/v1-security.js';
import type {
  ContainerId,
  Init,
  Int64Value,
  LinuxContainerSecurityContext,
  LinuxSandboxSecurityContext,
} from '../../../../cri/index.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {IdMapping, MountedVolumes} from '../../../contract/pod-filesystem.js';
import {formatPod, podRef} from '../../../contract/pod-ref.js';
import {ContainerConfigError} from './config-errors.js';
import {namespaceOptions} from './namespaces.js';
import {apparmorProfiles, seccompProfile} from './security-profiles.js';

/** Default user of an image: a UID or a name. */
export type ImageUser = {readonly uid: bigint} | {readonly username: string};

/** What else a sandbox depends on. */
export interface SandboxContext {
  /** ID mapping of the pod's user namespace; undefined with host users. */
  readonly userNamespace?: IdMapping | undefined;
  readonly volumes?: MountedVolumes | undefined;
}

/** Returns the security context of a pod's sandbox (generatePodSandboxLinuxConfig). */
export function sandboxSecurityContext(
  pod: Pod,
  {userNamespace, volumes}: SandboxContext = {},
): Init<LinuxSandboxSecurityContext> {
  const {runAsUser, runAsGroup, seLinuxOptions, ...context} = pod.spec.securityContext ?? {};
  const {fsGroup, supplementalGroups = [], supplementalGroupsPolicy} = context;
  return {
    privileged: allContainersOf(pod).some((container) => container.securityContext?.privileged === true),
    seccomp: {profileType: 'RuntimeDefault'},
    runAsUser: int64(runAsUser),
    runAsGroup: int64(runAsGroup),
    selinuxOptions: seLinuxOptions,
    namespaceOptions: namespaceOptions(pod, userNamespace),
    supplementalGroups: [fsGroup ?? [], volumeGroups(context, volumes), supplementalGroups]
      .flat()
      .map(BigInt),
    supplementalGroupsPolicy,
  };
}

/** Input of containerSecurityContext. */
export interface SecurityContextInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly imageUser: ImageUser;
  /** ID mapping of the pod's user namespace; undefined with host users. */
  readonly userNamespace?: IdMapping | undefined;
  /** Container whose process namespace an ephemeral container joins, unless the pod shares one. */
  readonly targetId?: ContainerId | undefined;
  readonly volumes?: MountedVolumes | undefined;
  readonly node: Pick<NodeFacts, 'rootDir' | 'seccompDefault' | 'thermalThrottlePaths'>;
}

/**
 * Returns the security context of a container; its own settings override the pod's (determineEffectiveSecurityContext).
 */
export function containerSecurityContext({
  pod,
  container,
  imageUser,
  userNamespace,
  targetId,
  volumes,
  node,
}: SecurityContextInput): Init<LinuxContainerSecurityContext> {
  const context = effectiveContext(pod, container);
  const {fsGroup, supplementalGroups = [], supplementalGroupsPolicy} = pod.spec.securityContext ?? {};
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
    namespaceOptions: namespaceOptions(pod, userNamespace, targetId),
    supplementalGroups: [fsGroup ?? [], supplementalGroups, volumeGroups(pod.spec.securityContext, volumes)]
      .flat()
      .map(BigInt),
    supplementalGroupsPolicy,
    ...procPaths(context.procMount, node.thermalThrottlePaths),
    seccomp: seccompProfile(pod, container, node),
    ...apparmorProfiles(pod, container),
  };
}

/**
 * Verifies that a container with runAsNonRoot does not run as root (verifyRunAsNonRoot).
 *
 * @throws ContainerConfigError if it would or might run as root.
 */
export function verifyRunAsNonRoot(pod: Pod, container: Container, imageUser: ImageUser): void {
  const {runAsNonRoot = false, runAsUser} = effectiveContext(pod, container);
  const problem = runAsNonRoot ? rootProblem(runAsUser, imageUser) : undefined;
  if (problem === undefined) return;
  throw new ContainerConfigError(
    `${problem} (pod: "${formatPod(podRef(pod))}", container: ${container.name})`,
    {hint: 'set securityContext.runAsUser to a UID other than 0'},
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

/** Merges the security contexts of the pod and the container (securitycontext.DetermineEffectiveSecurityContext). */
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

/** Returns the groups of volumes that the pod does not have anyway, each once (GetExtraSupplementalGroupsForPod). */
function volumeGroups(
  {supplementalGroups = []}: PodSecurityContext = {},
  volumes: MountedVolumes = new Map(),
): readonly bigint[] {
  const groups = new Set([...volumes.values()].flatMap(({groupId}) => groupId ?? []));
  return [...groups].filter((group) => !supplementalGroups.some((own) => BigInt(own) === group));
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
