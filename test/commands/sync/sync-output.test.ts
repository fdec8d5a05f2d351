import {readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {
  aContainerSpec,
  aManifest,
  aManifestDirectory,
  createTestbed,
  aScript,
  NO_LEFTOVERS,
  onlyRecord,
} from '../command-testbed.js';
import {runToTimeLimit} from '../run-to-time-limit.js';

describe('the output', () => {
  test('of -o json is one object per line, ending with the result and a summary', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aManifest({initContainers: [aScript('setup', 'echo hi')]}));
    const {stdout, exitCode} = await testbed.run(['sync', file, '-o', 'json', '--logs', '--rm']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(exitCode).toBe(0);
    expect(new Set(lines.map(({type}) => type))).toEqual(
      new Set(['call', 'event', 'status', 'log', 'result', 'summary']),
    );
    const facts = {namespace: 'default', pod: 'web', time: expect.any(String) as string};
    for (const line of lines.slice(0, -1)) expect(line).toMatchObject(facts);
    expect(lines.at(-1)).toEqual({
      time: facts.time,
      type: 'summary',
      ...{pods: 1, ready: 1, complete: 0, failed: 0, timedOut: 0, interrupted: 0},
      durationMs: expect.any(Number) as number,
    });
    expect(lines.find(({type}) => type === 'log')).toMatchObject({
      container: 'setup',
      stream: 'stdout',
      line: 'hi',
    });
    expect(lines.at(-2)).toEqual({
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
      {exitCode: 4, container: 'main', reason: 'Error'},
    ],
  ])('of -o json ends with a result %s', async (outcome, spec, flags, facts) => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aManifest(spec));
    const {stdout} = await testbed.run(['sync', file, '-o', 'json', ...flags]);
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-2) ?? '') as unknown;
    expect(last).toMatchObject({type: 'result', outcome, ...facts});
  });

  test('of --logs with --wait complete has every line of short-lived containers', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write(
      'job.json',
      aManifest({
        restartPolicy: 'Never',
        initContainers: [aScript('setup', 'echo one; echo two')],
        containers: [aScript('main', 'echo three; echo four'), aScript('other', 'echo five')],
      }),
    );
    const {stdout} = await testbed.run(['sync', file, '--wait', 'complete', '--logs', '--rm']);
    const logs = stdout.split('\n').filter((line) => line.includes(' | '));
    expect(logs.toSorted()).toEqual([
      'default/web/main | four',
      'default/web/main | three',
      'default/web/other | five',
      'default/web/setup | one',
      'default/web/setup | two',
    ]);
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('of --logs ends when the pod is ready', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write(
      'web.json',
      aManifest({containers: [aScript('main', 'echo up; sleep 3600')]}),
    );
    const {stdout, exitCode} = await testbed.run(['sync', file, '--logs']);
    expect(stdout).toContain('default/web/main | up\n');
    expect(exitCode).toBe(0);
  });

  test('of --logs ends at the timeout', async () => {
    const testbed = await createTestbed();
    const spec = {restartPolicy: 'Never', containers: [aScript('main', 'echo up; sleep 3600')]};
    const file = await testbed.write('web.json', aManifest(spec));
    const {exitCode} = await runToTimeLimit(testbed, ['sync', file, '--logs', '--wait', 'complete'], {
      limitMs: 3000,
      isReached: ({stdout}) => stdout.includes('default/web/main | up\n'),
    });
    expect(exitCode).toBe(124);
  });

  test('of --logs includes containers started by an earlier sync', async () => {
    const testbed = await createTestbed();
    const spec = {restartPolicy: 'Never', containers: [aScript('main', 'echo up; sleep 3600')]};
    const file = await testbed.write('web.json', aManifest(spec));
    await testbed.run(['sync', file]);
    const {exitCode} = await runToTimeLimit(testbed, ['sync', file, '--logs', '--wait', 'complete'], {
      limitMs: 300,
      isReached: ({stdout}) => stdout.includes('default/web/main | up\n'),
    });
    expect(exitCode).toBe(124);
  });
});

