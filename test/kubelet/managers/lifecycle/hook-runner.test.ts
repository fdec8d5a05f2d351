import {createServer, type IncomingMessage, type RequestListener, type Server} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import {createServer as createTcpServer} from 'node:net';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {LifecycleHandler} from '../../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../../src/base/clock.js';
import {containerId, CriError} from '../../../../src/cri/index.js';
import type {PodEvent} from '../../../../src/kubelet/contract/pod-event.js';
import {createHookRunner, type HookContext} from '../../../../src/kubelet/managers/lifecycle/hook-runner.js';
import {CERTIFICATE, KEY} from '../../../fakes/streaming/test-certificate.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';
import {execResponse} from '../../../fakes/exec-response.js';

const never = new AbortController().signal;
const SUBJECT = 'Container "main" in Pod "web_default(11111111-2222-3333-4444-555555555555)"';

interface HookOutcome {
  readonly failure: string | undefined;
  readonly events: readonly PodEvent[];
}

/** Runs a hook of the container `main` of the pod default/web. */
async function run(
  handler: LifecycleHandler,
  options: {
    readonly execSync?: HookContext['runtime']['execSync'];
    readonly sandboxIps?: readonly string[];
    readonly signal?: AbortSignal;
  } = {},
): Promise<HookOutcome> {
  const events: PodEvent[] = [];
  const {execSync = succeedingExec, sandboxIps = ['127.0.0.1'], signal = never} = options;
  const runHook = createHookRunner({
    runtime: {execSync},
    clock: systemClock,
    events: (event) => void events.push(event),
  });
  const container = aContainer({lifecycle: {preStop: handler}});
  const hook = {pod: aPod(), container, containerId: containerId('c1'), handler, sandboxIps};
  return {failure: await runHook(hook, signal), events};
}

const succeedingExec: HookContext['runtime']['execSync'] = async () => execResponse();

describe('an exec hook', () => {
  const handler = {exec: {command: ['sh', '-c', 'echo nope; exit 7']}};

  test('runs its command in the container without a timeout', async () => {
    const requests: unknown[] = [];
    const execSync: HookContext['runtime']['execSync'] = async (request) => {
      requests.push(request);
      return execResponse();
    };

    expect(await run(handler, {execSync})).toEqual({failure: undefined, events: []});
    expect(requests).toEqual([{containerId: 'c1', cmd: ['sh', '-c', 'echo nope; exit 7'], timeout: 0n}]);
  });

  test('rejects with a programming error', async () => {
    const execSync: HookContext['runtime']['execSync'] = async () => {
      await Promise.resolve();
      throw new TypeError('a bug');
    };
    await expect(run(handler, {execSync})).rejects.toThrow(new TypeError('a bug'));
  });

  test('fails with the exit code and output of the command in the kubelet’s message', async () => {
    const execSync = async () => execResponse({exitCode: 7, stdout: 'nope\n', stderr: 'oh "no"'});

    expect((await run(handler, {execSync})).failure).toBe(
      `Exec lifecycle hook ([sh -c echo nope; exit 7]) for ${SUBJECT} failed - error: command 'sh -c echo nope; exit 7' exited with 7: oh "no", message: "nope\\noh \\"no\\""`,
    );
  });

  test('fails with the error of the runtime', async () => {
    const execSync = async (): Promise<never> => {
      throw new CriError({
        method: 'ExecSync',
        endpoint: 'x',
        grpcCode: 'UNKNOWN',
        details: 'no such container',
      });
    };

    expect((await run({exec: {command: ['x']}}, {execSync})).failure).toBe(
      `Exec lifecycle hook ([x]) for ${SUBJECT} failed - error: rpc error: code = Unknown desc = no such container, message: ""`,
    );
  });

  test('that exceeds the runtime’s deadline fails with the kubelet’s message', async () => {
    const execSync = async (): Promise<never> => {
      throw new CriError({method: 'ExecSync', endpoint: 'x', grpcCode: 'DEADLINE_EXCEEDED', details: ''});
    };

    expect((await run({exec: {command: ['sleep', '"9"']}}, {execSync})).failure).toBe(
      `Exec lifecycle hook ([sleep "9"]) for ${SUBJECT} failed - error: command timed out: "sleep \\"9\\"" timed out after 0s, message: ""`,
    );
  });

  test('that is aborted rejects with the reason', async () => {
    const reason = new Error('enough');
    const execSync = async (): Promise<never> => {
      throw new Error('cancelled');
    };

    await expect(run(handler, {execSync, signal: AbortSignal.abort(reason)})).rejects.toBe(reason);
  });
});

