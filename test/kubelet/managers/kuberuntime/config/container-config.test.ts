import {describe, expect, test} from 'vitest';
import type {Container, PodSpec} from '../../../../../src/api/types/v1-pod.js';
import {imageRef} from '../../../../../src/cri/index.js';
import {
  generateContainerConfig,
  type ContainerConfigInput,
} from '../../../../../src/kubelet/managers/kuberuntime/config/container-config.js';
import {GOLDEN_NODE} from '../../../../golden/golden-cases.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';
import {NO_REFERENCES} from './no-references.js';

function anInput(
  container: Container,
  fields: Partial<ContainerConfigInput> = {},
  spec: Partial<PodSpec> = {},
): ContainerConfigInput {
  const pod = aPod({...spec, containers: [container]});
  return {
    ...NO_REFERENCES,
    pod,
    container: pod.spec.containers[0]!,
    restartCount: 2,
    imageRef: imageRef('sha256:1'),
    imageUser: {uid: 0n},
    podIps: ['10.244.0.2'],
    volumes: new Map([['data', {hostPath: '/host/data', readOnly: false}]]),
    node: GOLDEN_NODE,
    granted: {},
    hostsPath: '/pods/etc-hosts',
    terminationLogPath: '/pods/log',
    subPathTargets: new Map(),
    ...fields,
  };
}

describe('the container config', () => {
  // Proves: Container.volumeDevices, VolumeDevice.name, VolumeDevice.devicePath
  test('has the devices of managers, then those of block volumes', () => {
    const volumeDevices = [
      {name: 'data', devicePath: '/dev/xb'},
      {name: 'old', devicePath: '/dev/old'},
    ];
    const volumes = new Map([
      ['data', {hostPath: '/links/data', readOnly: false}],
      ['old', {hostPath: '/links/old', readOnly: true}],
    ]);
    const gpu = {hostPath: '/dev/gpu', containerPath: '/dev/gpu', permissions: 'rw'};
    const config = generateContainerConfig(
      anInput(aContainer({volumeDevices}), {volumes, granted: {devices: [gpu]}}),
    );
    expect(config.devices).toEqual([
      gpu,
      {hostPath: '/links/data', containerPath: '/dev/xb', permissions: 'mrw'},
      {hostPath: '/links/old', containerPath: '/dev/old', permissions: 'r'},
    ]);
  });

  test.each([
    [{name: 'data', devicePath: 'dev/xb'}, 'error DevicePath `dev/xb` must be an absolute path'],
    [{name: 'none', devicePath: '/dev/xb'}, 'cannot find volume "none" to pass into container "main"'],
  ])('rejects the device %j', (device, message) => {
    const container = aContainer({volumeDevices: [device]});
    expect(() => generateContainerConfig(anInput(container))).toThrow(message);
  });

  test('has the attempt, image and log path of the instance', () => {
    const config = generateContainerConfig(anInput(aContainer()));

    expect(config).toMatchObject({
      metadata: {name: 'main', attempt: 2},
      image: {image: 'sha256:1', userSpecifiedImage: 'busybox:1'},
      logPath: 'main/2.log',
    });
  });

  test.each([
    [
      {args: ['a', '$(A)$(A)']},
      'args[1] of container "main": argument list too long: the expanded value exceeds 131071 bytes',
    ],
    [
      {command: Array<string>(200).fill('$(A)')},
      'command[61] of container "main": argument list too long: arguments and environment exceed 6291456 bytes',
    ],
  ])('rejects arguments that no process can be given', (fields, message) => {
    const env = [{name: 'A', value: 'x'.repeat(100_000)}];
    const container = aContainer({env, ...fields});
    expect(() => generateContainerConfig(anInput(container))).toThrow(message);
  });

  test('has the command and arguments with expanded variables', () => {
    const env = [{name: 'IP', valueFrom: {fieldRef: {fieldPath: 'status.podIP'}}}];
    const container = aContainer({env, command: ['$(IP)', '$$(IP)'], args: ['--ip=$(IP)', '$(NONE)']});

    const config = generateContainerConfig(anInput(container));

    expect(config.command).toEqual(['10.244.0.2', '$(IP)']);
    expect(config.args).toEqual(['--ip=10.244.0.2', '$(NONE)']);
    expect(config.envs).toEqual([{key: 'IP', value: Buffer.from('10.244.0.2')}]);
  });

  // Proves: Container.stdinOnce, Container.workingDir
  test('has the streams and the working directory', () => {
    const container = aContainer({stdin: true, stdinOnce: true, tty: true, workingDir: '/srv'});

    expect(generateContainerConfig(anInput(container))).toMatchObject({
      stdin: true,
      stdinOnce: true,
      tty: true,
      workingDir: '/srv',
    });
  });
});

