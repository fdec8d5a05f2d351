import {describe, expect, test} from 'vitest';
import {connect, type Connection, type CriError} from '../../src/cri/index.js';
import {IMAGE_METHODS, RUNTIME_METHODS} from '../../src/cri/gen/services.js';
import {runKcri} from '../cli/run-kcri.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';

const INVALID_WIRE_FORMAT = 'proto: cannot parse invalid wire-format data';
const INVALID_UTF8 = 'string field contains invalid UTF-8';

/** Malformed VersionResponses, and Go's texts for them. */
const MALFORMED: Readonly<Record<string, readonly [Buffer, string]>> = {
  'that is truncated': [Buffer.from([0x0a, 127, 1]), INVALID_WIRE_FORMAT],
  'with an unknown wire type': [Buffer.from([0x0f]), INVALID_WIRE_FORMAT],
  'with an endless varint': [Buffer.alloc(20, 0xff), INVALID_WIRE_FORMAT],
  'with an endless varint in a skipped field': [
    Buffer.concat([Buffer.from([0xf8, 1]), Buffer.alloc(20, 0xff)]),
    INVALID_WIRE_FORMAT,
  ],
  'with a string that is not UTF-8': [Buffer.from([0x0a, 2, 0xc3, 0x28]), INVALID_UTF8],
};

type AnyMethod = (request?: object) => Promise<unknown> | AsyncIterable<unknown>;

/** Calls a method and returns its error; a stream is read to its end. */
async function failureOf(connection: Connection, name: string): Promise<CriError> {
  const service = (name in RUNTIME_METHODS ? connection.runtime : connection.images) as unknown as Readonly<
    Record<string, AnyMethod>
  >;
  try {
    const result = service[name]?.({});
    if (result !== undefined && Symbol.asyncIterator in result)
      for await (const message of result) expect(message).toBeDefined();
    else await result;
  } catch (error) {
    return error as CriError;
  }
  throw new Error(`${name} succeeded`);
}

const METHODS = Object.entries({...RUNTIME_METHODS, ...IMAGE_METHODS});

test.each(METHODS)('a malformed response to %s is an error of that call', async (name, {rpc}) => {
  await using fake = await FakeRuntime.start();
  using connection = connect(fake.endpoint);
  fake.injectResponse(rpc, Buffer.alloc(20, 0xff));
  expect(await failureOf(connection, name)).toMatchObject({
    message: `rpc error: code = Internal desc = grpc: failed to unmarshal the received message: ${INVALID_WIRE_FORMAT}`,
    plainMessage: `invalid response to ${rpc} from ${fake.endpoint}: grpc: failed to unmarshal the received message: ${INVALID_WIRE_FORMAT}`,
    hint: 'the runtime, or a proxy in front of it, is faulty; see its log',
  });
});

test.each([
  ['runPodSandbox', 'podSandboxId'],
  ['podSandboxStatus', 'status'],
  ['createContainer', 'containerId'],
  ['containerStatus', 'status'],
  ['pullImage', 'imageRef'],
  ['exec', 'url'],
  ['attach', 'url'],
  ['portForward', 'url'],
])('an empty response to %s is an error that names the field %s', async (name, field) => {
  await using fake = await FakeRuntime.start();
  using connection = connect(fake.endpoint);
  const rpc = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  fake.injectResponse(rpc as Parameters<typeof fake.injectResponse>[0], Buffer.alloc(0));
  expect(await failureOf(connection, name)).toMatchObject({
    plainMessage: `invalid response to ${rpc} from ${fake.endpoint}: ${field} is not set`,
    hint: 'the runtime, or a proxy in front of it, is faulty; see its log',
  });
});

describe.each(Object.entries(MALFORMED))('a response %s', (_, [bytes, reason]) => {
  const details = `grpc: failed to unmarshal the received message: ${reason}`;

  test('is an error of the runtime for kcri', async () => {
    await using fake = await FakeRuntime.start();
    fake.injectResponse('Version', bytes);
    expect(await runKcri(['version'], {endpoint: fake.endpoint})).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(
        `invalid response to Version from ${fake.endpoint}: ${details}\n`,
      ) as string,
    });
  });

  test('has crictl’s text for crictl', async () => {
    await using fake = await FakeRuntime.start();
    fake.injectResponse('Version', bytes);
    const {exitCode, stderr} = await runKcri(['version'], {
      endpoint: fake.endpoint,
      env: {KCRI_COMPAT: 'crictl'},
    });
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining(`rpc error: code = Internal desc = ${details}`),
    ]);
  });
});

test('a string with a replacement character of its own is valid', async () => {
  await using fake = await FakeRuntime.start();
  using connection = connect(fake.endpoint);
  fake.injectResponse('Version', Buffer.from([0x12, 3, 0xef, 0xbf, 0xbd]));
  expect((await connection.runtime.version()).runtimeName).toBe('\uFFFD');
});
