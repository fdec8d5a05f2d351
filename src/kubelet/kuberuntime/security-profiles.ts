import {join} from 'node:path';
import type {Container, Pod} from '../../api/v1.js';
import type {AppArmorProfile, SeccompProfile} from '../../api/v1-security.js';
import type {Init, SecurityProfile} from '../../cri/index.js';
import type {NodeFacts} from '../container/node.js';

/** The annotation by which pods named AppArmor profiles before there was a field; static pods still may. */
const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/** The system calls that the container may make: its own profile, its pod's, or the node's default (getSeccompProfile). */
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

/** The container's AppArmor profile in both forms that runtimes read. */
export interface AppArmorProfiles {
  readonly apparmor: Init<SecurityProfile>;
  readonly apparmorProfile: string;
}

const APPARMOR_NAMES = {RuntimeDefault: 'runtime/default', Unconfined: 'unconfined'} as const;

/** Its own field, its annotation, or its pod's field; nothing when none of them speaks (getAppArmorProfile). */
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

/** An annotation that makes no sense counts for nothing, as with the kubelet. */
function annotatedProfile(value = ''): AppArmorProfile | undefined {
  if (value === APPARMOR_NAMES.RuntimeDefault) return {type: 'RuntimeDefault'};
  if (value === APPARMOR_NAMES.Unconfined) return {type: 'Unconfined'};
  const localhostProfile = /^localhost\/(.*\S)/.exec(value)?.[1]?.trim();
  return localhostProfile === undefined ? undefined : {type: 'Localhost', localhostProfile};
}
