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
import {UID, aContainer, aPod} from '../../../pod-builders.js';

const ROOT: ImageUser = {uid: 0n};

function effective(
  own: SecurityContext,
  ofPod: PodSecurityContext = {},
  {imageUser = ROOT, node = GOLDEN_NODE} = {},
): ReturnType<typeof containerSecurityContext> {
  const container = aContainer({securityContext: own});
  const pod = aPod({containers: [container], securityContext: ofPod});
  return containerSecurityContext({pod, container, imageUser, node});
}

describe('a container', () => {
  test.each<[string, SecurityContext, PodSecurityContext, object]>([
    [
      'has its pod’s user and group',
      {},
      {runAsUser: 1, runAsGroup: 2},
      {runAsUser: {value: 1n}, runAsGroup: {value: 2n}},
    ],
    ['has its own user rather than its pod’s', {runAsUser: 3}, {runAsUser: 1}, {runAsUser: {value: 3n}}],
    [
      'has its pod’s groups',
      {},
      {fsGroup: 5, supplementalGroups: [7, 6]},
      {supplementalGroups: [5n, 7n, 6n]},
    ],
    [
      'has its pod’s policy of groups',
      {},
      {supplementalGroupsPolicy: 'Strict'},
      {supplementalGroupsPolicy: 'Strict'},
    ],
    [
      'has its own SELinux label',
      {seLinuxOptions: {user: 'u', role: 'r', type: 't', level: 's1'}},
      {seLinuxOptions: {level: 's0'}},
      {selinuxOptions: {user: 'u', role: 'r', type: 't', level: 's1'}},
    ],
    ['has its own group rather than its pod’s', {runAsGroup: 4}, {runAsGroup: 2}, {runAsGroup: {value: 4n}}],
    ['may be kept from new privileges', {allowPrivilegeEscalation: false}, {}, {noNewPrivs: true}],
    ['gets new privileges otherwise', {allowPrivilegeEscalation: true}, {}, {noNewPrivs: false}],
    [
      'has capabilities as they are',
      {capabilities: {add: ['NET_ADMIN'], drop: ['ALL']}},
      {},
      {capabilities: {addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL']}},
    ],
    [
      'may be privileged',
      {privileged: true, readOnlyRootFilesystem: true},
      {},
      {privileged: true, readonlyRootfs: true},
    ],
    [
      'has its pod’s seccomp profile',
      {},
      {seccompProfile: {type: 'RuntimeDefault'}},
      {seccomp: {profileType: 'RuntimeDefault'}},
    ],
    ['is not confined by seccomp otherwise', {}, {}, {seccomp: {profileType: 'Unconfined'}}],
  ])('%s', (_title, own, ofPod, expected) => {
    expect(effective(own, ofPod)).toMatchObject(expected);
  });

  test('is confined by seccomp when the node says so', () => {
    const node = {...GOLDEN_NODE, seccompDefault: true};

    expect(effective({}, {}, {node}).seccomp).toEqual({profileType: 'RuntimeDefault'});
    expect(effective({seccompProfile: {type: 'Unconfined'}}, {}, {node}).seccomp).toEqual({
      profileType: 'Unconfined',
    });
  });

  test.each<[ImageUser, object]>([
    [{uid: 33n}, {runAsUser: {value: 33n}}],
    [{username: 'nobody'}, {runAsUsername: 'nobody'}],
  ])('is the image’s user %o when nobody says another', (imageUser, expected) => {
    expect(effective({}, {}, {imageUser})).toMatchObject(expected);
    expect(effective({runAsUser: 5}, {}, {imageUser})).toMatchObject({runAsUser: {value: 5n}});
  });

  test('does not see what the node’s CPUs tell of themselves', () => {
    const path = '/sys/devices/system/cpu/cpu0/thermal_throttle';

    const {maskedPaths} = effective({}, {}, {node: {...GOLDEN_NODE, thermalThrottlePaths: [path]}});

    expect(maskedPaths?.at(-1)).toBe(path);
  });

  test('sees all of an unmasked /proc', () => {
    const context = effective({procMount: 'Unmasked'});

    expect([context.maskedPaths, context.readonlyPaths]).toEqual([undefined, undefined]);
  });

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

  test('has no AppArmor profile unless one is named', () => {
    expect(effective({})).not.toHaveProperty('apparmor');
  });
});

describe('a sandbox', () => {
  test('has the pod’s user, groups and label', () => {
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

  test('is privileged for a privileged init container', () => {
    const initContainers = [aContainer({name: 'init', securityContext: {privileged: true}})];

    expect(sandboxSecurityContext(aPod({initContainers})).privileged).toBe(true);
  });

  test.each([
    [{}, {network: 'POD', pid: 'CONTAINER', ipc: 'POD'}],
    [{shareProcessNamespace: true}, {network: 'POD', pid: 'POD', ipc: 'POD'}],
    [
      {hostNetwork: true, hostPID: true, hostIPC: true},
      {network: 'NODE', pid: 'NODE', ipc: 'NODE'},
    ],
  ])('with %o is in the namespaces %o', (spec, expected) => {
    expect(sandboxSecurityContext(aPod(spec)).namespaceOptions).toEqual({
      ...expected,
      usernsOptions: {mode: 'NODE'},
    });
  });
});

describe('a container that must not run as root', () => {
  function verify(imageUser: ImageUser, own: SecurityContext, ofPod: PodSecurityContext = {}): void {
    const container = aContainer({securityContext: own});
    verifyRunAsNonRoot(aPod({containers: [container], securityContext: ofPod}), container, imageUser);
  }
  const where = `(pod: "web_default(${UID})", container: main)`;

  test.each<[string, ImageUser, SecurityContext]>([
    ['container has runAsNonRoot and image will run as root', ROOT, {}],
    [
      'container has runAsNonRoot and image has non-numeric user (www), cannot verify user is non-root',
      {username: 'www'},
      {},
    ],
    ["container's runAsUser breaks non-root policy", {uid: 5n}, {runAsUser: 0}],
  ])('is refused: %s', (message, imageUser, own) => {
    expect(() => {
      verify(imageUser, {runAsNonRoot: true, ...own});
    }).toThrow(
      expect.objectContaining({name: 'ContainerConfigError', message: `${message} ${where}`}) as Error,
    );
  });

  test('may run as another user', () => {
    expect(() => {
      verify({uid: 5n}, {runAsNonRoot: true});
      verify(ROOT, {runAsNonRoot: true, runAsUser: 5});
      verify(ROOT, {runAsNonRoot: false}, {runAsNonRoot: true});
    }).not.toThrow();
  });

  test('is so by its pod’s word too', () => {
    expect(() => {
      verify(ROOT, {}, {runAsNonRoot: true});
    }).toThrow('image will run as root');
  });
});
