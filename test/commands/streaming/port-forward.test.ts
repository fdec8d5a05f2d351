import {once} from 'node:events';
import {connect, createServer, type AddressInfo, type Server} from 'node:net';
import {describe, expect, test} from 'vitest';
import {systemClock, type Clock} from '../../../src/base/clock.js';
import {InterruptedError} from '../../../src/cli/interrupt.js';
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

/** A port of the pod that answers, and one that nothing listens on. */
const ANSWERS = 80;
const REFUSES = 81;

/** A runtime with a pod `web`, whose ports answer and refuse. */
async function started() {
  const streaming = await startFakePortForwardServer({
    onRequest: (request) => {
      (request.port === REFUSES ? refusing : answering('hello'))(request);
    },
  });
  const sandboxes = [aSandbox({name: 'web'}), aSandbox({name: 'old', state: 'SANDBOX_NOTREADY'})];
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

type Scene = Awaited<ReturnType<typeof started>>;

/** Runs port-forward until `during` is over, and then presses Ctrl-C; the ports are those that it said. */
async function forwarding(
  {runtime}: Scene,
  args: readonly string[],
  during: (ports: readonly number[]) => Promise<unknown>,
  options: RunOptions = {},
): Promise<RunResult> {
  const stop = new AbortController();
  let said = '';
  const running = runKcri(['port-forward', ...args], {
    endpoint: runtime.endpoint,
    ...options,
    signal: stop.signal,
    onStdout: (text) => (said += text),
  });
  const last = args.findLast((arg) => /^\d*:?\d+$/.test(arg))?.replace(/.*:/, '') ?? '';
  await Promise.race([running, until(() => said.includes(` -> ${last}\n`))]);
  const ports = [...said.matchAll(/127\.0\.0\.1:(\d+) ->/g)].map(([, port]) => Number(port));
  await during(ports);
  stop.abort(new InterruptedError('SIGINT'));
  return await running;
}

/** What a local port answers; '' when the connection is reset or refused. */
async function ask(port: number, host = '127.0.0.1'): Promise<string> {
  const socket = connect({port, host});
  const failed = new Promise<string>((resolve) => {
    socket.once('error', () => {
      resolve('');
    });
  });
  socket.write('hello?');
  const answer = await Promise.race([readAll(socket).catch(() => ''), failed]);
  socket.destroy();
  return answer;
}

/** Listens to a port on some addresses, so that nobody else can. */
async function occupied(...addresses: readonly string[]) {
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

/** How long the pod is not looked after. */
const LOOK_EVERY_MS = 2000;
/** Looks after the pod often; limits of time are as long as ever. */
const hasty = realTimeClock({sleepMs: (ms) => (ms === LOOK_EVERY_MS ? 20 : ms)});

describe('what is forwarded', () => {
  test('is said on standard output, as is each connection, and Ctrl-C ends it with 0', async () => {
    await using scene = await started();
    let port = 0;
    const answers: string[] = [];
    const result = await forwarding(scene, ['web', `:${ANSWERS}`], async (ports) => {
      port = ports[0]!;
      answers.push(await ask(port), await ask(port, '::1'));
    });
    expect(answers).toEqual(['hello', 'hello']);
    expect(result).toEqual({
      stdout: [
        `Forwarding from 127.0.0.1:${port} -> ${ANSWERS}`,
        `Forwarding from [::1]:${port} -> ${ANSWERS}`,
        `Handling connection for ${port}`,
        `Handling connection for ${port}`,
        '',
      ].join('\n'),
      stderr: '',
      exitCode: 0,
    });
    expect(scene.runtime.callsTo('PortForward')).toHaveLength(1);
  });

  test('is what crictl says too, byte for byte', async () => {
    await using scene = await started();
    let port = 0;
    const env = {KCRI_COMPAT: 'crictl'};
    const result = await forwarding(
      scene,
      [scene.id, `0:${ANSWERS}`],
      async (ports) => {
        port = ports[0]!;
        await ask(port);
      },
      {env},
    );
    expect(result).toMatchObject({
      stdout: `Forwarding from 127.0.0.1:${port} -> ${ANSWERS}\nForwarding from [::1]:${port} -> ${ANSWERS}\nHandling connection for ${port}\n`,
      exitCode: 0,
    });
  });

  test('may be several ports, and --address chooses where they are open', async () => {
    await using scene = await started();
    const result = await forwarding(
      scene,
      ['web', `:${ANSWERS}`, `:${REFUSES}`, '--address', '127.0.0.1,127.0.0.2', '--address', '[::1]'],
      async ([port]) => {
        expect(await ask(port!, '127.0.0.2')).toBe('hello');
      },
    );
    const opened = result.stdout
      .split('\n')
      .flatMap((line) => /^Forwarding from (.*):\d+ -> (\d+)$/.exec(line) ?? []);
    expect(opened.filter((_, index) => index % 3 !== 0)).toEqual(
      [ANSWERS, REFUSES].flatMap((port) =>
        ['127.0.0.1', '127.0.0.2', '[::1]'].flatMap((address) => [address, String(port)]),
      ),
    );
  });
});

describe('a port that is taken', () => {
  test('on one of the two addresses of localhost is a warning', async () => {
    await using scene = await started();
    using taken = await occupied('127.0.0.1');
    const words = ['web', `${taken.port}:${ANSWERS}`];
    const {stdout, stderr, exitCode} = await forwarding(scene, words, async () => {
      expect(await ask(taken.port, '::1')).toBe('hello');
    });
    expect(stdout).toContain(`Forwarding from [::1]:${taken.port} -> ${ANSWERS}\n`);
    expect(stderr).toBe(`kcri: warning: cannot listen on 127.0.0.1:${taken.port}: the port is in use\n`);
    expect(exitCode).toBe(0);
  });

  test('on all addresses is an error, and the others are forwarded', async () => {
    await using scene = await started();
    using taken = await occupied('127.0.0.1', '::1');
    const words = ['web', `${taken.port}:${ANSWERS}`, `:${ANSWERS}`];
    const {stderr, exitCode} = await forwarding(scene, words, async (ports) => {
      expect(await ask(ports[0]!)).toBe('hello');
    });
    expect(stderr).toContain(`kcri: cannot listen on 127.0.0.1:${taken.port}: the port is in use\n`);
    expect(stderr).toContain(`kcri: cannot listen on [::1]:${taken.port}: the port is in use\n`);
    expect(exitCode).toBe(1);
  });

  test('as the only one ends the command', async () => {
    await using scene = await started();
    using taken = await occupied('127.0.0.1', '::1');
    const {stdout, exitCode} = await runKcri(['port-forward', 'web', `${taken.port}:${ANSWERS}`], {
      endpoint: scene.runtime.endpoint,
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });

  test('is told in the words of crictl when kcri is it', async () => {
    await using scene = await started();
    using taken = await occupied('127.0.0.1', '::1');
    const {port} = taken;
    const {stdout, stderr, exitCode} = await runKcri(['port-forward', scene.id, `${port}:${ANSWERS}`], {
      endpoint: scene.runtime.endpoint,
      env: {KCRI_COMPAT: 'crictl'},
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain(
      `Unable to listen on port ${port}: Listeners failed to create with the following errors: ` +
        `[unable to create listener: Error listen tcp4 127.0.0.1:${port}: bind: address already in use ` +
        `unable to create listener: Error listen tcp6 [::1]:${port}: bind: address already in use]\n`,
    );
    expect(stderr).toContain(
      `level=error msg="port forward: unable to listen on any of the requested ports: [{${port} ${ANSWERS}}]"`,
    );
  });

  test('on an address that this machine has not is an error', async () => {
    await using scene = await started();
    const {stderr, exitCode} = await runKcri(['port-forward', 'web', ':80', '--address', '192.0.2.1'], {
      endpoint: scene.runtime.endpoint,
    });
    expect(stderr).toContain('kcri: cannot listen on 192.0.2.1:0: this machine has no such address\n');
    expect(exitCode).toBe(1);
  });
});

describe('a refused connection', () => {
  test('is told of, and does not end the others', async () => {
    await using scene = await started();
    const {stderr, exitCode} = await forwarding(
      scene,
      ['web', `:${REFUSES}`, `:${ANSWERS}`],
      async ([refuses, answers]) => {
        expect([await ask(refuses!), await ask(answers!)]).toEqual(['', 'hello']);
      },
    );
    expect(stderr).toBe(`kcri: a connection was refused: nothing listens on port ${REFUSES} of the pod\n`);
    expect(exitCode).toBe(0);
  });

  test('ends it all when kcri is crictl', async () => {
    await using scene = await started();
    const {stderr, exitCode} = await forwarding(
      scene,
      [scene.id, `:${REFUSES}`],
      async ([port]) => {
        await ask(port!);
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
  ])('is the end of the command when it is %s', async (how, words) => {
    await using scene = await started();
    // It looks after the pod when all is done with it, so that it sees none of the steps between.
    let gone: () => void = () => undefined;
    const isGone = new Promise<void>((resolve) => (gone = resolve));
    const sleep: Clock['sleep'] = async (ms, signal) => {
      await (ms === LOOK_EVERY_MS ? isGone : systemClock.sleep(ms, signal));
    };
    const running = runKcri(['port-forward', 'default/web', ':80'], {
      endpoint: scene.runtime.endpoint,
      clock: {...systemClock, sleep},
    });
    await until(() => scene.streaming.connections > 0);
    await runKcri(words, {endpoint: scene.runtime.endpoint});
    gone();
    const {stderr, exitCode} = await running;
    expect(stderr).toBe(
      `kcri: lost connection to pod: "default/web" was ${how}\nhint: run "kcri pods" to list pods\n`,
    );
    expect(exitCode).toBe(1);
  });

  test('is not a runtime that is away for a while', async () => {
    await using scene = await started();
    scene.runtime.injectError('PodSandboxStatus', {code: 'UNAVAILABLE', message: 'away'});
    const result = await forwarding(
      scene,
      ['web', ':80'],
      async ([port]) => {
        await until(() => scene.runtime.callsTo('PodSandboxStatus').length > 2);
        expect(await ask(port!)).toBe('hello');
      },
      {clock: hasty},
    );
    expect(result).toMatchObject({stderr: '', exitCode: 0});
  });
});

describe('a command line that is wrong', () => {
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
  ])('%j is told of before anything is asked', async (args, message) => {
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
  ])('%j is told of in the words of crictl', async (ports, message) => {
    await using scene = await started();
    const {stdout, stderr, exitCode} = await runKcri(['port-forward', scene.id, ...ports], {
      endpoint: scene.runtime.endpoint,
      env: {KCRI_COMPAT: 'crictl'},
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain(`level=error msg="port forward: ${message}"\n`);
  });

  test('a pod that is not there is told of', async () => {
    await using scene = await started();
    const {stderr, exitCode} = await runKcri(['port-forward', 'nope', '80'], {
      endpoint: scene.runtime.endpoint,
    });
    expect(stderr).toContain('kcri: no such pod "nope"');
    expect(exitCode).toBe(1);
  });

  test('a pod that does not run is told of', async () => {
    await using scene = await started();
    const {stderr, exitCode} = await runKcri(['port-forward', 'old', '80'], {
      endpoint: scene.runtime.endpoint,
    });
    expect(stderr).toContain('kcri: forwarding ports of the pod "old": ');
    expect(exitCode).toBe(1);
  });
});
