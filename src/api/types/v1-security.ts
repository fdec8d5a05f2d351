/** Kinds of seccomp profile. */
export const SECCOMP_PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'] as const;
export type SeccompProfileType = (typeof SECCOMP_PROFILE_TYPES)[number];

/** Kinds of AppArmor profile. */
export const APP_ARMOR_PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'] as const;
export type AppArmorProfileType = (typeof APP_ARMOR_PROFILE_TYPES)[number];

/** Modes of masking /proc. */
export const PROC_MOUNT_TYPES = ['Default', 'Unmasked'] as const;
export type ProcMountType = (typeof PROC_MOUNT_TYPES)[number];

/** Policies for the supplementary groups of the image's user. */
export const SUPPLEMENTAL_GROUPS_POLICIES = ['Merge', 'Strict'] as const;
export type SupplementalGroupsPolicy = (typeof SUPPLEMENTAL_GROUPS_POLICIES)[number];

/** Policies for changing a volume's group before it is mounted. */
export const FS_GROUP_CHANGE_POLICIES = ['Always', 'OnRootMismatch'] as const;
export type PodFSGroupChangePolicy = (typeof FS_GROUP_CHANGE_POLICIES)[number];

/** Methods to apply the pod's SELinux label to a volume. */
export const SELINUX_CHANGE_POLICIES = ['MountOption', 'Recursive'] as const;
export type PodSELinuxChangePolicy = (typeof SELINUX_CHANGE_POLICIES)[number];

/** The SELinux label of a process. */
export interface SELinuxOptions {
  readonly user?: string;
  readonly role?: string;
  readonly type?: string;
  readonly level?: string;
}

/** Windows settings; validated, without effect on Linux. */
export interface WindowsSecurityContextOptions {
  readonly gmsaCredentialSpecName?: string;
  readonly gmsaCredentialSpec?: string;
  readonly runAsUserName?: string;
  readonly hostProcess?: boolean;
}

/** Seccomp profile; `localhostProfile` is a path below the kubelet's seccomp directory. */
export interface SeccompProfile {
  readonly type: SeccompProfileType;
  readonly localhostProfile?: string;
}

/** The AppArmor profile, by kind or by the name of a loaded one. */
export interface AppArmorProfile {
  readonly type: AppArmorProfileType;
  readonly localhostProfile?: string;
}

/** Linux capabilities to add to or drop from the runtime's default set, without the `CAP_` prefix. */
export interface Capabilities {
  readonly add?: readonly string[];
  readonly drop?: readonly string[];
}

/** A kernel parameter of the pod's namespaces. */
export interface Sysctl {
  readonly name: string;
  readonly value: string;
}

/** Security settings of one container, which override those of the pod. */
export interface SecurityContext {
  readonly capabilities?: Capabilities;
  readonly privileged?: boolean;
  readonly seLinuxOptions?: SELinuxOptions;
  readonly windowsOptions?: WindowsSecurityContextOptions;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly procMount?: ProcMountType;
  readonly seccompProfile?: SeccompProfile;
  readonly appArmorProfile?: AppArmorProfile;
}

/** Security settings of the pod, which are defaults for its containers. */
export interface PodSecurityContext {
  readonly seLinuxOptions?: SELinuxOptions;
  readonly windowsOptions?: WindowsSecurityContextOptions;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly supplementalGroups?: readonly number[];
  readonly supplementalGroupsPolicy?: SupplementalGroupsPolicy;
  readonly fsGroup?: number;
  readonly sysctls?: readonly Sysctl[];
  readonly fsGroupChangePolicy?: PodFSGroupChangePolicy;
  readonly seccompProfile?: SeccompProfile;
  readonly appArmorProfile?: AppArmorProfile;
  readonly seLinuxChangePolicy?: PodSELinuxChangePolicy;
}
