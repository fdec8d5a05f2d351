import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {connect} from '../../../../src/cri/index.js';
import {NO_OBJECTS, type ApiObjects} from '../../../../src/kubelet/contract/api-objects.js';
import type {PodEvent} from '../../../../src/kubelet/contract/pod-event.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import {failuresOf} from '../../../../src/kubelet/contract/sync-result.js';
import {planPods} from '../../../../src/kubelet/plan/plan-pods.js';
import {aContainerSpec, aScript} from '../../../commands/command-testbed.js';
import type {FakeRuntime} from '../../../fakes/fake-runtime.js';
import {aLocalPod, startRegistryTestbed, type RegistryTestbed} from '../../pods/registry-testbed.js';
import {syncOnce} from '../../pods/sync-once.js';

const signal = new AbortController().signal;
const exec = (script: string) => ({exec: {command: ['sh', '-c', script]}});
const aContainerWithHook = (lifecycle: object, name = 'main') => aContainerSpec(name, {lifecycle});

interface CallMessage {
  readonly container_id?: string;
  readonly containerId?: string;
  readonly timeout?: string;
  readonly cmd?: readonly string[];
  readonly config?: {readonly metadata: {readonly name: string; readonly attempt?: number}};
}

const LISTED_METHODS = new Set([
  'CreateContainer',
  'StartContainer',
  'ExecSync',
  'StopContainer',
  'RemoveContainer',
]);

/**
 * Lists the calls for containers: `CreateContainer main/1`, `ExecSync main/1: exit 7`, `StopContainer main/1:
 * 2`.
 */
function containerCalls(runtime: FakeRuntime): readonly string[] {
  const names = new Map<string | undefined, string>();
  const calls = runtime.calls.filter(({method}) => LISTED_METHODS.has(method));
  return calls.map(({method, request, response}) => {
    const {container_id: id, timeout, cmd, config} = request as CallMessage;
    if (config !== undefined)
      names.set(
        (response as CallMessage).containerId,
        `${config.metadata.name}/${config.metadata.attempt ?? 0}`,
      );
    const detail = method === 'StopContainer' ? timeout : cmd?.at(-1);
    const name = names.get(id ?? (response as CallMessage).containerId);
    return detail === undefined ? `${method} ${name}` : `${method} ${name}: ${detail}`;
  });
}

const describeEvents = (events: readonly PodEvent[]): readonly string[] =>
  events
    .map(({type, reason, message}) => `${type} ${reason}: ${message}`)
    .filter((text) => !/ (Pulled|Created|Started):/.test(text));

