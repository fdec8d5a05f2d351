import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {readArchive, writeArchive} from '../../src/cli/archive/archive-file.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {archiveText} from '../base/archive-text.js';
import {runKcri, type RunResult} from '../cli/run-kcri.js';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from './command-testbed.js';

const SECRET = 'Zx9-very-secret';

const runThere = async ({rootDir, runtime}: CommandTestbed, words: readonly string[]): Promise<RunResult> =>
  await runKcri(['--root-dir', rootDir, ...words], {endpoint: runtime.endpoint});

/** A node with a pod that failed, and the file that it was saved to. */
async function saveNode(...flags: readonly string[]): Promise<{
  readonly testbed: CommandTestbed;
  readonly file: string;
}> {
  const testbed = await createTestbed({
    behaviour: () => ({
      exitCode: 3,
      stdout: 'starting\n',
      stderr: `no login ${SECRET}\n\u001b[31mno database\n`,
    }),
  });
  const containers = [aContainerSpec('main', {env: [{name: 'LOGIN', value: SECRET}]})];
  await testbed.run(['sync', '-'], {stdin: aManifest({restartPolicy: 'Never', containers})});
  const file = join(testbed.directory, 'node.tgz');
  await runThere(testbed, ['doctor', '--save', file, ...flags]);
  return {testbed, file};
}

/** Runs a command where there is no runtime. */
const elsewhere = async (...words: readonly string[]): Promise<RunResult> =>
  await runKcri(words, {endpoint: 'unix:///nonexistent/cri.sock'});

/** Changes the parts of an archive. */
async function rewrite(file: string, change: (parts: Record<string, unknown>) => void): Promise<string> {
  const {manifest, parts} = await readArchive(file);
  const all: Record<string, unknown> = structuredClone(parts);
  change(all);
  const changed = Object.fromEntries(Object.entries(all).filter(([, part]) => part !== undefined));
  const path = join(await temporaryDirectory(), 'changed.tgz');
  await writeArchive(path, {manifest, parts: changed});
  return path;
}

type Parts = Record<string, unknown>;
/** Returns an object within the parts of an archive. */
const at = (parts: Parts, ...path: readonly (string | number)[]): Parts =>
  path.reduce<Parts>((value, key) => value[key] as Parts, parts);

const withoutAges = (text: string): string =>
  text
    .replaceAll(/\b\d+(?:\.\d+)?(?:ms|s)\b(?: ago)?|\d+ seconds? ago|Less than a second ago/g, 'AGE')
    .replaceAll(/\w{3}, \d{2} \w{3} \d{4} [\d:]{8} [+-]\d{4}/g, 'TIME')
    .replaceAll(/ +/g, ' ');

// Proves: get images --from, describe --from, logs --from
describe('a saved node shows elsewhere what it shows there', () => {
  // Proves: inspect --from, inspectp --from, info --from, inspecti --from, stats --from, statsp --from, get node --from, describe node --from, ps --from, pods --from, get pods --from, get events --from, get workloads --from, get all --from
  test.each([
    [['ps', '-a']],
    [['ps', '-a', '--pod=web', '--state=exited', '-o', 'json']],
    [['ps', '-a', '--label=io.kubernetes.pod.name=web', '-q']],
    [['ps', '-a', '-o', 'wide']],
    [['pods']],
    [['pods', '--namespace=default', '-o', 'wide']],
    [['get', 'pods']],
    [['get', 'pods', 'web', '-o', 'wide']],
    [['get', 'pods', '-l', 'x=y']],
    [['get', 'events']],
    [['get', 'images']],
    [['get', 'all', '-o', 'name']],
    [['describe', 'web']],
    [['logs', '--timestamps=false', 'web']],
    [['logs', '--tail=1', 'web/main']],
    [['logs', '--stream=stdout', '--since=1h', 'web']],
    [['get', 'node']],
    [['get', 'node', '-o', 'wide']],
    [['describe', 'node']],
    [['inspect', '--state=exited']],
    [['inspect', 'web/main', '-o', 'table']],
    [['inspect', 'web', '-q', '-o', 'yaml']],
    [['inspectp']],
    [['inspectp', 'web', '-o', 'table']],
    [['info', '-o', 'json']],
    [['info', '-q', '-o', 'yaml']],
    [['inspecti']],
    [['inspecti', 'busybox', '-o', 'table']],
    [['statsp', '-o', 'json']],
    [['stats', '-a', '-p', 'web', '-o', 'json']],
  ])('%j', async (words) => {
    const {testbed, file} = await saveNode();
    const there = await runThere(testbed, words);
    const saved = await elsewhere(...words, '--from', file);
    const hidden = (text: string): string =>
      withoutAges(text.replaceAll(SECRET, '***').replaceAll('\u001b', String.raw`\x1b`));
    expect(withoutAges(saved.stdout)).toBe(hidden(there.stdout));
    expect(saved.stderr.split('\n').slice(1).join('\n')).toBe(hidden(there.stderr));
    expect(saved.stderr).toMatch(/^\S+node\.tgz: node \S+ as of \d{4}-\S+Z\n/);
    expect(saved.exitCode).toBe(there.exitCode);
  });

  // Proves: events --from
  test('events', async () => {
    const {file} = await saveNode();
    const {stdout, exitCode} = await elsewhere('events', '--from', file);
    expect(stdout).toMatch(/^\S+Z +Normal +container +Started +default\/web\/main +\S.*$/m);
    expect(exitCode).toBe(0);
    expect((await elsewhere('events', '--from', file, '--pod=other')).stdout).toBe('');
    expect((await elsewhere('events', '--from', file, '-o', 'json')).stderr).toContain(
      'a saved node has no events of the runtime',
    );
  });
});

