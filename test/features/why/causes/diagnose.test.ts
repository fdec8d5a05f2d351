import {describe, expect, test} from 'vitest';
import type {PodStatus} from '../../../../src/api/types/v1-status.js';
import {diagnose} from '../../../../src/features/why/causes/diagnose.js';
import type {PodSnapshot, ProcessFacts} from '../../../../src/features/why/snapshot/pod-snapshot.js';
import {aContainer} from '../../../fakes/a-pod.js';
import {anEvent, anExit, aReport, aSnapshot, aStatusPod, aWaiting} from '../a-snapshot.js';

const MIB = 2 ** 20;

const first = (snapshot: PodSnapshot) => diagnose(snapshot)[0];

describe('probes', () => {
  const unready = (fields: Partial<PodSnapshot>, container: object): PodSnapshot =>
    aSnapshot({
      pod: aStatusPod(
        [{ready: false, started: true, state: {running: {startedAt: '2026-11-27T12:40:00Z'}}}],
        {container},
      ),
      ...fields,
    });
  const failed = (message: string) => ({events: [anEvent({message: `Readiness probe failed: ${message}`})]});
  const tcp = {readinessProbe: {tcpSocket: {port: 'web'}}, ports: [{name: 'web', containerPort: 8080}]};

  test('of a wrong port, the open ones are told', () => {
    const message = 'dial tcp 10.0.0.2:8080: connect: connection refused';
    const cause = (listening: readonly number[]) =>
      first(unready({...failed(message), containers: {main: {listening}}}, tcp))?.cause;
    expect(cause([8081, 9090])).toBe(
      'nothing in the pod listens on port 8080, which the readiness probe of container main asks; open are 8081, 9090',
    );
    expect(cause([])).toMatch(/; no TCP port is open$/);
    expect(cause([8080])).toBe(`the readiness probe of container main fails: ${message}`);
  });

  test.each([
    [
      'command timed out: "sleep 5" timed out after 1s',
      'the readiness probe of container main gets no answer within 4s: it is too slow',
    ],
    [
      'HTTP probe failed with statuscode: 503',
      'container main answers its readiness probe (GET /ready) with HTTP status 503',
    ],
    ['not yet', 'the readiness probe of container main fails: not yet'],
  ])('%s', (message, cause) => {
    const container = {readinessProbe: {httpGet: {port: 80, path: '/ready'}, timeoutSeconds: 4}};
    expect(first(unready(failed(message), container))).toMatchObject({
      rule: 'readiness-probe',
      severity: 'problem',
      cause,
    });
  });

  test("the kubelet's report is newer than events", () => {
    const last = {at: '2026-11-27T12:44:59Z', result: 'Failure', output: 'no database'} as const;
    const probes = [
      {kind: 'readiness', inARow: 7, threshold: 3, nextAt: '2026-11-27T12:45:04Z', last},
    ] as const;
    expect(first(unready({...failed('old'), kubelet: aReport({probes})}, tcp))).toMatchObject({
      cause: 'the readiness probe of container main fails: no database',
      evidence: expect.arrayContaining(['7 in a row, 3 needed']) as string[],
      next: 'the next readiness probe is in 4s',
    });
  });

  test('a probe that has not failed yet is progress', () => {
    expect(first(unready({}, tcp))).toMatchObject({
      severity: 'progress',
      cause: 'the readiness probe of container main has not succeeded yet',
    });
  });

  test('a container without a probe that is not ready is not explained by a guess', () => {
    expect(first(unready({}, {}))).toMatchObject({
      rule: 'not-ready',
      cause: expect.stringContaining('nothing says why') as string,
    });
  });
});

