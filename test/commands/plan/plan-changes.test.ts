import {mkdir, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {runKcri} from '../../cli/run-kcri.js';
import {anImage} from '../../fakes/fake-runtime.js';
import {aContainerSpec, aManifest, createTestbed, aScript, type CommandTestbed} from '../command-testbed.js';

interface Plan {
  readonly fields?: readonly {readonly path: string; readonly before?: unknown; readonly after?: unknown}[];
  readonly changes?: readonly {
    readonly target: string;
    readonly why: string;
    readonly actions: readonly string[];
  }[];
  readonly diffs?: readonly {readonly target: string; readonly changes: Plan['fields']}[];
  readonly calls: readonly {
    readonly method: string;
    readonly why?: {readonly text: string; readonly rule: string};
  }[];
}

const registry = ['localhost:5000/app:1', 'localhost:5000/app:2'].map((name) => anImage({name}));

async function planOf(testbed: CommandTestbed, manifest: string, ...flags: readonly string[]): Promise<Plan> {
  const {stdout, stderr, exitCode} = await testbed.run(['plan', '-', '-o', 'json', ...flags], {
    stdin: manifest,
  });
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  return (JSON.parse(stdout) as readonly Plan[])[0]!;
}

async function sync(testbed: CommandTestbed, manifest: string): Promise<void> {
  const {stderr} = await testbed.run(['sync', '-'], {stdin: manifest});
  expect(stderr).toBe('');
}

/** Returns a manifest with a fixed UID and two containers. */
function aPodWithFixedUid(image: string, fields: object = {}): string {
  const containers = [aContainerSpec('a', {image, ...fields}), aContainerSpec('b')];
  return aManifest({metadata: {uid: 'fixed'}, containers});
}

const reasons = ({calls}: Plan): readonly string[] =>
  calls.map(({method, why}) => `${method}: ${why!.text} (${why!.rule})`);

describe('a plan for an existing pod', () => {
  test('reports the container with a changed image, and what happens to it', async () => {
    const testbed = await createTestbed({registry});
    await sync(testbed, aPodWithFixedUid('localhost:5000/app:1'));
    const plan = await planOf(testbed, aPodWithFixedUid('localhost:5000/app:2'));
    expect(plan.changes).toEqual([
      {
        target: 'container "a"',
        why: 'image changed: "localhost:5000/app:1" → "localhost:5000/app:2"',
        actions: ['kill', 'create', 'start'],
      },
    ]);
    expect(plan.fields).toEqual([
      {path: 'spec.containers[a].image', before: 'localhost:5000/app:1', after: 'localhost:5000/app:2'},
    ]);
  });

  test('reports the differing fields of a new container', async () => {
    const testbed = await createTestbed({registry});
    const env = [
      {name: 'KEPT', value: 'x'},
      {name: 'GONE', value: 'y'},
    ];
    await sync(testbed, aPodWithFixedUid('localhost:5000/app:1', {env}));
    const changed = {env: [env[0], {name: 'NEW', value: 'z'}], command: ['sleep', '7']};
    const {diffs} = await planOf(testbed, aPodWithFixedUid('localhost:5000/app:2', changed));
    expect(diffs!.map(({target}) => target)).toEqual(['container "a"']);
    const changes = diffs?.[0]?.changes ?? [];
    const paths = Object.fromEntries(changes.map(({path, before, after}) => [path, [before, after]]));
    expect(paths).toMatchObject({
      'metadata.attempt': [undefined, 1],
      'image.user_specified_image': ['localhost:5000/app:1', 'localhost:5000/app:2'],
      command: [
        ['sleep', '3600'],
        ['sleep', '7'],
      ],
      'envs[GONE]': [{key: 'GONE', value: 'y'}, undefined],
      'envs[NEW]': [undefined, {key: 'NEW', value: 'z'}],
      'annotations[io.kubernetes.container.restartCount]': ['0', '1'],
    });
    expect(Object.keys(paths).filter((path) => /KEPT|mounts|labels/.test(path))).toEqual([]);
  });

  test('of a replaced pod does not report UIDs, addresses and random names as changes', async () => {
    const testbed = await createTestbed({registry});
    const env = [{name: 'IP', valueFrom: {fieldRef: {fieldPath: 'status.podIP'}}}];
    const manifest = (hostname: string) => aManifest({hostname, containers: [aContainerSpec('main', {env})]});
    await sync(testbed, manifest('one'));
    const plan = await planOf(testbed, manifest('two'));
    expect(plan.fields).toEqual([{path: 'spec.hostname', before: 'one', after: 'two'}]);
    expect(plan.diffs).toEqual([
      {target: 'sandbox', changes: [{path: 'hostname', before: 'one', after: 'two'}]},
    ]);
    expect(plan.changes).toEqual([
      {
        target: 'container "main"',
        why: 'replaced: the manifest has changed (spec.hostname)',
        actions: ['kill', 'remove', 'create', 'start'],
      },
      {target: 'sandbox', why: expect.any(String) as string, actions: ['stop', 'remove', 'create']},
    ]);
  });

  test('contains neither the old nor the new value of a Secret', async () => {
    const testbed = await createTestbed({registry});
    const secret = (value: string) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {name: 's'},
        stringData: {k: value, l: value},
      });
    const env = [
      {name: 'KEY', valueFrom: {secretKeyRef: {name: 's', key: 'k'}}},
      {name: 'BUILT', value: 'user:$(KEY)'},
    ];
    const fields = {env, envFrom: [{secretRef: {name: 's'}}]};
    const manifest = (image: string, value: string) =>
      `${secret(value)}\n---\n${aPodWithFixedUid(image, fields)}`;
    await sync(testbed, manifest('localhost:5000/app:1', 'hunter2'));
    for (const form of ['json', 'yaml', 'text']) {
      const {stdout} = await testbed.run(['plan', '-', '-o', form, '--explain'], {
        stdin: manifest('localhost:5000/app:2', 'hunter3'),
      });
      expect(stdout).toContain('image changed');
      expect(stdout).not.toContain('hunter');
      expect(stdout).not.toContain(Buffer.from('hunter').toString('base64').slice(0, 7));
    }
  });

  test('is summarized above the calls in the default format', async () => {
    const testbed = await createTestbed({registry});
    await sync(testbed, aPodWithFixedUid('localhost:5000/app:1'));
    const {stdout} = await testbed.run(['plan', '-'], {stdin: aPodWithFixedUid('localhost:5000/app:2')});
    expect(stdout).toContain(
      [
        'pod default/web (uid fixed): change',
        '  changed in the manifest:',
        '    ~ spec.containers[a].image: "localhost:5000/app:1" → "localhost:5000/app:2"',
        '  container "a": image changed: "localhost:5000/app:1" → "localhost:5000/app:2" → kill, create, start',
        '  container "a" differs from the existing one:',
        '    + metadata.attempt: 1\n',
      ].join('\n'),
    );
    expect(stdout).toMatch(/^ {2}1\. StopContainer$/m);
  });
});

