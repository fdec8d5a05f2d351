import {join} from 'node:path';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {AppArmorProfile, SeccompProfile} from '../../../../api/types/v1-security.js';
import type {Init, SecurityProfile} from '../../../../cri/index.js';
import type {NodeFacts} from '../../../contract/node-facts.js';

/** Deprecated annotation for AppArmor profiles, which static pods may still use. */
const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/** Returns the seccomp profile of a container: its own, the pod's, or the node's default (getSeccompProfile). */
export function seccompProfile(
  pod: Pod,
  container: Container,
  node: Pick<NodeFacts, 'rootDir' | 'seccompDefault'>,
): Init<SecurityProfile> {
  const profile: SeccompProfile = container.securityContext?.seccompProfile ??
    pod.spec.securityContext?.seccompProfile ?? {type: node.seccompDefault ? 'RuntimeDefault' : 'Unconfined'};
  return profile.type === 'Localhost'
    ? {profileType: 'Localhost', localhostRef: join(node.rootDir, 'seccomp', profile.localhostProfile ?? '')}
    : {profileType: profile.type};
}

/** AppArmor profile of a container in both forms of the CRI. */
export interface AppArmorProfiles {
  readonly apparmor: Init<SecurityProfile>;
  readonly apparmorProfile: string;
}

const APPARMOR_NAMES = {RuntimeDefault: 'runtime/default', Unconfined: 'unconfined'} as const;

/**
 * Returns the AppArmor profile from the container's field, its annotation or the pod's field, if any
 * (getAppArmorProfile).
 */
export function apparmorProfiles(pod: Pod, container: Container): Partial<AppArmorProfiles> {
  const profile =
    container.securityContext?.appArmorProfile ??
    annotatedProfile(pod.metadata.annotations?.[`${APPARMOR_ANNOTATION}${container.name}`]) ??
    pod.spec.securityContext?.appArmorProfile;
  if (profile === undefined) return {};
  const {type, localhostProfile = ''} = profile;
  return type === 'Localhost'
    ? {
        apparmor: {profileType: type, localhostRef: localhostProfile},
        apparmorProfile: `localhost/${localhostProfile}`,
      }
    : {apparmor: {profileType: type}, apparmorProfile: APPARMOR_NAMES[type]};
}

/** Parses the annotation's value; undefined if it is invalid, which the kubelet ignores. */
function annotatedProfile(value = ''): AppArmorProfile | undefined {
  if (value === APPARMOR_NAMES.RuntimeDefault) return {type: 'RuntimeDefault'};
  if (value === APPARMOR_NAMES.Unconfined) return {type: 'Unconfined'};
  const localhostProfile = /^localhost\/(.*\S)/.exec(value)?.[1]?.trim();
  return localhostProfile === undefined ? undefined : {type: 'Localhost', localhostProfile};
}
