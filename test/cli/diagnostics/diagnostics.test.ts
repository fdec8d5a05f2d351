import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {FakeRuntime, aContainer, aSandbox, anImage} from '../../fakes/fake-runtime.js';
import {OtlpReceiver} from './otlp-receiver.js';
import {programPid, RUNTIME} from '../program.js';
import {runKcri} from '../run-kcri.js';

describe('--enable-tracing', () => {
  const traced = async (runtime: FakeRuntime, args: readonly string[], env = {}) => {
    await using collector = await OtlpReceiver.start();
    const tracing = ['--enable-tracing', '--tracing-endpoint', collector.endpoint];
    const result = await runKcri([...tracing, ...args], {endpoint: runtime.endpoint, env});
    return {...result, spans: collector.spans, resource: collector.resource};
  };

  // Proves: kcri --enable-tracing, kcri --tracing-endpoint
  test('exports a span for the command with a child span per call, and propagates its context to the runtime', async () => {
    await using runtime = await FakeRuntime.start();
    const {spans, resource, stderr, exitCode} = await traced(runtime, ['version']);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    const [call, root] = [spans.find(({kind}) => kind === 3), spans.find(({name}) => name === 'version')];
    expect(spans).toHaveLength(2);
    expect(root).toMatchObject({parentSpanId: '', attributes: {command: 'version'}, failed: false});
    expect(call).toMatchObject({
      name: 'runtime.v1.RuntimeService/Version',
      traceId: root?.traceId,
      parentSpanId: root?.spanId,
      attributes: {
        'rpc.system.name': 'grpc',
        'rpc.method': 'runtime.v1.RuntimeService/Version',
        'rpc.response.status_code': 'OK',
        'server.address': runtime.endpoint.replace('unix://', ''),
      },
    });
    // As crictl's.
    expect(call?.scope).toBe('go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc');
    expect(resource).toMatchObject({'service.name': 'kcri', 'process.pid': programPid()});
    expect(runtime.calls[0]?.metadata['traceparent']).toBe(`00-${call?.traceId}-${call?.spanId}-01`);
  });

  test('marks failed spans', async () => {
    await using runtime = await FakeRuntime.start();
    runtime.injectError('Version', {code: 'INTERNAL', message: 'no'});
    const {spans, exitCode} = await traced(runtime, ['version']);
    expect(exitCode).toBe(1);
    expect(spans.map(({failed}) => failed)).toEqual([true, true]);
    expect(spans.find(({kind}) => kind === 3)?.attributes['rpc.response.status_code']).toBe('Internal');
  });

  test('exports errors without secrets', async () => {
    await using runtime = await FakeRuntime.start();
    const message = 'exec "API_TOKEN=top-secret" at http://127.0.0.1/exec/top-secret';
    runtime.injectError('Version', {code: 'INTERNAL', message});
    const {spans} = await traced(runtime, ['version']);
    const masked = 'exec "API_TOKEN=***" at http://127.0.0.1/exec/***';
    for (const span of spans) expect(span.message).toContain(masked);
    const [root] = spans.filter(({parentSpanId}) => parentSpanId === '');
    // The names of classes are shortened in the bundle.
    const exception = {'exception.type': 'CRI_INTERNAL', 'exception.message': root?.message};
    expect(spans.flatMap(({exceptions}) => exceptions)).toEqual([exception]);
    expect(JSON.stringify(spans)).not.toContain('top-secret');
  });

  // Proves: kcri --tracing-sampling-rate-per-million
  test.each([
    [['--tracing-sampling-rate-per-million', '0'], 0],
    [['--tracing-sampling-rate-per-million=1000000'], 2],
    [['--enable-tracing=false'], 0],
  ])('exports spans at the rate of %j: %d', async (args, count) => {
    await using runtime = await FakeRuntime.start();
    const {spans, exitCode} = await traced(runtime, [...args, 'version']);
    expect({count: spans.length, exitCode}).toEqual({count, exitCode: 0});
  });

  test("uses crictl's names if called as crictl", async () => {
    await using runtime = await FakeRuntime.start();
    const {resource} = await traced(runtime, ['version'], {KCRI_COMPAT: 'crictl'});
    expect(resource['service.name']).toBe('cri-tools');
  });

  test('warns about an unreachable collector after the output of the command', async () => {
    await using runtime = await FakeRuntime.start();
    const args = ['--enable-tracing', '--tracing-endpoint', '127.0.0.1:1', 'version'];
    const written: string[] = [];
    const {stdout, stderr, exitCode} = await runKcri(args, {
      endpoint: runtime.endpoint,
      onStdout: () => void written.push('stdout'),
      onStderr: () => void written.push('stderr'),
    });
    expect(written.lastIndexOf('stdout')).toBeLessThan(written.indexOf('stderr'));
    expect(stdout).toContain('RuntimeName');
    expect(stderr).toMatch(/^kcri: warning: cannot send the trace to 127\.0\.0\.1:1: .*\n$/);
    expect(exitCode).toBe(0);
  });
});