describe('--explain', () => {
  test("reports why a new pod's containers are created", async () => {
    const testbed = await createTestbed({registry});
    const manifest = aManifest({
      initContainers: [aScript('setup', 'true')],
      containers: [aContainerSpec('main', {image: 'localhost:5000/app:1'})],
    });
    expect(reasons(await planOf(testbed, manifest, '--explain'))).toEqual([
      'RunPodSandbox: the pod has no sandbox (SyncPod step 4: createPodSandbox)',
      'CreateContainer: it has not been created yet (SyncPod step 6: startContainer)',
      'StartContainer: it has not been created yet (SyncPod step 6: startContainer, after it is created)',
      'PullImage: the image is not present, and imagePullPolicy is IfNotPresent (EnsureImageExists: shouldPullImage)',
      'CreateContainer: it has not been created yet (SyncPod step 8: startContainer)',
      'StartContainer: it has not been created yet (SyncPod step 8: startContainer, after it is created)',
    ]);
  });

  test('reports why a container is restarted', async () => {
    const testbed = await createTestbed();
    await sync(testbed, aManifest());
    testbed.runtime.exitContainer(testbed.runtime.containers[0]!.id, 3);
    expect(reasons(await planOf(testbed, aManifest(), '--explain'))).toEqual([
      'CreateContainer: it exited with code 3, and its restartPolicy is Always (SyncPod step 8: startContainer)',
      'StartContainer: it exited with code 3, and its restartPolicy is Always (SyncPod step 8: startContainer, after it is created)',
    ]);
  });

  test('reports why an older instance is removed', async () => {
    const testbed = await createTestbed();
    for (let crash = 0; crash < 2; crash++) {
      await sync(testbed, aManifest());
      const running = testbed.runtime.containers.find(({state}) => state === 'CONTAINER_RUNNING');
      testbed.runtime.exitContainer(running!.id, 3);
    }
    expect(reasons(await planOf(testbed, aManifest(), '--explain'))[0]).toBe(
      'RemoveContainer: only the newest dead instance of a container is kept (podContainerDeletor)',
    );
  });

  test('reports why a sandbox is replaced', async () => {
    const testbed = await createTestbed();
    await sync(testbed, aManifest());
    testbed.runtime.state.sandboxes.forEach((sandbox) => (sandbox.state = 'SANDBOX_NOTREADY'));
    const [first, ...others] = reasons(await planOf(testbed, aManifest(), '--explain'));
    expect(first).toBe('StopContainer: the sandbox is not ready (SyncPod step 2: killPodWithSyncResult)');
    expect(others).toContain('RunPodSandbox: the sandbox is not ready (SyncPod step 4: createPodSandbox)');
    expect(others.at(-1)).toContain('StartContainer: it must run in the new sandbox');
  });

  test('reports why an older pod is terminated', async () => {
    const testbed = await createTestbed();
    await sync(testbed, aManifest());
    const lines = reasons(await planOf(testbed, aManifest({restartPolicy: 'Never'}), '--explain'));
    const why = 'replaced: the manifest has changed (spec.restartPolicy)';
    expect(lines.slice(0, 4)).toEqual([
      `StopContainer: ${why} (SyncTerminatingPod: killContainer with the grace period)`,
      `StopPodSandbox: ${why} (SyncTerminatingPod: killPodWithSyncResult, after the containers)`,
      `RemoveContainer: ${why} (container garbage collection of a deleted pod: removeContainer)`,
      `StopPodSandbox: ${why} (SyncTerminatingPod: killPodWithSyncResult, after the containers)`,
    ]);
  });

  test('is printed below the calls, only if requested', async () => {
    const testbed = await createTestbed();
    const {stdout} = await testbed.run(['plan', '-', '--explain'], {stdin: aManifest()});
    expect(stdout).toContain(
      '  1. RunPodSandbox\n     # the pod has no sandbox (SyncPod step 4: createPodSandbox)\n',
    );
    expect((await testbed.run(['plan', '-'], {stdin: aManifest()})).stdout).not.toContain('#');
    expect((await planOf(testbed, aManifest())).calls[0]!.why).toBeUndefined();
  });
});

