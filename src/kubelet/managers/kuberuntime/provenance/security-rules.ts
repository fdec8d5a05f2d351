import {allContainersOf} from '../../../../api/pod-containers.js';
import {because, worded, type Named, type PathSegment, type Provenance} from './provenance.js';
import type {RuleTree} from './rule-tree.js';
import {ContainerScope, type PodScope} from './scope.js';

/** Rules of the namespaces of sandboxes and containers. */
const NAMESPACES: RuleTree<PodScope> = {
  network: (scope) => because`${scope.field('spec', 'hostNetwork')}`,
  pid: (scope) => because`${[scope.field('spec', 'hostPID'), scope.field('spec', 'shareProcessNamespace')]}`,
  target_id: (scope) =>
    because`${scope instanceof ContainerScope ? scope.own('targetContainerName') : scope.rule('no target')}`,
  ipc: (scope) => because`${scope.field('spec', 'hostIPC')}`,
  userns_options: (scope, {below: [name]}) =>
    name === 'mode'
      ? because`${scope.field('spec', 'hostUsers')}`
      : because`${scope.run('range of user IDs of this pod')}, ${scope.field('spec', 'hostUsers')}`,
};

const GROUPS = {
  supplemental_groups: (scope: PodScope) =>
    because`${['fsGroup', 'supplementalGroups'].map((name) => scope.field('spec', 'securityContext', name)).filter(isSet)}`,
  supplemental_groups_policy: (scope: PodScope) =>
    because`${scope.field('spec', 'securityContext', 'supplementalGroupsPolicy')}`,
} as const;

/** Rules of the security context of a sandbox. */
export const SANDBOX_SECURITY: RuleTree<PodScope> = {
  privileged: (scope) => privileged(scope),
  seccomp: (scope) => because`${scope.rule('sandboxes always have the profile RuntimeDefault')}`,
  run_as_user: (scope) => because`${scope.field('spec', 'securityContext', 'runAsUser')}`,
  run_as_group: (scope) => because`${scope.field('spec', 'securityContext', 'runAsGroup')}`,
  selinux_options: (scope, {below}) =>
    because`${scope.field('spec', 'securityContext', 'seLinuxOptions', ...below)}`,
  namespace_options: NAMESPACES,
  ...GROUPS,
};

/** Rules of the security context of a container. */
export const CONTAINER_SECURITY: RuleTree<ContainerScope> = {
  capabilities: {
    add_capabilities: (scope) => because`${scope.own('securityContext', 'capabilities', 'add')}`,
    drop_capabilities: (scope) => because`${scope.own('securityContext', 'capabilities', 'drop')}`,
  },
  privileged: (scope) => because`${scope.own('securityContext', 'privileged')}`,
  readonly_rootfs: (scope) => because`${scope.own('securityContext', 'readOnlyRootFilesystem')}`,
  no_new_privs: (scope) => because`${scope.own('securityContext', 'allowPrivilegeEscalation')}`,
  selinux_options: (scope, {below}) => because`${ownOrPod(scope, 'seLinuxOptions', below)}`,
  run_as_user: (scope) => user(scope),
  run_as_username: (scope) => user(scope),
  run_as_group: (scope) => because`${ownOrPod(scope, 'runAsGroup')}`,
  namespace_options: NAMESPACES,
  masked_paths: (scope) => procPaths(scope),
  readonly_paths: (scope) => procPaths(scope),
  seccomp: (scope) => seccomp(scope),
  apparmor: (scope) => apparmor(scope),
  apparmor_profile: (scope) => apparmor(scope),
  ...GROUPS,
};

function isSet({source}: Named): boolean {
  return source.value !== undefined;
}

/** Names the field of the container's security context, or that of the pod's. */
function ownOrPod(scope: ContainerScope, name: string, below: readonly PathSegment[] = []): Named {
  const own = scope.own('securityContext', name);
  return isSet(own)
    ? scope.own('securityContext', name, ...below)
    : scope.field('spec', 'securityContext', name, ...below);
}

function privileged(scope: PodScope): Provenance {
  const {name} =
    allContainersOf(scope.pod).find(({securityContext}) => securityContext?.privileged === true) ?? {};
  const fields = scope.ofContainers('securityContext', 'privileged');
  return because`container ${name ?? ''} is privileged: securityContext.privileged of ${fields}`;
}

function user(scope: ContainerScope): Provenance {
  const field = ownOrPod(scope, 'runAsUser');
  if (isSet(field)) return because`${field}`;
  const image: Named = {source: {kind: 'object', name: 'user of the image'}, text: 'the user of the image'};
  return because`${image} ${scope.container.image}, since ${[scope.own('securityContext', 'runAsUser'), field]}`;
}

function procPaths(scope: ContainerScope): Provenance {
  const {thermalThrottlePaths} = scope.node;
  const mount = scope.own('securityContext', 'procMount');
  const paths = scope.rule("the kubelet's list");
  const ofNode = scope.fact('thermalThrottlePaths', [...thermalThrottlePaths]);
  const added = thermalThrottlePaths.length === 0 ? worded(ofNode, '') : because`, and ${ofNode}`;
  return because`${paths}, since ${mount}${added}`;
}

function seccomp(scope: ContainerScope): Provenance {
  const field = ownOrPod(scope, 'seccompProfile');
  if (!isSet(field))
    return because`${field}, and ${scope.setting('seccompDefault', scope.node.seccompDefault)}`;
  const {type} = field.source.value as {readonly type?: string};
  return type === 'Localhost'
    ? because`${field}, below seccomp/ of ${scope.setting('--root-dir', scope.node.rootDir)}`
    : because`${field}`;
}

const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

function apparmor(scope: ContainerScope): Provenance {
  const own = scope.own('securityContext', 'appArmorProfile');
  if (isSet(own)) return because`${own}`;
  const annotation = scope.field('metadata', 'annotations', `${APPARMOR_ANNOTATION}${scope.container.name}`);
  return because`${isSet(annotation) ? annotation : scope.field('spec', 'securityContext', 'appArmorProfile')}`;
}
