import {createServer as createHttp2Server} from 'node:http2';
import {createServer, type Server} from 'node:net';
import {mkdir, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {runKcri, type RunOptions, type RunResult} from '../../cli/run-kcri.js';
import {realTimeClock} from '../../fakes/fake-clock.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';

const QUIET = ['--enable-server=false', '--healthz-port=0', '--oom-score-adj=0', '--hostname-override=n1'];
const KLOG = /^E\d{4} [\d:.]+ +\d+ [\w-]+\.[jt]s:\d+\] /m;

async function aKubelet(
  directory: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const directories = ['--root-dir', join(directory, 'root'), `--pod-logs-dir=${directory}/logs`];
  return await runKcri(['kubelet', ...directories, ...QUIET, ...args], options);
}

/** Returns the error in the kubelet's last log line. */
function failure({stderr}: RunResult): string | undefined {
  const line = stderr.split('\n').find((text) => text.includes('"command failed"'));
  expect(line).toMatch(KLOG);
  return line?.replace(/^.*"command failed" err=/, '').replaceAll('\\"', "'");
}

describe('a kubelet whose runtime is unavailable at its start', () => {
  test("exits with the kubelet's error and a hint, and runs when restarted with a runtime", async () => {
    const directory = await temporaryDirectory();
    const socket = join(directory, 'r.sock');
    const args = ['--container-runtime-endpoint', `unix://${socket}`];

    const result = await aKubelet(directory, args);

    expect(result.exitCode).toBe(1);
    expect(failure(result)).toMatch(
      new RegExp(
        `^"failed to run Kubelet: validate service connection: validate CRI v1 runtime API for endpoint 'unix://${socket}': rpc error: code = Unavailable desc = .*"$`,
      ),
    );
    expect(result.stderr).toContain(
      `kcri: cannot connect to ${socket}: no such file or directory\nhint: there is no socket`,
    );

    await using runtime = await FakeRuntime.start();
    const end = new AbortController();
    const running = aKubelet(directory, [], {endpoint: runtime.endpoint, signal: end.signal});
    await until(() => runtime.callsTo('ListContainers').length > 0);
    end.abort();
    expect((await running).exitCode).toBe(0);
  });

  test('exits after five seconds if the server does not respond', async () => {
    const directory = await temporaryDirectory();
    const socket = join(directory, 'silent.sock');
    await listen(createServer(), socket);

    const result = await aKubelet(directory, ['--container-runtime-endpoint', `unix://${socket}`]);

    expect(result.exitCode).toBe(1);
    expect(failure(result)).toMatch(/^"failed to run Kubelet: validate service connection: .* code = /);
    expect(result.stderr).toContain('is not a CRI runtime');
  });

  test.each(['Version', 'ImageFsInfo', 'Status', 'RuntimeConfig'] as const)(
    'reports garbage in a response to %s, retries, and runs when the response is valid',
    async (rpc) => {
      await using runtime = await FakeRuntime.start();
      runtime.injectResponse(rpc, Buffer.alloc(20, 0xff), {times: 2});
      const end = new AbortController();
      const running = aKubelet(await temporaryDirectory(), [], {
        endpoint: runtime.endpoint,
        signal: end.signal,
        clock: realTimeClock({sleepMs: (ms) => Math.min(ms, 20)}),
      });
      await until(() => runtime.callsTo('ListContainers').length > 0);
      end.abort();

      const {exitCode, stderr} = await running;
      expect(exitCode).toBe(0);
      const reports = stderr.split('\n').filter((line) => line.includes('retrying'));
      expect(reports).toHaveLength(2);
      for (const line of reports) expect(line).toContain(`rpc="${rpc}" endpoint="${runtime.endpoint}"`);
    },
  );

  test.each(['Version', 'ImageFsInfo', 'Status', 'RuntimeConfig'] as const)(
    'waits for a runtime that ends during %s and is started again later',
    async (rpc) => {
      await using runtime = await FakeRuntime.start();
      runtime.injectCrash(rpc);
      const end = new AbortController();
      let attempts = 0;
      const clock = realTimeClock({
        sleepMs: (ms) => {
          if (ms === 5000) attempts++;
          return Math.min(ms, 20);
        },
      });
      const running = aKubelet(await temporaryDirectory(), [], {
        endpoint: runtime.endpoint,
        signal: end.signal,
        clock,
      });
      await until(() => attempts >= 3);
      await runtime.restart();
      await until(() => runtime.callsTo('ListContainers').length > 0);
      end.abort();

      const {exitCode, stderr} = await running;
      expect(exitCode).toBe(0);
      expect(stderr).toContain('Lost the connection to the container runtime, retrying');
    },
  );

  test('waits while a proxy in front of the runtime answers with 502', async () => {
    const directory = await temporaryDirectory();
    const socket = join(directory, 'proxy.sock');
    const proxy = createHttp2Server();
    let requests = 0;
    proxy.on('stream', (stream) => {
      requests++;
      stream.respond({':status': 502}, {endStream: true});
    });
    await listen(proxy, socket);
    const end = new AbortController();
    const running = aKubelet(directory, [], {
      endpoint: `unix://${socket}`,
      signal: end.signal,
      clock: realTimeClock({sleepMs: (ms) => Math.min(ms, 20)}),
    });
    await until(() => requests >= 2);
    end.abort();

    const {stderr} = await running;
    expect(stderr).toContain('retrying');
    expect(stderr).not.toContain('command failed');
  });

  test('stops while the runtime sends garbage', async () => {
    await using runtime = await FakeRuntime.start();
    runtime.injectResponse('Version', Buffer.alloc(20, 0xff));
    const end = new AbortController();
    const running = aKubelet(await temporaryDirectory(), [], {
      endpoint: runtime.endpoint,
      signal: end.signal,
    });
    await until(() => runtime.callsTo('Version').length > 0);
    end.abort();
    expect((await running).stderr).not.toContain('command failed');
  });

  test('names the image service if only that does not respond', async () => {
    await using runtime = await FakeRuntime.start();
    const directory = await temporaryDirectory();
    const socket = join(directory, 'images.sock');

    const result = await aKubelet(directory, ['--image-service-endpoint', `unix://${socket}`], {
      endpoint: runtime.endpoint,
    });

    expect(result.exitCode).toBe(1);
    expect(failure(result)).toContain(`validate CRI v1 image API for endpoint 'unix://${socket}'`);
  });
});

describe('a node with swap', () => {
  const SWAPS = 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n';
  const DEVICE = '/dev/dm-1                               partition\t1003516\t\t0\t\t-2\n';

  test.each([
    ['is rejected with --fail-swap-on', '--fail-swap-on', SWAPS + DEVICE, true],
    ['is accepted without --fail-swap-on', '--fail-swap-on=false', SWAPS + DEVICE, false],
    ['is accepted by default, unlike by a kubelet', '--v=0', SWAPS + DEVICE, false],
    ['is not detected without a swap device', '--fail-swap-on', SWAPS, false],
  ])('%s', async (_, flag, swaps, fails) => {
    await using runtime = await FakeRuntime.start();
    const directory = await temporaryDirectory();
    const swapsFile = join(directory, 'swaps');
    await writeFile(swapsFile, swaps);
    const end = new AbortController();

    const running = aKubelet(directory, [flag], {endpoint: runtime.endpoint, signal: end.signal, swapsFile});
    if (!fails) {
      await until(() => runtime.callsTo('ListContainers').length > 0);
      end.abort();
    }
    const result = await running;

    expect(result.exitCode).toBe(fails ? 1 : 0);
    if (!fails) return;
    expect(failure(result)).toBe(
      '"failed to run Kubelet: running with swap on is not supported, please disable swap or set --fail-swap-on flag to false"',
    );
    expect(runtime.calls).toEqual([]);
  });
});

test('a kubelet that cannot publish itself serves no requests, and exits', async () => {
  await using runtime = await FakeRuntime.start();
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'root/kcri/kubelet.json'), {recursive: true});

  const result = await aKubelet(directory, [], {endpoint: runtime.endpoint});

  expect(result.exitCode).toBe(1);
  expect(failure(result)).toContain('kubelet.json');
  expect(await readdir(join(directory, 'root'))).not.toContain('kubelet');
});

async function listen(server: Server, path: string): Promise<void> {
  const sockets = new Set<{destroy: () => unknown}>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}