describe('--offline', () => {
  test('plans for an empty runtime without connecting, and changes nothing', async () => {
    const testbed = await createTestbed();
    await sync(testbed, aManifest());
    testbed.runtime.clearCalls();
    const {stdout, stderr, exitCode} = await testbed.run(['plan', '-', '--offline', '-o', 'json'], {
      stdin: aManifest({containers: [aContainerSpec('main', {image: 'localhost:5000/app:1'})]}),
      endpoint: 'unix:///nonexistent/cri.sock',
    });
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    const [plan] = JSON.parse(stdout) as readonly Plan[];
    expect(plan!.calls.map(({method}) => method)).toEqual([
      'RunPodSandbox',
      'PullImage',
      'CreateContainer',
      'StartContainer',
    ]);
    expect(plan!.changes).toBeUndefined();
    expect(testbed.runtime.calls).toEqual([]);
  });

  test('does not read logs of the pod', async () => {
    const manifest = aManifest({metadata: {uid: 'fixed'}});
    const testbed = await createTestbed();
    // A file in place of the log directory would make reading it fail.
    await mkdir(join(testbed.logsDir, 'default_web_fixed'), {recursive: true});
    await writeFile(join(testbed.logsDir, 'default_web_fixed', 'main'), '');
    const args = ['plan', '-', '--offline', '--pod-logs-dir', testbed.logsDir];
    const {stdout, stderr} = await runKcri(args, {stdin: manifest});
    expect(stderr).toBe('');
    expect(stdout).toContain('config.log_path: main/0.log');
  });

  test('needs no root directory', async () => {
    const testbed = await createTestbed();
    const args = ['--root-dir', '/nonexistent/kcri', 'plan', '-', '--offline'];
    const {stderr, exitCode} = await runKcri(args, {stdin: aManifest()});
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(await readdir(testbed.directory)).toEqual([]);
  });

  test('assumes optional runtime features', async () => {
    const containers = [
      aContainerSpec('main', {
        volumeMounts: [{name: 'v', mountPath: '/v', readOnly: true, recursiveReadOnly: 'Enabled'}],
      }),
    ];
    const manifest = aManifest({containers, volumes: [{name: 'v', hostPath: {path: '/tmp'}}]});
    const {stdout, stderr} = await runKcri(['plan', '-', '--offline', '-o', 'json'], {stdin: manifest});
    expect(stderr).toBe('');
    expect(stdout).toContain('"recursive_read_only": true');
  });
});

