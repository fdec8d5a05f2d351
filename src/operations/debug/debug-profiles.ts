import {MASKED_PATHS, READONLY_PATHS} from '../../api/proc-paths.js';
import type {SecurityContext} from '../../api/types/v1-security.js';
import type {Init, LinuxContainerSecurityContext} from '../../cri/index.js';

/** Security settings of a debug container, as those of `kubectl debug --profile` (pkg/cmd/debug/profiles.go). */
const PROFILES = {
  general: {capabilities: {add: ['SYS_PTRACE']}},
  baseline: {seccompProfile: {type: 'RuntimeDefault'}},
  restricted: {
    capabilities: {drop: ['ALL']},
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    seccompProfile: {type: 'RuntimeDefault'},
  },
  netadmin: {capabilities: {add: ['NET_ADMIN', 'NET_RAW']}},
  sysadmin: {privileged: true},
} as const satisfies Readonly<Record<string, SecurityContext>>;

/** Name of a profile. */
export type DebugProfile = keyof typeof PROFILES;

/** Names of all profiles. */
export const DEBUG_PROFILES = Object.keys(PROFILES) as readonly DebugProfile[];

/** Returns the security context of a profile for a container of a Pod. */
export function profileSecurityContext(profile: DebugProfile): SecurityContext {
  return PROFILES[profile];
}

/** Returns the security context of a profile for the runtime. */
export function profileLinuxContext(profile: DebugProfile): Init<LinuxContainerSecurityContext> {
  const context: SecurityContext = PROFILES[profile];
  const {capabilities = {}, privileged = false, allowPrivilegeEscalation, seccompProfile} = context;
  if (privileged) return {privileged};
  return {
    capabilities: {addCapabilities: capabilities.add ?? [], dropCapabilities: capabilities.drop ?? []},
    noNewPrivs: allowPrivilegeEscalation === false,
    seccomp: {profileType: seccompProfile === undefined ? 'Unconfined' : 'RuntimeDefault'},
    maskedPaths: MASKED_PATHS,
    readonlyPaths: READONLY_PATHS,
  };
}

/**
 * Returns a security context without restrictions for a sandbox that does not permit privileged containers. The
 * container has no devices of the node.
 */
export function unrestrictedLinuxContext(): Init<LinuxContainerSecurityContext> {
  const unconfined = {profileType: 'Unconfined'} as const;
  return {capabilities: {addCapabilities: ['ALL']}, seccomp: unconfined, apparmor: unconfined};
}