describe('pods', () => {
  const ended = (status: Partial<PodStatus>): PodSnapshot =>
    aSnapshot({pod: aStatusPod([], {status: {phase: 'Failed', ...status}})});

  test.each([
    ['OutOfcpu', 'the node has not enough cpu left for the requests of the pod'],
    ['OutOfephemeral-storage', 'the node has not enough ephemeral-storage left for the requests of the pod'],
    ['NodeAffinity', 'the labels of this node do not match nodeSelector or affinity of the pod'],
    ['NodePorts', 'a host port of the pod is used by another pod'],
    ['SysctlForbidden', 'the pod sets a sysctl that this kubelet does not allow'],
    ['TopologyAffinityError', 'CPUs, memory or devices cannot be aligned as topologyManagerPolicy demands'],
    ['Preempting', 'the pod was preempted: its resources were needed for a critical pod'],
    ['DeadlineExceeded', 'activeDeadlineSeconds of the pod has passed'],
    ['SomethingNew', 'the pod has failed with reason SomethingNew'],
  ])('the reason %s explains the pod', (reason, cause) => {
    const message = 'no details';
    expect(first(ended({reason, message}))).toMatchObject({cause, evidence: [reason, `"${message}"`]});
  });

  test('a runtime that does not answer is told before the cause of the last known state', () => {
    expect(diagnose(anExit({exitCode: 1}, {runtimeError: 'deadline exceeded'}))).toMatchObject([
      {rule: 'runtime-unavailable', cause: 'the runtime is unavailable: deadline exceeded'},
      {rule: 'failed'},
    ]);
  });

  test('a kubelet that cannot sync explains pods that are not ready only', () => {
    const kubeletErrors = ['container runtime is down'];
    expect(first(aWaiting('ContainerCreating', '', {kubeletErrors}))?.cause).toBe(
      'the kubelet cannot sync pods: container runtime is down',
    );
    expect(diagnose(aSnapshot({kubeletErrors}))).toEqual([]);
  });

  test('an init container that runs is told, and what waits for it is not', () => {
    const initContainerStatuses = [
      {name: 'one', image: '', imageID: '', ready: true, restartCount: 0, state: {terminated: {exitCode: 0}}},
      {
        name: 'two',
        image: '',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: {running: {startedAt: '2026-11-27T12:44:00Z'}},
      },
    ];
    const pod = aStatusPod([{state: {waiting: {reason: 'PodInitializing'}}}], {
      spec: {initContainers: [aContainer({name: 'one'}), aContainer({name: 'two'})]},
      status: {phase: 'Pending', initContainerStatuses},
    });
    expect(diagnose(aSnapshot({pod}))).toMatchObject([
      {
        rule: 'init-container-runs',
        severity: 'progress',
        container: 'two',
        evidence: ['started at 12:44:00 (60s ago)'],
      },
    ]);
  });

  test('a failed postStart hook is told, also in the back-off after it', () => {
    const message = `Exec lifecycle hook ([x]) for Container "main" in Pod "web_default(u)" failed - error: command 'x' exited with 3: , message: "no"`;
    expect(first(aWaiting('PostStartHookError', message))?.cause).toBe(
      `the postStart hook of container main failed, so that the kubelet killed the container: command 'x' exited with 3: , message: "no"`,
    );
    const events = [
      anEvent({
        reason: 'FailedPostStartHook',
        message: 'PostStartHook failed',
        lastTimestamp: '2026-11-27T12:40:10Z',
      }),
    ];
    expect(first(anExit({exitCode: 0}, {events}))?.rule).toBe('post-start-hook');
  });

  test('a pod whose readiness gate is not set is told', () => {
    const pod = aStatusPod([{ready: true, state: {running: {}}}], {
      spec: {readinessGates: [{conditionType: 'lb'}]},
      status: {conditions: [{type: 'ContainersReady', status: 'True'}]},
    });
    expect(first(aSnapshot({pod}))?.cause).toBe(
      'all containers are ready, but the readiness gate lb is not set',
    );
  });

  test('of a pod of crictl, a stopped sandbox is the cause', () => {
    const pod = aStatusPod([], {status: {phase: 'Unknown', containerStatuses: []}});
    expect(first(aSnapshot({pod, manager: 'none', sandbox: 'stopped'}))?.rule).toBe('sandbox-stopped');
  });

  test('without a cause, what was looked at is listed', () => {
    const pod = aStatusPod([], {status: {phase: 'Pending'}});
    expect(first(aSnapshot({pod}))).toMatchObject({
      rule: 'unknown',
      evidence: [
        'phase Pending',
        'looked at: sandbox (ready), 0 container statuses, 0 events, no kcri kubelet',
      ],
    });
  });

  test('nothing is wrong with pods that run or have completed', () => {
    expect(diagnose(aSnapshot())).toEqual([]);
    const done = aStatusPod([{state: {terminated: {exitCode: 0}}}], {status: {phase: 'Succeeded'}});
    expect(diagnose(aSnapshot({pod: done}))).toEqual([]);
    const exited = aStatusPod([{state: {terminated: {exitCode: 0}}}]);
    expect(diagnose(aSnapshot({pod: exited, manager: 'none'}))).toEqual([]);
  });

  test('a container is explained alone', () => {
    const pod = aStatusPod([
      {name: 'main', state: {waiting: {reason: 'ErrImagePull'}}},
      {name: 'side', ready: true, state: {running: {}}},
    ]);
    expect(diagnose(aSnapshot({pod}), 'side')).toEqual([]);
    expect(diagnose(aSnapshot({pod}), 'main')).toHaveLength(1);
  });
});

