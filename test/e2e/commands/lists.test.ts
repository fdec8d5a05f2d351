import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {containerId} from '../../../src/cri/index.js';
import {parseTable} from '../../cli/output/parse-table.js';
import {until} from '../../base/until.js';
import {IMAGE} from '../harness/manifests.js';
import {runPod, type RunningPod} from '../harness/run-pod.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

describe.each(newestRuntime)('lists, names and filters: $name', (which) => {
  let runtime: TestRuntime;
  let first: RunningPod;
  let second: RunningPod;
  let ended: string;

  /** Two pods created without a kubelet, one with a host port, and an exited container. */
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    first = await runPod(runtime.connection, {name: 'lists-first', hostPort: 18_473});
    second = await runPod(runtime.connection, {name: 'lists-second'});
    ended = await runEnded(runtime, second);
  });
  afterAll(async () => {
    await runtime.stop();
  });

  test('ps -o wide prints addresses, PIDs, exit codes and ports', async () => {
    const rows = parseTable(await runtime.output('ps', '-a', '-o', 'wide', '--sort', 'pod'));
    const namespace = 'kcri-e2e';
    expect(rows).toHaveLength(3);
    expect(rows).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          POD: 'lists-first',
          NAMESPACE: namespace,
          IP: first.ip,
          PID: expect.stringMatching(/^\d+$/) as string,
          PORTS: '18473->80/TCP',
        }),
        expect.objectContaining({
          POD: 'lists-second',
          NAME: 'main',
          IP: second.ip,
          'EXIT CODE': '-',
          PORTS: '-',
        }),
        expect.objectContaining({POD: 'lists-second', NAME: 'ended', PID: '-', 'EXIT CODE': '3'}),
      ]),
    );
  });

  test('pods -o wide counts containers', async () => {
    const rows = parseTable(await runtime.output('pods', '-o', 'wide', '--sort', 'name'));
    expect(rows).toMatchObject([
      {NAME: 'lists-first', IP: first.ip, RUNNING: '1/1', PORTS: '18473->80/TCP'},
      {NAME: 'lists-second', IP: second.ip, RUNNING: '1/2', PORTS: '-'},
    ]);
  });

  test('-o name prints names that other commands accept', async () => {
    const names = (await runtime.output('ps', '-a', '-o', 'name', '--sort', 'name')).trim().split('\n');
    expect(names.toSorted()).toEqual([
      'kcri-e2e/lists-first/main',
      'kcri-e2e/lists-second/ended',
      'kcri-e2e/lists-second/main',
    ]);
    for (const name of names) {
      const {status} = JSON.parse(await runtime.output('inspect', '-q', name)) as {
        status: {metadata: {name: string}};
      };
      expect(name).toContain(status.metadata.name);
    }
  });

  test('custom columns and --format print a row for each object', async () => {
    const columns = 'NAME:.metadata.name,STATE:.state,NONE:.nope';
    expect(await runtime.output('ps', '-a', '--name=ended', '-o', `custom-columns=${columns}`)).toBe(
      'NAME    STATE              NONE\nended   CONTAINER_EXITED   <none>\n',
    );
    const rows = await runtime.output(
      'inspectp',
      'lists-first',
      'lists-second',
      '--format',
      '{{.status.network.ip}}',
    );
    expect(rows).toBe(`${first.ip}\n${second.ip}\n`);
    const images = await runtime.output('images', '--format', 'table {{join .repoTags ","}}\\t{{.pinned}}');
    expect(images).toMatch(/^REPO TAGS +PINNED\n/);
    expect(images).toContain(IMAGE);
  });

  test.each([
    ['lists-first/main', () => first.containerId],
    ['kcri-e2e/lists-second/main', () => second.containerId],
    ['ended', () => ended],
  ])('%s resolves to one container', async (ref, id) => {
    expect(await runtime.output('inspect', ref, '-o', 'jsonpath={.status.id}')).toBe(`${id()}\n`);
  });

  test('an ambiguous name is rejected with the matches', async () => {
    for (const ref of ['main', IMAGE]) {
      const {stdout, stderr, exitCode} = await runtime.kcri(['inspect', ref]);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
      expect(stderr).toContain(`kcri: "${ref}" matches 2 containers`);
      expect(stderr).toMatch(/hint: use one of .*\/lists-first\/main.*\/lists-second\/main/);
    }
  });

  test.each([
    [['--pod', 'lists-first'], ['lists-first/main']],
    [
      ['--pod', 'kcri-e2e/lists-second', '-a'],
      ['lists-second/ended', 'lists-second/main'],
    ],
    [['--pod', 'uid-of-lists-first'], ['lists-first/main']],
    [['--namespace', '^kcri-e2e$', '--name', '^e', '-a'], ['lists-second/ended']],
    [['--image', 'busybox:1.36', '-s', 'exited'], ['lists-second/ended']],
    [['--image', 'localhost:5000/nothing', '-a'], []],
    [['--label', 'of=nobody', '-a'], []],
  ])('ps %j prints %j', async (flags, names) => {
    const listed = (await runtime.output('ps', ...flags, '-o', 'name')).split('\n').filter(Boolean);
    expect(listed.toSorted()).toEqual(names.map((name) => `kcri-e2e/${name}`));
  });

  test.each([
    [['busybox'], true],
    [['busy*'], true],
    [['docker.io/*:1.36'], true],
    [['busybox:2'], false],
    [['nothing*'], false],
    [['--filter', 'dangling=true'], false],
    [['--filter', 'reference=^docker.io/library/busybox'], true],
  ])('images %j contains busybox: %s', async (args, has) => {
    expect((await runtime.output('images', ...args, '-o', 'name')).includes('busybox')).toBe(has);
  });

  test('images -o wide prints the number of containers and the platform', async () => {
    const rows = parseTable(await runtime.output('images', 'busybox:1.36', '-o', 'wide'));
    expect(rows[0]).toMatchObject({CONTAINERS: '3', PLATFORM: expect.stringMatching(/^linux\//) as string});
  });

  test('inspect, inspectp and inspecti print readable tables', async () => {
    expect(await runtime.output('inspect', 'ended', '-o', 'table')).toMatch(
      /^Name: +ended\n(.*\n)*Pod: +kcri-e2e\/lists-second\n(.*\n)*State: +Exited \(failed\)\nExit code: +3\n(.*\n)*Command: +sh -c 'exit 3'\n/,
    );
    expect(await runtime.output('inspectp', 'lists-first', '-o', 'table')).toMatch(
      new RegExp(`^Name: +lists-first\n(.*\n)*IP: +${first.ip}\n(.*\n)*Ports: +18473->80/TCP\n`),
    );
    expect(await runtime.output('inspecti', 'busybox:1.36', '-o', 'table')).toMatch(
      /^ID: +sha256:\w+\nTags:\n(.*\n)* {2}docker\.io\/library\/busybox:1\.36\n(.*\n)*Command: +sh\n/,
    );
  });

  test('inspecti --name prints only the named image', async () => {
    expect(await runtime.output('inspecti', '--name', 'busy*', '-q')).toContain('busybox:1.36');
    expect((await runtime.kcri(['inspecti', '--name', 'nothing'])).exitCode).toBe(1);
  });

  test("as crictl the columns are crictl's, and names are resolved by the runtime", async () => {
    const asCrictl = {env: {KCRI_COMPAT: 'crictl'}};
    const {stdout} = await runtime.kcri(['ps', '--no-trunc', '--pod', first.podSandboxId], asCrictl);
    expect(parseTable(stdout)).toMatchObject([
      {CONTAINER: first.containerId, NAME: 'main', POD: 'unknown', NAMESPACE: 'unknown'},
    ]);
    const inspected = await runtime.kcri(['inspect', 'lists-first/main'], asCrictl);
    expect(inspected.exitCode).toBe(1);
    expect(inspected.stderr).toContain('get the status of containers: get container status: rpc error');
  });
});

/** Runs a container in a pod until it exits with 3, and returns its ID. */
async function runEnded({connection}: TestRuntime, pod: RunningPod): Promise<string> {
  const {runtime} = connection;
  const {status} = await runtime.podSandboxStatus({podSandboxId: pod.podSandboxId});
  const {containerId: id} = await runtime.createContainer({
    podSandboxId: pod.podSandboxId,
    config: {metadata: {name: 'ended'}, image: {image: IMAGE}, command: ['sh', '-c', 'exit 3']},
    sandboxConfig: {metadata: status?.metadata},
  });
  await runtime.startContainer({containerId: id});
  await until(async () => {
    const {status: now} = await runtime.containerStatus({containerId: containerId(id)});
    return now?.state === 'CONTAINER_EXITED';
  });
  return id;
}