describe('manifests', () => {
  test('in several files, a List, documents, a directory and standard input are synced together', async () => {
    const testbed = await createTestbed();
    const pod = (name: string): string => aManifest({name});
    const list = `{"apiVersion": "v1", "kind": "List", "items": [${pod('a')}, ${pod('b')}]}`;
    const sources = [
      await testbed.write('list.json', list),
      await testbed.write('many.yaml', `${pod('c')}\n---\n${pod('d')}\n`),
      await aManifestDirectory(testbed, {'e.yaml': pod('e'), 'notes.txt': 'no manifest'}),
      '-',
    ];
    const {stdout, stderr, exitCode} = await testbed.run(['sync', ...sources], {stdin: pod('f')});
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout.match(/^default\/[a-f]: ready$/gm)).toHaveLength(6);
    expect((await testbed.listLeftovers())['sandboxes']?.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('of a failing pod do not affect other pods', async () => {
    const testbed = await createTestbed();
    const bad = aManifest({name: 'bad', containers: [aContainerSpec('main', {image: 'nothing:1'})]});
    const file = await testbed.write('two.yaml', `${bad}\n---\n${aManifest({name: 'good'})}\n`);
    const {stdout, stderr, exitCode} = await testbed.run(['sync', file]);
    expect(stdout).toContain('default/good: ready\n');
    expect(stderr).toContain('kcri: pod "default/bad": container "main": ErrImagePull: ');
    expect(exitCode).toBe(1);
    expect(await testbed.listLeftovers()).toMatchObject({sandboxes: ['good'], containers: ['main']});
  });

  test("with --static become static pods as in the kubelet's manifest directory", async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aManifest());
    await testbed.run(['sync', file, '--static', '--hostname-override', 'Node1']);
    const {uid} = await onlyRecord(testbed);
    expect(uid).toMatch(/^[0-9a-f]{32}$/);
    expect(testbed.runtime.sandboxes[0]?.config).toMatchObject({
      metadata: {name: 'web-node1', namespace: 'default', uid},
      annotations: {
        'kubernetes.io/config.source': 'file',
        'kubernetes.io/config.hash': uid,
        'kubernetes.io/config.seen': expect.any(String) as string,
      },
    });
  });

  test("without --static keep the pod's name, and their source is the API", async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', await testbed.write('web.json', aManifest())]);
    expect(testbed.runtime.sandboxes[0]?.config).toMatchObject({
      metadata: {name: 'web'},
      annotations: {'kubernetes.io/config.source': 'api'},
    });
  });

  test('with relative directories result in absolute paths for the runtime', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aManifest());
    const {exitCode} = await testbed.run([
      'sync',
      file,
      '--pod-logs-dir',
      join(testbed.directory, 'x', '..', 'logs'),
    ]);
    expect(exitCode).toBe(0);
    expect(testbed.runtime.sandboxes[0]?.config.logDirectory).toMatch(`${testbed.logsDir}/default_web_`);
  });
});

describe('secrets', () => {
  const secret = 's3cr3t-value';
  const withSecret = (fields: object): string =>
    aManifest({containers: [aContainerSpec('main', {env: [{name: 'TOKEN', value: secret}], ...fields})]});

  test.each([
    ['a success', {}, []],
    ['a missing image', {image: 'nothing:1'}, []],
    ['a timeout', {image: 'nothing:1'}, ['--timeout', '200ms']],
  ])('are not in any output of %s', async (_, fields, flags) => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', withSecret(fields));
    for (const format of ['text', 'json']) {
      const {stdout, stderr} = await testbed.run(['sync', file, '-o', format, ...flags]);
      expect(stdout + stderr).not.toContain(secret);
    }
  });

  test('are stored in a record that only its owner can read, in a directory that only its owner can open', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', await testbed.write('web.json', withSecret({}))]);
    const records = join(testbed.rootDir, 'kcri/records');
    const [name = ''] = await testbed.records();
    expect((await stat(join(records, name))).mode & 0o777).toBe(0o600);
    expect((await stat(records)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(records, name), 'utf8')).toContain(secret);
  });
});
