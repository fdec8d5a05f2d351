import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {startJoinedNode, type JoinedNode} from '../harness/joined-node.js';
import {aContainer, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const SLEEP = 'trap "exit 0" TERM; sleep 3600 & wait';
const HOUR_MS = 3_600_000;

describe.each(newestRuntime)('kubectl logs: $name', (which) => {
  let cluster: JoinedNode;
  const logs = async (...args: readonly string[]): Promise<string> =>
    await cluster.kubectl.output('logs', ...args);

  beforeAll(async () => {
    cluster = await startJoinedNode(which, 'logged');
    const lines = 'for i in 1 2 3; do echo line $i; done; echo last';
    const restarts = `if [ -e /state/ran ]; then echo second; ${SLEEP}; fi; touch /state/ran; echo first; exit 1`;
    cluster.createPod('web', {
      volumes: [{name: 'state', emptyDir: {}}],
      containers: [
        aContainer('main', {command: shellCommand(`${lines}; ${SLEEP}`)}),
        aContainer('crash', {
          command: shellCommand(restarts),
          volumeMounts: [{name: 'state', mountPath: '/state'}],
        }),
      ],
    });
    cluster.createPod('follow', {
      containers: [aContainer('main', {command: shellCommand(`echo one; ${SLEEP}`)})],
    });
    await until(() => cluster.statusOf('web').containerStatuses?.[0]?.restartCount === 1);
    await cluster.untilReady('web', 'follow');
    await until(async () => (await logs('web', '-c', 'main')).includes('last'));
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  test.each([
    [['web', '-c', 'main'], 'line 1\nline 2\nline 3\nlast'],
    [['web', '-c', 'main', '--tail=1'], 'last'],
    [['web', '-c', 'main', '--since=1h'], 'line 1\nline 2\nline 3\nlast'],
    [['web', '-c', 'main', '--limit-bytes=9'], 'line 1\nli'],
    [['web', '-c', 'crash', '--previous'], 'first'],
  ])('logs %j', async (args, expected) => {
    expect(await logs(...args)).toBe(expected);
  });

  test('--all-containers', async () => {
    const lines = (await logs('web', '--all-containers', '--prefix', '--tail=1')).split('\n');
    expect(new Set(lines)).toEqual(new Set(['[pod/web/main] last', '[pod/web/crash] second']));
  });

  test('--timestamps and --since-time', async () => {
    const stamped = await logs('web', '-c', 'main', '--timestamps', '--tail=1');
    expect(stamped).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d) last$/);
    const later = new Date(Date.now() + HOUR_MS).toISOString();
    expect(await logs('web', '-c', 'main', '--since-time', later)).toBe('');
  });

  test('a container that was never restarted has no previous log', async () => {
    const {stderr, exitCode} = await cluster.kubectl.run(['logs', 'web', '-c', 'main', '--previous']);
    expect(stderr).toBe(
      'Error from server (BadRequest): previous terminated container "main" in pod "web" not found\n',
    );
    expect(exitCode).toBe(1);
  });

  test('-f prints new lines and ends with the container', async () => {
    const follower = cluster.kubectl.start(['logs', '-f', 'follow']);
    await follower.waitForOutput(/^one$/m);
    await cluster.kubectl.output('exec', 'follow', '--', ...shellCommand('echo two >/proc/1/fd/1'));
    await follower.waitForOutput(/^two$/m);
    await cluster.kubectl.output('delete', 'pod', 'follow');
    expect(await follower.exited).toEqual({stdout: 'one\ntwo\n', stderr: '', exitCode: 0});
  });
});
