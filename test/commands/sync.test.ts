import {readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {InterruptedError} from '../../src/cli/interrupt.js';
import {anImage, BUSYBOX} from '../fakes/fake-runtime.js';
import {
  aContainerSpec,
  aManifest,
  aManifestDirectory,
  aScene,
  aScript,
  expectPlainError,
  fastClock,
  NOTHING,
  onlyRecord,
} from './pod-scene.js';

describe('waiting for ready', () => {
  test('ends with 0 when every container runs, and shows each step as a line', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest({initContainers: [aScript('setup', 'true')]}));
    const {stdout, stderr, exitCode} = await scene.run(['sync', file]);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout.replaceAll(/[0-9a-f]{13}/g, 'ID').replaceAll(/\(\d+m?s\)/g, '(T)')).toBe(
      [
        'default/web: sandbox ID created (T)',
        'default/web: container setup started (T)',
        'default/web: Pending, IP 10.244.0.2',
        'default/web: container setup completed',
        'default/web: container main started (T)',
        'default/web: Running, IP 10.244.0.2',
        'default/web: container main running',
        'default/web: ready',
        '',
      ].join('\n'),
    );
  });

  test('ends with 1 when a container that is not restarted has failed, and says where to look', async () => {
    const scene = await aScene();
    const containers = [aContainerSpec('main'), aScript('job', 'exit 3')];
    const file = await scene.write('web.json', aManifest({restartPolicy: 'Never', containers}));
    const {stderr, exitCode} = await scene.run(['sync', file]);
    expect(stderr).toBe(
      'kcri: pod "default/web": container "job" exited with code 3\n' +
        'hint: "kcri logs default/web/job" shows what it said\n',
    );
    expect(exitCode).toBe(1);
  });

  test('ends with 1 when a container crashes again and again, and leaves it for a look', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest({containers: [aScript('main', 'exit 2')]}));
    const {stderr, exitCode} = await scene.run(['sync', file]);
    expect(stderr).toContain('container "main": CrashLoopBackOff: back-off 10s restarting failed');
    expect(stderr).toContain(
      'is left as it is; no container of it runs\nhint: "kcri delete default/web" ends it',
    );
    expect(exitCode).toBe(1);
    expect(scene.runtime.containers.length).toBeGreaterThan(0);
  });
});

describe('waiting for complete', () => {
  test.each([
    ['0 when all succeed', {containers: [aScript('main', 'true')]}, 0, ''],
    ['the code of the failed container', {containers: [aScript('main', 'exit 7')]}, 7, 'container "main"'],
    [
      "the code of the first of several, in the pod's order",
      {containers: [aScript('a', 'true'), aScript('b', 'exit 5'), aScript('c', 'exit 6')]},
      5,
      'container "b"',
    ],
    [
      'the code of the init container',
      {initContainers: [aScript('setup', 'exit 9')]},
      9,
      'container "setup"',
    ],
  ])('ends with %s', async (_, spec, code, text) => {
    const scene = await aScene();
    const file = await scene.write('job.json', aManifest({name: 'job', restartPolicy: 'Never', ...spec}));
    const result = await scene.run(['sync', file, '--wait', 'complete']);
    expect(result.exitCode).toBe(code);
    if (code === 0) expect(result.stderr).toBe('');
    else expect(result.stderr).toContain(`${text} exited with code ${code}`);
  });

  test('restarts a container that fails twice, and ends with 0 when it succeeds at last', async () => {
    const clock = fastClock();
    let tries = 0;
    const scene = await aScene({clock, behaviour: () => ({exitCode: ++tries < 3 ? 1 : 0})});
    const file = await scene.write('job.json', aManifest({name: 'job', restartPolicy: 'OnFailure'}));
    const {exitCode, stderr} = await scene.run(['sync', file, '--wait', 'complete'], {clock});
    expect({exitCode, stderr, tries}).toEqual({exitCode: 0, stderr: '', tries: 3});
    const [, second, third] = scene.runtime.calls.filter(({method}) => method === 'CreateContainer');
    expect(second?.request).toMatchObject({config: {metadata: {name: 'main', attempt: 1}}});
    expect(third?.request).toMatchObject({config: {metadata: {name: 'main', attempt: 2}}});
  });

  test('warns of a pod that never completes', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest());
    const {stderr, exitCode} = await scene.run(['sync', file, '--wait', 'complete', '--timeout', '300ms']);
    expect(stderr).toContain('kcri: warning: pod "default/web" never completes: its restartPolicy is Always');
    expect(stderr).toContain('not complete after 300ms; container "main": still running');
    expect(exitCode).toBe(124);
  });
});

