import {join} from 'node:path';
import {hostname} from 'node:os';
import {describe, expect, onTestFinished, test} from 'vitest';
import {runKcri, type RunOptions, type RunResult} from '../../cli/run-kcri.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {installFakeSsh, remoteEndpoint} from '../../fakes/ssh/install-fake-ssh.js';
import {aContainerSpec, aManifest, createTestbed} from '../command-testbed.js';

/** Two nodes: this machine with a pod that failed, and the remote node `b` without pods. */
async function startNodes() {
  const testbed = await createTestbed({behaviour: () => ({exitCode: 3, stderr: 'no database\n'})});
  const containers = [aContainerSpec('main')];
  await testbed.run(['sync', '-'], {stdin: aManifest({restartPolicy: 'Never', containers})});
  const there = await FakeRuntime.start();
  onTestFinished(async () => {
    await there.stop();
  });
  const ssh = await installFakeSsh();
  const kcri = async (words: readonly string[], options: RunOptions = {}): Promise<RunResult> => {
    const result = await runKcri(['--root-dir', testbed.rootDir, ...words], {...options, env: ssh.env});
    expect(await ssh.leftovers()).toEqual([]);
    return result;
  };
  const {endpoint} = testbed.runtime;
  const remote = remoteEndpoint(there, 'root@b');
  return {testbed, kcri, here: endpoint, remote, both: ['-r', endpoint, '-r', remote]};
}

interface NodeJson {
  readonly node: string;
  readonly result: string;
  readonly error?: string;
  readonly items?: readonly {readonly id: string; readonly result: string; readonly reason?: string}[];
}

const nodesOf = ({stdout}: RunResult): readonly NodeJson[] =>
  (JSON.parse(stdout) as {nodes: readonly NodeJson[]}).nodes;

describe('doctor', () => {
  test('examines a remote node by its files and its runtime', async () => {
    const {kcri, remote} = await startNodes();
    const {stdout, exitCode} = await kcri(['-r', remote, 'doctor', '-o', 'json']);
    const {items} = JSON.parse(stdout) as {items: NonNullable<NodeJson['items']>};
    const results = new Map(items.map((item) => [item.id, item]));
    for (const id of ['runtime/reachable', 'runtime/ready', 'security/runtime-socket', 'kernel/files'])
      expect(results.get(id)).toMatchObject({result: 'ok'});
    // Files, directories, processes and the space of disks are read; what only a program on the node can read is not.
    for (const id of ['disk/space', 'cgroups/version', 'kernel/pids', 'memory/available'])
      expect(results.get(id)?.result).not.toBe('skipped');
    // Programs on the node read what files do not have.
    if (process.getuid?.() === 0) expect(results.get('kernel/hung-tasks')?.result).not.toBe('skipped');
    expect(results.get('disk/network-mounts')?.result).not.toBe('skipped');
    expect([1, 2]).toContain(exitCode);
  });

  // Proves: doctor --from
  test('prints a line about each of several nodes, and what is not ok', async () => {
    const {kcri, both, here} = await startNodes();
    const only = ['--only', 'runtime/reachable,runtime/version'];
    const {stdout, exitCode} = await kcri([...both, '-r', 'ssh://refusing/x.sock', 'doctor', ...only]);
    expect(stdout).toMatch(/^NODE +RESULT +OK +WARNINGS +FAILURES +SKIPPED +WORST FINDING$/m);
    expect(stdout).toMatch(new RegExp(`^${hostname()} +(ok|warning) +[12] +[01] +0 +[01] `, 'm'));
    expect(stdout).toMatch(/^b +(ok|warning) +[12] +[01] +0 +[01] /m);
    expect(stdout).toMatch(/^refusing +failure +- +- +- +- +cannot connect to "refusing" through ssh/m);
    expect(stdout).toMatch(/^node refusing\n.*Connection refused/m);
    expect(stdout).not.toMatch(/^ok /m);
    expect(exitCode).toBe(2);
    const results = nodesOf(await kcri([...both, 'doctor', '-o', 'json']));
    expect(results.map(({node}) => node)).toEqual([hostname(), 'b']);
    expect((await kcri(['-r', here, '-r', here, 'doctor', '--save', 'x.tgz'])).stderr).toContain(
      '--save takes only one --runtime-endpoint',
    );
  });

  test('exits with the worst of several nodes', async () => {
    const {kcri, here} = await startNodes();
    const only = ['doctor', '--only', 'runtime/reachable'];
    expect((await kcri(['-r', here, '-r', here, ...only])).exitCode).toBe(0);
    const missing = ['-r', here, '-r', 'unix:///nonexistent/cri.sock', ...only];
    const {stdout, exitCode} = await kcri(missing);
    expect(stdout).toMatch(/^unix:\/\/\/nonexistent\/cri\.sock +failure +0 +0 +1 +0 +runtime\/reachable: /m);
    expect(exitCode).toBe(2);
  });

  test('saves a remote node, and examines several saved nodes', async () => {
    const {testbed, kcri, remote} = await startNodes();
    const file = join(testbed.directory, 'b.tgz');
    expect((await kcri(['-r', remote, 'doctor', '--save', file])).stderr).toMatch(/^saved node b to /);
    const {stdout} = await kcri(['doctor', '--from', file, '--from', file.replace('b.tgz', './b.tgz')]);
    expect(stdout.match(/b\.tgz +(warning|failure) /g)).toHaveLength(2);
    expect((await kcri(['pods', '--from', file])).stderr).toMatch(/b\.tgz: node b as of /);
  });
});

