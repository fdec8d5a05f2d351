import {describe, expect, test} from 'vitest';
import type {Pod, VolumeMount} from '../../../../../src/api/types/v1-pod.js';
import {NO_OBJECTS} from '../../../../../src/kubelet/contract/api-objects.js';
import type {HandlerFeatures} from '../../../../../src/kubelet/contract/node-facts.js';
import type {MountedVolume} from '../../../../../src/kubelet/contract/pod-filesystem.js';
import {
  containerMounts,
  type MountContext,
} from '../../../../../src/kubelet/managers/kuberuntime/config/container-mounts.js';
import {
  expandSubPath,
  computeSubPathMounts,
} from '../../../../../src/kubelet/managers/kuberuntime/config/sub-path-mounts.js';
import {GOLDEN_NODE} from '../../../../golden/golden-cases.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';

const VARIABLES = new Map([
  ['POD', 'web'],
  ['UP', '..'],
  ['ROOT', '/etc'],
  ['EMPTY', ''],
]);
const VOLUME = {hostPath: '/volumes/v', readOnly: false};

function aContext(mounts: readonly Partial<VolumeMount>[], fields: Partial<MountContext> = {}): MountContext {
  const container = aContainer({
    volumeMounts: mounts.map((mount) => ({name: 'v', mountPath: '/v', ...mount})),
    terminationMessagePath: '',
  });
  return {
    pod: aPod({containers: [container]}),
    container,
    volumes: new Map([['v', VOLUME]]),
    variables: VARIABLES,
    node: GOLDEN_NODE,
    hostsPath: undefined,
    terminationLogPath: '/log',
    subPathTargets: new Map(),
    ...fields,
  };
}

test('the host path of a mount is that of the volume or of its sub-path mount', () => {
  const context = aContext([{}, {subPath: 'x'}], {subPathTargets: new Map([[1, '/parts/1']])});
  expect(containerMounts(context).map(({hostPath}) => hostPath)).toEqual(['/volumes/v', '/parts/1']);
});

test('a mount of a read-only volume is read-only even if the mount is not', () => {
  const readOnlyVolumes = new Map([['v', {...VOLUME, readOnly: true}]]);
  expect(containerMounts(aContext([{readOnly: false}], {volumes: readOnlyVolumes}))).toMatchObject([
    {readonly: true},
  ]);
});

describe('subPath', () => {
  test.each<[Partial<VolumeMount>, string]>([
    [{}, ''],
    [{subPath: 'a/b'}, 'a/b'],
    [{subPath: '$(POD)'}, '$(POD)'],
    [{subPathExpr: '$(POD)/z'}, 'web/z'],
    [{subPathExpr: '$$(POD)'}, '$(POD)'],
    [{subPathExpr: 'a..b/..c'}, 'a..b/..c'],
  ])('of %j expands to %j', (mount, path) => {
    expect(expandSubPath({name: 'v', mountPath: '/v', ...mount}, VARIABLES)).toBe(path);
  });

  test.each<[Partial<VolumeMount>, string]>([
    [{subPath: '/etc'}, 'error SubPath `/etc` must not be an absolute path'],
    [{subPathExpr: '$(ROOT)/a'}, 'error SubPath `/etc/a` must not be an absolute path'],
    [{subPath: 'a/../b'}, "unable to provision SubPath `a/../b`: must not contain '..'"],
    [{subPathExpr: 'a/$(UP)'}, "unable to provision SubPath `a/..`: must not contain '..'"],
    [{subPathExpr: '$(NONE)/$(EMPTY)/$(NONE)'}, 'missing value for EMPTY, NONE'],
  ])('of %j is rejected with the kubelet’s message', (mount, message) => {
    expect(() => expandSubPath({name: 'v', mountPath: '/v', ...mount}, VARIABLES)).toThrow(message);
  });
});

