import {writeFile} from 'node:fs/promises';
import {connect} from 'node:net';
import {join} from 'node:path';
import {createServer, type TlsOptions} from 'node:tls';
import {describe, expect, onTestFinished, test} from 'vitest';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import {listenOnLoopback} from '../../base/listen-on-loopback.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {runKcri, type RunResult} from '../../cli/run-kcri.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import {CERTIFICATE, KEY} from '../../fakes/streaming/test-certificate.js';
import {FakeStreamingServer} from '../../fakes/streaming/fake-streaming-server.js';
import {
  answering,
  readAll,
  startFakePortForwardServer,
} from '../../streaming/port-forward/fake-port-forward-server.js';

/** Starts a TLS server in front of a local port. By default it requests client certificates and accepts any. */
async function startTlsProxy(
  port: number,
  tls: TlsOptions = {},
): Promise<{readonly url: string; readonly clients: readonly string[]}> {
  const clients: string[] = [];
  const options = {cert: CERTIFICATE, key: KEY, requestCert: true, rejectUnauthorized: false, ...tls};
  const server = createServer(options, (socket) => {
    clients.push(Object.keys(socket.getPeerCertificate()).length === 0 ? 'nobody' : 'somebody');
    const behind = connect({port, host: '127.0.0.1'});
    socket.on('error', () => behind.destroy());
    behind.on('error', () => socket.destroy());
    socket.pipe(behind).pipe(socket);
  });
  server.on('tlsClientError', () => undefined);
  const url = `https://127.0.0.1:${await listenOnLoopback(server)}`;
  onTestFinished(() => void server.close());
  return {url, clients};
}

/** Writes the certificate and its key to files. */
async function files() {
  const directory = await temporaryDirectory();
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  await writeFile(cert, CERTIFICATE);
  await writeFile(key, KEY);
  return {cert, key};
}

async function aRuntime(streamingUrl: string): Promise<FakeRuntime> {
  const sandbox = aSandbox({name: 'web'});
  const runtime = await FakeRuntime.start({
    streamingUrl,
    sandboxes: [sandbox],
    containers: [aContainer({sandbox, name: 'main'})],
  });
  onTestFinished(() => runtime.stop());
  return runtime;
}

interface Testbed {
  readonly clients: readonly string[];
  readonly run: (flags: readonly string[]) => Promise<RunResult>;
}

