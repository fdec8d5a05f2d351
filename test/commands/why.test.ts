import {describe, expect, test} from 'vitest';
import {runKcri, type RunOptions} from '../cli/run-kcri.js';
import {aContainer, aSandbox} from '../fakes/fake-runtime.js';
import {installFakeSsh, remoteEndpoint} from '../fakes/ssh/install-fake-ssh.js';
import {
  aContainerSpec,
  aManifest,
  createTestbed,
  isMutatingCall,
  type CommandTestbed,
} from './command-testbed.js';

interface Item {
  readonly pod: string;
  readonly manager: string;
  readonly wrong: boolean;
  readonly findings: readonly {readonly rule: string; readonly severity: string}[];
  readonly unread: readonly {readonly what: string; readonly reason: string}[];
}

const why = async (testbed: CommandTestbed, args: readonly string[], options: RunOptions = {}) =>
  await runKcri(['--root-dir', testbed.rootDir, 'why', ...args], {
    endpoint: testbed.runtime.endpoint,
    ...options,
  });

const items = ({stdout}: {readonly stdout: string}): readonly Item[] =>
  (JSON.parse(stdout) as {items: Item[]}).items;

/** Creates a testbed with a pod of kcri that failed, and one of crictl that exited with 0. */
async function createFailedTestbed(): Promise<CommandTestbed> {
  const labelled = aSandbox({name: 'plain', uid: 'uid-of-plain'});
  const sandbox = {...labelled, config: {...labelled.config, labels: {}}};
  const testbed = await createTestbed({
    sandboxes: [sandbox],
    containers: [aContainer({sandbox, name: 'tool', state: 'CONTAINER_EXITED'})],
    behaviour: () => ({exitCode: 3, stderr: 'no database\n'}),
  });
  await testbed.run(['sync', '-'], {stdin: aManifest({restartPolicy: 'Never'})});
  testbed.runtime.clearCalls();
  return testbed;
}

