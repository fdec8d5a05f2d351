import type {
  AppArmorProfile,
  Capabilities,
  PodSecurityContext,
  SELinuxOptions,
  SeccompProfile,
  SecurityContext,
  Sysctl,
  WindowsSecurityContextOptions,
} from '../types/v1-security.js';
import {bool, enumeration, int64, list, object, objectSchema, required, text} from './object-schema.js';
import {
  APP_ARMOR_PROFILE_TYPES,
  FS_GROUP_CHANGE_POLICIES,
  PROC_MOUNT_TYPES,
  SECCOMP_PROFILE_TYPES,
  SELINUX_CHANGE_POLICIES,
  SUPPLEMENTAL_GROUPS_POLICIES,
} from '../types/v1-security.js';

// The fields of the types in v1-security.ts, in upstream's order.

export const seLinuxOptions = objectSchema<SELinuxOptions>('SELinuxOptions', {
  user: text,
  role: text,
  type: text,
  level: text,
});

export const windowsSecurityContextOptions = objectSchema<WindowsSecurityContextOptions>(
  'WindowsSecurityContextOptions',
  {
    gmsaCredentialSpecName: text,
    gmsaCredentialSpec: text,
    runAsUserName: text,
    hostProcess: bool,
  },
);

export const seccompProfile = objectSchema<SeccompProfile>('SeccompProfile', {
  type: required(
    enumeration(SECCOMP_PROFILE_TYPES, {required: 'type is required when seccompProfile is set'}),
  ),
  localhostProfile: text,
});

export const appArmorProfile = objectSchema<AppArmorProfile>('AppArmorProfile', {
  type: required(
    enumeration(APP_ARMOR_PROFILE_TYPES, {required: 'type is required when appArmorProfile is set'}),
  ),
  localhostProfile: text,
});

export const capabilities = objectSchema<Capabilities>('Capabilities', {
  add: list(text),
  drop: list(text),
});

export const sysctl = objectSchema<Sysctl>('Sysctl', {
  name: required(text),
  value: required(text),
});

export const securityContext = objectSchema<SecurityContext>('SecurityContext', {
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

export const podSecurityContext = objectSchema<PodSecurityContext>('PodSecurityContext', {
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