describe('a time limit', () => {
  test('ends with 124 and every reason, and says what is left', async () => {
    const scene = await aScene();
    const containers = [aContainerSpec('main'), aContainerSpec('other', {image: 'localhost:5000/nothing:1'})];
    const file = await scene.write('web.json', aManifest({containers}));
    const {stderr, exitCode} = await scene.run(['sync', file, '--timeout', '400ms']);
    expectPlainError({stdout: '', stderr, exitCode});
    expect(stderr).toMatch(
      /^kcri: pod "default\/web": not ready after 400ms; container "other": (ErrImagePull|ImagePullBackOff): .*nothing:1/m,
    );
    expect(stderr).toContain(
      'kcri: pod "default/web": is left as it is; still running: "main"\nhint: "kcri delete default/web" ends it\n',
    );
    expect(exitCode).toBe(124);
  });

  test('names what keeps the sandbox from coming up', async () => {
    const scene = await aScene();
    scene.runtime.injectError('RunPodSandbox', {code: 'UNKNOWN', message: 'cni: no addresses left'});
    const file = await scene.write('web.json', aManifest());
    const {stderr, exitCode} = await scene.run(['sync', file, '--timeout', '400ms']);
    expect(stderr).toContain(
      'not ready after 400ms; CreatePodSandboxError: rpc error: code = Unknown desc = cni: no',
    );
    expect(stderr).toContain('default/web: FailedCreatePodSandBox: Failed to create pod sandbox: rpc error');
    expect(exitCode).toBe(124);
  });

  test('retries until the image is there', async () => {
    const clock = fastClock();
    const scene = await aScene({images: [], clock});
    const file = await scene.write('web.json', aManifest());
    const controller = new AbortController();
    const syncing = scene.run(['sync', file, '--timeout', '5m'], {clock, signal: controller.signal});
    await until(() => scene.runtime.callsTo('PullImage').length > 0);
    scene.runtime.publishImage(anImage());
    expect(await syncing).toMatchObject({exitCode: 0});
  });

  test('waits for a runtime that went away and comes back', async () => {
    const scene = await aScene();
    scene.runtime.injectCrash('CreateContainer');
    const file = await scene.write('web.json', aManifest());
    const syncing = scene.run(['sync', file, '--timeout', '20s']);
    await until(() => scene.runtime.callsTo('CreateContainer').length > 0);
    await scene.runtime.restart();
    expect(await syncing).toMatchObject({exitCode: 0});
    expect(scene.runtime.sandboxes).toHaveLength(1);
  });

  test('longer than a timer of Node.js can be is no limit that is over at once', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest());
    expect(await scene.run(['sync', file, '--timeout', '9000h'])).toMatchObject({exitCode: 0});
  });
});