/** Starts exec or attach in a container with the output `hello`. */
async function session(
  command: readonly string[],
  rest: readonly string[],
  tls?: TlsOptions,
): Promise<Testbed> {
  const server = await FakeStreamingServer.start({
    handleSession: (handler) => {
      handler.stream('stdout').send('hello');
      handler.sendExitCode(0);
    },
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const {url, clients} = await startTlsProxy(server.port, tls);
  const runtime = await aRuntime(url);
  return {
    clients,
    run: (flags) => runKcri([...command, ...flags, 'main', ...rest], {endpoint: runtime.endpoint}),
  };
}

/** Starts port-forward to a pod whose port responds with `hello`, and appends the response to standard output. */
async function startPortForward(tls?: TlsOptions): Promise<Testbed> {
  const fake = await startFakePortForwardServer({onRequest: answering('hello')});
  onTestFinished(() => fake[Symbol.asyncDispose]());
  const {url, clients} = await startTlsProxy(Number(new URL(fake.base).port), tls);
  const runtime = await aRuntime(url);
  const run = async (flags: readonly string[]): Promise<RunResult> => {
    const stop = new AbortController();
    let output = '';
    const running = runKcri(['port-forward', ...flags, 'web', ':80'], {
      endpoint: runtime.endpoint,
      signal: stop.signal,
      onStdout: (text) => (output += text),
    });
    await Promise.race([running, until(() => output.includes('->'))]);
    const port = /127\.0\.0\.1:(\d+) ->/.exec(output)?.[1];
    const response = port === undefined ? '' : await request(Number(port));
    stop.abort(new InterruptedError('SIGINT'));
    const result = await running;
    return {...result, stdout: result.stdout + response};
  };
  return {clients, run};
}

/** Returns the response of a local port. */
async function request(port: number): Promise<string> {
  const socket = connect({host: '127.0.0.1', port});
  socket.write('hello?');
  return await readAll(socket).catch(() => '');
}

const COMMANDS: readonly (readonly [string, (tls?: TlsOptions) => Promise<Testbed>])[] = [
  ['exec', (tls) => session(['exec'], ['true'], tls)],
  ['attach', (tls) => session(['attach'], [], tls)],
  ['port-forward', startPortForward],
];

describe.each(COMMANDS)('%s over TLS', (_name, testbed) => {
  // Proves: attach --tls-ca
  test('trusts the CA of --tls-ca, for the name of --tls-sni', async () => {
    const {run} = await testbed();
    const {cert} = await files();
    expect((await run(['--tls-ca', cert, '--tls-sni', 'streaming.test'])).stdout).toContain('hello');
  });

  // Proves: attach --tls-cert, attach --tls-key
  test('sends the certificate of --tls-cert and --tls-key', async () => {
    const {run, clients} = await testbed();
    const {cert, key} = await files();
    await run(['--tls-ca', cert, '--tls-cert', cert, '--tls-key', key]);
    expect(clients[0]).toBe('somebody');
  });

  // Proves: attach --tls-skip-verify
  test('trusts no certificate by default, and any with --tls-skip-verify', async () => {
    const {run} = await testbed();
    const refused = await run([]);
    expect(refused.stdout).not.toContain('hello');
    expect(refused.stderr).toContain('self-signed certificate');
    expect((await run(['--tls-skip-verify'])).stdout).toContain('hello');
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'names the flags if the server requires a client certificate with %s',
    async (version) => {
      const {run} = await testbed({rejectUnauthorized: true, minVersion: version, maxVersion: version});
      const {stdout, stderr, exitCode} = await run(['--tls-skip-verify']);
      expect(stderr).toMatch(/^kcri: .*\nhint: .*--tls-cert and --tls-key.*\n$/);
      expect(stderr).toContain('client certificate');
      expect(stderr).not.toContain('SSL routines');
      expect(stdout).not.toContain('hello');
      expect(exitCode).toBe(1);
    },
  );

  // Proves: attach --transport
  test('uses the transport of --transport', async () => {
    const {run} = await testbed();
    expect((await run(['--tls-skip-verify', '--transport', 'spdy'])).stdout).toContain('hello');
    const unknown = await run(['--transport', 'pigeon']);
    expect(unknown).toMatchObject({exitCode: 1});
    expect(unknown.stderr).toContain('pigeon');
  });
});

describe.each([
  ['exec', ['main', 'true'], 'execing command in container {ID}: get executor: '],
  ['attach', ['main'], 'attaching running container failed: get executor: '],
  ['port-forward', ['web', ':80'], 'port forward: get dialer: get SPDY round tripper: '],
] as const)('a TLS file of %s that is missing', (command, args, context) => {
  const FILES = [
    '--tls-ca',
    '/missing/ca.pem',
    '--tls-cert',
    '/missing/cert.pem',
    '--tls-key',
    '/missing/key.pem',
  ];

  async function plain(): Promise<FakeRuntime> {
    const server = await FakeStreamingServer.start({
      handleSession: (session) => {
        session.sendExitCode(0);
      },
    });
    onTestFinished(() => server[Symbol.asyncDispose]());
    return await aRuntime(`http://127.0.0.1:${server.port}`);
  }

  test.each(['spdy', 'websocket'])('fails without TLS too, over %s', async (transport) => {
    const {endpoint} = await plain();
    const {stderr, exitCode} = await runKcri([command, '-r', transport, ...FILES, ...args], {endpoint});
    expect(stderr).toContain('cannot read "/missing/ca.pem": no such file or directory');
    expect(exitCode).toBe(1);
  });

  test.each([
    ['spdy', context],
    ['websocket', context.replace('get SPDY round tripper: ', '') + 'error creating websocket transports: '],
  ])('fails with crictl’s message over %s', async (transport, message) => {
    const {endpoint, containers, sandboxes} = await plain();
    const [name = '', ...rest] = args;
    const id = (name === 'web' ? sandboxes[0]?.id : containers[0]?.id) ?? '';
    const env = {KCRI_COMPAT: 'crictl'};
    const {stderr, exitCode} = await runKcri([command, '-r', transport, ...FILES, id, ...rest], {
      endpoint,
      env,
    });
    expect(stderr).toContain(
      `msg="${message.replace('{ID}', id)}open /missing/ca.pem: no such file or directory"`,
    );
    expect(exitCode).toBe(1);
  });
});

test('port-forward rejects an unknown transport with crictl’s message after the request', async () => {
  const runtime = await aRuntime('http://127.0.0.1:1');
  const args = ['port-forward', '--transport', 'foo', runtime.sandboxes[0]?.id ?? '', ':80'];
  const {stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint, env: {KCRI_COMPAT: 'crictl'}});
  expect(stderr).toContain('msg="port forward: get dialer: unknown transport: foo"');
  expect({exitCode, calls: runtime.callsTo('PortForward')}).toMatchObject({exitCode: 1, calls: [{}]});
});
