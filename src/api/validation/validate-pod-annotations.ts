import type {FieldErrors} from '../field-error.js';
import {forbidden, invalidValue} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import {validateDescendingPath} from './field-validators.js';
import type {Container, Pod, PodSpec} from '../types/v1-pod.js';
import type {AppArmorProfile} from '../types/v1-security.js';

const MIRROR_POD = 'kubernetes.io/config.mirror';
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';
const APP_ARMOR_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
const LOCALHOST_PREFIX = 'localhost/';

/** Returns every container of a pod with its path (VisitContainersWithPath). */
function containersWithPaths(spec: PodSpec): readonly (readonly [Container, FieldPath])[] {
  const lists = {
    initContainers: spec.initContainers ?? [],
    containers: spec.containers,
    ephemeralContainers: spec.ephemeralContainers ?? [],
  };
  return Object.entries(lists).flatMap(([name, list]) =>
    list.map((container, index) => [container, new FieldPath(['spec', name, index])] as const),
  );
}

/** Validates a seccomp profile in an annotation (ValidateSeccompProfile). */
function* validateSeccompProfile(profile: string, path: FieldPath): FieldErrors {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return;
  if (!profile.startsWith(LOCALHOST_PREFIX))
    yield invalidValue(path, profile, 'must be a valid seccomp profile');
  else yield* validateDescendingPath(profile.slice(LOCALHOST_PREFIX.length), path);
}

function* validateAppArmorAnnotation(
  key: string,
  profile: string,
  path: FieldPath,
  spec: PodSpec,
): FieldErrors {
  const name = key.slice(APP_ARMOR_PREFIX.length);
  if (!containersWithPaths(spec).some(([container]) => container.name === name)) {
    yield invalidValue(path, name, 'container not found');
  }
  const known =
    ['', 'runtime/default', 'unconfined'].includes(profile) || profile.startsWith(LOCALHOST_PREFIX);
  if (!known) yield invalidValue(path, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`);
}

/** Returns the annotation that is equivalent to a field. */
function appArmorAnnotation({type, localhostProfile = ''}: AppArmorProfile): string {
  if (type === 'Localhost') return `${LOCALHOST_PREFIX}${localhostProfile}`;
  return type === 'RuntimeDefault' ? 'runtime/default' : 'unconfined';
}

/** Checks that a field and its deprecated annotation agree (validateAppArmorAnnotationsAndFieldsMatchOnCreate). */
function* validateAppArmorMatch(pod: Pod): FieldErrors {
  for (const [container, path] of containersWithPaths(pod.spec)) {
    const profile = container.securityContext?.appArmorProfile ?? pod.spec.securityContext?.appArmorProfile;
    const annotation = pod.metadata.annotations?.[`${APP_ARMOR_PREFIX}${container.name}`];
    if (profile === undefined || annotation === undefined || annotation === appArmorAnnotation(profile))
      continue;
    const sameType = profile.type === 'Localhost' && annotation.startsWith(LOCALHOST_PREFIX);
    const at = path.child('securityContext', 'appArmorProfile');
    yield sameType
      ? forbidden(at.child('localhostProfile'), 'apparmor profile in annotation and field must match')
      : forbidden(at.child('type'), 'apparmor type in annotation and field must match');
  }
}

/** Validates the annotations that the API defines (ValidatePodSpecificAnnotations). */
export function* validatePodAnnotations(pod: Pod, path: FieldPath): FieldErrors {
  const {annotations = {}} = pod.metadata;
  for (const [key, value] of Object.entries(annotations)) {
    const at = path.key(key);
    if (key === MIRROR_POD && !pod.spec.nodeName) {
      yield invalidValue(at, value, 'must set spec.nodeName if mirror pod annotation is set');
    }
    if (key === DELETION_COST && !/^(0|-?[1-9]\d{0,9})$/.test(value)) {
      yield invalidValue(at, value, 'must be a 32bit integer');
    }
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER_PREFIX))
      yield* validateSeccompProfile(value, at);
    if (key.startsWith(APP_ARMOR_PREFIX)) yield* validateAppArmorAnnotation(key, value, at, pod.spec);
  }
  yield* validateAppArmorMatch(pod);
}