describe('--rm', () => {
  test.each([
    ['a success', {restartPolicy: 'Never', containers: [aScript('main', 'true')]}, ['--wait', 'complete'], 0],
    [
      'a failure',
      {restartPolicy: 'Never', containers: [aScript('main', 'exit 4')]},
      ['--wait', 'complete'],
      4,
    ],
    ['a time limit', {}, ['--wait', 'complete', '--timeout', '200ms'], 124],
    ['a crash loop', {containers: [aScript('main', 'exit 1')]}, [], 1],
    ['an image that is missing', {containers: [aContainerSpec('main', {image: 'nothing:1'})]}, [], 1],
  ])('leaves nothing after %s', async (_, spec, flags, code) => {
    const scene = await aScene();
    const file = await scene.write('job.json', aManifest(spec));
    const {exitCode, stderr} = await scene.run(['sync', file, '--rm', ...flags]);
    expect(exitCode).toBe(code);
    expect(stderr).not.toContain('left');
    expect(await scene.everything()).toEqual(NOTHING);
  });

  test('leaves nothing after Ctrl-C', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest({restartPolicy: 'Never'}));
    const controller = new AbortController();
    const syncing = scene.run(['sync', file, '--rm', '--wait', 'complete'], {signal: controller.signal});
    await until(() => scene.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
    controller.abort(new InterruptedError('SIGINT'));
    const {stderr, exitCode} = await syncing;
    expect({stderr, exitCode}).toEqual({
      stderr: 'default/web: is being deleted; interrupt again to leave it half deleted\nkcri: interrupted\n',
      exitCode: 130,
    });
    expect(await scene.everything()).toEqual(NOTHING);
  });

  test('says when a pod could not be deleted, beside how the sync ended', async () => {
    const scene = await aScene();
    scene.runtime.injectError('RemovePodSandbox', {code: 'UNKNOWN', message: 'device busy'});
    const spec = {restartPolicy: 'Never', containers: [aScript('main', 'exit 4')]};
    const file = await scene.write('job.json', aManifest(spec));
    const {stderr, exitCode} = await scene.run(['sync', file, '--rm', '--wait', 'complete']);
    expect(stderr).toContain('container "main" exited with code 4');
    expect(stderr).toContain('device busy');
    expect(stderr).toContain('is left half deleted\nhint: "kcri delete default/web" ends it');
    expect(exitCode).toBe(4);
    expect(await scene.records()).toHaveLength(1);
  });
});