test('usage is that between two samples, which were taken when the node was saved', async () => {
  const {file} = await saveNode();
  const stats = (cpu: string, seconds: string) => ({
    stats: [
      {
        attributes: {id: 'c1', metadata: {name: 'main'}},
        cpu: {timestamp: `${seconds}000000000`, usageCoreNanoSeconds: {value: cpu}},
        memory: {workingSetBytes: {value: '1000'}},
      },
    ],
  });
  const path = await rewrite(file, (parts) => {
    const runtime = parts['runtime'] as {before: object; answers: object};
    Object.assign(runtime.before, {ListContainerStats: stats('1000000000', '10')});
    Object.assign(runtime.answers, {ListContainerStats: stats('1500000000', '12')});
  });
  expect((await elsewhere('stats', '--from', path)).stdout).toMatch(/main .*25\.00/);
});

// Proves: get kubelet --from
test('the report of the kubelet is saved if one runs', async () => {
  const {file} = await saveNode();
  const {stderr} = await elsewhere('get', 'kubelet', '--from', file);
  expect(stderr).toContain('no kcri kubelet ran on the node');
  const report = {
    ...{
      pid: 7,
      startedAt: '2026-01-01T00:00:00Z',
      now: '2026-01-01T00:01:00Z',
      endpoint: 'unix:///x',
      urls: {},
    },
    ...{
      lastActiveAt: '2026-01-01T00:01:00Z',
      errors: ['no runtime'],
      pleg: {mode: 'events'},
      wantedPods: 3,
      pods: [],
    },
  };
  const path = await rewrite(file, (parts) => {
    (parts['node'] as Record<string, unknown>)['report'] = report;
  });
  const shown = await elsewhere('get', 'kubelet', '--from', path);
  expect(shown.stdout).toMatch(/\b7\b/);
  expect(shown.stderr).toContain('the kubelet cannot sync pods: no runtime');
});

test('ages are those of the time at which the node was saved', async () => {
  const {file} = await saveNode();
  const {manifest, parts} = await readArchive(file);
  const path = join(await temporaryDirectory(), 'old.tgz');
  const takenAt = new Date(Date.parse(manifest.takenAt) + 7 * 3_600_000).toISOString();
  await writeArchive(path, {manifest: {...manifest, takenAt}, parts});
  expect((await elsewhere('get', 'pods', '--from', path)).stdout).toMatch(/ 7h\s*$/m);
  expect((await elsewhere('ps', '-a', '--from', path)).stdout).toContain('7 hours ago');
});

test('several saved nodes are listed with their names, and one that cannot be read does not hide the others', async () => {
  const {testbed, file} = await saveNode();
  const other = join(testbed.directory, 'b.tgz');
  await writeFile(other, await readFile(file));
  const {stdout, stderr, exitCode} = await elsewhere(
    'pods',
    '--from',
    file,
    '--from',
    other,
    '--from',
    '/dev/null',
  );
  expect(stdout).toMatch(/^NODE +POD ID/);
  expect(stdout).toMatch(/^node +\w+ .* web /m);
  expect(stdout).toMatch(/^b +\w+ .* web /m);
  expect(stderr).toContain('/dev/null: it is not a snapshot of a node');
  expect(exitCode).toBe(1);
});

