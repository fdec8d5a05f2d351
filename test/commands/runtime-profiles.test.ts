import {writeFileSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {commandPaths} from '../../src/cli/catalog/command-files.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {until} from '../base/until.js';
import {runKcri, type RunOptions, type RunResult} from '../cli/run-kcri.js';
import {
  aContainer,
  anImage,
  aSandbox,
  BUSYBOX,
  FakeRuntime,
  PROFILES,
  type ProfileName,
} from '../fakes/fake-runtime.js';
import type {Rpc} from '../fakes/runtime/cri-messages.js';
import {FakeStreamingServer} from '../fakes/streaming/fake-streaming-server.js';
import {answering, startFakePortForwardServer} from '../streaming/port-forward/fake-port-forward-server.js';
import {aManifest, createTestbed} from './command-testbed.js';
import {FAST_CLOCK, interruptAt} from './interrupt-watch.js';
import {startKubelet} from './kubelet/kubelet-testbed.js';
import {startUi} from './ui/ui-testbed.js';

/*
 * Runs every command that calls the runtime on the profile of each runtime. What a command does is tested elsewhere.
 */

const NAMES = Object.keys(PROFILES) as readonly ProfileName[];

/** Commands that do not call the runtime, or only that of `kcri runtime`. */
const WITHOUT_RUNTIME =
  /^(completion|config|explain|options|record\/diff|runtime\/.*|.*\/jsonschema|get\/events)$/;

const BARE_WEB = aSandbox({name: 'web', labels: {app: 'web'}});
const PORT = {hostPort: 18_099, containerPort: 8080, protocol: 'TCP', hostIp: ''} as const;
const WEB = {...BARE_WEB, config: {...BARE_WEB.config, portMappings: [PORT]}};
const API = aSandbox({name: 'api', namespace: 'prod'});
const OLD = aSandbox({name: 'old', state: 'SANDBOX_NOTREADY'});
const MAIN = aContainer({sandbox: WEB, name: 'main', labels: {app: 'web'}});

/** A runtime with pods, containers, images and a log, and paths of config files. */
interface Scene {
  readonly runtime: FakeRuntime;
  readonly container: string;
  readonly sandbox: string;
  readonly directory: string;
}

async function startScene(profile: ProfileName, streamingUrl?: string): Promise<Scene> {
  const directory = await temporaryDirectory();
  const write = async (name: string, content: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, content);
    return path;
  };
  const container = await write(
    'container.json',
    JSON.stringify({metadata: {name: 'main'}, image: {image: BUSYBOX}, command: ['sleep', '60']}),
  );
  const sandbox = await write(
    'pod.json',
    JSON.stringify({metadata: {name: 'new', namespace: 'default', uid: 'u1'}, log_directory: directory}),
  );
  const logPath = await write('main.log', '2026-11-21T10:00:00.000000000Z stdout F one line\n');
  const runtime = await FakeRuntime.start({
    profile,
    streamingUrl,
    images: [
      {...anImage(), spec: {history: [{created_by: 'ADD busybox'}], rootfs: {diff_ids: ['sha256:1']}}},
      anImage({name: 'localhost:5000/old:1'}),
      anImage({name: 'localhost:5000/pause:3', pinned: true}),
    ],
    registry: [anImage(), anImage({name: 'localhost:5000/new:1'})],
    sandboxes: [API, OLD],
    containers: [
      {...MAIN, logPath},
      aContainer({sandbox: API, name: 'server'}),
      aContainer({sandbox: API, name: 'ready', state: 'CONTAINER_CREATED'}),
      aContainer({sandbox: API, name: 'done', state: 'CONTAINER_EXITED'}),
    ],
  });
  onTestFinished(async () => {
    await runtime.stop();
  });
  return {runtime, container, sandbox, directory};
}

/** A command line that succeeds unless the runtime lacks an RPC. */
interface CommandCase {
  readonly args: (scene: Scene) => readonly string[];
  /** The RPC without which the command fails. */
  readonly needs?: Rpc;
  /** True if it measures for a second. */
  readonly isMeasured?: boolean;
  /** Matches standard output. */
  readonly prints: RegExp;
}

const words = (line: string) => (): readonly string[] => line.split(' ');

