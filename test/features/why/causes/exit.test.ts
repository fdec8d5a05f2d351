import {describe, expect, test} from 'vitest';
import type {Container} from '../../../../src/api/types/v1-pod.js';
import {omit} from '../../../../src/base/omit.js';
import {diagnose} from '../../../../src/features/why/causes/diagnose.js';
import type {OomKill, PodSnapshot} from '../../../../src/features/why/snapshot/pod-snapshot.js';
import {aContainer} from '../../../fakes/a-pod.js';
import {anEvent, anExit, aReport, aSnapshot, aStatusPod, ID} from '../a-snapshot.js';

const MIB = 2 ** 20;

const aKill = (fields: Partial<OomKill> = {}): OomKill => ({
  at: '2026-11-27T12:40:11Z',
  containerId: ID,
  process: 'server',
  residentBytes: 60 * MIB,
  limit: 64 * MIB,
  usage: 64 * MIB,
  processes: 3,
  ...fields,
});

const first = (snapshot: PodSnapshot) => diagnose(snapshot)[0];

describe('exits', () => {
  test('an OOM kill is explained by the limit and the kernel', () => {
    const containers = {main: {oomKills: [aKill()], log: ['working']}};
    expect(first(anExit({exitCode: 137, reason: 'OOMKilled'}, {containers}))).toMatchObject({
      rule: 'oom-killed',
      cause: 'container main was killed for memory: limit 64Mi, in use 64Mi, 3 processes in the pod',
      evidence: [
        'exit code 137 (SIGKILL), OOMKilled, at 12:40:11 (4m49s ago)',
        'kernel killed server (60Mi resident) at 12:40:11 (4m49s ago)',
      ],
      log: ['working'],
      next: 'starts again at about 12:45:11 (back-off 5m since the last exit)',
    });
  });

  test('a killed child process is told apart from the main process', () => {
    const containers = {main: {oomKills: [aKill({process: 'worker'})]}};
    expect(first(anExit({exitCode: 1}, {containers}))?.cause).toMatch(
      /^process worker of container main was killed for memory, and the main process then ended by itself/,
    );
  });

  test('the memory of the node is told apart from the limit', () => {
    const ofNode = omit(aKill(), 'limit', 'usage');
    expect(first(anExit({exitCode: 137}, {containers: {main: {oomKills: [ofNode]}}}))).toMatchObject({
      rule: 'node-out-of-memory',
      cause:
        "container main was killed for memory: the memory of the node ran out, not the container's limit",
    });
  });

  test('an OOM kill of an earlier instance does not explain the exit', () => {
    const containers = {main: {oomKills: [aKill({containerId: 'd'.repeat(64)})]}};
    expect(first(anExit({exitCode: 1}, {containers}))?.rule).toBe('failed');
  });

  test.each([
    [1, 'failed', 'container main ended by itself with exit code 1', undefined],
    [2, 'failed', /exit code 2, which many programs use for wrong arguments/, undefined],
    [126, 'command-not-executable-in-shell', /probably cannot be executed/, /^exit code 126/],
    [127, 'command-not-found-in-shell', /is probably missing in its image/, /^exit code 127/],
    [134, 'crashed', /ended by SIGABRT: it aborted itself/, /128 \+ 6/],
    [139, 'crashed', /ended by SIGSEGV: it crashed/, /128 \+ 11/],
    [
      137,
      'killed',
      /ended by SIGKILL, not for memory; who sent it is unknown/,
      /neither the runtime nor the kernel's log/,
    ],
    [143, 'killed', /ended by SIGTERM/, /128 \+ 15/],
    [0, 'completed', /ends with success, and the pod wants it to run for ever/, 'exit code 0'],
  ] as const)(
    'exit code %s is explained, and what is inferred says from what',
    (exitCode, rule, cause, inferred) => {
      const finding = first(anExit({exitCode}));
      expect(finding).toMatchObject({rule, cause: expect.stringMatching(cause) as string});
      if (inferred === undefined) expect(finding).not.toHaveProperty('inferredFrom');
      else expect(finding?.inferredFrom).toMatch(inferred);
    },
  );

  test('the log names the command that a shell did not find', () => {
    const containers = {main: {log: ['starting', 'sh: psql: not found']}};
    expect(first(anExit({exitCode: 127}, {containers}))).toMatchObject({
      cause: 'a command or library that container main runs is missing: sh: psql: not found',
      inferredFrom: 'exit code 127, with which shells say "not found", and its log',
    });
  });

  test.each([
    [
      'app: error while loading shared libraries: libpq.so.5: cannot open shared object file: No such file',
      127,
      'library-missing',
    ],
    [
      'Error loading shared library libpq.so.5: No such file or directory (needed by /app)',
      127,
      'library-missing',
    ],
    ['listen tcp :80: bind: address already in use', 1, 'port-in-use'],
    ['open /data/x: Read-only file system', 1, 'read-only-file-system'],
    ['write /data/x: no space left on device', 1, 'disk-full'],
    ['write /data/x: disk quota exceeded', 1, 'disk-quota'],
    ['accept4: too many open files', 1, 'open-files-limit'],
    ["sh: can't fork: Resource temporarily unavailable", 1, 'process-limit'],
    ['mount: Operation not permitted', 1, 'not-permitted'],
    ['open /data/x: permission denied', 1, 'permission-denied'],
    ["wget: bad address 'db.default'", 1, 'name-not-resolved'],
    ['dial tcp 10.0.0.1:5432: connect: connection refused', 1, 'peer-refuses'],
  ])('the log line %j is a cause', (line, exitCode, rule) => {
    const finding = (log: readonly string[]) => first(anExit({exitCode}, {containers: {main: {log}}}));
    expect(finding(['starting', line])).toMatchObject({
      rule,
      cause: expect.stringContaining(`: ${line}`) as string,
      inferredFrom: 'its log, before it ended by itself',
    });
    expect(finding([line, 'one', 'two', 'three'])?.rule).not.toBe(rule);
  });

  test('a liveness probe that killed the instance explains its exit', () => {
    const events = [
      anEvent({
        reason: 'Killing',
        message: 'Container main failed liveness probe, will be restarted',
        lastTimestamp: '2026-11-27T12:40:10Z',
      }),
      anEvent({
        message: 'Liveness probe failed: HTTP probe failed with statuscode: 500',
        count: 3,
        lastTimestamp: '2026-11-27T12:40:10Z',
      }),
    ];
    expect(first(anExit({exitCode: 0}, {events}))).toMatchObject({
      rule: 'liveness-probe-failed',
      cause:
        'the kubelet killed main since its liveness probe failed: HTTP probe failed with statuscode: 500',
    });
    const before = events.map((event) => ({...event, lastTimestamp: '2026-11-27T12:39:59Z'}));
    expect(first(anExit({exitCode: 1}, {events: before}))?.rule).toBe('failed');
  });

  test('an instance that ran during a reboot is the fault of the node', () => {
    const bootedAt = '2026-11-27T12:40:05Z';
    expect(first(anExit({exitCode: 255}, {node: {bootedAt}}))?.rule).toBe('node-rebooted');
    expect(first(anExit({exitCode: 255}, {node: {bootedAt: '2026-11-27T11:00:00Z'}}))?.rule).toBe('failed');
    expect(first(anExit({exitCode: 255}, {node: {bootedAt: '2026-11-27T12:41:00Z'}}))?.rule).toBe('failed');
  });

  test('what happens next depends on who manages the pod', () => {
    const next = (fields: Partial<PodSnapshot>) => first(anExit({exitCode: 1}, fields))?.next;
    expect(next({manager: 'none'})).toBe('nothing starts it again: no kubelet manages this pod');
    expect(next({isUnattended: true})).toBe('nothing: no kcri process runs this pod');
    const backOff = {reason: 'CrashLoopBackOff', until: '2026-11-27T12:45:31Z', seconds: 300};
    expect(next({kubelet: aReport({backOff})})).toBe('starts again at 12:45:31 (back-off 5m)');
    expect(next({kubelet: aReport({backOff: {...backOff, until: '2026-11-27T12:44:00Z'}})})).toBe(
      'starts again now',
    );
  });

  test('a recent restart of a container that runs is a warning', () => {
    const terminated = {exitCode: 3, startedAt: '2026-11-27T12:00:00Z', finishedAt: '2026-11-27T12:40:00Z'};
    const running = {startedAt: '2026-11-27T12:40:01Z'};
    const pod = aStatusPod([{ready: true, restartCount: 1, state: {running}, lastState: {terminated}}]);
    expect(diagnose(aSnapshot({pod}))).toMatchObject([
      {rule: 'failed', severity: 'warning', next: 'it runs again, since its start at 12:40:01 (4m59s ago)'},
    ]);
    const long = {...terminated, finishedAt: '2026-11-27T11:40:00Z'};
    expect(
      diagnose(
        aSnapshot({pod: aStatusPod([{ready: true, state: {running}, lastState: {terminated: long}}])}),
      ),
    ).toEqual([]);
  });
});