test('a sleep hook waits for its duration unless it is aborted', async () => {
  const started = performance.now();

  expect((await run({sleep: {seconds: 0.05}})).failure).toBeUndefined();
  expect(performance.now() - started).toBeGreaterThan(40);
  await expect(run({sleep: {seconds: 100}}, {signal: AbortSignal.timeout(10)})).rejects.toThrow('aborted');
});

test('a tcpSocket hook fails, as in the kubelet', async () => {
  expect((await run({tcpSocket: {port: 80, host: 'localhost'}})).failure).toBe(
    'Cannot run handler: invalid handler: tcpSocket',
  );
});

interface Request {
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders?: readonly string[];
}

/** Listens on the loopback address until the test has finished. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a server with this handler; resolves with its port and received requests. */
async function startServer(
  respond: RequestListener,
  create: (listener: RequestListener) => Server = createServer,
): Promise<{readonly port: number; readonly requests: readonly Request[]}> {
  const requests: Request[] = [];
  const port = await listen(
    create((request, response) => {
      requests.push({url: request.url, headers: request.headers, rawHeaders: request.rawHeaders});
      respond(request, response);
    }),
  );
  return {port, requests};
}

describe('an HTTP hook', () => {
  test('sends the headers of the kubelet and its own', async () => {
    const {port, requests} = await startServer((_, response) => response.end('bye'));
    const httpHeaders = [
      {name: 'X-A', value: '1'},
      {name: 'Host', value: 'web.test'},
    ];

    expect(await run({httpGet: {port, path: '/bye?now=1', httpHeaders}})).toEqual({
      failure: undefined,
      events: [],
    });
    expect(requests).toMatchObject([
      {
        url: '/bye?now=1',
        rawHeaders: [
          ...['Host', 'web.test', 'User-Agent', 'kube-lifecycle/1.36', 'Accept', '*/*'],
          ...['X-A', '1', 'Accept-Encoding', 'gzip'],
        ],
      },
    ]);
  });

  test.each([200, 404, 500])('succeeds with the status %i', async (status) => {
    const {port} = await startServer((_, response) => response.writeHead(status).end());

    expect((await run({httpGet: {port, path: '/'}})).failure).toBeUndefined();
  });

  test('reads at most 10 KiB of an endless response', async () => {
    const {port} = await startServer((_, response) => {
      response.write(Buffer.alloc(11 * 1024));
    });

    expect((await run({httpGet: {port, path: '/'}})).failure).toBeUndefined();
  });

  test('does not wait for the body of a response announced as longer than 10 KiB', async () => {
    const {port} = await startServer((_, response) => {
      response.writeHead(200, {'content-length': 11 * 1024}).flushHeaders();
    });

    expect((await run({httpGet: {port, path: '/'}})).failure).toBeUndefined();
  });

  test('succeeds if the response is cut off', async () => {
    const {port} = await startServer((request, response) => {
      response.writeHead(200, {'content-length': 100}).write('a');
      setImmediate(() => request.socket.destroy());
    });

    expect((await run({httpGet: {port, path: '/'}})).failure).toBeUndefined();
  });

  test('fails with the kubelet’s message if the connection is refused', async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));

    expect((await run({httpGet: {port, path: '/x'}})).failure).toBe(
      `HTTP lifecycle hook (/x) for ${SUBJECT} failed - error: Get "http://127.0.0.1:${port}/x": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    );
  });

  test('fails if the server closes the connection', async () => {
    const {port} = await startServer((request) => request.socket.destroy());

    expect((await run({httpGet: {port, path: '/'}})).failure).toContain(
      `Get "http://127.0.0.1:${port}/": EOF`,
    );
  });

  test('fails for an unknown port name', async () => {
    expect((await run({httpGet: {port: 'web', path: '/'}})).failure).toContain(
      'failed - error: strconv.Atoi: parsing "web": invalid syntax',
    );
  });

  test('requires an address: its host or the IP of the pod', async () => {
    const {port} = await startServer((_, response) => response.end());

    expect((await run({httpGet: {port, path: '/'}}, {sandboxIps: []})).failure).toContain(
      'failed to find networking container',
    );
    const toHost = {httpGet: {port, path: '/', host: '127.0.0.1'}};
    expect((await run(toHost, {sandboxIps: []})).failure).toBeUndefined();
  });

  test('that is aborted rejects with the reason', async () => {
    const {port} = await startServer(() => undefined);

    await expect(run({httpGet: {port, path: '/'}}, {signal: AbortSignal.timeout(30)})).rejects.toThrow(
      'aborted',
    );
  });
});

describe('a redirected HTTP hook', () => {
  test('is followed on the same host', async () => {
    const {port, requests} = await startServer((request, response) => {
      if (request.url === '/a') response.writeHead(302, {location: '/b?c'}).end();
      else response.end();
    });

    expect((await run({httpGet: {port, path: '/a'}})).failure).toBeUndefined();
    expect(requests.map(({url}) => url)).toEqual(['/a', '/b?c']);
  });

  test('to another host succeeds without another request', async () => {
    const {port, requests} = await startServer((_, response) => {
      response.writeHead(301, {location: 'http://localhost:1/'}).end();
    });

    expect((await run({httpGet: {port, path: '/'}})).failure).toBeUndefined();
    expect(requests).toHaveLength(1);
  });

  test('fails after ten requests', async () => {
    const {port, requests} = await startServer((_, response) =>
      response.writeHead(307, {location: '/'}).end(),
    );

    expect((await run({httpGet: {port, path: '/'}})).failure).toContain('stopped after 10 redirects');
    expect(requests).toHaveLength(10);
  });

  test('fails for a scheme other than HTTP and HTTPS', async () => {
    const {port} = await startServer((_, response) =>
      response.writeHead(302, {location: 'ftp://127.0.0.1/'}).end(),
    );

    expect((await run({httpGet: {port, path: '/'}})).failure).toContain('unsupported protocol scheme "ftp"');
  });
});

describe('an HTTPS hook', () => {
  test('accepts every certificate', async () => {
    const {port, requests} = await startServer(
      (_, response) => response.end(),
      (listener) => createTlsServer({cert: CERTIFICATE, key: KEY}, listener),
    );

    expect(await run({httpGet: {port, path: '/', scheme: 'HTTPS'}})).toEqual({
      failure: undefined,
      events: [],
    });
    expect(requests).toHaveLength(1);
  });

  test('that gets an HTTP response is retried with HTTP without the Authorization header, and emits an event', async () => {
    const {port, requests} = await startServer((_, response) => response.end());
    const httpHeaders = [
      {name: 'Authorization', value: 'Bearer secret'},
      {name: 'X-A', value: '1'},
    ];

    const {failure, events} = await run({httpGet: {port, path: '/', scheme: 'HTTPS', httpHeaders}});

    expect(failure).toBeUndefined();
    expect(requests.map(({headers}) => [headers.authorization, headers['x-a']])).toEqual([[undefined, '1']]);
    expect(events).toMatchObject([
      {
        type: 'Warning',
        reason: 'LifecycleHTTPFallback',
        message: `request to HTTPS lifecycle hook 127.0.0.1:${port} got HTTP response, retry with HTTP succeeded`,
      },
    ]);
    expect(events[0]?.fieldPath).toBeUndefined();
  });

  test('fails with the first error if the server does not speak HTTP either', async () => {
    const port = await new Promise<number>((resolve) => {
      const server = createTcpServer((socket) => socket.on('error', () => undefined).end('220 ready\r\n'));
      server.listen(0, '127.0.0.1', () => {
        resolve((server.address() as AddressInfo).port);
      });
      onTestFinished(() => void server.close());
    });

    const {failure, events} = await run({httpGet: {port, path: '/', scheme: 'HTTPS'}});

    expect(failure).toContain(
      `Get "https://127.0.0.1:${port}/": http: server gave HTTP response to HTTPS client`,
    );
    expect(events).toEqual([]);
  });
});
