import {containersOf, isRestartableInitContainer} from '../pod-containers.js';
import type {FieldErrors} from '../field-error.js';
import {
  duplicateValue,
  forbidden,
  invalidValue,
  notFound,
  requiredValue,
  unsupportedValue,
} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import {checkDnsLabel, checkPortName, validateName} from './validate-names.js';
import {
  validateEach,
  validateRequired,
  validateRange,
  validateUnique,
  validateIfSet,
} from './field-validators.js';
import {validateEnvironment} from './validate-env.js';
import {validateLifecycle, validateProbes} from './validate-handlers.js';
import {validateDevices, validateMounts} from './validate-mounts.js';
import {validateContainerResources} from './validate-resources.js';
import {validateSecurityContext} from './validate-security.js';
import {EXIT_CODE_OPERATORS} from '../types/v1-pod.js';
import type {
  Container,
  ContainerPort,
  ContainerResizePolicy,
  ContainerRestartRule,
  EphemeralContainer,
  PodSpec,
} from '../types/v1-pod.js';
import type {Volume} from '../types/v1-volumes.js';

const MOST_RESTART_RULES = 20;
const MOST_EXIT_CODES = 255;

/** Facts about the pod that the rules of its containers need. */
interface Surroundings {
  readonly spec: PodSpec;
  readonly volumes: ReadonlyMap<string, Volume>;
  readonly claimNames: ReadonlySet<string>;
  readonly graceSeconds: number;
}

function* validatePort(port: ContainerPort, path: FieldPath): FieldErrors {
  const {name = '', containerPort, hostPort = 0} = port;
  if (name !== '') yield* validateName(name, path.child('name'), checkPortName);
  if (containerPort === 0) yield requiredValue(path.child('containerPort'));
  else yield* validateRange(containerPort, path.child('containerPort'), 1, 65535);
  if (hostPort !== 0) yield* validateRange(hostPort, path.child('hostPort'), 1, 65535);
}

function* validatePorts(container: Container, path: FieldPath): FieldErrors {
  const ports = container.ports ?? [];
  yield* validateEach(ports, path, validatePort);
  yield* validateUnique(ports.map(({name = ''}, index) => [name, path.index(index).child('name')] as const));
}

/** Checks that no two containers use the same host port (AccumulateUniqueHostPorts). */
function* validateHostPorts(containers: readonly (readonly [Container, FieldPath])[]): FieldErrors {
  const seen = new Set<string>();
  for (const [{ports = []}, path] of containers) {
    for (const [index, {hostPort = 0, protocol = 'TCP', hostIP = ''}] of ports.entries()) {
      const address = `${protocol}/${hostIP}/${hostPort}`;
      const at = path.child('ports').index(index).child('hostPort');
      if (hostPort !== 0 && seen.has(address)) yield duplicateValue(at, address);
      seen.add(address);
    }
  }
}

function* validateResizePolicies(
  policies: readonly ContainerResizePolicy[],
  path: FieldPath,
  spec: PodSpec,
): FieldErrors {
  const resources = policies.map(({resourceName}, index) => [resourceName, path.index(index)] as const);
  yield* validateUnique(resources);
  for (const [index, {resourceName, restartPolicy}] of policies.entries()) {
    const at = path.index(index);
    if (resourceName === '') yield requiredValue(at.child('resourceName'));
    else if (resourceName !== 'cpu' && resourceName !== 'memory') {
      yield unsupportedValue(at.child('resourceName'), resourceName, ['cpu', 'memory']);
    }
    if (spec.restartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      const rule = "must be 'NotRequired' when `restartPolicy` is 'Never'";
      yield invalidValue(at.child('restartPolicy'), restartPolicy, rule);
    }
  }
}