describe('plan --diff', () => {
  // Proves: plan --diff
  test('exits with 0 without changes, with 1 and without calls if there are some', async () => {
    const testbed = await createTestbed({registry});
    const file = await testbed.write('a.json', aManifest({name: 'a'}));
    expect(await testbed.run(['plan', file, '--diff'])).toMatchObject({
      stdout: expect.stringMatching(
        /^1 pod: 1 to create; \d+ CRI calls\n\npod default\/a \(uid \S+\): create\n$/,
      ) as string,
      exitCode: 1,
    });
    await testbed.run(['sync', file]);
    expect(await testbed.run(['plan', file, '--diff'])).toEqual({
      stdout: '1 pod: 1 unchanged; 0 CRI calls\n',
      stderr: '',
      exitCode: 0,
    });
    const changed = await testbed.write('a.json', aManifest({name: 'a', metadata: {labels: {v: '2'}}}));
    const other = await testbed.write('b.json', aManifest({name: 'b'}));
    const {stdout, exitCode} = await testbed.run(['plan', changed, other, '--diff']);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^2 pods: 1 to create, 1 to replace; \d+ CRI calls\n/);
    expect(stdout).toContain('    + metadata.labels.v: "2"\n');
    expect(stdout).not.toContain('RunPodSandbox');
  });

  test('exits with 2 on an error', async () => {
    const testbed = await createTestbed();
    expect(await testbed.run(['plan', '/proc/1/none.yaml', '--diff'])).toMatchObject({exitCode: 2});
    expect(await testbed.run(['plan', '/proc/1/none.yaml'])).toMatchObject({exitCode: 1});
  });
});

test('the text has each reason once', async () => {
  const testbed = await createTestbed();
  await testbed.run(['sync', await testbed.write('a.json', aManifest())]);
  const changed = await testbed.write('a.json', aManifest({metadata: {labels: {v: '2'}}}));
  const {stdout} = await testbed.run(['plan', changed, '--explain']);
  const count = (text: string): number => stdout.split(text).length - 1;
  // Once for the changes, and once for the calls.
  expect(count('the manifest has changed') + count('changed: metadata.labels')).toBeLessThanOrEqual(2);
  expect(stdout).toMatch(/^ {4}sandbox: stop, remove, create$/m);
  expect(stdout).toMatch(/^ {4}container "main": .*create, start$/m);
  expect(stdout).toContain('# as above (container garbage collection of a deleted pod: removeSandbox)\n');
});

test('the text has colors where they are wanted', async () => {
  const testbed = await createTestbed();
  const file = await testbed.write('a.json', aManifest());
  const {stdout} = await testbed.run(['plan', file], {env: {FORCE_COLOR: '1'}});
  expect(stdout).toMatch(/^\u001B\[1m1 pod: 1 to create; \d+ CRI calls\u001B\[22m\n/);
  expect(stdout).toContain('\u001B[32mpod default/web');
  expect((await testbed.run(['plan', file])).stdout).not.toContain('\u001B');
});