// Proves: VolumeMount.subPath, VolumeMount.subPathExpr
test('sub-path mounts are computed for volumes on the node only, with their index among the mounts', () => {
  const container = aContainer({
    env: [{name: 'DIR', value: 'here'}],
    volumeMounts: [
      {name: 'v', mountPath: '/all'},
      {name: 'v', mountPath: '/x', subPath: 'x', mountPropagation: 'HostToContainer'},
      {name: 'image', mountPath: '/i', subPath: 'x'},
      {name: 'v', mountPath: '/y', subPathExpr: '$(DIR)'},
    ],
  });
  const volumes = new Map([
    ['v', VOLUME],
    ['image', {hostPath: '', readOnly: true}],
  ]);
  const pod = aPod({containers: [container]});
  const known = {objects: NO_OBJECTS, envFiles: new Map(), node: GOLDEN_NODE};
  const mounts = computeSubPathMounts({pod, container, podIps: [], volumes, ...known});
  const shared = {volumeName: 'v', volumePath: '/volumes/v'};
  expect(mounts).toEqual([
    {...shared, index: 1, path: 'x', propagation: 'HostToContainer'},
    {...shared, index: 3, path: 'here', propagation: 'None'},
  ]);
});

// Proves: Container.terminationMessagePath
test.each([
  ['message', '/message'],
  ['./log//message/', '/log/message'],
  ['/log//message', '/log/message'],
])('the termination log %s is mounted at %s', (terminationMessagePath, containerPath) => {
  const container = aContainer({terminationMessagePath});
  expect(containerMounts(aContext([], {container}))).toMatchObject([{hostPath: '/log', containerPath}]);
});

describe('recursiveReadOnly', () => {
  const resolve = (
    mount: Partial<VolumeMount>,
    recursiveReadOnlyMounts?: boolean,
    pod?: Pod,
  ): boolean | undefined => {
    const features = {userNamespaces: false, recursiveReadOnlyMounts};
    const handlers = new Map(
      recursiveReadOnlyMounts === undefined ? [] : [['', features as HandlerFeatures]],
    );
    const node = {...GOLDEN_NODE, runtime: {...GOLDEN_NODE.runtime, handlers}};
    const context = aContext([{readOnly: true, ...mount}], {node, ...(pod && {pod})});
    return containerMounts(context)[0]?.recursiveReadOnly;
  };

  // Proves: VolumeMount.readOnly
  test.each<[VolumeMount['recursiveReadOnly'], boolean | undefined, boolean]>([
    [undefined, true, false],
    ['Disabled', true, false],
    ['IfPossible', true, true],
    ['IfPossible', false, false],
    ['IfPossible', undefined, false],
    ['Enabled', true, true],
  ])('%s with support by the runtime %s is %s', (recursiveReadOnly, supported, result) => {
    expect(resolve({...(recursiveReadOnly && {recursiveReadOnly})}, supported)).toBe(result);
  });

  test.each<[Partial<VolumeMount>, boolean | undefined, string]>([
    [{}, false, 'not supported by the runtime'],
    [{}, undefined, 'not supported by the runtime'],
    [{readOnly: false}, true, 'not read-only'],
    [{mountPropagation: 'HostToContainer'}, true, 'not compatible with propagation "HostToContainer"'],
  ])('Enabled with %j and support by the runtime %s is rejected', (mount, supported, problem) => {
    expect(() => resolve({recursiveReadOnly: 'Enabled', ...mount}, supported)).toThrow(
      `failed to resolve recursive read-only mode: volume "v" requested recursive read-only mode, but it is ${problem}`,
    );
  });

  test('is false for a static pod, for which the kubelet does not look up the runtime handler', () => {
    const pod = aPod({}, {annotations: {'kubernetes.io/config.source': 'file'}});
    expect(resolve({recursiveReadOnly: 'IfPossible'}, true, pod)).toBe(false);
    expect(() => resolve({recursiveReadOnly: 'Enabled'}, true, pod)).toThrow('not supported by the runtime');
  });
});

test('volumes are relabeled under SELinux, except for hostPath volumes', () => {
  const container = aContainer({
    volumeMounts: ['v', 'h'].map((name) => ({name, mountPath: `/${name}`})),
    terminationMessagePath: '/log',
  });
  const pod = aPod({containers: [container]});
  const volumes = new Map<string, MountedVolume>([
    ['v', VOLUME],
    ['h', {hostPath: '/h', readOnly: false, keepsLabels: true}],
  ]);
  const node = {...GOLDEN_NODE, selinuxEnabled: true};
  const mounts = containerMounts({...aContext([]), pod, container, volumes, node, hostsPath: '/hosts'});
  expect(mounts.map(({containerPath, selinuxRelabel}) => [containerPath, selinuxRelabel])).toEqual([
    ['/v', true],
    ['/h', false],
    ['/etc/hosts', true],
    ['/log', true],
  ]);
});