describe('deletion', () => {
  const aProcess: ProcessFacts = {pid: 42, state: 'S', sleepsIn: '', ignoresTerm: false};
  const deleted = (process: Partial<ProcessFacts>, graceSeconds = 600): PodSnapshot => {
    const worker = {
      state: 'terminating',
      terminatingAt: '2026-11-27T12:44:00Z',
      gracePeriodSeconds: graceSeconds,
    };
    return aSnapshot({
      kubelet: aReport({}, worker),
      containers: {main: {process: {...aProcess, ...process}}},
    });
  };

  test('a process that ignores SIGTERM is killed at the end of the grace period', () => {
    expect(first(deleted({ignoresTerm: true}))).toMatchObject({
      rule: 'ignores-sigterm',
      severity: 'progress',
      inferredFrom: expect.stringMatching(/^its signal masks in \/proc/) as string,
      next: 'its processes are killed at 12:54:00',
    });
  });

  test('the deletion timestamp of a pod is the end of its grace period', () => {
    const {pod} = aSnapshot();
    const metadata = {
      ...pod.metadata,
      deletionTimestamp: '2026-11-27T12:50:00Z',
      deletionGracePeriodSeconds: 600,
    };
    expect(first(aSnapshot({pod: {...pod, metadata}}))).toMatchObject({
      evidence: ['deletion began at 12:40:00 (5m ago)', 'grace period 600s'],
      next: 'its processes are killed at 12:50:00',
    });
  });

  test('a process in the kernel is a problem at once', () => {
    expect(first(deleted({state: 'D', sleepsIn: 'nfs_wait_bit_killable'}))).toMatchObject({
      rule: 'process-blocked',
      severity: 'problem',
      cause:
        'the pod is being deleted, and the main process of container main waits inside the kernel, in nfs_wait_bit_killable: no signal ends it',
    });
  });

  test('the stack of a process in the kernel is evidence', () => {
    const stack = ['rpc_wait_bit_killable', 'nfs4_proc_getattr'];
    expect(first(deleted({state: 'D', stack}))?.evidence).toContain(
      'its stack in the kernel: rpc_wait_bit_killable < nfs4_proc_getattr',
    );
  });

  test('the outcome of a preStop hook is told as far as it is known', () => {
    const withHook = (events: PodSnapshot['events']): PodSnapshot => {
      const snapshot = deleted({});
      const {spec} = snapshot.pod;
      const lifecycle = {preStop: {exec: {command: ['drain']}}};
      const containers = spec.containers.map((container) => ({...container, lifecycle}));
      return {...snapshot, events, pod: {...snapshot.pod, spec: {...spec, containers}}};
    };
    expect(first(withHook([]))).toMatchObject({
      cause: expect.stringContaining('or for the preStop hook of main,') as string,
      evidence: expect.arrayContaining([
        'the preStop hook of main runs or has succeeded: no failure is reported',
      ]) as string[],
    });
    const event = anEvent({reason: 'FailedPreStopHook', message: 'PreStopHook failed'});
    expect(first(withHook([event]))).toMatchObject({
      cause: 'the pod is being deleted; waits for main to end',
      evidence: expect.arrayContaining([
        'the preStop hook of main failed: event FailedPreStopHook at 12:45:00 (0s ago), "PreStopHook failed"',
      ]) as string[],
    });
    // A failure before this deletion is one of another instance.
    const old = {...event, lastTimestamp: '2026-11-27T12:30:00Z'};
    expect(first(withHook([old]))?.evidence.join()).toContain('no failure is reported');
  });

  const ended = (metadata: object, worker: object): PodSnapshot => {
    const pod = aStatusPod([{state: {terminated: {exitCode: 0}}}]);
    const deletion = {deletionTimestamp: '2026-11-27T12:50:00Z', deletionGracePeriodSeconds: 600};
    return aSnapshot({
      pod: {...pod, metadata: {...pod.metadata, ...deletion, ...metadata}},
      kubelet: aReport({}, worker),
    });
  };

  test('finalizers keep a pod whose containers have ended', () => {
    expect(first(ended({finalizers: ['example.com/a', 'example.com/b']}, {state: 'finished'}))).toMatchObject(
      {
        rule: 'finalizers',
        cause:
          'the containers of the pod have ended, and the API server keeps the pod until its finalizers are removed: example.com/a, example.com/b',
      },
    );
    expect(first(deleted({}))?.rule).not.toBe('finalizers');
  });

  test('a pod that the kubelet has finished is in the hands of the API server', () => {
    expect(first(ended({}, {state: 'finished'}))).toMatchObject({
      rule: 'not-deleted-by-api-server',
      inferredFrom: 'the state of the pod in the kubelet',
    });
  });

  test('a mount that is busy names its users', () => {
    const error = 'cannot unmount /pods/u/volumes/d: target is busy';
    const snapshot = ended({}, {state: 'terminated', error, terminatingAt: '2026-11-27T12:44:00Z'});
    const holders = [{of: {path: '/pods/u/volumes/d'}, processes: [{pid: 9, name: 'tail'}], pods: []}];
    expect(first({...snapshot, node: {holders}})).toMatchObject({
      rule: 'mount-busy',
      severity: 'problem',
      cause: 'the pod is being deleted, and one of its mounts is in use by tail (PID 9)',
      tries: ['fuser -vm /pods/u/volumes/d'],
    });
  });

  test('a deletion that takes longer than the grace period is a problem', () => {
    expect(first(deleted({}, 30))).toMatchObject({
      rule: 'terminating',
      severity: 'problem',
      next: 'its processes should have ended at 12:44:30',
    });
  });
});

