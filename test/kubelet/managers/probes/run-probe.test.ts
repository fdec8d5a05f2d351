import {createServer, type RequestListener} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import {createServer as createTcpServer, type AddressInfo, type Server} from 'node:net';
import {Server as GrpcServer, ServerCredentials, status, type ServiceDefinition} from '@grpc/grpc-js';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {Container, Probe} from '../../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../../src/base/clock.js';
import {containerId, CriError, type GrpcCode} from '../../../../src/cri/index.js';
import type {ProbeKind} from '../../../../src/kubelet/contract/probe-results.js';
import {runProbe, type ProbeServices} from '../../../../src/kubelet/managers/probes/run-probe.js';
import {probeTcp} from '../../../../src/kubelet/managers/probes/tcp-probe.js';
import {CERTIFICATE, KEY} from '../../../fakes/streaming/test-certificate.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';
import {execResponse} from '../../../fakes/exec-response.js';

type ExecSync = ProbeServices['runtime']['execSync'];

interface RunOptions {
  readonly kind?: ProbeKind;
  readonly container?: Partial<Container>;
  readonly execSync?: ExecSync;
}

const succeedingExec: ExecSync = async () => execResponse();

/**
 * Runs a probe of the container `main` at 127.0.0.1; resolves with its result, followed by the emitted
 * events.
 */
async function run(
  probe: Probe,
  {kind = 'liveness', container = {}, execSync = succeedingExec}: RunOptions = {},
): Promise<readonly (string | undefined)[]> {
  const emitted: string[] = [];
  const events: ProbeServices['events'] = ({reason, message, fieldPath, type}) => {
    expect([type, fieldPath]).toEqual(['Warning', 'spec.containers{main}']);
    emitted.push(`${reason}: ${message}`);
  };
  const io = {runtime: {execSync}, events, clock: systemClock};
  const subject = {
    pod: aPod(),
    container: aContainer({[`${kind}Probe`]: probe, ...container}),
    list: 'containers',
    kind,
    probe,
  } as const;
  const instance = {id: containerId('c1'), podIp: '127.0.0.1'};
  return [await runProbe(io, subject, instance, new AbortController().signal), ...emitted];
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    (server as {closeAllConnections?: () => void}).closeAllConnections?.();
  });
  return (server.address() as AddressInfo).port;
}

const startHttpServer = async (listener: RequestListener): Promise<number> =>
  await portOf(createServer(listener));

describe('an exec probe', () => {
  const exec = {command: ['cat', '$(FILE)', '$(OTHER)', '$$(FILE)']};

  test('runs the command in the container with its timeout and expands variables with literal values', async () => {
    const requests: unknown[] = [];
    const execSync: ExecSync = async (request) => {
      requests.push(request);
      return execResponse({stdout: 'fine'});
    };
    const env = [{name: 'FILE', value: '/ok'}];

    expect(await run({exec, timeoutSeconds: 7}, {execSync, container: {env}})).toEqual(['Success']);
    expect(requests).toEqual([{containerId: 'c1', cmd: ['cat', '/ok', '$(OTHER)', '$(FILE)'], timeout: 7n}]);
  });

  test('with a nonzero exit code fails with up to 10 KiB of its output', async () => {
    const response = {exitCode: 3, stdout: 'out\n', stderr: 'x'.repeat(20_000)};
    const [result, event = ''] = await run(
      {exec},
      {kind: 'startup', execSync: async () => execResponse(response)},
    );

    expect(result).toBe('Failure');
    expect(event.startsWith('Unhealthy: Startup probe failed: out\nxxx')).toBe(true);
    expect(event).toHaveLength('Unhealthy: Startup probe failed: '.length + 10 * 1024);
  });

  const fails = (grpcCode: GrpcCode, calls: unknown[] = []): ExecSync => {
    return async (request) => {
      calls.push(request);
      throw new CriError({method: 'ExecSync', endpoint: 'x', grpcCode, details: 'gone'});
    };
  };

  test('that exceeds its timeout fails', async () => {
    const probe = {exec: {command: ['sleep', '9']}, timeoutSeconds: 65};
    expect(await run(probe, {execSync: fails('DEADLINE_EXCEEDED')})).toEqual([
      'Failure',
      'Unhealthy: Liveness probe failed: command timed out: "sleep 9" timed out after 1m5s',
    ]);
  });

  test('that cannot be run is tried three times and has no result', async () => {
    const calls: unknown[] = [];
    expect(await run({exec}, {execSync: fails('NOT_FOUND', calls)})).toEqual([
      undefined,
      'Unhealthy: Liveness probe errored and resulted in unknown state: rpc error: code = NotFound desc = gone',
    ]);
    expect(calls).toHaveLength(3);
  });
});

