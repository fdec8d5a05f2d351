import {execFileSync} from 'node:child_process';
import {chmod, mkdir, symlink, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {beforeEach, describe, expect, test} from 'vitest';
import {PodValidationError} from '../../../src/api/decoding/manifest-issue.js';
import {FieldPath} from '../../../src/api/field-path.js';
import {ConfigError, UsageError} from '../../../src/base/errors.js';
import {readManifests, type ReadManifestsOptions} from '../../../src/operations/manifests/read-manifests.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

let directory: string;

beforeEach(async () => {
  directory = await temporaryDirectory();
});

function manifest(name: string): string {
  return `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: i}]}\n`;
}

async function write(name: string, content: string | Uint8Array): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, content);
  return file;
}

async function read(
  sources: readonly string[],
  options: Partial<ReadManifestsOptions> = {},
): ReturnType<typeof readManifests> {
  return await readManifests(sources, {
    stdin: Readable.from([]),
    signal: new AbortController().signal,
    ...options,
  });
}

async function namesOf(...sources: readonly string[]): Promise<unknown[]> {
  const {pods} = await read(sources);
  return pods.map(({pod}) => pod.metadata.name);
}

/** Runs `work` as an unprivileged user, since root may read everything. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  const root = process.getuid?.() === 0;
  if (root) process.seteuid?.(65534);
  try {
    await work();
  } finally {
    if (root) process.seteuid?.(0);
  }
}

describe('readManifests reads', () => {
  test('several files in order, with defaults and positions', async () => {
    const b = await write('b.yaml', manifest('b'));
    const a = await write('a.txt', `# a comment\n---\n${manifest('a1')}---\n${manifest('a2')}`);
    const {pods, warnings} = await read([b, a]);
    expect(pods.map(({pod, file, line}) => [pod.metadata.name, file, line])).toEqual([
      ['b', b, 1],
      ['a1', a, 3],
      ['a2', a, 8],
    ]);
    expect(pods[0]?.pod.spec).toMatchObject({restartPolicy: 'Always', terminationGracePeriodSeconds: 30});
    expect(warnings).toEqual([]);
  });

  test('the manifests of a directory by name, without hidden files, subdirectories and other files', async () => {
    await write(
      'b.json',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {name: 'b'},
        spec: {containers: [{name: 'c', image: 'i'}]},
      }),
    );
    await write('a.yml', manifest('a'));
    await write('c.yaml', manifest('c'));
    await write('.hidden.yaml', 'broken: [');
    await write('notes.txt', 'not a manifest');
    await mkdir(join(directory, 'd.yaml'));
    expect(await namesOf(directory)).toEqual(['a', 'b', 'c']);
  });

  test('a file through a symbolic link', async () => {
    const target = await write('target', manifest('linked'));
    await symlink(target, join(directory, 'link.yaml'));
    expect(await namesOf(directory)).toEqual(['linked']);
  });

  test('standard input, even if a character is split between chunks', async () => {
    const bytes = Buffer.from(manifest('a').replace('name: a', 'name: a, annotations: {note: ü}'));
    const split = bytes.indexOf(0xc3) + 1;
    const stdin = Readable.from([bytes.subarray(0, split), bytes.subarray(split)]);
    const {pods} = await read(['-'], {stdin});
    expect(pods.map(({pod, file}) => [pod.metadata.annotations, file])).toEqual([[{note: 'ü'}, 'stdin']]);
  });

  test('unknown fields as warnings if lenient', async () => {
    const file = await write('a.yaml', `${manifest('a')}extra: 1\n`);
    const {pods, warnings} = await read([file], {lenient: true});
    expect(pods).toHaveLength(1);
    expect(warnings).toEqual([`${file}:5:1: unknown field "extra"`]);
  });

  test('duplicate keys as warnings if lenient', async () => {
    const file = await write('a.yaml', `${manifest('a')}kind: Pod\n`);
    await expect(read([file])).rejects.toThrow('a.yaml:5:1: yaml: key "kind" already set in map');
    const {warnings} = await read([file], {lenient: true});
    expect(warnings).toEqual([
      `${file}:5:1: yaml: key "kind" already set in map (line 2, column 1); this one is used`,
    ]);
  });

  test('JSON objects one after the other, from a file and from standard input', async () => {
    const [config, pod] = [
      {kind: 'ConfigMap'},
      {kind: 'Pod', spec: {containers: [{name: 'c', image: 'i'}]}},
    ].map((object) => JSON.stringify({apiVersion: 'v1', metadata: {name: 'w'}, ...object}));
    const file = await write('a.json', `${config}\n${pod}\n`);
    expect(await namesOf(file)).toEqual(['w']);
    const {pods, objects} = await read(['-'], {stdin: Readable.from([`${config}${pod}`])});
    expect([pods.length, objects.length]).toEqual([1, 1]);
    expect(pods[0]?.column).toBe((config?.length ?? 0) + 1);
  });
});

describe('readManifests rejects', () => {
  test('all problems of all files at once', async () => {
    const a = await write('a.yaml', manifest('A'));
    const b = await write('b.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nextra: 1\n');
    const failure: unknown = await read([a, b]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PodValidationError);
    expect((failure as PodValidationError).issues.map(({file, line, path}) => [file, line, path])).toEqual([
      [a, 3, 'metadata.name'],
      [b, 1, 'spec.containers'],
      [b, 4, 'extra'],
    ]);
  });

  test('all invalid files of a directory at once, also those that are no manifests', async () => {
    await write('a.yaml', '');
    await symlink('/nonexistent', join(directory, 'b.yaml'));
    await write('c.yaml', Buffer.from([0xff, 0xfe, 0xff]));
    await write('d.yaml', manifest('good'));
    const parts = [
      `no Pod in "${directory}/a.yaml"`,
      `cannot read manifest "${directory}/b.yaml": no such file or directory`,
      `"${directory}/c.yaml" is not UTF-8 text`,
    ];
    const failure: unknown = await read([directory]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigError);
    expect((failure as ConfigError).message).toBe(parts.join('\n'));
    const e = await write('e.yaml', 'foo: [\n');
    const f = await write('f.yaml', manifest('F'));
    const invalid: unknown = await read([directory, join(directory, 'g.yaml')]).catch(
      (error: unknown) => error,
    );
    expect(invalid).toBeInstanceOf(PodValidationError);
    const {message, issues} = invalid as PodValidationError;
    const missing = `cannot read manifest "${directory}/g.yaml": no such file or directory`;
    expect(message.split('\n').slice(0, 4)).toEqual([...parts, missing]);
    expect(issues.map(({file}) => file)).toEqual([e, f]);
  });

  test('a file that does not exist', async () => {
    const file = join(directory, 'nope.yaml');
    await expect(read([file])).rejects.toThrow(
      new ConfigError(`cannot read manifest "${file}": no such file or directory`),
    );
  });

  test('a file as directory', async () => {
    const file = join(await write('a.yaml', manifest('a')), 'b.yaml');
    await expect(read([file])).rejects.toThrow(`cannot read manifest "${file}": not a directory`);
  });

  test('a loop of symbolic links', async () => {
    const file = join(directory, 'loop.yaml');
    await symlink(file, file);
    await expect(read([file])).rejects.toThrow('too many symbolic links encountered');
  });

  test('a file without permission', async () => {
    const file = await write('a.yaml', manifest('a'));
    await chmod(file, 0);
    await asNobody(async () => {
      await expect(read([file])).rejects.toThrow(`cannot read manifest "${file}": permission denied`);
    });
  });

  test('a directory without manifests', async () => {
    await write('notes.txt', 'x');
    await expect(read([directory])).rejects.toThrow(`no manifests in directory "${directory}"`);
  });

  test('an empty file', async () => {
    const file = await write('a.yaml', '');
    await expect(read([file])).rejects.toThrow(`no Pod in "${file}"`);
  });

  test('a FIFO without waiting for a writer', async () => {
    const file = join(directory, 'fifo.yaml');
    execFileSync('mkfifo', [file]);
    await expect(read([file])).rejects.toThrow(`"${file}" is neither a file nor a directory`);
  });

  test('a socket', async () => {
    const file = join(directory, 'socket.yaml');
    const server = createServer().listen(file);
    await new Promise((resolve) => server.once('listening', resolve));
    await expect(read([file])).rejects.toThrow(`"${file}" is neither a file nor a directory`);
    server.close();
  });

  test('a device', async () => {
    await expect(read(['/dev/null'])).rejects.toThrow('"/dev/null" is neither a file nor a directory');
  });

  test('bytes that are not UTF-8', async () => {
    const file = await write('a.yaml', Buffer.from([0x61, 0x3a, 0x20, 0xff, 0xfe]));
    await expect(read([file])).rejects.toThrow(`"${file}" is not UTF-8 text`);
  });

  test('more than 10 MiB, from a file and from standard input', async () => {
    const large = Buffer.alloc(10 * 1024 * 1024 + 1, 0x20);
    const file = await write('a.yaml', large);
    await expect(read([file])).rejects.toThrow(`"${file}" is larger than 10 MiB`);
    await expect(read(['-'], {stdin: Readable.from([large])})).rejects.toThrow(
      '"stdin" is larger than 10 MiB',
    );
  });

  test('standard input twice', async () => {
    await expect(read(['-', '-'])).rejects.toBeInstanceOf(UsageError);
  });

  test('two Pods of one name, with both positions', async () => {
    const a = await write('a.yaml', manifest('same'));
    const b = await write('b.yaml', `${manifest('other')}---\n${manifest('same')}`);
    await expect(read([a, b])).rejects.toThrow(`pod "default/same" is defined twice: ${a}:1 and ${b}:6`);
  });

  test('two objects of one kind and name in one namespace', async () => {
    const secret = (metadata: string): string => `apiVersion: v1\nkind: Secret\nmetadata: ${metadata}\n`;
    const a = await write('a.yaml', `${manifest('same')}---\n${secret('{name: same}')}`);
    const b = await write('b.yaml', secret('{name: same, namespace: other}'));
    const c = await write('c.yaml', secret('{name: same, namespace: default}'));

    await expect(read([a, b])).resolves.toMatchObject({files: [a, b]});
    await expect(read([a, b, c])).rejects.toThrow(
      `Secret "default/same" is defined twice: ${a}:6 and ${c}:1`,
    );
  });

  test('manifests without Pods, unless allowed', async () => {
    const file = await write('a.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n');
    const other = await write('b.yaml', 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n');

    await expect(read([file, other])).rejects.toThrow(
      `no Pod in "${file}", "${other}", only ConfigMaps and Secrets`,
    );
    const {pods, objects} = await read([file], {allowNoPods: true});
    expect([pods.length, objects.length]).toEqual([0, 1]);
  });

  test('when aborted while it waits for a terminal', async () => {
    const controller = new AbortController();
    const stdin = new Readable({read: () => undefined});
    const reading = read(['-'], {stdin, signal: controller.signal});
    controller.abort(new ConfigError('interrupted'));
    await expect(reading).rejects.toThrow('interrupted');
    // An open stream would keep the process alive.
    expect(stdin.destroyed).toBe(true);
  });

  test('standard input that is too large without reading all of it', async () => {
    const stdin = Readable.from([Buffer.alloc(11 * 1024 * 1024), 'more']);
    await expect(read(['-'], {stdin})).rejects.toThrow('"stdin" is larger than 10 MiB');
    expect(stdin.destroyed).toBe(true);
  });
});

describe('readManifests and objects that are not Pods', () => {
  const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
`;
  const INGRESS = 'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: front}\n';

  test('a workload becomes its pods', async () => {
    const file = await write('web.yaml', DEPLOYMENT);
    const {pods, workloads} = await read([file]);
    expect(workloads.map(({workload}) => workload.kind)).toEqual(['Deployment']);
    expect(pods.map(({file: from, line}) => [from, line])).toEqual([
      [file, 1],
      [file, 1],
    ]);
    const issue = pods[0]?.createIssue({
      path: new FieldPath(['spec', 'containers', 0, 'image']),
      message: 'm',
    });
    expect(issue).toMatchObject({line: 9, column: 42, path: 'spec.template.spec.containers[0].image'});
  });

  test('an object of another kind is skipped with a warning', async () => {
    const file = await write('web.yaml', `${INGRESS}---\n${DEPLOYMENT}`);
    const {pods, warnings} = await read([file]);
    expect(pods).toHaveLength(2);
    expect(warnings).toEqual([
      `${file}:1:1: skipping Ingress "front": objects of this kind have no effect here`,
    ]);
  });

  test('an object of another kind is rejected if strict', async () => {
    const file = await write('web.yaml', `${INGRESS}---\n${DEPLOYMENT}`);
    await expect(read([file], {strict: true})).rejects.toThrow(
      `${file}:2:7: kind: Unsupported value: "Ingress": supported values: "Pod"`,
    );
  });

  test('a file with only objects of other kinds is rejected', async () => {
    const file = await write('web.yaml', INGRESS);
    await expect(read([file])).rejects.toThrow(`no Pod in "${file}", only Ingresses`);
  });

  test('more pods than a node can run are rejected', async () => {
    const file = await write('web.yaml', DEPLOYMENT.replace('replicas: 2', 'replicas: 1001'));
    await expect(read([file])).rejects.toThrow(
      'spec.replicas: Invalid value: 1001: at most 1000 pods of a workload can run on one node',
    );
    expect((await read([file], {replicas: 1})).pods).toHaveLength(1);
  });

  test('two workloads of one name are rejected', async () => {
    const file = await write('web.yaml', `${DEPLOYMENT}---\n${DEPLOYMENT}`);
    await expect(read([file])).rejects.toThrow('Deployment "default/web" is defined twice');
  });
});