describe('the mounts', () => {
  const mountPath = '/data';

  test('are in the order of the spec, followed by the hosts file and the termination log', () => {
    const volumeMounts = [
      {name: 'data', mountPath: '/z'},
      {name: 'data', mountPath: '/a'},
    ];

    const {mounts} = generateContainerConfig(anInput(aContainer({volumeMounts})));

    expect(mounts?.map(({hostPath, containerPath}) => [hostPath, containerPath])).toEqual([
      ['/host/data', '/z'],
      ['/host/data', '/a'],
      ['/pods/etc-hosts', '/etc/hosts'],
      ['/pods/log', '/dev/termination-log'],
    ]);
  });

  test.each([
    [
      {name: 'data', mountPath},
      {readonly: false, propagation: 'PROPAGATION_PRIVATE'},
    ],
    [{name: 'data', mountPath, readOnly: true}, {readonly: true}],
    [{name: 'fixed', mountPath}, {readonly: true}],
    [{name: 'data', mountPath: 'relative'}, {containerPath: '/relative'}],
    [{name: 'data', mountPath: 'a//relative/'}, {containerPath: '/a/relative'}],
    [{name: 'data', mountPath: '/as//written/'}, {containerPath: '/as//written/'}],
    [
      {name: 'data', mountPath, mountPropagation: 'HostToContainer'},
      {propagation: 'PROPAGATION_HOST_TO_CONTAINER'},
    ],
    [
      {name: 'data', mountPath, mountPropagation: 'Bidirectional'},
      {propagation: 'PROPAGATION_BIDIRECTIONAL'},
    ],
  ] as const)('for %o are %o', (mount, expected) => {
    const volumes = new Map([
      ['data', {hostPath: '/host/data', readOnly: false}],
      ['fixed', {hostPath: '/host/fixed', readOnly: true}],
    ]);

    const {mounts} = generateContainerConfig(anInput(aContainer({volumeMounts: [mount]}), {volumes}));

    expect(mounts?.[0]).toMatchObject(expected);
  });

  test('have no hosts file and no termination log if there are none', () => {
    const input = anInput(aContainer(), {hostsPath: undefined});

    const {mounts} = generateContainerConfig({
      ...input,
      container: {...input.container, terminationMessagePath: ''},
    });

    expect(mounts).toEqual([]);
  });

  // Proves: Container.volumeMounts
  test('of a missing volume are rejected with the kubelet’s message', () => {
    const container = aContainer({volumeMounts: [{name: 'none', mountPath}]});

    expect(() => generateContainerConfig(anInput(container))).toThrow(
      'cannot find volume "none" to mount into container "main"',
    );
  });

  test('are relabeled under SELinux, except for volumes that keep their labels', () => {
    const volumes = new Map(
      ['data', 'host'].map((name) => [
        name,
        {hostPath: `/${name}`, readOnly: false, keepsLabels: name === 'host'},
      ]),
    );
    const container = aContainer({
      volumeMounts: [...volumes.keys()].map((name) => ({name, mountPath: `/${name}`})),
    });
    const node = {...GOLDEN_NODE, selinuxEnabled: true};

    const {mounts} = generateContainerConfig(anInput(container, {volumes, node}));

    expect(mounts?.map(({selinuxRelabel}) => selinuxRelabel)).toEqual([true, false, true, true]);
  });
});

// Proves: SecurityContext.runAsNonRoot
test('a container with runAsNonRoot whose image runs as root is rejected', () => {
  const container = aContainer({securityContext: {runAsNonRoot: true}});

  expect(() => generateContainerConfig(anInput(container))).toThrow('image will run as root');
});
