import {once} from 'node:events';
import {connect, createServer, type AddressInfo, type Server} from 'node:net';
import {describe, expect, test} from 'vitest';
import {systemClock, type Clock} from '../../../src/base/clock.js';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import {until} from '../../base/until.js';
import {runKcri, type RunOptions, type RunResult} from '../../cli/run-kcri.js';
import {aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import {
  answering,
  readAll,
  refusing,
  startFakePortForwardServer,
} from '../../streaming/port-forward/fake-port-forward-server.js';
import {realTimeClock} from '../../fakes/fake-clock.js';

/** Port of the pod with a server, and one without. */
const OPEN_PORT = 80;
const CLOSED_PORT = 81;

/** Starts a runtime with a pod `web` with an open and a closed port. */
async function startRuntime() {
  const streaming = await startFakePortForwardServer({
    onRequest: (request) => {
      (request.port === CLOSED_PORT ? refusing : answering('hello'))(request);
    },
  });
  const labels = {app: 'web', 'job-name': 'nightly'};
  const sandboxes = [aSandbox({name: 'web', labels}), aSandbox({name: 'old', state: 'SANDBOX_NOTREADY'})];
  const runtime = await FakeRuntime.start({sandboxes, streamingUrl: streaming.base});
  return {
    runtime,
    streaming,
    id: sandboxes[0]!.id,
    [Symbol.asyncDispose]: async () => {
      await runtime[Symbol.asyncDispose]();
      await streaming[Symbol.asyncDispose]();
    },
  };
}

type Testbed = Awaited<ReturnType<typeof startRuntime>>;

/** Runs port-forward, calls `during` with the printed local ports, and interrupts it. */
async function runPortForward(
  {runtime}: Testbed,
  args: readonly string[],
  during: (ports: readonly number[]) => Promise<unknown>,
  options: RunOptions = {},
): Promise<RunResult> {
  const stop = new AbortController();
  let output = '';
  const running = runKcri(['port-forward', ...args], {
    endpoint: runtime.endpoint,
    ...options,
    signal: stop.signal,
    onStdout: (text) => (output += text),
  });
  const last = args.findLast((arg) => /^\d*:?\d+$/.test(arg))?.replace(/.*:/, '') ?? '';
  await Promise.race([running, until(() => output.includes(` -> ${last}\n`))]);
  const ports = [...output.matchAll(/127\.0\.0\.1:(\d+) ->/g)].map(([, port]) => Number(port));
  await during(ports);
  stop.abort(new InterruptedError('SIGINT'));
  return await running;
}

/** Returns the response of a local port, or '' if the connection is reset or refused. */
async function request(port: number, host = '127.0.0.1'): Promise<string> {
  const socket = connect({port, host});
  const failed = new Promise<string>((resolve) => {
    socket.once('error', () => {
      resolve('');
    });
  });
  socket.write('hello?');
  const response = await Promise.race([readAll(socket).catch(() => ''), failed]);
  socket.destroy();
  return response;
}

/** Listens on a port of some addresses, so that it is in use. */
async function occupyPort(...addresses: readonly string[]) {
  const servers: Server[] = [];
  let port = 0;
  for (const host of addresses) {
    const server = createServer().listen({host, port, ipv6Only: true});
    await once(server, 'listening');
    ({port} = server.address() as AddressInfo);
    servers.push(server);
  }
  return {
    port,
    [Symbol.dispose]: () => {
      for (const server of servers) server.close();
    },
  };
}

/** Interval of the checks whether the pod is still running. */
const CHECK_INTERVAL_MS = 2000;
/** A clock on which the pod is checked often, with unchanged timeouts. */
const clockWithFrequentChecks = realTimeClock({sleepMs: (ms) => (ms === CHECK_INTERVAL_MS ? 20 : ms)});

describe('forwarding', () => {
  // Proves: port-forward --selector
  test.each([
    ['to the pod of a workload', ['job/nightly', `:${OPEN_PORT}`]],
    ['to a pod that a selector matches', ['-l', 'app=web', `:${OPEN_PORT}`]],
  ])('works %s', async (_, args) => {
    await using testbed = await startRuntime();
    const responses: string[] = [];
    const result = await runPortForward(testbed, args, async (ports) => {
      responses.push(await request(ports[0]!));
    });
    expect(responses).toEqual(['hello']);
    expect(result).toMatchObject({stderr: '', exitCode: 0});
  });

  test('is reported on standard output, as is each connection, and Ctrl-C ends it with 0', async () => {
    await using testbed = await startRuntime();
    let port = 0;
    const responses: string[] = [];
    const result = await runPortForward(testbed, ['web', `:${OPEN_PORT}`], async (ports) => {
      port = ports[0]!;
      responses.push(await request(port), await request(port, '::1'));
    });
    expect(responses).toEqual(['hello', 'hello']);
    expect(result).toEqual({
      stdout: [
        `Forwarding from 127.0.0.1:${port} -> ${OPEN_PORT}`,
        `Forwarding from [::1]:${port} -> ${OPEN_PORT}`,
        `Handling connection for ${port}`,
        `Handling connection for ${port}`,
        '',
      ].join('\n'),
      stderr: '',
      exitCode: 0,
    });
    expect(testbed.runtime.callsTo('PortForward')).toHaveLength(1);
  });

  test('is reported like crictl, byte for byte', async () => {
    await using testbed = await startRuntime();
    let port = 0;
    const env = {KCRI_COMPAT: 'crictl'};
    const result = await runPortForward(
      testbed,
      [testbed.id, `0:${OPEN_PORT}`],
      async (ports) => {
        port = ports[0]!;
        await request(port);
      },
      {env},
    );
    expect(result).toMatchObject({
      stdout: `Forwarding from 127.0.0.1:${port} -> ${OPEN_PORT}\nForwarding from [::1]:${port} -> ${OPEN_PORT}\nHandling connection for ${port}\n`,
      exitCode: 0,
    });
  });

  test('works for several ports, and --address selects the local addresses', async () => {
    await using testbed = await startRuntime();
    const result = await runPortForward(
      testbed,
      ['web', `:${OPEN_PORT}`, `:${CLOSED_PORT}`, '--address', '127.0.0.1,127.0.0.2', '--address', '[::1]'],
      async ([port]) => {
        expect(await request(port!, '127.0.0.2')).toBe('hello');
      },
    );
    const opened = result.stdout
      .split('\n')
      .flatMap((line) => /^Forwarding from (.*):\d+ -> (\d+)$/.exec(line) ?? []);
    expect(opened.filter((_, index) => index % 3 !== 0)).toEqual(
      [OPEN_PORT, CLOSED_PORT].flatMap((port) =>
        ['127.0.0.1', '127.0.0.2', '[::1]'].flatMap((address) => [address, String(port)]),
      ),
    );
  });
});

describe('a port in use', () => {
  test('on one of the two addresses of localhost is a warning', async () => {
    await using testbed = await startRuntime();
    using occupied = await occupyPort('127.0.0.1');
    const words = ['web', `${occupied.port}:${OPEN_PORT}`];
    const {stdout, stderr, exitCode} = await runPortForward(testbed, words, async () => {
      expect(await request(occupied.port, '::1')).toBe('hello');
    });
    expect(stdout).toContain(`Forwarding from [::1]:${occupied.port} -> ${OPEN_PORT}\n`);
    expect(stderr).toBe(`kcri: warning: cannot listen on 127.0.0.1:${occupied.port}: the port is in use\n`);
    expect(exitCode).toBe(0);
  });

  test('on all addresses is an error, and the other ports are forwarded', async () => {
    await using testbed = await startRuntime();
    using occupied = await occupyPort('127.0.0.1', '::1');
    const words = ['web', `${occupied.port}:${OPEN_PORT}`, `:${OPEN_PORT}`];
    const {stderr, exitCode} = await runPortForward(testbed, words, async (ports) => {
      expect(await request(ports[0]!)).toBe('hello');
    });
    expect(stderr).toContain(`kcri: cannot listen on 127.0.0.1:${occupied.port}: the port is in use\n`);
    expect(stderr).toContain(`kcri: cannot listen on [::1]:${occupied.port}: the port is in use\n`);
    expect(exitCode).toBe(1);
  });

  test('as the only one ends the command', async () => {
    await using testbed = await startRuntime();
    using occupied = await occupyPort('127.0.0.1', '::1');
    const {stdout, exitCode} = await runKcri(['port-forward', 'web', `${occupied.port}:${OPEN_PORT}`], {
      endpoint: testbed.runtime.endpoint,
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });

  test("is reported with crictl's message as crictl", async () => {
    await using testbed = await startRuntime();
    using occupied = await occupyPort('127.0.0.1', '::1');
    const {port} = occupied;
    const {stdout, stderr, exitCode} = await runKcri(['port-forward', testbed.id, `${port}:${OPEN_PORT}`], {
      endpoint: testbed.runtime.endpoint,
      env: {KCRI_COMPAT: 'crictl'},
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain(
      `Unable to listen on port ${port}: Listeners failed to create with the following errors: ` +
        `[unable to create listener: Error listen tcp4 127.0.0.1:${port}: bind: address already in use ` +
        `unable to create listener: Error listen tcp6 [::1]:${port}: bind: address already in use]\n`,
    );
    expect(stderr).toContain(
      `level=error msg="port forward: unable to listen on any of the requested ports: [{${port} ${OPEN_PORT}}]"`,
    );
  });

  test('on an address that this machine does not have is an error', async () => {
    await using testbed = await startRuntime();
    const {stderr, exitCode} = await runKcri(['port-forward', 'web', ':80', '--address', '192.0.2.1'], {
      endpoint: testbed.runtime.endpoint,
    });
    expect(stderr).toContain('kcri: cannot listen on 192.0.2.1:0: this machine has no such address\n');
    expect(exitCode).toBe(1);
  });
});

describe('a refused connection', () => {
  test('is reported and does not affect others', async () => {
    await using testbed = await startRuntime();
    const {stderr, exitCode} = await runPortForward(
      testbed,
      ['web', `:${CLOSED_PORT}`, `:${OPEN_PORT}`],
      async ([refuses, responses]) => {
        expect([await request(refuses!), await request(responses!)]).toEqual(['', 'hello']);
      },
    );
    expect(stderr).toBe(
      `kcri: a connection was refused: nothing listens on port ${CLOSED_PORT} of the pod\n`,
    );
    expect(exitCode).toBe(0);
  });

  test('ends the command as crictl', async () => {
    await using testbed = await startRuntime();
    const {stderr, exitCode} = await runPortForward(
      testbed,
      [testbed.id, `:${CLOSED_PORT}`],
      async ([port]) => {
        await request(port!);
      },
      {env: {KCRI_COMPAT: 'crictl'}},
    );
    expect(stderr).toContain('level=error msg="port forward: lost connection to pod"');
    expect(exitCode).toBe(1);
  });
});

describe('the end of the pod', () => {
  test.each([
    ['removed', ['rmp', '--force', 'web']],
    ['stopped', ['stopp', 'web']],
  ])('ends the command when it %s', async (how, words) => {
    await using testbed = await startRuntime();
    // It checks the pod after the change is complete, so that it sees no intermediate state.
    let gone: () => void = () => undefined;
    const isGone = new Promise<void>((resolve) => (gone = resolve));
    const sleep: Clock['sleep'] = async (ms, signal) => {
      await (ms === CHECK_INTERVAL_MS ? isGone : systemClock.sleep(ms, signal));
    };
    const running = runKcri(['port-forward', 'default/web', ':80'], {
      endpoint: testbed.runtime.endpoint,
      clock: {...systemClock, sleep},
    });
    await until(() => testbed.streaming.connections > 0);
    await runKcri(words, {endpoint: testbed.runtime.endpoint});
    gone();
    const {stderr, exitCode} = await running;
    expect(stderr).toBe(
      `kcri: lost connection to pod: "default/web" was ${how}\nhint: run "kcri pods" to list pods\n`,
    );
    expect(exitCode).toBe(1);
  });

  test('is distinguished from a temporarily unavailable runtime', async () => {
    await using testbed = await startRuntime();
    testbed.runtime.injectError('PodSandboxStatus', {code: 'UNAVAILABLE', message: 'away'});
    const result = await runPortForward(
      testbed,
      ['web', ':80'],
      async ([port]) => {
        await until(() => testbed.runtime.callsTo('PodSandboxStatus').length > 2);
        expect(await request(port!)).toBe('hello');
      },
      {clock: clockWithFrequentChecks},
    );
    expect(result).toMatchObject({stderr: '', exitCode: 0});
  });
});

describe('an invalid command line', () => {
  test.each([
    [['web', 'abc'], 'the local port "abc" is not a number'],
    [['web', '80:99999'], 'the remote port "99999" is greater than 65535'],
    [['web', '1:2:3'], '"1:2:3" is not [LOCAL:]REMOTE'],
    [['web', '8080:0'], '"8080:0" is not a port of the pod'],
    [['web', '80', '--address', 'here'], 'invalid --address "here": must be an IP address or localhost'],
    [
      ['web', '80', '--transport', 'http'],
      'invalid --transport "http": must be one of auto, spdy, websocket',
    ],
    [['web', '80', '--tls-cert', 'x'], '--tls-cert and --tls-key must be set together'],
    [['web'], 'specify a pod and at least one port'],
    [[], 'specify a pod and at least one port'],
  ])('%j is reported before any call', async (args, message) => {
    const {stdout, stderr, exitCode} = await runKcri(['port-forward', ...args], {
      endpoint: 'unix:///nonexistent/cri.sock',
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain(`kcri: ${message}\n`);
  });

  test.each([
    [['abc'], `error parsing local port 'abc': strconv.ParseUint: parsing \\"abc\\": invalid syntax`],
    [
      ['99999'],
      `error parsing local port '99999': strconv.ParseUint: parsing \\"99999\\": value out of range`,
    ],
    [[':x'], `error parsing remote port 'x': strconv.ParseUint: parsing \\"x\\": invalid syntax`],
    [['1:2:3'], `invalid port format '1:2:3'`],
    [['0'], 'remote port must be > 0'],
  ])("%j is reported with crictl's message", async (ports, message) => {
    await using testbed = await startRuntime();
    const {stdout, stderr, exitCode} = await runKcri(['port-forward', testbed.id, ...ports], {
      endpoint: testbed.runtime.endpoint,
      env: {KCRI_COMPAT: 'crictl'},
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain(`level=error msg="port forward: ${message}"\n`);
  });

  test('reports a missing pod', async () => {
    await using testbed = await startRuntime();
    const {stderr, exitCode} = await runKcri(['port-forward', 'nope', '80'], {
      endpoint: testbed.runtime.endpoint,
    });
    expect(stderr).toContain('kcri: no such pod "nope"');
    expect(exitCode).toBe(1);
  });

  test('reports a pod that is not running', async () => {
    await using testbed = await startRuntime();
    const {stderr, exitCode} = await runKcri(['port-forward', 'old', '80'], {
      endpoint: testbed.runtime.endpoint,
    });
    expect(stderr).toContain('kcri: forwarding ports of the pod "old": ');
    expect(exitCode).toBe(1);
  });
});