describe('pods of several saved nodes', () => {
  test.each([
    [['get', 'pods'], /^NODE +NAME .*\nnode +web .*\nb +web /],
    [
      ['get', 'pods', 'web', '-o', 'wide'],
      /^NODE +NAME +READY +STATUS +RESTARTS +AGE +IP +NOMINATED.*\nnode +web .*\nb +web /,
    ],
    [['get', 'pods', '-o', 'name'], /^pod\/web\npod\/web\n$/],
    [['get', 'pods', '-o', 'json'], /"node": "node"[^]*"node": "b"/],
    [['get', 'events'], /^NODE +LAST SEEN .*\n(?:node|b) +\S+ +Normal/],
    [['get', 'events', '-o', 'json'], /"node": "node"[^]*/],
    [['events'], /^(?:node|b   )  \S+Z +Normal/],
    [['describe', 'web'], /^node node\n\nName: +web\n[^]*\n\nnode b\n\nName: +web\n/],
    [['describe', '-o', 'json'], /"node": "node"[^]*"node": "b"/],
  ])('%j', async (words, expected) => {
    const {testbed, file} = await saveNode();
    const other = join(testbed.directory, 'b.tgz');
    await writeFile(other, await readFile(file));
    const from = ['--from', file, '--from', other];
    const {stdout, stderr, exitCode} = await elsewhere(...words, ...from);
    expect(stdout).toMatch(expected);
    expect(stderr).not.toContain('error');
    expect(exitCode).toBe(0);
    expect(stdout).not.toMatch(/[\u001b\u0007]/);
  });

  test('a word has to name something on one of them', async () => {
    const {testbed, file} = await saveNode();
    const other = await rewrite(file, (parts) => (at(parts, 'why')['pods'] = []));
    const from = ['--from', file, '--from', other];
    const found = await elsewhere('get', 'pods', 'web', ...from);
    expect(found).toMatchObject({exitCode: 0});
    expect(found.stdout).toMatch(/^node +web /m);
    const missing = await elsewhere('describe', 'nothing', ...from);
    expect(missing.stderr.match(/pod "?nothing"?|nothing/g)?.length).toBe(1);
    expect(missing.exitCode).toBe(1);
    const half = await elsewhere('get', 'pods', '--from', file, '--from', join(testbed.directory, 'x.tgz'));
    expect(half.stdout).toMatch(/^node +web /m);
    expect(half).toMatchObject({exitCode: 1});
  });
});

test('an archive has no secrets of the node', async () => {
  const {file} = await saveNode();
  const texts = archiveText(file);
  for (const known of ['no login ***', '"logPath"', '"ListContainers"']) expect(texts).toContain(known);
  expect(texts).not.toContain(SECRET);
});

describe('what a saved node does not have is an error that says so', () => {
  test.each([
    [['ps'], 'runtime', 'it does not have the lists of the runtime: it was saved by kcri'],
    [['get', 'pods'], 'why', 'it does not have facts about pods: it was saved by kcri'],
    [['get', 'node'], 'node', 'it does not have the Node object: it was saved by kcri'],
    [['logs', 'web'], 'logs', 'it does not have the logs of containers: it was saved by kcri'],
  ])('%j', async (words, part, message) => {
    const {file} = await saveNode();
    const changed = await rewrite(file, (parts) => {
      parts[part] = undefined;
    });
    const {stderr, exitCode} = await elsewhere(...words, '--from', changed);
    expect(stderr).toContain(message);
    expect(stderr).toContain('hint: save it again with "kcri doctor --save FILE" on the node');
    expect(exitCode).toBe(1);
  });

  test('because of its size', async () => {
    const {file} = await saveNode('--max-size', '1Ki');
    const {stderr} = await elsewhere('ps', '--from', file);
    expect(stderr).toContain(
      'it does not have the lists of the runtime: it was saved without the logs of containers',
    );
  });

  test.each([
    [['get', 'pods', '-w'], '--watch cannot be combined with --from'],
    [['logs', '-f', 'web'], '--follow cannot be combined with --from'],
    [['describe', '--explain', 'web'], '--explain cannot be combined with --from'],
    [['-r', 'unix:///x.sock', 'ps'], '--from cannot be combined with --runtime-endpoint'],
    [['get', 'node', '--from', 'b'], '"get node" takes only one --from'],
    [['describe', '--from', 'b', '--explain'], '--explain cannot be combined with --from'],
    [['logs', '--previous', 'web'], 'previous terminated container main not found'],
  ])('%j', async (words, message) => {
    const {file} = await saveNode();
    const {stderr, exitCode} = await elsewhere(...words, '--from', file);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(1);
  });
});

