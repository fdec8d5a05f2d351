import {CONTAINER_ANNOTATIONS, CONTAINER_NAME_LABEL} from '../config/labels.js';
import {environment} from './env-rules.js';
import {mountSource} from './mount-rules.js';
import {because, worded, type Named, type PathSegment, type Provenance} from './provenance.js';
import {CONTAINER_RESOURCES} from './resource-rules.js';
import type {RuleTree} from './rule-tree.js';
import {IDENTITY_LABELS, annotation} from './sandbox-rules.js';
import type {ContainerScope} from './scope.js';
import {CONTAINER_SECURITY} from './security-rules.js';

/** Rules of ContainerConfig. */
export const CONTAINER_CONFIG: RuleTree<ContainerScope> = {
  metadata: {
    name: (scope) => because`${scope.own('name')}`,
    attempt: (scope, {value}) => because`${restarts(scope, value)}`,
  },
  image: {
    image: (scope) =>
      because`ID in the runtime of ${scope.own('image')}${{text: '', sources: [{kind: 'node', name: 'images of the runtime'}]}}`,
    user_specified_image: (scope) => because`${scope.own('image')}`,
    runtime_handler: (scope) => because`${scope.field('spec', 'runtimeClassName')}`,
    annotations: (scope, {below: [key]}) => annotation(scope, String(key)),
  },
  command: (scope) => words(scope, 'command'),
  args: (scope) => words(scope, 'args'),
  working_dir: (scope) => because`${scope.own('workingDir')}`,
  envs: environment,
  mounts: mountSource,
  devices: (scope, leaf) => device(scope, leaf),
  CDI_devices: (scope) => because`${scope.ofManagers()}`,
  labels: (scope, {below: [key]}) => label(scope, String(key)),
  annotations: (scope, {below: [key], value}) => ownAnnotation(scope, String(key), value),
  log_path: (scope) => because`${scope.own('name')}, and the number of its restarts: ${restarts(scope)}`,
  stdin: (scope) => because`${scope.own('stdin')}`,
  stdin_once: (scope) => because`${scope.own('stdinOnce')}`,
  tty: (scope) => because`${scope.own('tty')}`,
  stop_signal: (scope) => because`${scope.own('lifecycle', 'stopSignal')}`,
  linux: {resources: CONTAINER_RESOURCES, security_context: CONTAINER_SECURITY},
};

function restarts(scope: ContainerScope, value?: unknown): Named {
  return scope.run('restarts of the container', value === undefined ? undefined : Number(value));
}

/** Names a command line, and the variables that it may refer to. */
function words(scope: ContainerScope, name: 'command' | 'args'): Provenance {
  const field = worded(scope.own(name), name);
  const isExpanded = (scope.container[name] ?? []).some((word) => word.includes('$('));
  return isExpanded
    ? because`${field}, with $(NAME) replaced from ${[worded(scope.own('env'), 'env'), worded(scope.own('envFrom'), 'envFrom')]}`
    : because`${field} of the container`;
}

function label(scope: ContainerScope, key: string): Provenance {
  if (key === CONTAINER_NAME_LABEL)
    return because`${scope.own('name')}, by which the kubelet finds the container`;
  const identity = IDENTITY_LABELS[key];
  return identity === undefined
    ? because`${scope.ofManagers()}`
    : because`${scope.field('metadata', identity)}, by which the kubelet finds the pod`;
}

/** Rules of the annotations in which the kubelet keeps what it needs without the manifest. */
const ANNOTATIONS: Readonly<Record<string, (scope: ContainerScope, value: unknown) => Provenance>> = {
  [CONTAINER_ANNOTATIONS.hash]: (scope) => because`hash of ${[scope.own('name'), scope.own('image')]}`,
  [CONTAINER_ANNOTATIONS.restartCount]: (scope, value) => because`${restarts(scope, value)}`,
  [CONTAINER_ANNOTATIONS.terminationMessagePath]: (scope) => because`${scope.own('terminationMessagePath')}`,
  [CONTAINER_ANNOTATIONS.terminationMessagePolicy]: (scope) =>
    because`${scope.own('terminationMessagePolicy')}`,
  [CONTAINER_ANNOTATIONS.deletionGracePeriod]: (scope) =>
    because`${scope.field('metadata', 'deletionGracePeriodSeconds')}`,
  [CONTAINER_ANNOTATIONS.terminationGracePeriod]: (scope) =>
    because`${scope.field('spec', 'terminationGracePeriodSeconds')}`,
  [CONTAINER_ANNOTATIONS.preStopHandler]: (scope) =>
    because`${worded(scope.own('lifecycle', 'preStop'), 'lifecycle.preStop')} as JSON`,
  [CONTAINER_ANNOTATIONS.ports]: (scope) => because`${worded(scope.own('ports'), 'ports')} as JSON`,
};

function ownAnnotation(scope: ContainerScope, key: string, value: unknown): Provenance {
  return ANNOTATIONS[key]?.(scope, value) ?? because`${scope.ofManagers()}`;
}

/** Names the block volume that a device was made of, or the manager that gives it. */
function device(
  scope: ContainerScope,
  {message, below: [index]}: {readonly message: unknown; readonly below: readonly PathSegment[]},
): Provenance {
  const {devices = []} = message as {readonly devices?: readonly {readonly container_path?: string}[]};
  const at = (scope.container.volumeDevices ?? []).findIndex(
    ({devicePath}) => devicePath === devices[Number(index)]?.container_path,
  );
  return at === -1 ? because`${scope.ofManagers()}` : because`${scope.own('volumeDevices', at)}`;
}