describe('an HTTP probe', () => {
  test.each([
    [200, ['Success']],
    [
      399,
      ['Success', 'ProbeWarning: Readiness probe warning: Probe terminated redirects, Response body: hi'],
    ],
    [400, ['Failure', 'Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 400']],
    [500, ['Failure', 'Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 500']],
  ])('with the status code %i', async (code, expected) => {
    const port = await startHttpServer((_, response) => response.writeHead(code).end('hi'));
    expect(await run({httpGet: {port, path: '/'}}, {kind: 'readiness'})).toEqual(expected);
  });

  // Proves: ContainerPort.name, Probe.httpGet, HTTPGetAction.path, HTTPGetAction.port, HTTPHeader.name, HTTPHeader.value
  test('uses the named port and the headers of a kubelet probe', async () => {
    const seen: unknown[] = [];
    const port = await startHttpServer(({url, rawHeaders}, response) => {
      seen.push(url, ...rawHeaders);
      response.end();
    });
    const httpHeaders = [
      {name: 'Host', value: 'web.test'},
      {name: 'x-a', value: '1'},
      {name: 'A-B', value: '2'},
    ];
    const container = {ports: [{name: 'http', containerPort: port}]};

    expect(await run({httpGet: {port: 'http', path: '/x?y=1', httpHeaders}}, {container})).toEqual([
      'Success',
    ]);
    expect(seen).toEqual([
      ...['/x?y=1', 'Host', 'web.test', 'User-Agent', 'kube-probe/1.36'],
      ...['A-B', '2', 'Accept', '*/*', 'X-A', '1', 'Connection', 'close'],
    ]);
  });

  test('follows redirects to the same host, and warns about redirects to another host', async () => {
    const port = await startHttpServer((request, response) => {
      if (request.url === '/there') response.end();
      else if (request.url === '/here') response.writeHead(302, {location: '/there'}).end();
      else response.writeHead(302, {location: 'http://elsewhere.test/'}).end('away');
    });
    expect(await run({httpGet: {port, path: '/here'}})).toEqual(['Success']);
    expect(await run({httpGet: {port, path: '/away'}})).toEqual([
      'Success',
      'ProbeWarning: Liveness probe warning: Probe terminated redirects, Response body: away',
    ]);
  });

  test('accepts every certificate', async () => {
    const server = createTlsServer({cert: CERTIFICATE, key: KEY}, (_, response) => response.end());
    const port = await portOf(server);
    expect(await run({httpGet: {port, path: '/', scheme: 'HTTPS'}})).toEqual(['Success']);
  });

  test('of a server that does not respond fails after its timeout', async () => {
    const port = await startHttpServer(() => undefined);
    expect(await run({httpGet: {port, path: '/x'}, timeoutSeconds: 1})).toEqual([
      'Failure',
      `Unhealthy: Liveness probe failed: Get "http://127.0.0.1:${port}/x": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    ]);
  });

  test('whose redirect times out is reported with the URL of the redirect', async () => {
    const port = await startHttpServer((request, response) => {
      if (request.url === '/here') response.writeHead(302, {location: '/there'}).end();
    });
    expect(await run({httpGet: {port, path: '/here'}, timeoutSeconds: 1})).toEqual([
      'Failure',
      `Unhealthy: Liveness probe failed: Get "http://127.0.0.1:${port}/there": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    ]);
  });

  test('whose response body times out has no result', async () => {
    const port = await startHttpServer((_, response) => {
      response.writeHead(200, {'content-length': 100}).write('a');
    });
    expect(await run({httpGet: {port, path: '/x'}, timeoutSeconds: 1})).toEqual([
      undefined,
      'Unhealthy: Liveness probe errored and resulted in failure state: context deadline exceeded (Client.Timeout or context cancellation while reading body)',
    ]);
  });

  test('whose connection is reset is reported with both addresses', async () => {
    const port = await portOf(
      createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
    );
    const [result, event = ''] = await run({httpGet: {port, path: '/'}});
    expect([result, event.replace(/127\.0\.0\.1:\d+->/, 'LOCAL->')]).toEqual([
      'Failure',
      `Unhealthy: Liveness probe failed: Get "http://127.0.0.1:${port}/": read tcp LOCAL->127.0.0.1:${port}: read: connection reset by peer`,
    ]);
  });

  test('to a hostname is reported with the IP address that refused the connection', async () => {
    const [result, event] = await run({httpGet: {host: 'localhost', port: 1, path: '/'}});
    expect([result, event]).toEqual([
      'Failure',
      expect.stringMatching(
        /^Unhealthy: Liveness probe failed: Get "http:\/\/localhost:1\/": dial tcp (127\.0\.0\.1|\[::1\]):1: connect: connection refused$/,
      ),
    ]);
  });

  test('whose response is cut off has no result', async () => {
    const port = await startHttpServer((_, response) => {
      response.writeHead(200, {'content-length': 100}).write('a', () => response.destroy());
    });
    expect(await run({httpGet: {port, path: '/x'}})).toEqual([
      undefined,
      'Unhealthy: Liveness probe errored and resulted in failure state: unexpected EOF',
    ]);
  });

  test('reads at most 10 KiB', async () => {
    const port = await startHttpServer((_, response) => response.writeHead(300).end('y'.repeat(50_000)));
    const [, event = ''] = await run({httpGet: {port, path: '/'}});
    expect(event.replace(/[^y]/g, '')).toHaveLength(10 * 1024 + 1);
  });

  test.each([
    [
      1,
      /^Unhealthy: Liveness probe failed: Get "http:\/\/127.0.0.1:1\/": dial tcp 127.0.0.1:1: connect: connection refused$/,
    ],
    [
      'nosuch',
      /^Unhealthy: Liveness probe errored and resulted in unknown state: strconv.Atoi: parsing "nosuch": invalid syntax$/,
    ],
  ])('of the port %s is reported with the error', async (port, expected) => {
    expect((await run({httpGet: {port, path: '/'}}))[1]).toMatch(expected);
  });

  test('of a server that does not speak HTTP fails', async () => {
    const port = await portOf(createTcpServer((socket) => socket.end('what?\r\n')));
    const [result, event] = await run({httpGet: {port, path: '/'}});
    expect([result, event]).toEqual([
      'Failure',
      expect.stringMatching(/^Unhealthy: Liveness probe failed: Get "/),
    ]);
  });
});

describe('a TCP probe', () => {
  // Proves: Probe.tcpSocket, TCPSocketAction.port
  test('succeeds if the connection can be opened, and closes it', async () => {
    const closed: boolean[] = [];
    const server = createTcpServer((socket) => socket.on('close', (hadError) => closed.push(hadError)));
    const port = await portOf(server);

    expect(await run({tcpSocket: {port}})).toEqual(['Success']);
    await expect.poll(() => closed).toEqual([false]);
  });

  test.each([
    [{port: 1}, 'Failure', 'failed: dial tcp 127.0.0.1:1: connect: connection refused'],
    [{port: 0}, undefined, 'errored and resulted in unknown state: invalid port number: 0'],
  ])('%j is reported with the error', async (tcpSocket, result, words) => {
    expect(await run({tcpSocket})).toEqual([result, `Unhealthy: Liveness probe ${words}`]);
  });
});

describe('a gRPC probe', () => {
  const bytes = (value: Buffer): Buffer => value;
  const HEALTH: ServiceDefinition = {
    check: {
      path: '/grpc.health.v1.Health/Check',
      requestStream: false,
      responseStream: false,
      requestSerialize: bytes,
      requestDeserialize: bytes,
      responseSerialize: bytes,
      responseDeserialize: bytes,
    },
  };
  type Reply = Buffer | {readonly code: status; readonly details: string} | 'silence';

  async function startGrpcServer(reply: Reply | 'nothing', requests: unknown[] = []): Promise<number> {
    const server = new GrpcServer();
    onTestFinished(() => {
      server.forceShutdown();
    });
    if (reply !== 'nothing')
      server.addService(HEALTH, {
        check: (
          call: {request: Buffer; metadata: {get(name: string): unknown[]}},
          respond: (error: object | null, value?: Buffer) => void,
        ) => {
          requests.push([call.request.toString(), String(call.metadata.get('user-agent')[0]).split(' ')[0]]);
          if (Buffer.isBuffer(reply)) respond(null, reply);
          else if (reply !== 'silence') respond(reply);
        },
      });
    return await new Promise((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
        if (error === null) resolve(port);
        else reject(error);
      });
    });
  }

  // Proves: Probe.grpc, GRPCAction.port, GRPCAction.service
  test('of a serving service succeeds', async () => {
    const requests: unknown[] = [];
    const port = await startGrpcServer(Buffer.from([0x12, 1, 65, 0x08, 1]), requests);
    expect(await run({grpc: {port, service: 'web'}})).toEqual(['Success']);
    expect(await run({grpc: {port}})).toEqual(['Success']);
    expect(requests).toEqual([
      ['\n\u0003web', 'kube-probe/1.36'],
      ['', 'kube-probe/1.36'],
    ]);
  });

  test.each<[string, Reply | 'nothing', string]>([
    ['is not serving', Buffer.from([8, 2]), 'service unhealthy (responded with "NOT_SERVING")'],
    ['responds with an empty message', Buffer.alloc(0), 'service unhealthy (responded with "UNKNOWN")'],
    ['responds with an unknown status', Buffer.from([8, 9]), 'service unhealthy (responded with "9")'],
    [
      'responds with garbage',
      Buffer.from([0x12, 200]),
      'error: health rpc probe failed: rpc error: code = Internal desc = grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data',
    ],
    [
      'has no health service',
      'nothing',
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): The server does not implement the method /grpc.health.v1.Health/Check',
    ],
    [
      'denies permission',
      {code: status.PERMISSION_DENIED, details: 'no'},
      'error: health rpc probe failed: rpc error: code = PermissionDenied desc = no',
    ],
    ['does not respond', 'silence', 'timeout: health rpc did not complete within 1s'],
  ])('of a server that %s fails', async (_title, reply, words) => {
    const port = await startGrpcServer(reply);
    expect(await run({grpc: {port}, timeoutSeconds: 1})).toEqual([
      'Failure',
      `Unhealthy: Liveness probe failed: ${words}`,
    ]);
  });

  test.each(['a closed port', 'a server that does not speak gRPC'])(
    'of %s fails at its timeout',
    async (target) => {
      const port =
        target === 'a closed port'
          ? 1
          : await portOf(createTcpServer((socket) => socket.on('error', () => undefined)));
      expect(await run({grpc: {port}, timeoutSeconds: 1})).toEqual([
        'Failure',
        `Unhealthy: Liveness probe failed: timeout: failed to connect service "127.0.0.1:${port}" within 1s: context deadline exceeded`,
      ]);
    },
  );
});