function* validateRestartRule({action, exitCodes}: ContainerRestartRule, path: FieldPath): FieldErrors {
  if (action === undefined) yield requiredValue(path.child('action'));
  if (exitCodes === undefined) return yield requiredValue(path.child('exitCodes'), 'must be specified');
  const at = path.child('exitCodes');
  if (exitCodes.operator === undefined) yield unsupportedValue(at.child('operator'), '', EXIT_CODE_OPERATORS);
  const count = exitCodes.values?.length ?? 0;
  if (count > MOST_EXIT_CODES) {
    yield {path: at.child('values'), message: `Too long: must have at most ${MOST_EXIT_CODES} items`};
  }
}

/**
 * Validates restart policy and rules (validateContainerRestartPolicy). A sidecar may have rules too, because they can
 * restart all containers.
 */
function* validateRestart(container: Container, path: FieldPath): FieldErrors {
  const rules = container.restartPolicyRules ?? [];
  const at = path.child('restartPolicyRules');
  if (rules.length === 0) return;
  if (container.restartPolicy === undefined) {
    yield requiredValue(
      path.child('restartPolicy'),
      'must specify restartPolicy when restart rules are used',
    );
  }
  if (rules.length > MOST_RESTART_RULES) {
    yield {path: at, message: `Too long: must have at most ${MOST_RESTART_RULES} items`};
  }
  yield* validateEach(rules, at, validateRestartRule);
}

function* validateImage(image: string, path: FieldPath): FieldErrors {
  yield* validateRequired(image, path);
  if (image !== image.trim()) yield invalidValue(path, image, 'must not have leading or trailing whitespace');
}

/** Validates the fields that all kinds of containers have (validateContainerCommon). */
function* validateContainer(container: Container, path: FieldPath, pod: Surroundings): FieldErrors {
  if (container.name === '') yield requiredValue(path.child('name'));
  else yield* validateName(container.name, path.child('name'), checkDnsLabel);
  yield* validateImage(container.image, path.child('image'));
  yield* validatePorts(container, path.child('ports'));
  yield* validateEnvironment(container, path);
  yield* validateMounts(container, path.child('volumeMounts'), pod.volumes);
  yield* validateDevices(container.volumeDevices ?? [], path.child('volumeDevices'), pod.volumes);
  yield* validateIfSet(container.resources, path.child('resources'), (resources, at) =>
    validateContainerResources(resources, at, pod.claimNames),
  );
  yield* validateResizePolicies(container.resizePolicy ?? [], path.child('resizePolicy'), pod.spec);
  yield* validateIfSet(container.securityContext, path.child('securityContext'), (context, at) =>
    validateSecurityContext(context, at, pod.spec.hostUsers !== false),
  );
}

function* validateHooks(container: Container, path: FieldPath, pod: Surroundings): FieldErrors {
  yield* validateIfSet(container.lifecycle, path.child('lifecycle'), (lifecycle, at) =>
    validateLifecycle(lifecycle, at, {graceSeconds: pod.graceSeconds, os: pod.spec.os}),
  );
  yield* validateProbes(container, path, pod.graceSeconds);
}

const HOOKS = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function* validateInitContainer(container: Container, path: FieldPath, pod: Surroundings): FieldErrors {
  const sidecar = isRestartableInitContainer(container);
  yield* validateContainer(container, path, pod);
  yield* validateRestart(container, path);
  yield* validateHostPorts([[container, path]]);
  if (sidecar) return yield* validateHooks(container, path, pod);
  for (const name of HOOKS) {
    if (container[name] !== undefined) {
      yield forbidden(path.child(name), 'may not be set for init containers without restartPolicy=Always');
    }
  }
  for (const [index, {restartPolicy}] of (container.resizePolicy ?? []).entries()) {
    const at = path.child('resizePolicy').index(index).child('restartPolicy');
    const rule = "must not be set to 'RestartContainer' for non-sidecar initContainers";
    if (restartPolicy === 'RestartContainer') yield invalidValue(at, restartPolicy, rule);
  }
}

const NOT_EPHEMERAL = [...HOOKS, 'ports', 'resizePolicy', 'restartPolicy', 'restartPolicyRules'] as const;