describe('why', () => {
  test('a pod is explained, and nothing is changed', async () => {
    const testbed = await createFailedTestbed();
    const {stdout, stderr, exitCode} = await why(testbed, ['web']);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 1});
    expect(stdout).toMatch(
      new RegExp(
        [
          '^default/web {2}Error',
          'cause {6}container main ended by itself with exit code 3; its last line: no database',
          'evidence {3}exit code 3, at .* ago\\)',
          'log {8}no database',
          'next {7}nothing: restartPolicy is Never',
          `try {8}kcri --root-dir ${testbed.rootDir} logs default/web/main\n`,
        ].join('\n'),
      ),
    );
    expect(testbed.runtime.calls.filter(({method}) => isMutatingCall(method))).toEqual([]);
  });

  // Proves: why, why --output, why --container, why --pod
  test('pods of every manager are explained, containers alone too', async () => {
    const testbed = await createFailedTestbed();
    const found = items(await why(testbed, ['web/main', 'plain', '-o', 'json']));
    expect(found).toMatchObject([
      {pod: 'web', container: 'main', manager: 'kcri', wrong: true},
      {pod: 'plain', manager: 'none', wrong: false, findings: []},
    ]);
    // The texts say how long ago something happened.
    const rules = (answers: readonly unknown[]): unknown =>
      answers.map((answer) => {
        const {pod, container, findings} = answer as {
          readonly pod: string;
          readonly container: string;
          readonly findings: readonly {readonly rule: string}[];
        };
        return [pod, container, findings.map(({rule}) => rule)];
      });
    const alone = rules(found.slice(0, 1));
    for (const target of [
      ['web', '-c', 'main'],
      ['main', '-p', 'web'],
    ])
      expect(rules(items(await why(testbed, [...target, '-o', 'json'])))).toEqual(alone);
  });

  // Proves: why --format, why --template, why --no-headers
  test('templates use the answers', async () => {
    const testbed = await createFailedTestbed();
    const row = '{{.pod}} {{(index .findings 0).rule}}';
    expect((await why(testbed, ['web', '--format', row])).stdout).toBe('web failed\n');
    const template = `{{range .items}}${row}{{end}}`;
    expect((await why(testbed, ['web', '--template', template])).stdout.trim()).toBe('web failed');
    const table = ['web', '--format', 'table {{.pod}}'];
    expect((await why(testbed, table)).stdout).toBe('POD\nweb\n');
    expect((await why(testbed, [...table, '--no-headers'])).stdout).toBe('web\n');
  });

  // Proves: why --selector, why --manager, why --namespace
  test('without names, the pods that are not well have a line each', async () => {
    const testbed = await createFailedTestbed();
    const {stdout, exitCode} = await why(testbed, []);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^node \S+ {2}2 pods, 1 not well\ndefault\/web {2}Error: container main ended by itself/,
    );
    expect(await why(testbed, ['--manager=none'])).toMatchObject({
      stdout: expect.stringMatching(/^node \S+ {2}1 pod, all well\n$/) as string,
      exitCode: 0,
    });
    expect((await why(testbed, ['node'])).stdout).toBe(stdout);
    expect((await why(testbed, ['-n', 'other'])).stdout).toMatch(/ {2}0 pods, all well\n$/);
    expect((await why(testbed, ['-l', 'app=other'])).stdout).toMatch(/ {2}0 pods, all well\n$/);
  });

  test('a log of a container with values of a Secret is not shown', async () => {
    const testbed = await createTestbed({behaviour: () => ({exitCode: 3, stderr: 'hush\n'})});
    const secret = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {name: 's'},
      stringData: {k: 'hush'},
    });
    const env = [{name: 'KEY', valueFrom: {secretKeyRef: {name: 's', key: 'k'}}}];
    const manifest = aManifest({restartPolicy: 'Never', containers: [aContainerSpec('main', {env})]});
    await testbed.run(['sync', '-'], {stdin: `${manifest}\n---\n${secret}`});
    const {stdout} = await why(testbed, ['web']);
    expect(stdout).toContain('(not shown, since the container uses a Secret; see "kcri logs")');
    expect(stdout).not.toContain('hush');
  });

  test.each([
    [['nosuch'], /^kcri: no pod or container "nosuch"\n/],
    [['--bogus'], /^kcri: unknown flag: --bogus\n/],
    [['web', '-o', 'xml'], /^kcri: unsupported output format "xml"\n/],
    [[''], /must not be empty\n/],
  ])('without an answer the exit code is 2: %j', async (args, stderr) => {
    const testbed = await createTestbed();
    expect(await why(testbed, args)).toMatchObject({
      stdout: '',
      stderr: expect.stringMatching(stderr) as string,
      exitCode: 2,
    });
  });

  test('a runtime that is down is the cause, with the last known cause after it', async () => {
    const testbed = await createFailedTestbed();
    await testbed.runtime.stop();
    const [found] = items(await why(testbed, ['web', '-o', 'json']));
    expect(found?.findings.map(({rule}) => rule)).toEqual(['runtime-unavailable', 'failed']);
    expect(found?.unread).toContainEqual({what: 'logs and processes', reason: 'the runtime is unavailable'});
    const {stdout} = await why(testbed, []);
    expect(stdout).toMatch(/^node \S+ {2}not well; 1 pod, 1 not well\ncause {6}the runtime is unavailable: /);
    expect(stdout).toMatch(/^default\/web {2}Error: container main ended by itself with exit code 3$/m);
  });

  test('a runtime that hangs is waited for once', async () => {
    const testbed = await createFailedTestbed();
    testbed.runtime.injectDelay('ListPodSandbox', 60_000);
    testbed.runtime.clearCalls();
    const [found] = items(await why(testbed, ['web', '-o', 'json', '--timeout', '1s']));
    expect(found?.findings[0]).toMatchObject({rule: 'runtime-unavailable'});
    expect(testbed.runtime.callsTo('ListPodSandbox')).toHaveLength(1);
    expect(testbed.runtime.callsTo('ContainerStatus')).toEqual([]);
  });

  test('a container whose status cannot be read is explained without it', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', '-'], {stdin: aManifest()});
    testbed.runtime.injectError('ContainerStatus', {
      code: 'INTERNAL',
      message: 'disk gone',
      match: (request) => request['verbose'] === true,
    });
    expect(items(await why(testbed, ['web', '-o', 'json']))).toMatchObject([{wrong: false, findings: []}]);
  });

  test('a pod of a remote node is explained, and what ssh cannot read is named', async () => {
    const testbed = await createFailedTestbed();
    const ssh = await installFakeSsh();
    const endpoint = remoteEndpoint(testbed.runtime);
    const result = await runKcri(['-r', endpoint, 'why', 'web'], {env: ssh.env});
    expect(result).toMatchObject({stderr: '', exitCode: 1});
    expect(result.stdout).toContain('log        no database\n');
    expect(result.stdout).toContain(`try        kcri -r ${endpoint} logs default/web/main\n`);
    expect(result.stdout).toMatch(
      /^not read {3}events: .*; kernel log: it cannot be read through ssh; run kcri on the node$/m,
    );
    expect(await ssh.leftovers()).toEqual([]);
  });

  test('a thousand pods are answered, and only the facts of some are read', async () => {
    const sandboxes = Array.from({length: 1000}, (_, index) =>
      aSandbox({name: `pod-${index}`, uid: `uid-${index}`}),
    );
    const containers = sandboxes.map((sandbox) =>
      aContainer({sandbox, name: 'main', state: 'CONTAINER_EXITED', exitCode: 3}),
    );
    const testbed = await createTestbed({sandboxes, containers});
    const {stdout, exitCode} = await why(testbed, []);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^node \S+ {2}1000 pods, 1000 not well\n/);
    expect(stdout.split('\n')).toHaveLength(1002);
  });
});