describe('usage', () => {
  test.each([
    [
      {periods: 1000, throttledPeriods: 400},
      ['container main is slowed down by its CPU limit in 40% of the periods'],
    ],
    [{periods: 1000, throttledPeriods: 200}, []],
    [{periods: 10, throttledPeriods: 10}, []],
  ])('throttling %o', (cpu, causes) => {
    const found = diagnose(aSnapshot({containers: {main: {cpu}}}));
    expect(found.map(({cause}) => cause)).toEqual(causes);
    expect(found.every(({severity}) => severity === 'warning')).toBe(true);
  });

  test('memory close to the limit is a warning', () => {
    const memory = {limit: 100 * MIB, workingSet: 95 * MIB, peak: 99 * MIB};
    expect(diagnose(aSnapshot({containers: {main: {memory}}}))).toMatchObject([
      {
        rule: 'memory-close-to-limit',
        severity: 'warning',
        cause: 'container main uses 95% of its memory limit of 100Mi',
      },
    ]);
    expect(diagnose(aSnapshot({containers: {main: {memory: {...memory, workingSet: 80 * MIB}}}}))).toEqual(
      [],
    );
  });
});

test('a container that waits for the volumes of a driver has their names in its cause, until there is a sandbox', () => {
  const volumes = [
    {name: 'data', persistentVolumeClaim: {claimName: 'c'}},
    {name: 'tmp', emptyDir: {}},
  ];
  const pod = aStatusPod([{state: {waiting: {reason: 'ContainerCreating'}}}], {spec: {volumes}});
  expect(first(aSnapshot({pod, sandbox: undefined}))?.cause).toBe(
    'container main has not been created yet; no error is known. The pod has no sandbox, which is made when its volumes are mounted: data',
  );
  expect(first(aSnapshot({pod}))?.cause).toBe('container main has not been created yet; no error is known');
});
