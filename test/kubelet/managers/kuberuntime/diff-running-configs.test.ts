import {expect, test} from 'vitest';
import type {Container, Pod} from '../../../../src/api/types/v1-pod.js';
import {imageRef} from '../../../../src/cri/index.js';
import type {Json} from '../../../../src/format/json.js';
import {emptyPodStatus} from '../../../../src/kubelet/contract/runtime-pod-status.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import {diffRunningConfigs} from '../../../../src/kubelet/managers/kuberuntime/diff-running-configs.js';
import type {RunningConfigs} from '../../../../src/kubelet/managers/kuberuntime/running-config.js';
import {generateContainerConfig} from '../../../../src/kubelet/managers/kuberuntime/config/container-config.js';
import {generatePodSandboxConfig} from '../../../../src/kubelet/managers/kuberuntime/config/sandbox-config.js';
import {toComparableConfig} from '../../../../src/kubelet/managers/kuberuntime/config/sent-config.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {NO_REFERENCES} from './config/no-references.js';

const IP = '10.244.0.9';
const CONTEXT = {node: GOLDEN_NODE, objects: NO_REFERENCES.objects};
const CONTAINER = aContainer({
  args: ['$(GREETING) from $(IP), $(WEB_SERVICE_HOST)'],
  env: [
    {name: 'IP', valueFrom: {fieldRef: {apiVersion: 'v1', fieldPath: 'status.podIP'}}},
    {name: 'GREETING', value: 'hello'},
  ],
  volumeMounts: [
    {name: 'data', mountPath: '/data', subPath: 'a'},
    {name: 'data', mountPath: '/all'},
    {name: 'host', mountPath: '/host', readOnly: true},
  ],
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
});
const VOLUMES = [
  {name: 'data', emptyDir: {}},
  {name: 'host', hostPath: {path: '/srv'}},
];
const POD = aPod({containers: [CONTAINER], volumes: VOLUMES});
const DIRECTORY = `/var/lib/golden/pods/${podRef(POD).uid}`;

/** Returns the configs of the pod, whose container also has the variables of a Service. */
function runningConfigs(): RunningConfigs {
  const config = generateContainerConfig({
    ...{...NO_REFERENCES, ...CONTEXT, pod: POD, container: CONTAINER, podIps: [IP], granted: {}},
    restartCount: 3,
    imageRef: imageRef('sha256:1'),
    imageUser: {username: 'www'},
    objects: {...NO_REFERENCES.objects, serviceVariables: () => new Map([['WEB_SERVICE_HOST', '10.96.0.7']])},
    volumes: new Map([
      ['data', {hostPath: `${DIRECTORY}/volumes/kubernetes.io~empty-dir/data`, readOnly: false}],
      ['host', {hostPath: '/srv', readOnly: false}],
    ]),
    hostsPath: `${DIRECTORY}/etc-hosts`,
    terminationLogPath: `${DIRECTORY}/containers/main/0a1b2c3d`,
    subPathTargets: new Map([[0, `${DIRECTORY}/volume-subpaths/data/main/0`]]),
  });
  const containers = new Map([['main', toComparableConfig('ContainerConfig', config)]]);
  const sandbox = toComparableConfig('PodSandboxConfig', generatePodSandboxConfig(POD, GOLDEN_NODE, 0));
  return {status: {...emptyPodStatus(podRef(POD).uid), ips: [IP]}, sandbox, containers};
}

/** Returns the paths of the fields in which the pod differs from the running one. */
function pathsOf(pod: Pod, running: RunningConfigs = runningConfigs()): readonly string[] {
  const diffs = diffRunningConfigs(pod, running, CONTEXT);
  return diffs.flatMap(({target, changes}) => changes.map(({path}) => `${target}: ${path}`));
}

test('the running pod does not differ from its manifest', () => {
  expect(pathsOf(POD)).toEqual([]);
});

const mount = (index: number, fields: object): Partial<Container> => ({
  volumeMounts: CONTAINER.volumeMounts!.map((each, at) => (at === index ? {...each, ...fields} : each)),
});

test.each<[string, Partial<Container>]>([
  ['args', {args: ['bye']}],
  ['command', {command: ['/bin/sh']}],
  ['working_dir', {workingDir: '/tmp'}],
  ['image.user_specified_image', {image: 'other'}],
  ['envs[GREETING].value', {env: [CONTAINER.env![0]!, {name: 'GREETING', value: 'bye'}]}],
  ['envs[GREETING]', {env: [CONTAINER.env![0]!]}],
  ['envs[NEW]', {env: [...CONTAINER.env!, {name: 'NEW', value: '1'}]}],
  ['mounts[/host].readonly', mount(2, {readOnly: false})],
  ['mounts[/data].host_path', mount(0, {name: 'host', subPath: undefined})],
  ['mounts[/all].host_path', mount(1, {subPath: 'b'})],
  ['mounts[/new]', mount(1, {mountPath: '/new'})],
  ['linux.resources.memory_limit_in_bytes', {resources: {limits: {memory: '64Mi'}}}],
  ['linux.security_context.privileged', {securityContext: {privileged: true}}],
  ['linux.security_context.run_as_user', {securityContext: {runAsUser: 7}}],
  ['annotations[io.kubernetes.container.ports]', {ports: [{containerPort: 80, protocol: 'TCP'}]}],
  ['tty', {tty: true}],
])('a change of the container is found: %s', (path, fields) => {
  const paths = pathsOf(aPod({containers: [{...CONTAINER, ...fields}], volumes: VOLUMES}));
  expect(paths.some((each) => each.startsWith(`container "main": ${path}`))).toBe(true);
});

test.each<[string, Pod]>([
  [
    'sandbox: linux.security_context.namespace_options',
    aPod({containers: [CONTAINER], volumes: VOLUMES, hostPID: true}),
  ],
  ['sandbox: labels.app', {...POD, metadata: {...POD.metadata, labels: {app: 'web'}}}],
  ['sandbox: hostname', aPod({containers: [CONTAINER], volumes: VOLUMES, hostname: 'other'})],
  [
    'container "second": config',
    aPod({containers: [CONTAINER, aContainer({name: 'second'})], volumes: VOLUMES}),
  ],
  [
    'container "main": mounts[/all].host_path',
    aPod({containers: [CONTAINER], volumes: [{name: 'data', hostPath: {path: '/tmp'}}, VOLUMES[1]!]}),
  ],
])('a change of the pod is found: %s', (path, pod) => {
  expect(pathsOf(pod).some((each) => each.startsWith(path))).toBe(true);
});

test('a container that the manifest no longer has, and configs that are not reported, are differences', () => {
  const running = runningConfigs();
  const extra: Json = {metadata: {name: 'old'}};
  expect(pathsOf(POD, {...running, containers: new Map([...running.containers, ['old', extra]])})).toEqual([
    'container "old": ',
  ]);
  expect(pathsOf(POD, {...running, sandbox: undefined, containers: new Map()})).toEqual([
    'sandbox: config (not reported by the runtime)',
    'container "main": config (not reported by the runtime)',
  ]);
});

test('an init container that has done its work may be gone, a sidecar may not', () => {
  const initContainers = [aContainer({name: 'init'}), aContainer({name: 'side', restartPolicy: 'Always'})];
  const pod = aPod({containers: [CONTAINER], volumes: VOLUMES, initContainers});
  expect(pathsOf(pod).filter((path) => path.includes('not reported'))).toEqual([
    'container "side": config (not reported by the runtime)',
  ]);
});