describe('a postStart hook', () => {
  // Proves: Lifecycle.postStart
  test('delays the containers after it', async () => {
    const {pods, runtime} = await startRegistryTestbed();
    const containers = [aContainerWithHook({postStart: exec('true')}), aContainerSpec('after')];

    await syncOnce(pods.createSyncer(aLocalPod({containers})), signal);

    expect(containerCalls(runtime)).toEqual([
      'CreateContainer main/0',
      'StartContainer main/0',
      'ExecSync main/0: true',
      'CreateContainer after/0',
      'StartContainer after/0',
    ]);
  });

  test('that fails kills its container, is its waiting reason, and has events without the output', async () => {
    const {pods, runtime, events} = await startRegistryTestbed();
    const containers = [
      aContainerWithHook({postStart: exec('echo secret; exit 7')}),
      aContainerSpec('after'),
    ];

    const pass = await syncOnce(pods.createSyncer(aLocalPod({containers})), signal);

    expect(containerCalls(runtime).slice(2, 5)).toEqual([
      'ExecSync main/0: echo secret; exit 7',
      'StopContainer main/0: 2',
      'CreateContainer after/0',
    ]);
    expect(describeEvents(events)).toEqual([
      'Warning FailedPostStartHook: PostStartHook failed',
      'Normal Killing: FailedPostStartHook',
    ]);
    expect(failuresOf(pass.results)).toMatchObject([
      {target: 'main', failure: {reason: 'PostStartHookError'}},
    ]);
    expect(pass.status.containerStatuses?.find(({name}) => name === 'main')?.state).toEqual({
      waiting: {
        reason: 'PostStartHookError',
        message: expect.stringContaining('exited with 7: , message: "secret\\n"') as string,
      },
    });
  });

  test('that prints the value of a Secret is reported with the value redacted', async () => {
    const objects: ApiObjects = {
      ...NO_OBJECTS,
      secret: () => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {name: 's'},
        data: {k: Buffer.from('hunter2\n')},
      }),
    };
    const {pods} = await startRegistryTestbed({}, undefined, objects);
    const env = [{name: 'PASS', valueFrom: {secretKeyRef: {name: 's', key: 'k'}}}];
    const lifecycle = {postStart: exec('echo hunter2; exit 7')};

    const pass = await syncOnce(
      pods.createSyncer(aLocalPod({containers: [aContainerSpec('main', {env, lifecycle})]})),
      signal,
    );

    const waiting = pass.status.containerStatuses?.[0]?.state?.waiting;
    for (const message of [failuresOf(pass.results)[0]?.failure.message, waiting?.message]) {
      expect(message).toContain('exited with 7: , message: "***');
      expect(message).not.toContain('hunter2');
    }
  });

  test('that is aborted leaves its container running', async () => {
    const {pods, runtime} = await startRegistryTestbed({exec: () => ({runForMs: 60_000})});
    const controller = new AbortController();
    const containers = [aContainerWithHook({postStart: exec('wait')})];
    const syncing = syncOnce(pods.createSyncer(aLocalPod({containers})), controller.signal);
    await expect.poll(() => runtime.callsTo('ExecSync')).toHaveLength(1);

    controller.abort(new Error('interrupted'));

    await expect(syncing).rejects.toThrow('interrupted');
    expect(runtime.callsTo('StopContainer')).toEqual([]);
  });

  test('of a sidecar is run', async () => {
    const {pods, runtime} = await startRegistryTestbed();
    const sidecar = aContainerSpec('side', {restartPolicy: 'Always', lifecycle: {postStart: exec('true')}});

    await syncOnce(pods.createSyncer(aLocalPod({initContainers: [sidecar]})), signal);

    expect(containerCalls(runtime)).toEqual([
      'CreateContainer side/0',
      'StartContainer side/0',
      'ExecSync side/0: true',
    ]);
  });
});

/** Adopts and starts a pod on this testbed; returns its record. */
async function aRunningPod({pods}: RegistryTestbed, fields: Parameters<typeof aLocalPod>[0]) {
  const pod = aLocalPod(fields);
  const {record} = await pods.adopt(pod, 'pod.yaml');
  await syncOnce(pods.createSyncer(pod), signal);
  return {pod, record};
}

describe('a preStop hook', () => {
  test('is run when its pod is deleted, within the grace period', async () => {
    const testbed = await startRegistryTestbed();
    const {record} = await aRunningPod(testbed, {containers: [aContainerWithHook({preStop: exec('true')})]});

    await testbed.pods.remover.deletePod(record);

    expect(containerCalls(testbed.runtime).slice(2)).toEqual([
      'ExecSync main/0: true',
      'StopContainer main/0: 2',
      'RemoveContainer main/0',
    ]);
  });

  test('is run with one second if the grace period of the pod is 0', async () => {
    const testbed = await startRegistryTestbed();
    const fields = {
      containers: [aContainerWithHook({preStop: exec('true')})],
      terminationGracePeriodSeconds: 0,
    };
    const {record} = await aRunningPod(testbed, fields);

    await testbed.pods.remover.deletePod(record);

    expect(containerCalls(testbed.runtime)).toContain('ExecSync main/0: true');
  });

  test('is restored from the runtime if the record of the pod is lost', async () => {
    const testbed = await startRegistryTestbed();
    const containers = [aContainerWithHook({preStop: exec('echo bye')})];
    const {pod} = await aRunningPod(testbed, {containers, terminationGracePeriodSeconds: 7});
    const {uid} = podRef(pod);
    await writeFile(join(testbed.node.rootDir, 'kcri/records', `${uid}.json`), '{');

    await testbed.pods.remover.deletePod(await testbed.pods.reconstructRecord(uid));

    expect(containerCalls(testbed.runtime).slice(2, 4)).toEqual([
      'ExecSync main/0: echo bye',
      'StopContainer main/0: 7',
    ]);
  });
});

