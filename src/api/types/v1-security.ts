import {
  type Described,
  bool,
  enumeration,
  int64,
  list,
  object,
  required,
  schemaOf,
  text,
} from '../schema/object-schema.js';

/** Kinds of seccomp profile. */
export const SECCOMP_PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'] as const;

/** Kinds of AppArmor profile. */
export const APP_ARMOR_PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'] as const;

/** Modes of masking /proc. */
export const PROC_MOUNT_TYPES = ['Default', 'Unmasked'] as const;
export type ProcMountType = (typeof PROC_MOUNT_TYPES)[number];

/** Policies for the supplementary groups of the image's user. */
export const SUPPLEMENTAL_GROUPS_POLICIES = ['Merge', 'Strict'] as const;

/** Policies for changing a volume's group before it is mounted. */
export const FS_GROUP_CHANGE_POLICIES = ['Always', 'OnRootMismatch'] as const;

/** Methods to apply the pod's SELinux label to a volume. */
export const SELINUX_CHANGE_POLICIES = ['MountOption', 'Recursive'] as const;

/** The SELinux label of a process. */
export interface SELinuxOptions extends Described<typeof seLinuxOptions> {}
export const seLinuxOptions = schemaOf<SELinuxOptions>('SELinuxOptions')({
  user: text,
  role: text,
  type: text,
  level: text,
});

/** Windows settings; validated, without effect on Linux. */
export interface WindowsSecurityContextOptions extends Described<typeof windowsSecurityContextOptions> {}
export const windowsSecurityContextOptions = schemaOf<WindowsSecurityContextOptions>(
  'WindowsSecurityContextOptions',
)({
  gmsaCredentialSpecName: text,
  gmsaCredentialSpec: text,
  runAsUserName: text,
  hostProcess: bool,
});

/** Seccomp profile; `localhostProfile` is a path below the kubelet's seccomp directory. */
export interface SeccompProfile extends Described<typeof seccompProfile> {}
export const seccompProfile = schemaOf<SeccompProfile>('SeccompProfile')({
  type: required(
    enumeration(SECCOMP_PROFILE_TYPES, {required: 'type is required when seccompProfile is set'}),
  ),
  localhostProfile: text,
});

/** The AppArmor profile, by kind or by the name of a loaded one. */
export interface AppArmorProfile extends Described<typeof appArmorProfile> {}
export const appArmorProfile = schemaOf<AppArmorProfile>('AppArmorProfile')({
  type: required(
    enumeration(APP_ARMOR_PROFILE_TYPES, {required: 'type is required when appArmorProfile is set'}),
  ),
  localhostProfile: text,
});

/** Linux capabilities to add to or drop from the runtime's default set, without the `CAP_` prefix. */
export interface Capabilities extends Described<typeof capabilities> {}
export const capabilities = schemaOf<Capabilities>('Capabilities')({
  add: list(text),
  drop: list(text),
});

/** A kernel parameter of the pod's namespaces. */
export interface Sysctl extends Described<typeof sysctl> {}
export const sysctl = schemaOf<Sysctl>('Sysctl')({
  name: required(text),
  value: required(text),
});

/** Security settings of one container, which override those of the pod. */
export interface SecurityContext extends Described<typeof securityContext> {}
export const securityContext = schemaOf<SecurityContext>('SecurityContext')({
  capabilities: object(capabilities),
  privileged: bool,
  seLinuxOptions: object(seLinuxOptions),
  windowsOptions: object(windowsSecurityContextOptions),
  runAsUser: int64,
  runAsGroup: int64,
  runAsNonRoot: bool,
  readOnlyRootFilesystem: bool,
  allowPrivilegeEscalation: bool,
  procMount: enumeration(PROC_MOUNT_TYPES),
  seccompProfile: object(seccompProfile),
  appArmorProfile: object(appArmorProfile),
});

/** Security settings of the pod, which are defaults for its containers. */
export interface PodSecurityContext extends Described<typeof podSecurityContext> {}
export const podSecurityContext = schemaOf<PodSecurityContext>('PodSecurityContext')({
  seLinuxOptions: object(seLinuxOptions),
  windowsOptions: object(windowsSecurityContextOptions),
  runAsUser: int64,
  runAsGroup: int64,
  runAsNonRoot: bool,
  supplementalGroups: list(int64),
  supplementalGroupsPolicy: enumeration(SUPPLEMENTAL_GROUPS_POLICIES),
  fsGroup: int64,
  sysctls: list(object(sysctl)),
  fsGroupChangePolicy: enumeration(FS_GROUP_CHANGE_POLICIES),
  seccompProfile: object(seccompProfile),
  appArmorProfile: object(appArmorProfile),
  seLinuxChangePolicy: enumeration(SELINUX_CHANGE_POLICIES),
});