describe('--profile-cpu and --profile-mem', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryDirectory();
  });

  const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

  // Proves: kcri --profile-cpu
  test('write a V8 CPU profile', async () => {
    await using runtime = await FakeRuntime.start();
    const path = join(folder, 'a.cpuprofile');
    const args = ['--profile-cpu', path, 'version'];
    expect(await runKcri(args, {endpoint: runtime.endpoint})).toMatchObject({stderr: '', exitCode: 0});
    expect(json(path)).toMatchObject({
      nodes: expect.any(Array) as unknown,
      samples: expect.any(Array) as unknown,
    });
  });

  // Proves: kcri --profile-mem
  test('write a V8 memory profile, which Bun does not support', async () => {
    await using runtime = await FakeRuntime.start();
    const path = join(folder, 'a.heapprofile');
    const {stderr, exitCode} = await runKcri(['version', '--profile-mem', path], {
      endpoint: runtime.endpoint,
    });
    if (RUNTIME === 'bun') {
      expect(stderr).toMatch(/^kcri: cannot start the memory profile: .*\nhint: .* use kcri on Node\.js\n$/);
      expect({exitCode, calls: runtime.calls, isThere: existsSync(path)}).toEqual({
        exitCode: 1,
        calls: [],
        isThere: false,
      });
    } else {
      expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
      expect(json(path)).toMatchObject({head: expect.any(Object) as unknown});
    }
  });

  test('do not affect the command if the file cannot be written', async () => {
    await using runtime = await FakeRuntime.start();
    const args = ['--profile-cpu', join(folder, 'none/x'), 'version'];
    const {stdout, stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect(stderr).toMatch(/^kcri: writing ".*none\/x": no such file or directory\n/);
    expect({stdout, exitCode, calls: runtime.calls}).toEqual({stdout: '', exitCode: 1, calls: []});
  });
});

describe('--debug', () => {
  test('logs each request and response as a line', async () => {
    await using runtime = await FakeRuntime.start();
    const {stderr, stdout} = await runKcri(['-D', 'version'], {endpoint: runtime.endpoint});
    const [request = '', response = '', ...more] = stderr.split('\n');
    expect(request).toBe('> Version {"version":"v1"}');
    expect(response).toMatch(/^< Version \{"version":"0\.1\.0",.*\} \(\d+ms\)$/);
    expect(more).toEqual(['']);
    expect(stdout).toMatch(/^Version: /);
  });

  test("logs gRPC's message, which errors omit otherwise", async () => {
    await using runtime = await FakeRuntime.start();
    runtime.injectError('Version', {code: 'INTERNAL', message: 'the disk is gone'});
    const plain = await runKcri(['version'], {endpoint: runtime.endpoint});
    expect(plain.stderr).toBe('kcri: getting the runtime version: the disk is gone\n');
    const debug = await runKcri(['-D', 'version'], {endpoint: runtime.endpoint});
    expect(debug.stderr).toMatch(
      /^! Version rpc error: code = Internal desc = the disk is gone \(unix:.*ms\)$/m,
    );
  });

  test('masks credentials, secret variables and streaming URLs only', async () => {
    const sandbox = aSandbox({name: 'web'});
    await using runtime = await FakeRuntime.start({
      sandboxes: [sandbox],
      containers: [aContainer({sandbox, name: 'c'})],
    });
    runtime.publishImage(anImage({name: 'localhost:5000/app:1'}));
    const debug = async (...args: string[]) =>
      (await runKcri(['-D', ...args], {endpoint: runtime.endpoint})).stderr;
    const pullLog = await debug(
      'pull',
      '--creds',
      'alice:top-secret',
      '-a',
      'token=shown',
      'localhost:5000/app:1',
    );
    expect(pullLog).toContain('"auth":{"username":"alice","password":"***"}');
    expect(pullLog).toContain('"token":"shown"');
    const authLog = await debug('pull', '--auth', 'dG9wLXNlY3JldA==', 'localhost:5000/app:1');
    expect(authLog).toContain('"auth":{"auth":"***"}');
    runtime.injectError('PullImage', {code: 'INTERNAL', message: 'run "API_TOKEN=top-secret"'});
    const errorLog = await debug('pull', 'localhost:5000/app:1');
    expect(errorLog).toContain('! PullImage rpc error: code = Internal desc = run "API_TOKEN=***"');
    expect(errorLog).toMatch(/^kcri: .*run "API_TOKEN=\*\*\*"$/m);
    const execLog = await debug('exec', '-s', 'c', 'env', 'API_TOKEN=top-secret', 'COLOR=blue', 'true');
    expect(execLog).toContain('"API_TOKEN=***","COLOR=blue"');
    expect(pullLog + authLog + errorLog + execLog).not.toMatch(/top-secret|dG9wLXNlY3JldA/);
  });
});

describe('--max-retries', () => {
  test('waits for a runtime that starts later', async () => {
    const runtime = await FakeRuntime.start();
    const {endpoint} = runtime;
    await runtime.crash();
    const running = runKcri(['--max-retries', '5', 'version'], {endpoint});
    // The first attempt has failed long ago, and the second has not happened yet.
    await systemClock.sleep(200);
    await runtime.restart();
    expect(await running).toMatchObject({stderr: '', exitCode: 0});
    expect(runtime.callsTo('Version')).toHaveLength(1);
    await runtime.stop();
  });

  test('defaults to no retries, and does not repeat calls that reached the runtime', async () => {
    const {stderr} = await runKcri(['version'], {endpoint: '/nowhere/cri.sock'});
    expect(stderr).toMatch(
      /^kcri: getting the runtime version: cannot connect to \/nowhere\/cri\.sock: no such file or directory\nhint: /,
    );
    await using runtime = await FakeRuntime.start();
    runtime.injectError('Version', {code: 'UNAVAILABLE', message: 'busy'});
    await runKcri(['--max-retries', '3', 'version'], {endpoint: runtime.endpoint});
    expect(runtime.callsTo('Version')).toHaveLength(1);
  });
});