const CASES: Readonly<Record<string, CommandCase>> = {
  version: {args: words('version'), prints: /^Version: +0\.1\.0\nRuntimeName: +\S+\nRuntimeVersion: +\S+\n/},
  info: {args: words('info -o json'), prints: /"RuntimeReady"/},
  'runtime-config': {args: words('runtime-config'), needs: 'RuntimeConfig', prints: /CGROUPFS/},
  'update-runtime-config': {args: words('update-runtime-config -p 10.1.0.0/24'), prints: /^$/},
  'get/node': {args: words('get node -o wide'), prints: /^NAME .*\n\S+ +Ready /},
  'describe/node': {args: words('describe node'), prints: /^ +Container Runtime Version: /m},
  imagefsinfo: {args: words('imagefsinfo'), prints: /"usedBytes"/},
  ps: {
    args: words('ps --pod web --label app=web --image localhost:5000/busybox -o name'),
    prints: /^\S*main\n$/,
  },
  'ps, by a prefix of the ID of a pod': {
    args: () => ['ps', '-q', '--pod', WEB.id.slice(0, 13)],
    prints: new RegExp(`^${MAIN.id}\n$`),
  },
  pods: {args: words('pods --state ready --label app=web'), prints: /^[^\n]*\n[^\n]* web [^\n]*\n$/},
  images: {args: words('images localhost:5000/old'), prints: /^[^\n]*\n\S+old +1 [^\n]*\n$/},
  inspect: {args: words('inspect main'), prints: /"state": "CONTAINER_RUNNING"/},
  'inspect, as a table': {args: words('inspect -o table main'), prints: /busybox/},
  inspectp: {args: words('inspectp web'), prints: /"state": "SANDBOX_READY"/},
  'get/images': {args: words('get images'), prints: /localhost:5000\/old/},
  generate: {args: words('generate web'), prints: /^apiVersion: v1\nkind: Pod\n/},
  history: {args: words(`history ${BUSYBOX}`), prints: /ADD busybox/},
  inspecti: {args: words(`inspecti ${BUSYBOX}`), prints: /"repoTags"/},
  stats: {isMeasured: true, args: words('stats --label app=web'), prints: /^[^\n]*\n[^\n]* main [^\n]*\n$/},
  statsp: {
    isMeasured: true,
    args: words('statsp --label app=web'),
    needs: 'ListPodSandboxStats',
    prints: /\nweb /,
  },
  metricsp: {args: words('metricsp'), needs: 'ListPodSandboxMetrics', prints: /podMetrics/},
  metricdescs: {args: words('metricdescs'), needs: 'ListMetricDescriptors', prints: /descriptors/},
  logs: {args: words('logs web'), prints: /^one line\n$/},
  'exec, synchronously': {args: words('exec -s web echo hello'), prints: /^hello\n$/},
  'exec, with a filter': {args: words('exec -sq --label app=web echo hello'), prints: /^hello\n$/},
  checkpoint: {
    args: ({directory}) => ['checkpoint', '--export', join(directory, 'main.tar'), 'main'],
    needs: 'CheckpointContainer',
    prints: /main/,
  },
  update: {args: words('update --memory 64Mi main'), prints: /main/},
  pull: {args: words('pull localhost:5000/new:1'), prints: /^Image is up to date for \S+\n$/},
  rmi: {args: words('rmi localhost:5000/old:1'), prints: /^Deleted: localhost:5000\/old:1\n$/},
  'rmi, of all unused images': {args: words('rmi --prune'), prints: /Deleted: localhost:5000\/old:1\n/},
  'image/prune': {
    args: words('image prune --all --yes'),
    prints: /\nDeleted: localhost:5000\/old:1\nRemoved 1 image; freed up to 2.17MB\n$/,
  },
  'system/df': {args: words('system df -v'), prints: /^TYPE .*\nImages +3 +1 +6.5MB +2.17MB \(33%\)\n/},
  'system/prune': {
    args: words('system prune --all --yes'),
    prints: /\nRemoved 0 containers, 0 pods, 1 image; freed up to 2.17MB\n$/,
  },
  create: {
    args: ({container, sandbox}) => ['create', API.id, container, sandbox],
    prints: /^[0-9a-f]{64}\n$/,
  },
  start: {args: words('start ready'), prints: /ready/},
  stop: {args: words('stop main'), prints: /main/},
  timeline: {args: words('timeline web -o table'), prints: /^POD +PHASE [^]*\n\S+\/web +running +main /},
  tree: {args: words('tree web'), prints: /container main \w{13} +Running\n$/},
  doctor: {args: words('doctor --only runtime/ready'), prints: /^ok +runtime\/ready +RuntimeReady and /},
  why: {args: words('why web'), prints: /^default\/web {2}Running, 1\/1 ready: nothing is wrong\n$/},
  replay: {
    args: ({directory}) => {
      const time = '2026-11-28T00:00:00.000000Z';
      const call = {
        service: 'runtime.v1.RuntimeService',
        method: 'Version',
        time,
        request: {},
        code: 'OK',
        durationMs: 1,
      };
      const file = join(directory, 'calls.jsonl');
      writeFileSync(
        file,
        [{recording: {version: 1}}, call].map((line) => `${JSON.stringify(line)}\n`).join(''),
      );
      return ['replay', file];
    },
    prints: /^$/,
  },
  record: {args: words('record --summary -- true'), prints: /^METHOD +CALLS +ERRORS /},
  wait: {
    args: words('wait web/main --for=condition=Ready'),
    prints: /^container\/web\/main condition met\n$/,
  },
  rm: {args: words('rm done'), prints: /done/},
  runp: {args: ({sandbox}) => ['runp', sandbox], prints: /^[0-9a-f]{64}\n$/},
  stopp: {args: words('stopp web'), prints: /web/},
  rmp: {args: words('rmp old'), prints: /old/},
  // The pods have no volumes that the node knows.
  'get/volumes': {args: words('get volumes'), prints: /^$/},
  // No pod of a workload runs; it prints no heading for an empty list.
  'get/workloads': {args: words('get workloads'), prints: /^$/},
  'get/all': {args: words('get all'), prints: /^NAMESPACE +NAME +READY +STATUS .*\n\S+ +\S+ +\d\/\d +/},
  'run, an image': {args: words(`run --rm ${BUSYBOX} -- echo hello`), prints: /^hello\n$/},
  debug: {args: words(`debug main --image=${BUSYBOX} -- echo hello`), prints: /^hello\n$/},
  run: {args: ({container, sandbox}) => ['run', container, sandbox], prints: /^[0-9a-f]{64}\n$/},
};