describe('syncing again', () => {
  test('changes nothing when nothing has changed', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest({initContainers: [aScript('setup', 'true')]}));
    await scene.run(['sync', file]);
    const before = await scene.everything();
    scene.runtime.clearCalls();
    expect(await scene.run(['sync', file])).toMatchObject({exitCode: 0, stderr: ''});
    expect(scene.changes).toEqual([]);
    expect(await scene.everything()).toEqual(before);
  });

  test('changes nothing when a job has ended', async () => {
    const scene = await aScene();
    const spec = {restartPolicy: 'Never', containers: [aScript('main', 'exit 3')]};
    const file = await scene.write('job.json', aManifest(spec));
    await scene.run(['sync', file, '--wait', 'complete']);
    scene.runtime.clearCalls();
    expect(await scene.run(['sync', file, '--wait', 'complete'])).toMatchObject({exitCode: 3});
    expect(scene.changes).toEqual([]);
  });

  test('ends the old pod first when the manifest has changed', async () => {
    const scene = await aScene();
    await scene.run(['sync', await scene.write('web.json', aManifest())]);
    const [old] = scene.runtime.sandboxes;
    scene.runtime.clearCalls();
    const changed = aManifest({containers: [aContainerSpec('main', {command: ['sleep', '60']})]});
    expect(await scene.run(['sync', await scene.write('web.json', changed)])).toMatchObject({exitCode: 0});
    expect(scene.changes).toEqual([
      'StopContainer',
      'StopPodSandbox',
      'RemoveContainer',
      'StopPodSandbox',
      'RemovePodSandbox',
      'RunPodSandbox',
      'CreateContainer',
      'StartContainer',
    ]);
    expect(scene.runtime.sandboxes).toHaveLength(1);
    expect(scene.runtime.sandboxes[0]?.id).not.toBe(old?.id);
    const {records, podDirs, logs} = await scene.everything();
    expect([records, podDirs, logs].map((names) => names?.length)).toEqual([1, 1, 1]);
  });

  test('restarts only the container whose image has changed when the manifest has a UID', async () => {
    const other = 'localhost:5000/other:2';
    const scene = await aScene({images: [anImage(), anImage({name: other})]});
    const manifest = (image: string): string =>
      aManifest({
        metadata: {uid: 'my-uid'},
        containers: [aContainerSpec('stays'), aContainerSpec('changes', {image})],
      });
    await scene.run(['sync', await scene.write('web.json', manifest(BUSYBOX))]);
    scene.runtime.clearCalls();
    expect(await scene.run(['sync', await scene.write('web.json', manifest(other))])).toMatchObject({
      exitCode: 0,
    });
    expect(scene.changes).toEqual(['StopContainer', 'CreateContainer', 'StartContainer']);
    expect(scene.runtime.callsTo('CreateContainer')[0]?.request).toMatchObject({
      config: {metadata: {name: 'changes', attempt: 1}},
    });
    expect(scene.runtime.sandboxes).toHaveLength(1);
  });

  test('makes the pod anew when the runtime has lost it', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest());
    await scene.run(['sync', file]);
    scene.runtime.state.sandboxes.clear();
    scene.runtime.state.containers.clear();
    expect(await scene.run(['sync', file])).toMatchObject({exitCode: 0});
    expect(scene.runtime.sandboxes).toHaveLength(1);
  });

  test('refuses the UID of another pod of kcri', async () => {
    const scene = await aScene();
    const metadata = {uid: 'my-uid'};
    await scene.run(['sync', await scene.write('a.json', aManifest({name: 'a', metadata}))]);
    scene.runtime.clearCalls();
    const result = await scene.run(['sync', await scene.write('b.json', aManifest({name: 'b', metadata}))]);
    expectPlainError(result);
    expect(result.stderr).toContain('the UID "my-uid" of the pod "default/b" is that of the pod "default/a"');
    expect(result.stderr).toContain(
      'hint: give the manifest another metadata.uid, or run "kcri delete default/a"',
    );
    expect(result.exitCode).toBe(1);
    expect(scene.changes).toEqual([]);
    expect(result.stderr).not.toContain('is left as it is');

    const removing = await scene.run(['sync', join(scene.directory, 'b.json'), '--rm']);
    expect(removing.exitCode).toBe(1);
    expect(removing.stderr).not.toContain('kcri delete default/b');
    expect(scene.runtime.sandboxes).toMatchObject([{state: 'SANDBOX_READY'}]);
  });

  test('tells what is left when the old pod could not be ended', async () => {
    const scene = await aScene();
    await scene.run(['sync', await scene.write('web.json', aManifest())]);
    scene.runtime.injectError('StopContainer', {code: 'UNKNOWN', message: 'it will not stop'});
    const file = await scene.write('web.json', aManifest({hostname: 'other'}));
    const {stderr, exitCode} = await scene.run(['sync', file]);
    expect(stderr).toContain('kcri: pod "default/web": container "main": KillContainerError: ');
    expect(stderr).toContain(
      'is left as it is; no container of it runs\nhint: "kcri delete default/web" ends it',
    );
    expect(exitCode).toBe(1);
    scene.runtime.clearFaults();
    expect(await scene.run(['sync', file])).toMatchObject({exitCode: 0});
    expect(scene.runtime.sandboxes).toHaveLength(1);
  });
});

