import {describe, expect, test} from 'vitest';
import type {Container, Pod, RestartPolicy} from '../../../../../src/api/types/v1-pod.js';
import {containerId, type ContainerState} from '../../../../../src/cri/index.js';
import type {RuntimeContainerStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import {computePodActions} from '../../../../../src/kubelet/managers/kuberuntime/compute/compute-pod-actions.js';
import type {ProbeResults} from '../../../../../src/kubelet/contract/probe-results.js';
import {formatPodActions} from '../format-pod-actions.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod, aSandboxStatus} from '../../../../fakes/a-runtime-pod.js';

const RUNNING = 'CONTAINER_RUNNING';
const EXITED = 'CONTAINER_EXITED';
const CREATED = 'CONTAINER_CREATED';
const UNKNOWN = 'CONTAINER_UNKNOWN';

function failed(kind: keyof ProbeResults, id: string, result = 'Failure' as const): ProbeResults {
  const results = new Map([[containerId(id), result]]);
  return {liveness: new Map(), startup: new Map(), [kind]: results};
}

describe('a new sandbox', () => {
  const notReady = aSandboxStatus({state: 'SANDBOX_NOTREADY'});
  const main = aContainer();
  const other = aContainer({name: 'other'});
  const exited = (exitCode: number): RuntimeContainerStatus => anInstance('main', EXITED, {exitCode});

  test.each([
    ['is created as the first one', [], [], 'kill pod, create sandbox 0, start main'],
    ['replaces one that is not ready', [notReady], [], 'kill pod, create sandbox 1, start main'],
    [
      'replaces several ready ones',
      [aSandboxStatus({attempt: 3}), aSandboxStatus({attempt: 2})],
      [anInstance('main', RUNNING)],
      'kill pod, create sandbox 4, start main',
    ],
    [
      'replaces one without an address',
      [aSandboxStatus({network: {ip: '', additionalIps: []}})],
      [],
      'kill pod, create sandbox 1, start main',
    ],
    [
      'is not needed if the runtime reports no network status',
      [aSandboxStatus({network: undefined})],
      [],
      'start main',
    ],
  ])('%s', (_title, sandboxes, containers, expected) => {
    expect(formatPodActions(computePodActions(aPod(), aRuntimePod(containers, {sandboxes})))).toBe(expected);
  });

  test('has the ID of the sandbox that it replaces', () => {
    const actions = computePodActions(aPod(), aRuntimePod([], {sandboxes: [notReady]}));

    expect(actions).toMatchObject({sandboxId: 'sandbox-0', attempt: 1});
  });

  test('replaces one with the wrong network mode without its ID', () => {
    const pod = aPod({hostNetwork: true});

    const actions = computePodActions(pod, aRuntimePod());

    expect(actions).toMatchObject({createSandbox: true, attempt: 1, sandboxId: undefined});
  });

  test('is not needed for a pod in the host network, whose sandbox has no address', () => {
    const options = {network: 'NODE', pid: 'CONTAINER', ipc: 'POD', targetId: ''} as const;
    const sandbox = aSandboxStatus({
      network: {ip: '', additionalIps: []},
      linux: {namespaces: {options}},
    });

    const actions = computePodActions(
      aPod({hostNetwork: true}),
      aRuntimePod([anInstance('main', RUNNING)], {sandboxes: [sandbox]}),
    );

    expect(formatPodActions(actions)).toBe('');
  });

  test.each<[string, RestartPolicy, RuntimeContainerStatus[], string]>([
    ['a failed container is not restarted under Never', 'Never', [exited(1)], 'kill pod'],
    [
      'a sandbox that had no container is replaced under Never',
      'Never',
      [],
      'kill pod, create sandbox 1, start main',
    ],
    [
      'a failed container is restarted under OnFailure',
      'OnFailure',
      [exited(1)],
      'kill pod, create sandbox 1, start main',
    ],
    ['a succeeded container is not restarted under OnFailure', 'OnFailure', [exited(0)], 'kill pod'],
    [
      'a running container is restarted under OnFailure',
      'OnFailure',
      [anInstance('main', RUNNING)],
      'kill pod, create sandbox 1, start main',
    ],
    [
      'a succeeded container is restarted under Always',
      'Always',
      [exited(0)],
      'kill pod, create sandbox 1, start main',
    ],
  ])('after a dead one: %s', (_title, restartPolicy, containers, expected) => {
    const pod = aPod({restartPolicy, containers: [main]});

    expect(formatPodActions(computePodActions(pod, aRuntimePod(containers, {sandboxes: [notReady]})))).toBe(
      expected,
    );
  });

  test('starts all containers except those that succeeded', () => {
    const pod = aPod({restartPolicy: 'OnFailure', containers: [main, other]});

    expect(formatPodActions(computePodActions(pod, aRuntimePod([exited(0)], {sandboxes: [notReady]})))).toBe(
      'kill pod, create sandbox 1, start other',
    );
  });

  test.each([CREATED, UNKNOWN] as const)('starts a container that has not exited: %s', (state) => {
    const pod = aPod({restartPolicy: 'OnFailure', containers: [main]});
    const neverRan = anInstance('main', state, {exitCode: 0});

    expect(formatPodActions(computePodActions(pod, aRuntimePod([neverRan], {sandboxes: [notReady]})))).toBe(
      'kill pod, create sandbox 1, start main',
    );
  });

  test('respects the restart policy of a container', () => {
    const pod = aPod({
      restartPolicy: 'Always',
      containers: [aContainer({restartPolicy: 'OnFailure'}), other],
    });

    expect(formatPodActions(computePodActions(pod, aRuntimePod([exited(0)], {sandboxes: [notReady]})))).toBe(
      'kill pod, create sandbox 1, start other',
    );
  });

  test('starts only the first init container', () => {
    const pod = aPod({initContainers: [aContainer({name: 'i1'}), aContainer({name: 'i2'})]});

    expect(formatPodActions(computePodActions(pod, aRuntimePod([], {sandboxes: []})))).toBe(
      'kill pod, create sandbox 0, init i1',
    );
  });

  test('is created for a pod with init containers unless all containers were created and succeeded', () => {
    const pod = aPod({restartPolicy: 'OnFailure', initContainers: [aContainer({name: 'i1'})]});

    const both = aPod({restartPolicy: 'OnFailure', containers: [main, other]});

    const oneKnown = computePodActions(
      both,
      aRuntimePod([exited(0), anInstance('other', UNKNOWN)], {sandboxes: [notReady]}),
    );
    const unknown = computePodActions(
      pod,
      aRuntimePod([anInstance('main', UNKNOWN)], {sandboxes: [notReady]}),
    );
    const known = computePodActions(pod, aRuntimePod([exited(0)], {sandboxes: [notReady]}));

    expect(formatPodActions(unknown)).toBe('kill pod, create sandbox 1, init i1');
    expect(formatPodActions(known)).toBe('kill pod');
    expect(formatPodActions(oneKnown)).toBe('kill pod, create sandbox 1, start other');
  });
});

describe('a container in an existing sandbox', () => {
  const policies: readonly RestartPolicy[] = ['Always', 'OnFailure', 'Never'];
  const rows: readonly [string, ContainerState | undefined, number, readonly [string, string, string]][] = [
    ['is started if it was never created', undefined, 0, ['start main', 'start main', 'start main']],
    ['is started if it was only created', CREATED, 0, ['start main', 'start main', 'start main']],
    ['is kept if it is running', RUNNING, 0, ['', '', '']],
    ['is restarted after a success by policy', EXITED, 0, ['start main', 'kill pod', 'kill pod']],
    ['is restarted after a failure by policy', EXITED, 1, ['start main', 'start main', 'kill pod']],
    [
      'is killed and restarted in an unknown state',
      UNKNOWN,
      0,
      [
        'kill main (Unknown), start main',
        'kill main (Unknown), start main',
        'kill main (Unknown), start main',
      ],
    ],
  ];
  const table = rows.flatMap(([title, state, exitCode, expected]) =>
    policies.map((policy, index) => ({title, state, exitCode, policy, expected: expected[index]})),
  );

  test.each(table)('$title, policy $policy: $expected', ({state, exitCode, policy, expected}) => {
    const containers = state === undefined ? [] : [anInstance('main', state, {exitCode})];

    expect(formatPodActions(computePodActions(aPod({restartPolicy: policy}), aRuntimePod(containers)))).toBe(
      expected,
    );
  });

  test.each<[string, RestartPolicy, ProbeResults | undefined, string]>([
    ['definition changed', 'Never', undefined, 'Changed'],
    ['failed liveness probe', 'Always', failed('liveness', 'main-0'), 'LivenessProbe'],
    ['failed startup probe', 'OnFailure', failed('startup', 'main-0'), 'StartupProbe'],
  ])('is restarted when it %s, policy %s', (text, restartPolicy, probes, reason) => {
    const image = probes === undefined ? 'busybox:0' : 'busybox:1';
    const status = aRuntimePod([anInstance('main', RUNNING, {imageName: image})]);

    const actions = computePodActions(aPod({restartPolicy}), status, probes);

    expect(formatPodActions(actions)).toBe(`kill main (${reason}), start main`);
    expect(actions.containersToKill[0]?.message).toBe(`Container main ${text}, will be restarted`);
  });

  test('is killed by a failing probe without a restart under Never', () => {
    const pod = aPod({restartPolicy: 'Never', containers: [aContainer(), aContainer({name: 'other'})]});
    const status = aRuntimePod([anInstance('main', RUNNING), anInstance('other', RUNNING)]);

    const actions = computePodActions(pod, status, failed('liveness', 'main-0'));

    expect(formatPodActions(actions)).toBe('kill main (LivenessProbe)');
    expect(actions.containersToKill[0]?.message).toBe('Container main failed liveness probe');
  });

  test('is not restarted while its pod is being deleted', () => {
    const pod = aPod({}, {deletionTimestamp: '2026-05-01T12:00:00Z'});

    expect(formatPodActions(computePodActions(pod, aRuntimePod([anInstance('main', EXITED)])))).toBe(
      'kill pod',
    );
  });

  test('is evaluated by its newest instance', () => {
    const status = aRuntimePod([
      anInstance('main', RUNNING, {restartCount: 1}),
      anInstance('main', EXITED, {exitCode: 1}),
    ]);

    expect(formatPodActions(computePodActions(aPod(), status))).toBe('');
  });

  test('is killed in an unknown state with the kubelet’s message', () => {
    const actions = computePodActions(aPod(), aRuntimePod([anInstance('main', UNKNOWN)]));

    expect(actions.containersToKill[0]?.message).toBe(
      'Container is in "unknown" state, try killing it before restart',
    );
  });

  test('is started beside running ones in the order of the spec', () => {
    const names = ['c', 'a', 'b'];
    const pod = aPod({containers: names.map((name) => aContainer({name}))});

    expect(formatPodActions(computePodActions(pod, aRuntimePod([anInstance('a', RUNNING)])))).toBe(
      'start c, start b',
    );
  });

  test.each([
    ['In', [42], 42, 'start main'],
    ['In', [42], 1, 'kill pod'],
    ['NotIn', [42], 1, 'start main'],
    ['NotIn', [42], 42, 'kill pod'],
  ] as const)('with a restart rule %s %j, exit code %i: %s', (operator, values, exitCode, expected) => {
    const container = aContainer({
      restartPolicy: 'Never',
      restartPolicyRules: [{action: 'Restart', exitCodes: {operator, values}}],
    });
    const pod = aPod({restartPolicy: 'Always', containers: [container]});

    expect(
      formatPodActions(computePodActions(pod, aRuntimePod([anInstance('main', EXITED, {exitCode})]))),
    ).toBe(expected);
  });
});

test('restart rules without a restart policy of the container are ignored', () => {
  const exitCodes = {operator: 'In', values: [42]} as const;
  const container = aContainer({restartPolicyRules: [{action: 'Restart', exitCodes}]});
  const pod = aPod({restartPolicy: 'Never', containers: [container]});

  expect(
    formatPodActions(computePodActions(pod, aRuntimePod([anInstance('main', EXITED, {exitCode: 42})]))),
  ).toBe('kill pod');
});

describe('init containers', () => {
  const i1 = aContainer({name: 'i1'});
  const i2 = aContainer({name: 'i2'});
  const pod = (restartPolicy: RestartPolicy = 'Always'): Pod =>
    aPod({restartPolicy, initContainers: [i1, i2]});

  test.each<[string, RestartPolicy, RuntimeContainerStatus[], string]>([
    ['start with the first', 'Always', [], 'init i1'],
    ['wait for a running one', 'Always', [anInstance('i1', RUNNING)], ''],
    ['continue after a success', 'Always', [anInstance('i1', EXITED)], 'init i2'],
    [
      'are followed by the regular containers',
      'Always',
      [anInstance('i2', EXITED), anInstance('i1', EXITED)],
      'start main',
    ],
    [
      'are followed by the regular containers even if earlier ones were removed',
      'Always',
      [anInstance('i2', EXITED)],
      'start main',
    ],
    ['are retried after a failure', 'OnFailure', [anInstance('i1', EXITED, {exitCode: 1})], 'init i1'],
    [
      'fail the pod after a failure under Never',
      'Never',
      [anInstance('i1', EXITED, {exitCode: 1})],
      'kill pod',
    ],
    [
      'count as failed under Never when OOM killed with the exit code 0',
      'Never',
      [anInstance('i1', EXITED, {reason: 'OOMKilled'})],
      'kill pod',
    ],
    [
      'are not retried under OnFailure when OOM killed with the exit code 0',
      'OnFailure',
      [anInstance('i1', EXITED, {reason: 'OOMKilled'})],
      'kill pod',
    ],
    [
      'are retried under Always when OOM killed with the exit code 0',
      'Always',
      [anInstance('i1', EXITED, {reason: 'OOMKilled'})],
      'init i1',
    ],
    ['are started when only created', 'Always', [anInstance('i1', CREATED)], 'init i1'],
    [
      'are killed and restarted in an unknown state',
      'OnFailure',
      [anInstance('i1', UNKNOWN)],
      'kill i1 (Unknown), init i1',
    ],
    ['fail the pod in an unknown state under Never', 'Never', [anInstance('i1', UNKNOWN)], 'kill pod'],
    ['are complete once a regular container is running', 'Always', [anInstance('main', RUNNING)], ''],
    [
      'are complete once a regular container was created',
      'Always',
      [anInstance('main', CREATED)],
      'start main',
    ],
    [
      'run again when the only regular container has exited',
      'Always',
      [anInstance('main', EXITED)],
      'init i1',
    ],
  ])('%s', (_title, restartPolicy, containers, expected) => {
    expect(formatPodActions(computePodActions(pod(restartPolicy), aRuntimePod(containers)))).toBe(expected);
  });
});

describe('sidecars', () => {
  const sidecar = (name: string, fields: Partial<Container> = {}): Container =>
    aContainer({name, restartPolicy: 'Always', ...fields});
  const pod = aPod({initContainers: [sidecar('s1'), aContainer({name: 'i2'}), sidecar('s3')]});
  const probed = aPod({initContainers: [sidecar('s1', {startupProbe: {exec: {command: ['true']}}})]});
  const all = [anInstance('s1', RUNNING), anInstance('i2', EXITED), anInstance('s3', RUNNING)];

  test.each([
    ['let the next init container start as soon as they are running', [anInstance('s1', RUNNING)], 'init i2'],
    ['are followed by the regular containers', all, 'start main'],
    [
      'are restarted while a later init container is running',
      [anInstance('s1', EXITED), anInstance('i2', RUNNING)],
      'init s1',
    ],
    ['are restarted when they were removed', [anInstance('i2', RUNNING)], 'init s1'],
    ['are restarted beside running regular containers', [anInstance('main', RUNNING)], 'init s1, init s3'],
    [
      'are restarted after a success',
      [...all.slice(0, 2), anInstance('s3', EXITED), anInstance('main', RUNNING)],
      'init s3',
    ],
    [
      'are killed and restarted in an unknown state',
      [...all.slice(0, 2), anInstance('s3', UNKNOWN), anInstance('main', RUNNING)],
      'kill s3 (Unknown), init s3',
    ],
    [
      'are restarted when their image changed',
      [...all.slice(0, 2), anInstance('s3', RUNNING, {imageName: 'busybox:0'}), anInstance('main', RUNNING)],
      'kill s3 (Changed), init s3',
    ],
  ])('%s', (_title, containers, expected) => {
    expect(formatPodActions(computePodActions(pod, aRuntimePod(containers)))).toBe(expected);
  });

  test('are killed when the regular containers have ended', () => {
    const never = {...pod, spec: {...pod.spec, restartPolicy: 'Never' as const}};

    expect(
      formatPodActions(computePodActions(never, aRuntimePod([...all, anInstance('main', EXITED)]))),
    ).toBe('kill pod');
  });

  test('are not restarted when the regular containers have ended', () => {
    const never = {...pod, spec: {...pod.spec, restartPolicy: 'Never' as const}};
    const ended = [anInstance('s1', EXITED), ...all.slice(1), anInstance('main', EXITED)];

    expect(formatPodActions(computePodActions(never, aRuntimePod(ended)))).toBe('kill pod');
  });

  test.each([
    ['wait for a startup probe without a result', undefined, ''],
    ['wait for a startup probe with an unknown result', 'Unknown' as const, ''],
    ['let the regular containers start when the startup probe succeeds', 'Success' as const, 'start main'],
    ['are restarted when the startup probe fails', 'Failure' as const, 'kill s1 (StartupProbe), init s1'],
  ])('%s', (_title, result, expected) => {
    const probes = {
      liveness: new Map(),
      startup: new Map(result === undefined ? [] : [[containerId('s1-0'), result]]),
    };

    expect(
      formatPodActions(computePodActions(probed, aRuntimePod([anInstance('s1', RUNNING)]), probes)),
    ).toBe(expected);
  });

  test('are restarted when the liveness probe fails, and still let the next init container start', () => {
    const actions = computePodActions(
      pod,
      aRuntimePod([anInstance('s1', RUNNING)]),
      failed('liveness', 's1-0'),
    );

    expect(formatPodActions(actions)).toBe('kill s1 (LivenessProbe), init s1, init i2');
    expect(actions.containersToKill[0]?.message).toBe('Init container s1 failed liveness probe');
  });
});
