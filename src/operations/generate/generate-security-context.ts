import type {SeccompProfile, SecurityContext, SELinuxOptions} from '../../api/types/v1-security.js';
import type {Capability, LinuxContainerSecurityContext, SecurityProfile} from '../../cri/index.js';
import {omitUnset} from './omit-unset.js';

/** Directory of a kubelet's seccomp profiles. */
const SECCOMP_ROOT = '/var/lib/kubelet/seccomp/';

/** Returns the security context; `note` receives what a manifest cannot have. */
export function generateSecurityContext(
  context: LinuxContainerSecurityContext,
  note: (text: string) => void,
): SecurityContext {
  const {privileged, runAsUser, runAsGroup, runAsUsername, readonlyRootfs, selinuxOptions} = context;
  if (runAsUsername !== '') note(`it runs as user "${runAsUsername}": set runAsUser to the number`);
  return {
    ...omitUnset<SecurityContext>({
      privileged,
      runAsUser: toNumber(runAsUser?.value),
      runAsGroup: toNumber(runAsGroup?.value),
      readOnlyRootFilesystem: readonlyRootfs,
      capabilities: privileged ? undefined : capabilitiesOf(context.capabilities),
      seccompProfile: seccompOf(context.seccomp, note),
      seLinuxOptions: omitUnset<SELinuxOptions>({...selinuxOptions}),
    }),
    ...(context.noNewPrivs && !privileged && {allowPrivilegeEscalation: false}),
  };
}

function toNumber(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function capabilitiesOf(capability: Capability | undefined): SecurityContext['capabilities'] {
  const {addCapabilities: add, dropCapabilities: drop} = capability ?? {};
  return omitUnset<NonNullable<SecurityContext['capabilities']>>({add, drop});
}

/** Returns the seccomp profile; Unconfined is the default of a Pod. */
function seccompOf(
  profile: SecurityProfile | undefined,
  note: (text: string) => void,
): SeccompProfile | undefined {
  if (profile === undefined || profile.profileType === 'Unconfined') return undefined;
  if (profile.profileType !== 'Localhost') return {type: 'RuntimeDefault'};
  const path = profile.localhostRef;
  if (path.startsWith(SECCOMP_ROOT))
    return {type: 'Localhost', localhostProfile: path.slice(SECCOMP_ROOT.length)};
  note(`the seccomp profile "${path}" is left out, since it is outside ${SECCOMP_ROOT}`);
  return undefined;
}