describe('the output', () => {
  test('-o json gives one JSON object a line, the result last', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest({initContainers: [aScript('setup', 'echo hi')]}));
    const {stdout, exitCode} = await scene.run(['sync', file, '-o', 'json', '--logs', '--rm']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(exitCode).toBe(0);
    expect(new Set(lines.map(({type}) => type))).toEqual(
      new Set(['call', 'event', 'status', 'log', 'result']),
    );
    const facts = {namespace: 'default', pod: 'web', time: expect.any(String) as string};
    for (const line of lines) expect(line).toMatchObject(facts);
    expect(lines.at(-1)).toEqual({
      ...facts,
      type: 'result',
      uid: expect.any(String) as string,
      outcome: 'ready',
      exitCode: 0,
    });
    expect(lines.find(({method}) => method === 'CreateContainer')).toMatchObject({
      target: 'setup',
      containerId: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      durationMs: expect.any(Number) as number,
    });
  });

  test.each([
    ['failed', {containers: [aContainerSpec('main', {image: 'nothing:1'})]}, [], {removed: true}],
    ['timeout', {restartPolicy: 'Never'}, ['--wait', 'complete', '--timeout', '200ms'], {exitCode: 124}],
    [
      'complete',
      {restartPolicy: 'Never', containers: [aScript('main', 'exit 4')]},
      ['--wait', 'complete'],
      {exitCode: 4, container: 'main'},
    ],
  ])('-o json ends with a result %s', async (outcome, spec, flags, facts) => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest(spec));
    const {stdout} = await scene.run(['sync', file, '-o', 'json', ...flags]);
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as unknown;
    expect(last).toMatchObject({type: 'result', outcome, ...facts});
  });

  test('--logs with --wait complete shows every line of containers that end at once', async () => {
    const scene = await aScene();
    const file = await scene.write(
      'job.json',
      aManifest({
        restartPolicy: 'Never',
        initContainers: [aScript('setup', 'echo one; echo two')],
        containers: [aScript('main', 'echo three; echo four'), aScript('other', 'echo five')],
      }),
    );
    const {stdout} = await scene.run(['sync', file, '--wait', 'complete', '--logs', '--rm']);
    const logs = stdout.split('\n').filter((line) => line.includes(' | '));
    expect(logs.toSorted()).toEqual([
      'default/web/main | four',
      'default/web/main | three',
      'default/web/other | five',
      'default/web/setup | one',
      'default/web/setup | two',
    ]);
    expect(await scene.everything()).toEqual(NOTHING);
  });

  test('--logs shows what was said until the pod is ready, and does not wait for more', async () => {
    const scene = await aScene();
    const file = await scene.write(
      'web.json',
      aManifest({containers: [aScript('main', 'echo up; sleep 3600')]}),
    );
    const {stdout, exitCode} = await scene.run(['sync', file, '--logs']);
    expect(stdout).toContain('default/web/main | up\n');
    expect(exitCode).toBe(0);
  });

  test('--logs ends with the time limit', async () => {
    const scene = await aScene();
    const spec = {restartPolicy: 'Never', containers: [aScript('main', 'echo up; sleep 3600')]};
    const file = await scene.write('web.json', aManifest(spec));
    const flags = ['--logs', '--wait', 'complete', '--timeout', '300ms'];
    const {stdout, exitCode} = await scene.run(['sync', file, ...flags]);
    expect(stdout).toContain('default/web/main | up\n');
    expect(exitCode).toBe(124);
  });

  test('--logs follows containers that an earlier sync has started', async () => {
    const scene = await aScene();
    const spec = {restartPolicy: 'Never', containers: [aScript('main', 'echo up; sleep 3600')]};
    const file = await scene.write('web.json', aManifest(spec));
    await scene.run(['sync', file]);
    const {stdout} = await scene.run(['sync', file, '--logs', '--wait', 'complete', '--timeout', '300ms']);
    expect(stdout).toContain('default/web/main | up\n');
  });
});