/** Commands that need a scene of their own, below. */
const FLOWS = [
  'attach',
  'cp',
  'delete',
  'describe',
  'diff',
  'events',
  'exec',
  'get/kubelet',
  'get/pods',
  'image/load',
  'image/save',
  'image/tag',
  'image/untag',
  'kubelet',
  'plan',
  'port-forward',
  'restart',
  'sync',
  'top',
  'ui',
];

test('every command that calls the runtime has a case', () => {
  const tested = [...Object.keys(CASES).map((name) => name.replace(/,.*/, '')), ...FLOWS];
  expect(commandPaths().filter((path) => !WITHOUT_RUNTIME.test(path) && !tested.includes(path))).toEqual([]);
});

/** Runs kcri and returns the result, whose error for a missing RPC has one line and a hint. */
async function run(
  {runtime, directory}: Scene,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  return await runKcri(['--root-dir', join(directory, 'root'), ...args], {
    endpoint: runtime.endpoint,
    ...options,
  });
}

function expectMissing({stderr, exitCode}: RunResult, rpc: Rpc): void {
  expect(stderr).toMatch(new RegExp(`^kcri: .*\nhint: this runtime does not implement ${rpc}.*\n$`));
  expect(exitCode).toBe(1);
}

describe.each(NAMES)('on %s', (profile) => {
  const lacks = (rpc: Rpc | undefined): rpc is Rpc =>
    rpc !== undefined && PROFILES[profile].unimplemented.includes(rpc);

  test.each(Object.entries(CASES))('%s', async (_, {args, needs, prints, isMeasured = false}) => {
    const scene = await startScene(profile);
    const result = await run(scene, args(scene), isMeasured ? {clock: FAST_CLOCK} : {});
    if (lacks(needs)) {
      expectMissing(result, needs);
      return;
    }
    expect({stderr: /^kcri: (?!note: ).*/m.exec(result.stderr)?.[0], exitCode: result.exitCode}).toEqual({
      exitCode: 0,
    });
    expect(result.stdout).toMatch(prints);
  });

  test('pods -o wide shows the host ports that the runtime reports', async () => {
    const {stdout} = await run(await startScene(profile), ['pods', '-o', 'wide', '--name', 'web']);
    // cri-dockerd has no info of a sandbox.
    expect(stdout.includes('18099->8080/TCP')).toBe(profile !== 'cri-dockerd');
  });

  test.each([['cp'], ['diff']])('%s rejects a process that is not of the container', async (command) => {
    const scene = await startScene(profile);
    const args = command === 'cp' ? ['main:/etc/hosts', scene.directory] : ['main'];
    const {stderr, exitCode} = await run(scene, [command, ...args]);
    expect(stderr).toMatch(
      /^kcri: the (process 4322|files) of the container "main" .*not visible.*\nhint: .*\n$/,
    );
    expect(exitCode).toBe(1);
  });

  // These fakes have no services besides the CRI: what the commands do with them is tested in test/commands/image.
  test('image tag, untag, save and load name the runtime and what works instead', async () => {
    const scene = await startScene(profile);
    const untagged = await run(scene, ['image', 'untag', BUSYBOX]);
    expect(untagged.stderr).toMatch(/is the last name of the image/);
    for (const args of [
      ['tag', BUSYBOX, 'x'],
      ['save', '-o', join(scene.directory, 'x.tar'), BUSYBOX],
      ['load', scene.container],
    ]) {
      const {stderr, exitCode} = await run(scene, ['image', ...args], {env: {PATH: scene.directory}});
      expect(stderr).toMatch(/"kcri image \w+" needs (containerd|podman|skopeo).*\nhint: .*\n$/);
      expect(exitCode).toBe(1);
    }
  });

  test('logs --reopen fails only on a runtime that cannot reopen logs', async () => {
    const {stderr, exitCode} = await run(await startScene(profile), ['logs', '--reopen', 'main']);
    const {reopenError} = PROFILES[profile];
    if (reopenError !== undefined) expect(stderr).toContain(reopenError);
    expect(exitCode).toBe(reopenError === undefined ? 0 : 1);
  });

  test.each([
    ['exec', 'main', 'true'],
    ['attach', 'main'],
  ])('%s', async (...args) => {
    const server = await FakeStreamingServer.start({
      handleSession: (session) => {
        session.stream('stdout').send('hello');
        session.sendExitCode(0);
      },
    });
    onTestFinished(() => server[Symbol.asyncDispose]());
    const {stdout, exitCode} = await run(await startScene(profile, server.url), args);
    expect({stdout, exitCode}).toEqual({stdout: 'hello', exitCode: 0});
  });

  test('port-forward', async () => {
    const server = await startFakePortForwardServer({onRequest: answering('hello')});
    onTestFinished(() => server[Symbol.asyncDispose]());
    const scene = await startScene(profile, server.base);
    const {exitCode, stderr} = await run(scene, ['port-forward', 'web', ':80'], interruptAt(/->/));
    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
    expect(server.connections).toBe(1);
  });

  test('events', async () => {
    const scene = await startScene(profile);
    const running = run(scene, ['events'], interruptAt(/CONTAINER_STOPPED_EVENT/));
    if (lacks('GetContainerEvents')) {
      const missing = await running;
      expectMissing(missing, 'GetContainerEvents');
      expect(missing.stderr).toContain('; "kcri get events" shows the events that kcri has stored');
    } else if (PROFILES[profile].sendsEvents) {
      await until(() => scene.runtime.state.events.listeners > 0);
      scene.runtime.exitContainer(MAIN.id, 0);
      expect(await running).toMatchObject({stderr: '', exitCode: 0});
    } else {
      expect((await running).stderr).toMatch(/\nhint: .*enable_pod_events/);
    }
  });

  test('sync, plan, get pods, describe, top, ui, restart, delete', async () => {
    const testbed = await createTestbed({profile});
    const manifest = await testbed.write('web.json', aManifest());
    const kcri = async (args: readonly string[], options: RunOptions = {}): Promise<string> => {
      const result = await runKcri(['--root-dir', testbed.rootDir, ...args], {
        endpoint: testbed.runtime.endpoint,
        ...options,
      });
      expect(result).toMatchObject({exitCode: 0});
      return result.stdout;
    };
    const logs = ['--pod-logs-dir', testbed.logsDir];
    await kcri(['sync', ...logs, manifest]);
    expect(await kcri(['plan', ...logs, manifest])).toContain('web');
    expect(await kcri(['get', 'pods'])).toMatch(/^web +1\/1 +Running +0 /m);
    expect(await kcri(['describe', 'web'])).toMatch(/^ +State: +Running$/m);
    expect(await kcri(['top', '--once'], {clock: FAST_CLOCK})).toMatch(/^default\/web +1\/1 /m);
    const ui = await startUi(['--root-dir', testbed.rootDir, 'ui'], {endpoint: testbed.runtime.endpoint});
    await ui.page.signIn();
    const live = await ui.page.live();
    await live.until(() => live.pod('web')?.state === 'Running');
    await live.until(() => live.last?.nodes[0]?.runtime !== undefined);
    await ui.interrupt();
    const restarted = await runKcri(['--root-dir', testbed.rootDir, 'restart', 'web', '-t', '0'], {
      endpoint: testbed.runtime.endpoint,
    });
    if (profile === 'cri-dockerd') expect(restarted.stderr).toContain('does not return its config');
    else
      expect(restarted).toMatchObject({
        stdout: expect.stringContaining('restarted as') as string,
        exitCode: 0,
      });
    await kcri(['delete', 'web']);
    expect(testbed.runtime.sandboxes).toEqual([]);
  });

  test('kubelet, get kubelet', async () => {
    const {writeManifest, run: kcri, stop, testbed} = await startKubelet({runtime: {profile}});
    await writeManifest('web.json', aManifest());
    await until(() => testbed.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
    expect(await kcri(['get', 'kubelet'])).toMatchObject({exitCode: 0});
    expect(await stop()).toMatchObject({exitCode: 0});
    expect(testbed.runtime.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
  });
});
