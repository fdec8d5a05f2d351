import {readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {
  aContainerSpec,
  aManifest,
  aManifestDirectory,
  aScene,
  aScript,
  NO_LEFTOVERS,
  onlyRecord,
} from '../pod-scene.js';
import {runToTimeLimit} from '../run-to-time-limit.js';

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
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
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
    const {exitCode} = await runToTimeLimit(scene, ['sync', file, '--logs', '--wait', 'complete'], {
      limitMs: 3000,
      isReached: ({stdout}) => stdout.includes('default/web/main | up\n'),
    });
    expect(exitCode).toBe(124);
  });

  test('--logs follows containers that an earlier sync has started', async () => {
    const scene = await aScene();
    const spec = {restartPolicy: 'Never', containers: [aScript('main', 'echo up; sleep 3600')]};
    const file = await scene.write('web.json', aManifest(spec));
    await scene.run(['sync', file]);
    const {exitCode} = await runToTimeLimit(scene, ['sync', file, '--logs', '--wait', 'complete'], {
      limitMs: 300,
      isReached: ({stdout}) => stdout.includes('default/web/main | up\n'),
    });
    expect(exitCode).toBe(124);
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
    expect((await scene.listLeftovers())['sandboxes']?.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('a pod that fails does not keep the others from becoming ready', async () => {
    const scene = await aScene();
    const bad = aManifest({name: 'bad', containers: [aContainerSpec('main', {image: 'nothing:1'})]});
    const file = await scene.write('two.yaml', `${bad}\n---\n${aManifest({name: 'good'})}\n`);
    const {stdout, stderr, exitCode} = await scene.run(['sync', file]);
    expect(stdout).toContain('default/good: ready\n');
    expect(stderr).toContain('kcri: pod "default/bad": container "main": ErrImagePull: ');
    expect(exitCode).toBe(1);
    expect(await scene.listLeftovers()).toMatchObject({sandboxes: ['good'], containers: ['main']});
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
