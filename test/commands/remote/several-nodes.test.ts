import {hostname} from 'node:os';
import {expect, onTestFinished, test} from 'vitest';
import {runKcri, type RunResult} from '../../cli/run-kcri.js';
import {aContainer, anImage, aSandbox, BUILT_AT_NANOS, FakeRuntime} from '../../fakes/fake-runtime.js';
import {installFakeSsh, remoteEndpoint} from '../../fakes/ssh/install-fake-ssh.js';
import {startRuntime as startStatsRuntime} from '../lists/stats-runtime.js';

const HOUR_NANOS = 3_600_000_000_000n;

/** Starts the runtimes of this machine and of the remote node `b`, with a pod each. */
async function startNodes() {
  const start = async (name: string, age: bigint): Promise<FakeRuntime> => {
    const sandbox = aSandbox({name, createdAt: BUILT_AT_NANOS - age});
    const container = aContainer({sandbox, name: `${name}-main`, createdAt: BUILT_AT_NANOS - age});
    const runtime = await FakeRuntime.start({
      sandboxes: [sandbox],
      containers: [container],
      images: [anImage({name: `example.com/${name}:1`})],
    });
    onTestFinished(async () => {
      await runtime.stop();
    });
    return runtime;
  };
  const [here, there] = [await start('web', HOUR_NANOS), await start('api', 0n)];
  const ssh = await installFakeSsh();
  const kcri = async (
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<RunResult> => await runKcri(args, {env: {...ssh.env, ...env}});
  return {here, there, ssh, kcri, flags: ['-r', here.endpoint, '-r', remoteEndpoint(there, 'root@b')]};
}

/** Returns the cells of these columns of a table. */
function cells(table: string, ...headers: readonly string[]): readonly (readonly string[])[] {
  const [head = '', ...rows] = table.trimEnd().split('\n');
  const starts = [...head.matchAll(/\S+(?: \S+)*/g)].map(({index}) => index);
  const names = starts.map((start, at) => head.slice(start, starts[at + 1]).trim());
  return rows.map((row) =>
    headers.map((header) => {
      const at = names.indexOf(header);
      return row.slice(starts[at], starts[at + 1]).trim();
    }),
  );
}

test.each([
  [['ps'], 'NAME', 'web-main', 'api-main'],
  [['ps', '-o', 'wide'], 'NAME', 'web-main', 'api-main'],
  [['pods'], 'NAME', 'web', 'api'],
  [['pods', '-o', 'wide'], 'NAME', 'web', 'api'],
  [['get', 'pods'], 'NAME', 'web', 'api'],
  [['get', 'pods', '-o', 'wide'], 'NAME', 'web', 'api'],
  [['images'], 'IMAGE', 'example.com/web', 'example.com/api'],
  [['images', '-o', 'wide'], 'IMAGE', 'example.com/web', 'example.com/api'],
])(
  '%j lists several nodes in the order of the endpoints, with their names',
  async (args, header, ...names) => {
    const {kcri, flags} = await startNodes();
    const {stdout, stderr, exitCode} = await kcri([...flags, ...args]);
    expect([stderr, exitCode]).toEqual(['', 0]);
    expect(cells(stdout, 'NODE', header).filter(([, name]) => names.includes(name ?? ''))).toEqual([
      [hostname(), names[0]],
      ['b', names[1]],
    ]);
  },
);

test('--sort sorts the objects of all nodes together', async () => {
  const {kcri, flags} = await startNodes();
  const sorted = async (...args: readonly string[]) =>
    cells((await kcri([...flags, 'ps', ...args])).stdout, 'NAME').flat();
  expect(await sorted('--sort=name')).toEqual(['api-main', 'web-main']);
  expect(await sorted('--sort=name', '--reverse')).toEqual(['web-main', 'api-main']);
});

test('JSON, YAML and templates have the node of each object', async () => {
  const {kcri, flags} = await startNodes();
  const {stdout} = await kcri([...flags, 'pods', '-o', 'json']);
  const {items} = JSON.parse(stdout) as {items: {node: string; metadata: {name: string}}[]};
  expect(items.map(({node, metadata}) => [node, metadata.name])).toEqual([
    [hostname(), 'web'],
    ['b', 'api'],
  ]);
  const template = '{{range .items}}{{.node}}/{{.metadata.name}} {{end}}';
  expect((await kcri([...flags, 'pods', '--template', template])).stdout.trim()).toBe(
    `${hostname()}/web b/api`,
  );
});

test('one endpoint shows no nodes', async () => {
  const {kcri, here} = await startNodes();
  const {stdout} = await kcri(['-r', here.endpoint, 'pods', '-o', 'json']);
  expect(stdout).not.toContain('"node"');
  expect((await kcri(['-r', here.endpoint, 'pods'])).stdout).not.toContain('NODE');
});

test('stats and statsp show the node of each object', async () => {
  const [here, there] = [await startStatsRuntime(), await startStatsRuntime()];
  const ssh = await installFakeSsh();
  const flags = ['-r', here.endpoint, '-r', remoteEndpoint(there, 'b')];
  for (const command of ['stats', 'statsp']) {
    const {stdout} = await runKcri([...flags, command, '-o', 'json'], {env: ssh.env});
    const {stats} = JSON.parse(stdout) as {stats: {node: string}[]};
    expect(new Set(stats.map(({node}) => node))).toEqual(new Set([hostname(), 'b']));
  }
});

test('an unreachable node is reported and does not hide the others', async () => {
  const {kcri, here, ssh} = await startNodes();
  const flags = ['-r', 'ssh://refusing/x.sock', '-r', here.endpoint, '-r', 'ssh://root@b/nonexistent.sock'];
  for (const command of ['ps', 'pods', 'images', 'stats', 'statsp']) {
    const {stdout, stderr, exitCode} = await kcri([...flags, command]);
    expect(stdout).toContain('NODE');
    expect(stderr).toMatch(/^kcri: cannot connect to "refusing" through ssh: .*Connection refused$/m);
    expect(stderr).toMatch(
      /^kcri: node "b": .*cannot connect to \/nonexistent\.sock: no such file or directory$/m,
    );
    expect(exitCode).toBe(1);
  }
  expect(await ssh.leftovers()).toEqual([]);
});

test('nodes with the same name are shown with their endpoints, and a repeated endpoint once', async () => {
  const {kcri, here, there} = await startNodes();
  const flags = [here.endpoint, there.endpoint, here.endpoint].flatMap((endpoint) => ['-r', endpoint]);
  const {stdout} = await kcri([...flags, 'pods', '--template', '{{range .items}}{{.node}} {{end}}']);
  expect(stdout.trim()).toBe(`${here.endpoint} ${there.endpoint}`);
});

test('get pods and describe find a pod on one of several nodes', async () => {
  const {kcri, flags} = await startNodes();
  const {stdout, stderr, exitCode} = await kcri([...flags, 'describe', 'api']);
  expect([stderr, exitCode]).toEqual(['', 0]);
  expect(stdout).toMatch(/^node b\n\nName: +api\n/);
  expect((await kcri([...flags, 'get', 'pods', 'web'])).stdout).not.toContain('api');
  expect((await kcri([...flags, 'get', 'pods', '-w'])).stderr).toContain('--watch takes only one node');
});

test.each([[['exec', 'web', 'ls']], [['logs', 'web']], [['get', 'all']], [['stop', 'web']], [['version']]])(
  '%j refuses several endpoints',
  async (args) => {
    const {kcri, flags, here} = await startNodes();
    const {stderr, exitCode} = await kcri([...flags, ...args]);
    expect(stderr).toMatch(
      /^kcri: ".*" takes only one --runtime-endpoint\nhint: get pods, describe, ps, pods, images, stats, statsp, top, ui, why and doctor take several/,
    );
    expect([exitCode, here.calls]).toEqual([1, []]);
  },
);

test.each(['images', 'top'])('several endpoints cannot share an image endpoint: %s', async (command) => {
  const {kcri, flags, here} = await startNodes();
  const {stderr, exitCode} = await kcri([...flags, '-i', here.endpoint, command]);
  expect(stderr).toContain('several runtime endpoints cannot have one image endpoint');
  expect(exitCode).toBe(1);
});

test('under the name crictl, the last endpoint is used', async () => {
  const {kcri, here, there} = await startNodes();
  const flags = ['-r', here.endpoint, '-r', there.endpoint];
  const {stdout} = await kcri([...flags, 'pods', '-q', '--no-trunc'], {KCRI_COMPAT: 'crictl'});
  expect(stdout.trim()).toBe(there.sandboxes[0]!.id);
});

test('an error of the command line is reported once', async () => {
  const {kcri, flags} = await startNodes();
  const {stderr, exitCode} = await kcri([...flags, 'ps', '--sort=nothing']);
  expect(stderr.match(/^kcri: /gm)).toHaveLength(1);
  expect(exitCode).toBe(1);
});