test('a TCP probe whose connection times out fails', async () => {
  const timeout = new AbortController();
  const target = {container: aContainer(), podIp: '::1'};
  const probing = probeTcp({port: 9}, target, timeout.signal);
  timeout.abort();
  expect(await probing).toEqual({result: 'failure', output: 'dial tcp [::1]:9: i/o timeout'});
});

test('a probe without a handler has no result', async () => {
  expect(await run({})).toEqual([
    undefined,
    'Unhealthy: Liveness probe errored and resulted in unknown state: missing probe handler for web_default(11111111-2222-3333-4444-555555555555):main',
  ]);
});

test('an aborted probe rejects with the reason', async () => {
  const reason = new Error('enough');
  const port = await startHttpServer(() => undefined);
  for (const probe of [{httpGet: {port, path: '/'}}, {grpc: {port: 1}}]) {
    const controller = new AbortController();
    const io = {runtime: {execSync: succeedingExec}, events: () => undefined, clock: systemClock};
    const subject = {
      pod: aPod(),
      container: aContainer(),
      list: 'containers',
      kind: 'liveness',
      probe,
    } as const;
    const probing = runProbe(io, subject, {id: containerId('c1'), podIp: '127.0.0.1'}, controller.signal);
    setImmediate(() => {
      controller.abort(reason);
    });
    await expect(probing).rejects.toBe(reason);
  }
});

test('a programming error in a probe is neither a result nor retried', async () => {
  let attempts = 0;
  const execSync: ExecSync = async () => {
    attempts += 1;
    await Promise.resolve();
    throw new TypeError('a bug');
  };
  await expect(run({exec: {command: ['check']}}, {execSync})).rejects.toThrow(new TypeError('a bug'));
  expect(attempts).toBe(1);
});