describe('why', () => {
  test('prints the answer of each of several nodes, and what is wrong', async () => {
    const {kcri, both} = await startNodes();
    const {stdout, exitCode} = await kcri([...both, 'why', 'web']);
    expect(stdout).toMatch(/^NODE +ANSWER$/m);
    expect(stdout).toMatch(
      new RegExp(`^${hostname()} +default/web +Error: container main ended by itself`, 'm'),
    );
    expect(stdout).toMatch(/^b +not on this node$/m);
    expect(stdout).toMatch(
      new RegExp(`^node ${hostname()}\\ndefault/web +Error\\ncause +container main`, 'm'),
    );
    expect(stdout).not.toMatch(/^node b$/m);
    expect(exitCode).toBe(1);
  });

  test('asks several nodes what is wrong with them', async () => {
    const {kcri, both} = await startNodes();
    const {stdout, exitCode} = await kcri([...both, 'why']);
    expect(stdout).toMatch(new RegExp(`^${hostname()} +1 pod, 1 not well: default/web +Error: `, 'm'));
    expect(stdout).toMatch(/^b +0 pods, all well$/m);
    expect(exitCode).toBe(1);
    const {nodes} = JSON.parse((await kcri([...both, 'why', '-o', 'json'])).stdout) as {
      nodes: {name: string; wrong: boolean; items: object[]}[];
    };
    expect(nodes.map(({name, wrong, items}) => [name, wrong, items.length])).toEqual([
      [hostname(), true, 1],
      ['b', false, 0],
    ]);
  });

  test('reports a word that names nothing on any node, and a node that does not answer', async () => {
    const {kcri, both, remote} = await startNodes();
    const none = await kcri([...both, 'why', 'nothing']);
    expect(none.stderr.match(/no pod or container "nothing"/g)).toHaveLength(1);
    expect(none.exitCode).toBe(2);
    const lost = await kcri(['-r', 'ssh://refusing/x.sock', '-r', remote, 'why']);
    expect(lost.stdout).toMatch(/^refusing +cannot connect to "refusing" through ssh/m);
    expect(lost.exitCode).toBe(2);
  });

  test('answers from several saved nodes', async () => {
    const {testbed, kcri, here, remote} = await startNodes();
    const [a, b] = ['a', 'b'].map((name) => join(testbed.directory, `${name}.tgz`));
    await kcri(['-r', here, 'doctor', '--save', a ?? '']);
    await kcri(['-r', remote, 'doctor', '--save', b ?? '']);
    const {stdout, exitCode} = await kcri(['why', '--from', a ?? '', '--from', b ?? '', 'web']);
    expect(stdout).toMatch(/^a +default\/web +Error: /m);
    expect(stdout).toMatch(/^b +not on this node$/m);
    expect(exitCode).toBe(1);
  });
});
