import {describe, expect, test} from 'vitest';
import type {Container, RestartPolicy} from '../../../../../src/api/types/v1-pod.js';
import {containerId, type ContainerState} from '../../../../../src/cri/index.js';
import type {RuntimeContainerStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import {computePodActions} from '../../../../../src/kubelet/managers/kuberuntime/compute/compute-pod-actions.js';
import type {ProbeResults} from '../../../../../src/kubelet/contract/probe-results.js';
import {formatPodActions} from '../format-pod-actions.js';
import {aContainer, aPod, aSandboxStatus, aStatus, anInstance} from '../../../pod-builders.js';

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
    ['is the first', [], [], 'kill pod, create sandbox 0, start main'],
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
      'is not needed when the runtime tells nothing of the network',
      [aSandboxStatus({network: undefined})],
      [],
      'start main',
    ],
  ])('%s', (_title, sandboxes, containers, expected) => {
    expect(formatPodActions(computePodActions(aPod(), aStatus(containers, sandboxes)))).toBe(expected);
  });

  test('names the sandbox that it replaces', () => {
    const actions = computePodActions(aPod(), aStatus([], [notReady]));

    expect(actions).toMatchObject({sandboxId: 'sandbox-0', attempt: 1});
  });

  test('replaces one of the wrong network without naming it', () => {
    const pod = aPod({hostNetwork: true});

    const actions = computePodActions(pod, aStatus());

    expect(actions).toMatchObject({createSandbox: true, attempt: 1, sandboxId: undefined});
  });

  test('is not needed for a pod in the host’s network, which has no address of its own', () => {
    const options = {network: 'NODE', pid: 'CONTAINER', ipc: 'POD', targetId: ''} as const;
    const sandbox = aSandboxStatus({
      network: {ip: '', additionalIps: []},
      linux: {namespaces: {options}},
    });

    const actions = computePodActions(
      aPod({hostNetwork: true}),
      aStatus([anInstance('main', RUNNING)], [sandbox]),
    );

    expect(formatPodActions(actions)).toBe('');
  });

  test.each<[string, RestartPolicy, RuntimeContainerStatus[], string]>([
    ['Never does not begin again', 'Never', [exited(1)], 'kill pod'],
    [
      'Never tries a sandbox again that had no container',
      'Never',
      [],
      'kill pod, create sandbox 1, start main',
    ],
    [
      'OnFailure begins again what failed',
      'OnFailure',
      [exited(1)],
      'kill pod, create sandbox 1, start main',
    ],
    ['OnFailure leaves what succeeded', 'OnFailure', [exited(0)], 'kill pod'],
    [
      'OnFailure begins again what ran',
      'OnFailure',
      [anInstance('main', RUNNING)],
      'kill pod, create sandbox 1, start main',
    ],
    ['Always begins again what succeeded', 'Always', [exited(0)], 'kill pod, create sandbox 1, start main'],
  ])('after a dead one: %s', (_title, restartPolicy, containers, expected) => {
    const pod = aPod({restartPolicy, containers: [main]});

    expect(formatPodActions(computePodActions(pod, aStatus(containers, [notReady])))).toBe(expected);
  });

  test('leaves out only those that succeeded', () => {
    const pod = aPod({restartPolicy: 'OnFailure', containers: [main, other]});

    expect(formatPodActions(computePodActions(pod, aStatus([exited(0)], [notReady])))).toBe(
      'kill pod, create sandbox 1, start other',
    );
  });

  test('takes the exit code of what has not exited for 0, as the kubelet does', () => {
    const pod = aPod({restartPolicy: 'OnFailure', containers: [main, other]});
    const created = anInstance('main', CREATED, {exitCode: 255});

    expect(formatPodActions(computePodActions(pod, aStatus([created], [notReady])))).toBe(
      'kill pod, create sandbox 1, start other',
    );
  });

  test('heeds a container’s own restart policy', () => {
    const pod = aPod({
      restartPolicy: 'Always',
      containers: [aContainer({restartPolicy: 'OnFailure'}), other],
    });

    expect(formatPodActions(computePodActions(pod, aStatus([exited(0)], [notReady])))).toBe(
      'kill pod, create sandbox 1, start other',
    );
  });

  test('begins with the first init container alone', () => {
    const pod = aPod({initContainers: [aContainer({name: 'i1'}), aContainer({name: 'i2'})]});

    expect(formatPodActions(computePodActions(pod, aStatus([], [])))).toBe(
      'kill pod, create sandbox 0, init i1',
    );
  });

  test('of a pod with init containers is made although all containers succeeded, unless they were created', () => {
    const pod = aPod({restartPolicy: 'OnFailure', initContainers: [aContainer({name: 'i1'})]});

    const both = aPod({restartPolicy: 'OnFailure', containers: [main, other]});

    const oneKnown = computePodActions(both, aStatus([exited(0), anInstance('other', UNKNOWN)], [notReady]));
    const unknown = computePodActions(pod, aStatus([anInstance('main', UNKNOWN)], [notReady]));
    const known = computePodActions(pod, aStatus([exited(0)], [notReady]));

    expect(formatPodActions(unknown)).toBe('kill pod, create sandbox 1, init i1');
    expect(formatPodActions(known)).toBe('kill pod');
    expect(formatPodActions(oneKnown)).toBe('kill pod');
  });
});