describe('manifests', () => {
  test('several files, a List, documents, a directory and standard input are synced in one go', async () => {
    const scene = await aScene();
    const pod = (name: string): string => aManifest({name});
    const list = `{"apiVersion": "v1", "kind": "List", "items": [${pod('a')}, ${pod('b')}]}`;
    const sources = [
      await scene.write('list.json', list),
      await scene.write('many.yaml', `${pod('c')}\n---\n${pod('d')}\n`),
      await aManifestDirectory(scene, {'e.yaml': pod('e'), 'notes.txt': 'no manifest'}),
      '-',
    ];
    const {stdout, stderr, exitCode} = await scene.run(['sync', ...sources], {stdin: pod('f')});
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout.match(/^default\/[a-f]: ready$/gm)).toHaveLength(6);
    expect((await scene.everything())['sandboxes']?.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('a pod that fails does not keep the others from becoming ready', async () => {
    const scene = await aScene();
    const bad = aManifest({name: 'bad', containers: [aContainerSpec('main', {image: 'nothing:1'})]});
    const file = await scene.write('two.yaml', `${bad}\n---\n${aManifest({name: 'good'})}\n`);
    const {stdout, stderr, exitCode} = await scene.run(['sync', file]);
    expect(stdout).toContain('default/good: ready\n');
    expect(stderr).toContain('kcri: pod "default/bad": container "main": ErrImagePull: ');
    expect(exitCode).toBe(1);
    expect(await scene.everything()).toMatchObject({sandboxes: ['good'], containers: ['main']});
  });

  test('--static makes the pod that the kubelet makes of its manifest directory', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest());
    await scene.run(['sync', file, '--static', '--hostname-override', 'Node1']);
    const {uid} = await onlyRecord(scene);
    expect(uid).toMatch(/^[0-9a-f]{32}$/);
    expect(scene.runtime.sandboxes[0]?.config).toMatchObject({
      metadata: {name: 'web-node1', namespace: 'default', uid},
      annotations: {
        'kubernetes.io/config.source': 'file',
        'kubernetes.io/config.hash': uid,
        'kubernetes.io/config.seen': expect.any(String) as string,
      },
    });
  });

  test('without --static the pod keeps its name and its source is the API', async () => {
    const scene = await aScene();
    await scene.run(['sync', await scene.write('web.json', aManifest())]);
    expect(scene.runtime.sandboxes[0]?.config).toMatchObject({
      metadata: {name: 'web'},
      annotations: {'kubernetes.io/config.source': 'api'},
    });
  });

  test('relative directories reach the runtime as absolute paths', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest());
    const {exitCode} = await scene.run([
      'sync',
      file,
      '--pod-logs-dir',
      join(scene.directory, 'x', '..', 'logs'),
    ]);
    expect(exitCode).toBe(0);
    expect(scene.runtime.sandboxes[0]?.config.logDirectory).toMatch(`${scene.logsDir}/default_web_`);
  });
});

describe('secrets', () => {
  const secret = 's3cr3t-value';
  const withSecret = (fields: object): string =>
    aManifest({containers: [aContainerSpec('main', {env: [{name: 'TOKEN', value: secret}], ...fields})]});

  test.each([
    ['a success', {}, []],
    ['an image that is missing', {image: 'nothing:1'}, []],
    ['a time limit', {image: 'nothing:1'}, ['--timeout', '200ms']],
  ])('are in no output of %s', async (_, fields, flags) => {
    const scene = await aScene();
    const file = await scene.write('web.json', withSecret(fields));
    for (const format of ['text', 'json']) {
      const {stdout, stderr} = await scene.run(['sync', file, '-o', format, ...flags]);
      expect(stdout + stderr).not.toContain(secret);
    }
  });

  test('are kept in a record that only its owner reads, in a directory that only its owner opens', async () => {
    const scene = await aScene();
    await scene.run(['sync', await scene.write('web.json', withSecret({}))]);
    const records = join(scene.rootDir, 'records');
    const [name = ''] = await scene.records();
    expect((await stat(join(records, name))).mode & 0o777).toBe(0o600);
    expect((await stat(records)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(records, name), 'utf8')).toContain(secret);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
