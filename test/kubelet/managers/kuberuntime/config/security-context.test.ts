import {describe, expect, test} from 'vitest';
import type {Pod} from '../../../../../src/api/types/v1-pod.js';
import type {PodSecurityContext, SecurityContext} from '../../../../../src/api/types/v1-security.js';
import {
  containerSecurityContext,
  sandboxSecurityContext,
  verifyRunAsNonRoot,
  type ImageUser,
} from '../../../../../src/kubelet/managers/kuberuntime/config/security-context.js';
import {GOLDEN_NODE} from '../../../../golden/golden-cases.js';
import {aContainer, aPod, UID} from '../../../../fakes/a-pod.js';

const ROOT: ImageUser = {uid: 0n};

function effective(
  containerContext: SecurityContext,
  podContext: PodSecurityContext = {},
  {imageUser = ROOT, node = GOLDEN_NODE} = {},
): ReturnType<typeof containerSecurityContext> {
  const container = aContainer({securityContext: containerContext});
  const pod = aPod({containers: [container], securityContext: podContext});
  return containerSecurityContext({pod, container, imageUser, node});
}

describe('a container', () => {
  // Proves: Capabilities.add, Capabilities.drop, PodSecurityContext.seccompProfile, SELinuxOptions.role,
  //   SELinuxOptions.user, SecurityContext.allowPrivilegeEscalation, SecurityContext.capabilities,
  //   SecurityContext.readOnlyRootFilesystem, SecurityContext.runAsGroup, SecurityContext.seLinuxOptions
  test.each<[string, SecurityContext, PodSecurityContext, object]>([
    [
      'inherits the user and group of the pod',
      {},
      {runAsUser: 1, runAsGroup: 2},
      {runAsUser: {value: 1n}, runAsGroup: {value: 2n}},
    ],
    ['overrides the user of the pod', {runAsUser: 3}, {runAsUser: 1}, {runAsUser: {value: 3n}}],
    [
      'inherits the supplemental groups of the pod, with fsGroup first',
      {},
      {fsGroup: 5, supplementalGroups: [7, 6]},
      {supplementalGroups: [5n, 7n, 6n]},
    ],
    [
      'inherits supplementalGroupsPolicy',
      {},
      {supplementalGroupsPolicy: 'Strict'},
      {supplementalGroupsPolicy: 'Strict'},
    ],
    [
      'overrides the SELinux options of the pod',
      {seLinuxOptions: {user: 'u', role: 'r', type: 't', level: 's1'}},
      {seLinuxOptions: {level: 's0'}},
      {selinuxOptions: {user: 'u', role: 'r', type: 't', level: 's1'}},
    ],
    ['overrides the group of the pod', {runAsGroup: 4}, {runAsGroup: 2}, {runAsGroup: {value: 4n}}],
    [
      'sets no_new_privs if privilege escalation is not allowed',
      {allowPrivilegeEscalation: false},
      {},
      {noNewPrivs: true},
    ],
    [
      'does not set no_new_privs if privilege escalation is allowed',
      {allowPrivilegeEscalation: true},
      {},
      {noNewPrivs: false},
    ],
    [
      'has its capabilities',
      {capabilities: {add: ['NET_ADMIN'], drop: ['ALL']}},
      {},
      {capabilities: {addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL']}},
    ],
    [
      'can be privileged with a read-only root filesystem',
      {privileged: true, readOnlyRootFilesystem: true},
      {},
      {privileged: true, readonlyRootfs: true},
    ],
    [
      'inherits the seccomp profile of the pod',
      {},
      {seccompProfile: {type: 'RuntimeDefault'}},
      {seccomp: {profileType: 'RuntimeDefault'}},
    ],
    ['is unconfined by seccomp by default', {}, {}, {seccomp: {profileType: 'Unconfined'}}],
  ])('%s', (_title, containerContext, podContext, expected) => {
    expect(effective(containerContext, podContext)).toMatchObject(expected);
  });

  // Proves: Container.securityContext, SecurityContext.seccompProfile
  test('has the seccomp profile RuntimeDefault by default on a node with seccompDefault', () => {
    const node = {...GOLDEN_NODE, seccompDefault: true};

    expect(effective({}, {}, {node}).seccomp).toEqual({profileType: 'RuntimeDefault'});
    expect(effective({seccompProfile: {type: 'Unconfined'}}, {}, {node}).seccomp).toEqual({
      profileType: 'Unconfined',
    });
  });

  // Proves: SecurityContext.runAsUser
  test.each<[ImageUser, object]>([
    [{uid: 33n}, {runAsUser: {value: 33n}}],
    [{username: 'nobody'}, {runAsUsername: 'nobody'}],
  ])('runs as the user %o of the image by default', (imageUser, expected) => {
    expect(effective({}, {}, {imageUser})).toMatchObject(expected);
    expect(effective({runAsUser: 5}, {}, {imageUser})).toMatchObject({runAsUser: {value: 5n}});
  });

  test('has the thermal throttle paths of the CPUs masked', () => {
    const path = '/sys/devices/system/cpu/cpu0/thermal_throttle';

    const {maskedPaths} = effective({}, {}, {node: {...GOLDEN_NODE, thermalThrottlePaths: [path]}});

    expect(maskedPaths?.at(-1)).toBe(path);
  });

  // Proves: SecurityContext.procMount
  test('has no masked or read-only paths with procMount Unmasked', () => {
    const context = effective({procMount: 'Unmasked'});

    expect([context.maskedPaths, context.readonlyPaths]).toEqual([undefined, undefined]);
  });

  // Proves: AppArmorProfile.localhostProfile
  test.each([
    [
      'field',
      {appArmorProfile: {type: 'Localhost', localhostProfile: 'p'}},
      'unconfined',
      'localhost/p',
      {profileType: 'Localhost', localhostRef: 'p'},
    ],
    ['annotation', {}, 'localhost/q', 'localhost/q', {profileType: 'Localhost', localhostRef: 'q'}],
    ['annotation', {}, 'unconfined', 'unconfined', {profileType: 'Unconfined'}],
    ['annotation', {}, 'runtime/default', 'runtime/default', {profileType: 'RuntimeDefault'}],
    ['pod', {}, 'localhost/', 'runtime/default', {profileType: 'RuntimeDefault'}],
  ] as const)('has the AppArmor profile of its %s', (...row) => {
    const [, securityContext, annotation, apparmorProfile, apparmor] = row;
    const container = aContainer({securityContext});
    const pod: Pod = aPod(
      {containers: [container], securityContext: {appArmorProfile: {type: 'RuntimeDefault'}}},
      {annotations: {'container.apparmor.security.beta.kubernetes.io/main': annotation}},
    );

    expect(containerSecurityContext({pod, container, imageUser: ROOT, node: GOLDEN_NODE})).toMatchObject({
      apparmorProfile,
      apparmor,
    });
  });

  test('has no AppArmor profile by default', () => {
    expect(effective({})).not.toHaveProperty('apparmor');
  });
});

describe('a sandbox', () => {
  // Proves: PodSecurityContext.runAsGroup, PodSecurityContext.runAsUser, PodSecurityContext.seLinuxOptions,
  //   PodSecurityContext.supplementalGroups, SELinuxOptions.level
  test('has the user, groups and SELinux options of the pod', () => {
    const securityContext = {
      runAsUser: 1,
      runAsGroup: 2,
      fsGroup: 5,
      supplementalGroups: [6],
      seLinuxOptions: {level: 's0'},
    };

    expect(sandboxSecurityContext(aPod({securityContext}))).toMatchObject({
      privileged: false,
      runAsUser: {value: 1n},
      runAsGroup: {value: 2n},
      supplementalGroups: [5n, 6n],
      selinuxOptions: {level: 's0'},
      seccomp: {profileType: 'RuntimeDefault'},
    });
  });

  test('has the groups of volumes that the pod does not have, in the order of a kubelet', () => {
    const pod = aPod({securityContext: {fsGroup: 5, supplementalGroups: [6]}});
    const volume = (groupId?: bigint) => ({hostPath: '/v', readOnly: false, groupId});
    const volumes = new Map([6n, 7n, undefined, 7n].map((group, index) => [`v${index}`, volume(group)]));
    const container = aContainer();
    const input = {pod, container, imageUser: ROOT, node: GOLDEN_NODE, volumes};
    expect(sandboxSecurityContext(pod, {volumes}).supplementalGroups).toEqual([5n, 7n, 6n]);
    expect(containerSecurityContext(input).supplementalGroups).toEqual([5n, 6n, 7n]);
  });

  // Proves: SecurityContext.privileged
  test('is privileged if an init container is privileged', () => {
    const initContainers = [aContainer({name: 'init', securityContext: {privileged: true}})];

    expect(sandboxSecurityContext(aPod({initContainers})).privileged).toBe(true);
  });

  // Proves: PodSpec.shareProcessNamespace, PodSpec.hostPID
  test.each([
    [{}, {network: 'POD', pid: 'CONTAINER', ipc: 'POD'}],
    [{shareProcessNamespace: true}, {network: 'POD', pid: 'POD', ipc: 'POD'}],
    [
      {hostNetwork: true, hostPID: true, hostIPC: true},
      {network: 'NODE', pid: 'NODE', ipc: 'NODE'},
    ],
  ])('with %o has the namespaces %o', (spec, expected) => {
    expect(sandboxSecurityContext(aPod(spec)).namespaceOptions).toEqual({
      ...expected,
      usernsOptions: {mode: 'NODE'},
    });
  });
});

describe('a container with runAsNonRoot', () => {
  function verify(
    imageUser: ImageUser,
    containerContext: SecurityContext,
    podContext: PodSecurityContext = {},
  ): void {
    const container = aContainer({securityContext: containerContext});
    verifyRunAsNonRoot(aPod({containers: [container], securityContext: podContext}), container, imageUser);
  }
  const location = `(pod: "web_default(${UID})", container: main)`;

  test.each<[string, ImageUser, SecurityContext]>([
    ['container has runAsNonRoot and image will run as root', ROOT, {}],
    [
      'container has runAsNonRoot and image has non-numeric user (www), cannot verify user is non-root',
      {username: 'www'},
      {},
    ],
    ["container's runAsUser breaks non-root policy", {uid: 5n}, {runAsUser: 0}],
  ])('is rejected: %s', (message, imageUser, containerContext) => {
    expect(() => {
      verify(imageUser, {runAsNonRoot: true, ...containerContext});
    }).toThrow(
      expect.objectContaining({name: 'ContainerConfigError', message: `${message} ${location}`}) as Error,
    );
  });

  test('is accepted with a user other than root', () => {
    expect(() => {
      verify({uid: 5n}, {runAsNonRoot: true});
      verify(ROOT, {runAsNonRoot: true, runAsUser: 5});
      verify(ROOT, {runAsNonRoot: false}, {runAsNonRoot: true});
    }).not.toThrow();
  });

  // Proves: PodSecurityContext.runAsNonRoot, PodSpec.securityContext
  test('inherits runAsNonRoot from the pod', () => {
    expect(() => {
      verify(ROOT, {}, {runAsNonRoot: true});
    }).toThrow('image will run as root');
  });
});