/** Rejects fields that an ephemeral container must not have. */
function* refuseForEphemeral(container: EphemeralContainer, path: FieldPath): FieldErrors {
  const rule = 'cannot be set for an Ephemeral Container';
  for (const name of NOT_EPHEMERAL) {
    if (container[name] !== undefined) yield forbidden(path.child(name), rule);
  }
  if (Object.keys(container.resources ?? {}).length > 0) yield forbidden(path.child('resources'), rule);
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const at = path.child('volumeMounts').index(index);
    if (mount.subPath) yield forbidden(at.child('subPath'), rule);
    if (mount.subPathExpr) yield forbidden(at.child('subPathExpr'), rule);
  }
}

function* validateEphemeralContainer(
  container: EphemeralContainer,
  path: FieldPath,
  pod: Surroundings,
): FieldErrors {
  yield* validateContainer(container, path, pod);
  const others = containersOf(pod).map(({name}) => name);
  const target = container.targetContainerName ?? '';
  if (target !== '' && !others.includes(target)) yield notFound(path.child('targetContainerName'), target);
  yield* refuseForEphemeral(container, path);
}

/** Checks that an env file is in an emptyDir volume of the pod (validateFileKeyRefVolumes). */
function* validateEnvFiles(container: Container, path: FieldPath, pod: Surroundings): FieldErrors {
  for (const [index, {valueFrom}] of (container.env ?? []).entries()) {
    const name = valueFrom?.fileKeyRef?.volumeName ?? '';
    if (name === '') continue;
    const at = path.child('env').index(index).child('valueFrom', 'fileKeyRef', 'volumeName');
    const volume = pod.volumes.get(name);
    if (volume === undefined) yield notFound(at, name);
    else if (volume.emptyDir === undefined)
      yield invalidValue(at, name, 'referenced volume must be of type emptyDir');
  }
}

/** Checks that hostPort equals containerPort in the host network (validatePodHostNetworkDeps). */
function* validateHostNetworkPorts({ports = []}: Container, path: FieldPath): FieldErrors {
  for (const [index, {hostPort = 0, containerPort}] of ports.entries()) {
    if (hostPort === containerPort) continue;
    const at = path.child('ports').index(index).child('hostPort');
    yield invalidValue(at, hostPort, 'must match `containerPort` when `hostNetwork` is true');
  }
}

/** Validates all containers of a pod and the uniqueness of their names (validateContainers and others). */
export function* validateContainers(spec: PodSpec, path: FieldPath): FieldErrors {
  const pod: Surroundings = {
    spec,
    volumes: new Map((spec.volumes ?? []).map((volume) => [volume.name, volume])),
    claimNames: new Set((spec.resourceClaims ?? []).map(({name}) => name)),
    graceSeconds: spec.terminationGracePeriodSeconds ?? 0,
  };
  const withPaths = <T extends Container>(
    list: readonly T[] | undefined,
    name: string,
  ): (readonly [T, FieldPath])[] =>
    (list ?? []).map((container, index) => [container, path.child(name).index(index)] as const);
  const regular = withPaths(spec.containers, 'containers');
  const init = withPaths(spec.initContainers, 'initContainers');
  const ephemeral = withPaths(spec.ephemeralContainers, 'ephemeralContainers');

  if (regular.length === 0) yield requiredValue(path.child('containers'));
  for (const [container, at] of regular) {
    yield* validateContainer(container, at, pod);
    yield* validateHooks(container, at, pod);
    yield* validateRestart(container, at);
    if (spec.hostNetwork === true) yield* validateHostNetworkPorts(container, at);
  }
  yield* validateHostPorts(regular);
  for (const [container, at] of init) yield* validateInitContainer(container, at, pod);
  for (const [container, at] of ephemeral) yield* validateEphemeralContainer(container, at, pod);

  const all: readonly (readonly [Container, FieldPath])[] = [...regular, ...init, ...ephemeral];
  yield* validateUnique(all.map(([{name}, at]) => [name, at.child('name')] as const));
  for (const [container, at] of all) yield* validateEnvFiles(container, at, pod);
}
