import type {FieldErrors} from '../field-error.js';
import {duplicateValue, forbidden, invalidValue, requiredValue, tooLong} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import {checkDnsSubdomain, validateName} from './validate-names.js';
import {normalizeSysctlName, sysctlNamespace} from '../sysctl.js';
import {validateEach, validateDescendingPath, validateId, validateIfSet} from './field-validators.js';
import type {PodSpec} from '../types/v1-pod.js';
import type {
  AppArmorProfile,
  PodSecurityContext,
  SeccompProfile,
  SecurityContext,
  Sysctl,
  WindowsSecurityContextOptions,
} from '../types/v1-security.js';

const LONGEST_SYSCTL = 253;
const SYSCTL_SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL = `^(${SYSCTL_SEGMENT}[\\./])*${SYSCTL_SEGMENT}$`;
const LONGEST_APP_ARMOR_PROFILE = 4095;
const LONGEST_CREDENTIAL_SPEC = 64 * 1024;

/** Validates a seccomp profile (validateSeccompProfileField), except its type, which validateEnumerations checks. */
function* validateSeccomp({type, localhostProfile}: SeccompProfile, path: FieldPath): FieldErrors {
  const at = path.child('localhostProfile');
  if (type === 'Localhost') {
    if (localhostProfile === undefined) yield requiredValue(at, 'must be set when seccomp type is Localhost');
    else yield* validateDescendingPath(localhostProfile, at);
  } else if (localhostProfile !== undefined) {
    yield invalidValue(at, localhostProfile, 'can only be set when seccomp type is Localhost');
  }
}

/** Validates an AppArmor profile (ValidateAppArmorProfileField). */
function* validateAppArmor({type, localhostProfile}: AppArmorProfile, path: FieldPath): FieldErrors {
  const at = path.child('localhostProfile');
  if (type !== 'Localhost') {
    if (localhostProfile !== undefined) {
      yield invalidValue(at, localhostProfile, 'can only be set when AppArmor type is Localhost');
    }
    return;
  }
  const profile = localhostProfile ?? '';
  if (profile !== profile.trim()) yield invalidValue(at, profile, 'must not be padded with whitespace');
  else if (profile === '') yield requiredValue(at, 'must be set when AppArmor type is Localhost');
  if (profile.length > LONGEST_APP_ARMOR_PROFILE) yield tooLong(at, LONGEST_APP_ARMOR_PROFILE);
}

/** Validates Windows options as far as it is possible on Linux (validateWindowsSecurityContextOptions). */
function* validateWindowsOptions(options: WindowsSecurityContextOptions, path: FieldPath): FieldErrors {
  const {gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName} = options;
  yield* validateIfSet(gmsaCredentialSpecName, path.child('gmsaCredentialSpecName'), (name, at) =>
    validateName(name, at, checkDnsSubdomain),
  );
  if (gmsaCredentialSpec === '') {
    yield invalidValue(path.child('gmsaCredentialSpec'), '', 'gmsaCredentialSpec cannot be an empty string');
  } else if (gmsaCredentialSpec !== undefined && gmsaCredentialSpec.length > LONGEST_CREDENTIAL_SPEC) {
    yield tooLong(path.child('gmsaCredentialSpec'), LONGEST_CREDENTIAL_SPEC);
  }
  if (runAsUserName === '') {
    yield invalidValue(path.child('runAsUserName'), '', 'runAsUserName cannot be an empty string');
  }
}

function* validateProfiles(context: SecurityContext | PodSecurityContext, path: FieldPath): FieldErrors {
  yield* validateIfSet(context.seccompProfile, path.child('seccompProfile'), validateSeccomp);
  yield* validateIfSet(context.windowsOptions, path.child('windowsOptions'), validateWindowsOptions);
  yield* validateIfSet(context.appArmorProfile, path.child('appArmorProfile'), validateAppArmor);
}

function* validateEscalation(context: SecurityContext, path: FieldPath): FieldErrors {
  if (context.allowPrivilegeEscalation !== false) return;
  const at = path.child('allowPrivilegeEscalation');
  const rule = 'cannot set `allowPrivilegeEscalation` to false and';
  if (context.privileged === true) yield invalidValue(at, false, `${rule} \`privileged\` to true`);
  if (context.capabilities?.add?.includes('CAP_SYS_ADMIN') === true) {
    yield invalidValue(at, false, `${rule} \`capabilities.Add\` CAP_SYS_ADMIN`);
  }
}

/** Validates a container's security context (ValidateSecurityContext). */
export function* validateSecurityContext(
  context: SecurityContext,
  path: FieldPath,
  hostUsers: boolean,
): FieldErrors {
  yield* validateId(context.runAsUser, path.child('runAsUser'));
  yield* validateId(context.runAsGroup, path.child('runAsGroup'));
  if (hostUsers && context.procMount === 'Unmasked') {
    yield invalidValue(path.child('procMount'), 'Unmasked', '`hostUsers` must be false to use `Unmasked`');
  }
  yield* validateProfiles(context, path);
  yield* validateEscalation(context, path);
}

function* validateSysctl({name}: Sysctl, path: FieldPath, spec: PodSpec): FieldErrors {
  if (name === '') yield requiredValue(path);
  else if (name.length > LONGEST_SYSCTL || !new RegExp(SYSCTL).test(name)) {
    yield invalidValue(
      path,
      name,
      `must have at most ${LONGEST_SYSCTL} characters and match regex ${SYSCTL}`,
    );
  }
  const namespace = sysctlNamespace(normalizeSysctlName(name));
  if (spec.hostNetwork === true && namespace === 'net') {
    yield invalidValue(path, name, "may not be specified when 'hostNetwork' is true");
  }
  if (spec.hostIPC === true && namespace === 'ipc') {
    yield invalidValue(path, name, "may not be specified when 'hostIPC' is true");
  }
}

function* validateSysctls(sysctls: readonly Sysctl[], path: FieldPath, spec: PodSpec): FieldErrors {
  const seen = new Set<string>();
  for (const [index, sysctl] of sysctls.entries()) {
    const at = path.index(index).child('name');
    yield* validateSysctl(sysctl, at, spec);
    if (sysctl.name !== '' && seen.has(sysctl.name)) yield duplicateValue(at, sysctl.name);
    seen.add(sysctl.name);
  }
}

/** Validates a pod's security context (validatePodSpecSecurityContext). */
export function* validatePodSecurityContext(
  context: PodSecurityContext,
  path: FieldPath,
  spec: PodSpec,
): FieldErrors {
  yield* validateId(context.fsGroup, path.child('fsGroup'));
  yield* validateId(context.runAsUser, path.child('runAsUser'));
  yield* validateId(context.runAsGroup, path.child('runAsGroup'));
  yield* validateEach(context.supplementalGroups, path.child('supplementalGroups'), validateId);
  yield* validateSysctls(context.sysctls ?? [], path.child('sysctls'), spec);
  yield* validateProfiles(context, path);
}

/** Checks the host namespaces of a pod against settings that they exclude. */
export function* validateHostNamespaces(spec: PodSpec, path: FieldPath): FieldErrors {
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    const rule = 'ShareProcessNamespace and HostPID cannot both be enabled';
    yield invalidValue(path.child('shareProcessNamespace'), true, rule);
  }
  if (spec.hostUsers !== false) return;
  for (const name of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
    if (spec[name] === true) yield forbidden(path.child(name), 'when `hostUsers` is false');
  }
}
