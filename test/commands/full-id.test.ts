import {onTestFinished, describe, expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {FakeRuntime, aContainer, aSandbox} from '../fakes/fake-runtime.js';
import {FakeStreamingServer} from '../fakes/streaming/fake-streaming-server.js';

const POD = 'aa'.repeat(32);
const CONTAINER = 'c1'.repeat(32);
const UNKNOWN = 'd0'.repeat(32);

interface Scene {
  readonly profile?: 'cri-dockerd';
  readonly state?: 'CONTAINER_RUNNING';
}

async function started({profile, state}: Scene = {}) {
  const streams = await FakeStreamingServer.start({
    handleSession: (session) => {
      session.sendExitCode(0);
    },
  });
  const sandbox = aSandbox({id: POD, name: 'web'});
  const runtime = await FakeRuntime.start({
    ...(profile === undefined ? {} : {profile}),
    streamingUrl: streams.url,
    sandboxes: [sandbox],
    containers: [aContainer({id: CONTAINER, sandbox, name: 'main', state: state ?? 'CONTAINER_EXITED'})],
    exec: () => ({stdout: 'done\n', stderr: '', exitCode: 0}),
  });
  onTestFinished(async () => {
    await runtime.stop();
    await streams[Symbol.asyncDispose]();
  });
  const methods = (): readonly string[] => runtime.calls.map(({method}) => method);
  const kcri = async (args: readonly string[]) => await runKcri(args, {endpoint: runtime.endpoint});
  return {kcri, methods};
}

describe('a full ID', () => {
  test.each([
    ['attach', (id: string) => ['attach', id], 'Attach'],
    ['cp', (id: string) => ['cp', `${id}:/etc/hosts`, '-'], 'ContainerStatus'],
    ['debug', (id: string) => ['debug', id, '--image=busybox'], 'ContainerStatus'],
    ['diff', (id: string) => ['diff', id], 'ContainerStatus'],
    ['exec', (id: string) => ['exec', id, 'true'], 'Exec'],
    ['exec -s', (id: string) => ['exec', '-s', id, 'true'], 'ExecSync'],
    ['inspect', (id: string) => ['inspect', id], 'ContainerStatus'],
    ['logs', (id: string) => ['logs', id], 'ContainerStatus'],
    ['logs -r', (id: string) => ['logs', '-r', id], 'ReopenContainerLog'],
  ])('is not looked up by %s, unless the runtime does not know it', async (_, argsFor, first) => {
    const known = await started();
    await known.kcri(argsFor(CONTAINER));
    expect(known.methods()[0]).toBe(first);
    const unknown = await started();
    const {stderr, exitCode} = await unknown.kcri(argsFor(UNKNOWN));
    expect(stderr).toMatch(
      new RegExp(`^kcri: .*no such container "${UNKNOWN}"\nhint: run "kcri ps -a" to list containers\n$`),
    );
    expect(exitCode).toBe(1);
    expect(unknown.methods().slice(0, 2)).toEqual([first, 'ListContainers']);
  });

  test('of a pod is not looked up by port-forward, unless the runtime does not know it', async () => {
    const {kcri, methods} = await started();
    const {stderr, exitCode} = await kcri(['port-forward', UNKNOWN, '8080']);
    expect(stderr).toBe(`kcri: no such pod "${UNKNOWN}"\nhint: run "kcri pods" to list pods\n`);
    expect(exitCode).toBe(1);
    expect(methods().slice(0, 2)).toEqual(['PortForward', 'ListPodSandbox']);
  });

  test.each([
    ['containerd', {}],
    ['cri-dockerd', {profile: 'cri-dockerd'}],
  ] as const)('of a pod stands for its container on %s', async (_, scene) => {
    const {kcri} = await started(scene);
    const {stdout, exitCode} = await kcri(['inspect', POD, '-o', 'jsonpath={.status.id}']);
    expect({id: stdout.trim(), exitCode}).toEqual({id: CONTAINER, exitCode: 0});
  });

  test('of several containers takes one call for each', async () => {
    const {kcri, methods} = await started();
    await kcri(['inspect', CONTAINER, CONTAINER]);
    expect(methods()).toEqual(['ContainerStatus', 'ContainerStatus']);
  });

  test('of a pod with -t and without a terminal prints one warning', async () => {
    const {kcri} = await started({state: 'CONTAINER_RUNNING'});
    const {stderr} = await kcri(['exec', '-it', POD, 'true']);
    expect(stderr).toBe('kcri: warning: standard input is not a terminal: ignoring -t\n');
  });

  test('is looked up to explain a container, which needs its pod', async () => {
    const {kcri} = await started();
    const {stderr} = await kcri(['inspect', '--explain', UNKNOWN]);
    expect(stderr).toContain(`no such container "${UNKNOWN}"`);
  });
});