describe('a container in a sandbox that stays', () => {
  const policies: readonly RestartPolicy[] = ['Always', 'OnFailure', 'Never'];
  const rows: readonly [string, ContainerState | undefined, number, readonly [string, string, string]][] = [
    ['is started when it never ran', undefined, 0, ['start main', 'start main', 'start main']],
    ['is started when it was only created', CREATED, 0, ['start main', 'start main', 'start main']],
    ['is left running', RUNNING, 0, ['', '', '']],
    ['that succeeded', EXITED, 0, ['start main', 'kill pod', 'kill pod']],
    ['that failed', EXITED, 1, ['start main', 'start main', 'kill pod']],
    [
      'of which nobody knows whether it runs',
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

    expect(formatPodActions(computePodActions(aPod({restartPolicy: policy}), aStatus(containers)))).toBe(
      expected,
    );
  });

  test.each<[string, RestartPolicy, ProbeResults | undefined, string]>([
    ['definition changed', 'Never', undefined, 'Changed'],
    ['failed liveness probe', 'Always', failed('liveness', 'main-0'), 'LivenessProbe'],
    ['failed startup probe', 'OnFailure', failed('startup', 'main-0'), 'StartupProbe'],
  ])('is replaced when it %s, policy %s', (text, restartPolicy, probes, reason) => {
    const image = probes === undefined ? 'busybox:0' : 'busybox:1';
    const status = aStatus([anInstance('main', RUNNING, {image})]);

    const actions = computePodActions(aPod({restartPolicy}), status, probes);

    expect(formatPodActions(actions)).toBe(`kill main (${reason}), start main`);
    expect(actions.containersToKill[0]?.message).toBe(`Container main ${text}, will be restarted`);
  });

  test('is killed for good by a failing probe when nothing restarts it', () => {
    const pod = aPod({restartPolicy: 'Never', containers: [aContainer(), aContainer({name: 'other'})]});
    const status = aStatus([anInstance('main', RUNNING), anInstance('other', RUNNING)]);

    const actions = computePodActions(pod, status, failed('liveness', 'main-0'));

    expect(formatPodActions(actions)).toBe('kill main (LivenessProbe)');
    expect(actions.containersToKill[0]?.message).toBe('Container main failed liveness probe');
  });

  test('is not restarted while its pod is being deleted', () => {
    const pod = aPod({}, {deletionTimestamp: '2026-05-01T12:00:00Z'});

    expect(formatPodActions(computePodActions(pod, aStatus([anInstance('main', EXITED)])))).toBe('kill pod');
  });

  test('is judged by its newest instance', () => {
    const status = aStatus([
      anInstance('main', RUNNING, {restartCount: 1}),
      anInstance('main', EXITED, {exitCode: 1}),
    ]);

    expect(formatPodActions(computePodActions(aPod(), status))).toBe('');
  });

  test('is killed in an unknown state with the kubelet’s words', () => {
    const actions = computePodActions(aPod(), aStatus([anInstance('main', UNKNOWN)]));

    expect(actions.containersToKill[0]?.message).toBe(
      'Container is in "unknown" state, try killing it before restart',
    );
  });

  test('starts beside others that stay, in the Pod’s order', () => {
    const names = ['c', 'a', 'b'];
    const pod = aPod({containers: names.map((name) => aContainer({name}))});

    expect(formatPodActions(computePodActions(pod, aStatus([anInstance('a', RUNNING)])))).toBe(
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

    expect(formatPodActions(computePodActions(pod, aStatus([anInstance('main', EXITED, {exitCode})])))).toBe(
      expected,
    );
  });
});

test('restart rules count only beside a container’s own policy', () => {
  const exitCodes = {operator: 'In', values: [42]} as const;
  const container = aContainer({restartPolicyRules: [{action: 'Restart', exitCodes}]});
  const pod = aPod({restartPolicy: 'Never', containers: [container]});

  expect(
    formatPodActions(computePodActions(pod, aStatus([anInstance('main', EXITED, {exitCode: 42})]))),
  ).toBe('kill pod');
});

describe('init containers', () => {
  const i1 = aContainer({name: 'i1'});
  const i2 = aContainer({name: 'i2'});
  const pod = (restartPolicy: RestartPolicy = 'Always'): ReturnType<typeof aPod> =>
    aPod({restartPolicy, initContainers: [i1, i2]});

  test.each<[string, RestartPolicy, RuntimeContainerStatus[], string]>([
    ['begin with the first', 'Always', [], 'init i1'],
    ['wait for the one that runs', 'Always', [anInstance('i1', RUNNING)], ''],
    ['go on after a success', 'Always', [anInstance('i1', EXITED)], 'init i2'],
    [
      'are followed by the containers',
      'Always',
      [anInstance('i2', EXITED), anInstance('i1', EXITED)],
      'start main',
    ],
    [
      'are followed by the containers although earlier ones are gone',
      'Always',
      [anInstance('i2', EXITED)],
      'start main',
    ],
    ['are tried again after a failure', 'OnFailure', [anInstance('i1', EXITED, {exitCode: 1})], 'init i1'],
    ['end the pod by a failure under Never', 'Never', [anInstance('i1', EXITED, {exitCode: 1})], 'kill pod'],
    [
      'count one killed for its memory as failed',
      'Never',
      [anInstance('i1', EXITED, {reason: 'OOMKilled'})],
      'kill pod',
    ],
    [
      'try one killed for its memory again only by its exit code',
      'OnFailure',
      [anInstance('i1', EXITED, {reason: 'OOMKilled'})],
      'kill pod',
    ],
    [
      'try one killed for its memory always again under Always',
      'Always',
      [anInstance('i1', EXITED, {reason: 'OOMKilled'})],
      'init i1',
    ],
    ['are started when they were only created', 'Always', [anInstance('i1', CREATED)], 'init i1'],
    [
      'are killed and started again in an unknown state',
      'OnFailure',
      [anInstance('i1', UNKNOWN)],
      'kill i1 (Unknown), init i1',
    ],
    ['end the pod in an unknown state under Never', 'Never', [anInstance('i1', UNKNOWN)], 'kill pod'],
    ['are over once a container runs', 'Always', [anInstance('main', RUNNING)], ''],
    ['are over once a container was created', 'Always', [anInstance('main', CREATED)], 'start main'],
    ['run again when a container has only exited', 'Always', [anInstance('main', EXITED)], 'init i1'],
  ])('%s', (_title, restartPolicy, containers, expected) => {
    expect(formatPodActions(computePodActions(pod(restartPolicy), aStatus(containers)))).toBe(expected);
  });
});

describe('sidecars', () => {
  const sidecar = (name: string, fields: Partial<Container> = {}): Container =>
    aContainer({name, restartPolicy: 'Always', ...fields});
  const pod = aPod({initContainers: [sidecar('s1'), aContainer({name: 'i2'}), sidecar('s3')]});
  const probed = aPod({initContainers: [sidecar('s1', {startupProbe: {exec: {command: ['true']}}})]});
  const all = [anInstance('s1', RUNNING), anInstance('i2', EXITED), anInstance('s3', RUNNING)];

  test.each([
    ['let the next one start as soon as they run', [anInstance('s1', RUNNING)], 'init i2'],
    ['are the last step before the containers', all, 'start main'],
    [
      'are brought back while a later init container runs',
      [anInstance('s1', EXITED), anInstance('i2', RUNNING)],
      'init s1',
    ],
    ['are brought back when they are gone', [anInstance('i2', RUNNING)], 'init s1'],
    ['are brought back beside running containers', [anInstance('main', RUNNING)], 'init s1, init s3'],
    [
      'are brought back after a success',
      [...all.slice(0, 2), anInstance('s3', EXITED), anInstance('main', RUNNING)],
      'init s3',
    ],
    [
      'are killed and brought back in an unknown state',
      [...all.slice(0, 2), anInstance('s3', UNKNOWN), anInstance('main', RUNNING)],
      'kill s3 (Unknown), init s3',
    ],
    [
      'are replaced when their image changed',
      [...all.slice(0, 2), anInstance('s3', RUNNING, {image: 'busybox:0'}), anInstance('main', RUNNING)],
      'kill s3 (Changed), init s3',
    ],
  ])('%s', (_title, containers, expected) => {
    expect(formatPodActions(computePodActions(pod, aStatus(containers)))).toBe(expected);
  });

  test('end with the pod’s containers', () => {
    const never = {...pod, spec: {...pod.spec, restartPolicy: 'Never' as const}};

    expect(formatPodActions(computePodActions(never, aStatus([...all, anInstance('main', EXITED)])))).toBe(
      'kill pod',
    );
  });

  test('are not brought back when the pod’s containers have ended', () => {
    const never = {...pod, spec: {...pod.spec, restartPolicy: 'Never' as const}};
    const ended = [anInstance('s1', EXITED), ...all.slice(1), anInstance('main', EXITED)];

    expect(formatPodActions(computePodActions(never, aStatus(ended)))).toBe('kill pod');
  });

  test.each([
    ['wait for a startup probe that has not run', undefined, ''],
    ['wait for a startup probe that is undecided', 'Unknown' as const, ''],
    ['are through when the startup probe succeeds', 'Success' as const, 'start main'],
    ['are replaced when the startup probe fails', 'Failure' as const, 'kill s1 (StartupProbe), init s1'],
  ])('%s', (_title, result, expected) => {
    const probes = {
      liveness: new Map(),
      startup: new Map(result === undefined ? [] : [[containerId('s1-0'), result]]),
    };

    expect(formatPodActions(computePodActions(probed, aStatus([anInstance('s1', RUNNING)]), probes))).toBe(
      expected,
    );
  });

  test('are replaced when the liveness probe fails, and still let the next one start', () => {
    const actions = computePodActions(pod, aStatus([anInstance('s1', RUNNING)]), failed('liveness', 's1-0'));

    expect(formatPodActions(actions)).toBe('kill s1 (LivenessProbe), init s1, init i2');
    expect(actions.containersToKill[0]?.message).toBe('Init container s1 failed liveness probe');
  });
});