describe('an archive that was made by somebody else', () => {
  test.each<[string, readonly string[], (parts: Parts) => void]>([
    ['a recording that is no object', ['ps'], (parts) => (parts['runtime'] = {answers: 1})],
    [
      'a list of numbers',
      ['ps'],
      (parts) => (at(parts, 'runtime', 'answers')['ListContainers'] = {containers: [1]}),
    ],
    ['no list', ['pods'], (parts) => (at(parts, 'runtime', 'answers')['ListPodSandbox'] = undefined)],
    [
      'a status without form',
      ['ps', '-a', '-o', 'wide'],
      (parts) => (at(parts, 'runtime')['containers'] = ['x']),
    ],
    ['pods without names', ['get', 'pods'], (parts) => (at(parts, 'why', 'pods', 0, 'pod')['metadata'] = {})],
    ['no pods', ['describe'], (parts) => (at(parts, 'why')['pods'] = 1)],
    [
      'containers without form',
      ['get', 'pods'],
      (parts) =>
        (at(parts, 'why', 'pods', 0, 'pod', 'status')['containerStatuses'] = [{name: 'main', state: null}]),
    ],
    ['events without times', ['get', 'events'], (parts) => (at(parts, 'why', 'pods', 0)['events'] = [{}])],
    ['no Node', ['get', 'node'], (parts) => (at(parts, 'node')['node'] = [])],
    [
      'a Node without lists',
      ['describe', 'node'],
      (parts) => (at(parts, 'node', 'node')['status'] = {conditions: 1}),
    ],
    ['a report of another form', ['get', 'kubelet'], (parts) => (at(parts, 'node')['report'] = 'x')],
    [
      'details that are no text',
      ['inspect', 'web/main'],
      (parts) => (at(parts, 'details')['containers'] = []),
    ],
    [
      'stats of another form',
      ['statsp'],
      (parts) => (at(parts, 'runtime', 'answers')['ListPodSandboxStats'] = 1),
    ],
    ['a log of another form', ['logs', 'web'], (parts) => (parts['logs'] = {files: []})],
  ])('and has %s is refused', async (_, words, change) => {
    const {file} = await saveNode();
    const {stderr, stdout, exitCode} = await elsewhere(...words, '--from', await rewrite(file, change));
    expect(stdout).toBe('');
    expect(stderr).toMatch(/changed\.tgz: .*(form|does not have)/);
    expect(exitCode).toBe(1);
  });

  test('has no power over the terminal, and no path of it is read', async () => {
    const {testbed, file} = await saveNode();
    const evil = '\u001b]0;owned\u0007';
    await mkdir(join(testbed.directory, 'x'));
    const secretFile = await testbed.write('secret', '2026-01-01T00:00:00Z stdout F top-secret\n');
    const path = await rewrite(file, (parts) => {
      at(parts, 'runtime', 'answers', 'ListContainers', 'containers', 0, 'metadata')['name'] = `a${evil}`;
      at(parts, 'runtime', 'containers', 0, 'status')['logPath'] = secretFile;
    });
    const {stdout} = await elsewhere('ps', '-a', '--from', path);
    expect(stdout).toContain(String.raw`a\x1b]0;owned`);
    const info = JSON.stringify({
      runtimeSpec: {process: {args: [evil], cwd: evil}},
      config: {hostname: evil},
    });
    const withDetails = await rewrite(path, (parts) => {
      for (const infos of Object.values(parts['details'] as Record<string, Record<string, unknown>>))
        for (const id of Object.keys(infos)) infos[id] = {info};
      at(parts, 'node', 'node', 'metadata')['labels'] = {a: evil};
    });
    for (const words of [
      ['inspect', '-a', '-o', 'table'],
      ['inspectp', '-o', 'table'],
      ['describe', 'node'],
    ]) {
      const result = await elsewhere(...words, '--from', withDetails);
      expect(result.stdout).toContain(String.raw`\x1b]0;owned`);
      expect(result.stdout + result.stderr).not.toMatch(/[\u001b\u0007]/);
    }
    for (const words of [['ps', '-a', '-o', 'json'], ['get', 'pods'], ['describe'], ['logs', 'web']]) {
      const result = await elsewhere(...words, '--from', path);
      expect(result.stdout + result.stderr).not.toMatch(/[\u001b\u0007]|top-secret/);
    }
  });
});