describe('a plan', () => {
  test('shows exec hooks as calls, and neither waits for hooks nor runs them', async () => {
    const {runtime, node} = await startRegistryTestbed();
    using services = connect(runtime.endpoint);
    const containers = [
      aContainerWithHook({postStart: exec('echo hi')}),
      aContainerWithHook({postStart: {sleep: {seconds: 600}}}, 'sleeper'),
      aContainerWithHook({postStart: {httpGet: {port: 1, host: '127.0.0.1'}}}, 'asker'),
    ];
    const pod = aLocalPod({containers, terminationGracePeriodSeconds: 600});
    const testbed = {services, node, endpoint: runtime.endpoint, runtimeName: 'fake', clock: systemClock};

    const [plan] = await planPods({...testbed, objects: NO_OBJECTS}, [pod], signal);

    expect(plan?.calls.map(({method}) => method)).toEqual([
      'RunPodSandbox',
      ...['CreateContainer', 'StartContainer', 'ExecSync'],
      ...['CreateContainer', 'StartContainer'],
      ...['CreateContainer', 'StartContainer'],
    ]);
    expect(runtime.callsTo('ExecSync')).toEqual([]);
  });
});

describe('a rule with RestartAllContainers', () => {
  const rule = {action: 'RestartAllContainers', exitCodes: {operator: 'In', values: [42]}};
  const fields = {
    restartPolicy: 'Never',
    initContainers: [
      aScript('init', 'exit 0'),
      aContainerSpec('side', {restartPolicy: 'Always', lifecycle: {preStop: exec('never')}}),
    ],
    containers: [
      aContainerSpec('main', {restartPolicy: 'Never', restartPolicyRules: [rule]}),
      aContainerSpec('other'),
    ],
  };

  test('kills and removes all containers, keeps their logs, and starts new ones in the same sandbox', async () => {
    const {pods, runtime, node, events} = await startRegistryTestbed();
    const pod = aLocalPod(fields);
    const syncer = pods.createSyncer(pod);
    for (let pass = 0; pass < 4; pass++) await syncOnce(syncer, signal);
    const before = containerCalls(runtime).length;
    const main = runtime.containers.find(({config}) => config.metadata?.name === 'main');
    runtime.exitContainer(main?.id ?? '', 42);
    for (let pass = 0; pass < 5; pass++) await syncOnce(syncer, signal);

    expect(containerCalls(runtime).slice(before)).toEqual([
      // Without hooks and with the minimum grace period; the triggering container last.
      ...['StopContainer other/0: 2', 'RemoveContainer other/0', 'RemoveContainer init/0'],
      ...['StopContainer side/0: 2', 'RemoveContainer side/0', 'RemoveContainer main/0'],
      ...['init', 'side', 'main', 'other'].flatMap((name) => [
        `CreateContainer ${name}/1`,
        `StartContainer ${name}/1`,
      ]),
    ]);
    expect(describeEvents(events)).toEqual(['Normal Killing: killing', 'Normal Killing: killing']);
    expect(runtime.callsTo('RunPodSandbox')).toHaveLength(1);
    const logs = join(node.podLogsDir, `default_web_${podRef(pod).uid}`, 'main');
    expect(await readFile(join(logs, '0.log'), 'utf8')).toBe('');
  });

  test('is resumed after a failure', async () => {
    const {pods, runtime} = await startRegistryTestbed();
    const pod = aLocalPod(fields);
    for (let pass = 0; pass < 4; pass++) await syncOnce(pods.createSyncer(pod), signal);
    const main = runtime.containers.find(({config}) => config.metadata?.name === 'main');
    runtime.exitContainer(main?.id ?? '', 42);
    runtime.injectError('RemoveContainer', {code: 'UNKNOWN', message: 'busy', times: 1});

    const failed = await syncOnce(pods.createSyncer(pod), signal);
    await syncOnce(pods.createSyncer(pod), signal);

    expect(failuresOf(failed.results)).toMatchObject([
      {failure: {reason: 'RemoveContainerError', message: /busy/}},
    ]);
    expect(runtime.containers).toEqual([]);
  });
});