describe('restarts by others', () => {
  const rules = (restartPolicyRules: NonNullable<Container['restartPolicyRules']>, exitCode: number) =>
    diagnose({
      ...anExit({exitCode}),
      pod: aStatusPod(anExit({exitCode}).pod.status?.containerStatuses ?? [], {
        container: {restartPolicy: 'Never', restartPolicyRules},
      }),
    })[0];
  const rule = (action: 'Restart' | 'RestartAllContainers') =>
    ({action, exitCodes: {operator: 'In', values: [3, 4]}}) as const;

  test('a restart rule that matches, and what it does, is told', () => {
    expect(rules([rule('Restart')], 3)).toMatchObject({
      evidence: expect.arrayContaining([
        'exit code 3 matches a rule of restartPolicyRules: Restart if In 3, 4',
      ]) as string[],
      next: expect.stringMatching(/^starts again/) as string,
    });
    expect(rules([rule('RestartAllContainers')], 4)?.next).toBe('all containers of the pod start again');
    expect(rules([rule('Restart')], 5)?.next).toBe(
      'nothing: restartPolicy is Never, and no rule of restartPolicyRules matches exit code 5',
    );
  });

  test('a container that was removed to restart the pod names the container with the rule', () => {
    const snapshot = anExit({exitCode: 137, reason: 'RestartingAllContainers'});
    const pod = aStatusPod(snapshot.pod.status?.containerStatuses ?? [], {
      spec: {
        containers: [
          aContainer({}),
          aContainer({name: 'agent', restartPolicyRules: [rule('RestartAllContainers')]}),
        ],
      },
    });
    expect(diagnose({...snapshot, pod})[0]).toMatchObject({
      rule: 'restarted-with-pod',
      cause: 'the kubelet restarted all containers of the pod, as a restart rule of container agent demands',
    });
  });

  test.each([
    ['a short time ago', '2026-11-27T12:44:50Z', ['restarted-with-pod']],
    ['long ago', '2026-11-27T10:00:00Z', []],
  ])('a container that was removed to restart the pod, and runs again since %s', (_, startedAt, expected) => {
    const terminated = {exitCode: 137, reason: 'RestartingAllContainers'};
    const status = {ready: true, restartCount: 1, state: {running: {startedAt}}, lastState: {terminated}};
    const findings = diagnose(aSnapshot({pod: aStatusPod([status])}));
    expect(findings.map(({rule: found}) => found)).toEqual(expected);
  });

  test('a container that the runtime found dead at its start', () => {
    const node = {runtimeStartedAt: '2026-11-27T12:40:10Z'};
    expect(diagnose(anExit({exitCode: 255, reason: 'Unknown'}, {node}))[0]).toMatchObject({
      rule: 'runtime-restarted',
      inferredFrom: expect.stringContaining('reason Unknown') as string,
      evidence: expect.arrayContaining(['the runtime started at 12:40:10 (4m50s ago)']) as string[],
    });
    expect(diagnose(anExit({exitCode: 255}, {node}))[0]?.rule).toBe('failed');
  });

  test.each([
    ['2026-11-27T12:40:10Z', 'sandbox-changed'],
    ['2026-11-27T12:30:00Z', 'failed'],
    ['2026-11-27T12:44:00Z', 'failed'],
  ])('an event about the sandbox at %s: %s', (lastTimestamp, found) => {
    const message = 'Pod sandbox changed, it will be killed and re-created.';
    const event = anEvent({reason: 'SandboxChanged', message, lastTimestamp, fieldPath: undefined} as never);
    expect(diagnose(anExit({exitCode: 1}, {events: [event]}))[0]?.rule).toBe(found);
  });
});
