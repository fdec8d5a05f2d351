import fc from 'fast-check';
import protobuf from 'protobufjs';
import {describe, test} from 'vitest';
import {decode, encode} from '../../src/cri/codec.js';
import {MESSAGES, type MessageName} from '../../src/cri/gen/schema.js';
import {WireError} from '../../src/cri/wire-format.js';
import {
  comparable,
  decodeByProtobufjs,
  encodeByProtobufjs,
  MESSAGE_NAMES,
  messages,
} from './protobufjs-reference.js';

const RUNS = {numRuns: 25};
/** Messages that together have fields of every kind. */
const RICH: readonly MessageName[] = [
  'CreateContainerRequest',
  'ContainerStatusResponse',
  'LinuxContainerSecurityContext',
  'PortForwardRequest',
  'PsiData',
  'ListImagesResponse',
  'AuthConfig',
];

/** Returns bytes written by protobufjs from alternating tags and values. */
function bytesOf(
  ...parts: readonly (readonly [tag: number, write: (writer: protobuf.Writer) => unknown])[]
): Buffer {
  const writer = protobuf.Writer.create();
  for (const [tag, write] of parts) {
    writer.uint32(tag);
    write(writer);
  }
  return Buffer.from(writer.finish());
}

const field = (number: number, wireType: number): number => number * 8 + wireType;

describe('the codec agrees with protobufjs', () => {
  test('both have the same messages', ({expect}) => {
    expect(Object.keys(MESSAGES).sort()).toEqual([...MESSAGE_NAMES].sort());
    expect(MESSAGE_NAMES).toHaveLength(175);
  });

  test.for(MESSAGE_NAMES.map((name) => [name] as const))(
    '%s is encoded and decoded equally',
    ([name], {expect}) => {
      fc.assert(
        fc.property(messages(name), (message) => {
          const expected = comparable(message);
          expect(comparable(decode(name, encodeByProtobufjs(name, message)))).toEqual(expected);
          expect(decodeByProtobufjs(name, encode(name, message as never))).toEqual(expected);
          expect(comparable(decode(name, encode(name, message as never)))).toEqual(expected);
        }),
        RUNS,
      );
    },
  );

  test.for(RICH.map((name) => [name] as const))(
    '%s has the same encoding without its zero values',
    ([name], {expect}) => {
      const isZero = (value: unknown): boolean =>
        value === '' || value === 0 || value === 0n || value === false;
      fc.assert(
        fc.property(messages(name), (message) => {
          const sparse = Object.fromEntries(Object.entries(message).filter(([, value]) => !isZero(value)));
          expect(encode(name, sparse as never)).toEqual(encode(name, message as never));
        }),
        RUNS,
      );
    },
  );
});

describe('decoding', () => {
  test('an empty message decodes to defaults without sub-messages', ({expect}) => {
    expect(decode('ContainerConfig', Buffer.alloc(0))).toEqual({
      metadata: undefined,
      image: undefined,
      command: [],
      args: [],
      workingDir: '',
      envs: [],
      mounts: [],
      devices: [],
      labels: {},
      annotations: {},
      logPath: '',
      stdin: false,
      stdinOnce: false,
      tty: false,
      linux: undefined,
      windows: undefined,
      CDIDevices: [],
      stopSignal: 'SIGNAL_RUNTIME_DEFAULT',
    });
  });

  test('unknown fields of any wire type are skipped', ({expect}) => {
    const unknown = bytesOf(
      [field(1000, 0), (writer) => writer.uint64(2 ** 40)],
      [field(1001, 1), (writer) => writer.double(1.5)],
      [field(1002, 2), (writer) => writer.string('something new')],
      [field(1003, 5), (writer) => writer.fixed32(7)],
    );
    fc.assert(
      fc.property(fc.constantFrom(...RICH), fc.gen(), (name, gen) => {
        const bytes = encode(name, gen(messages, name) as never);
        const plain = comparable(decode(name, bytes));
        expect(comparable(decode(name, Buffer.concat([unknown, bytes])))).toEqual(plain);
        expect(comparable(decode(name, Buffer.concat([bytes, unknown])))).toEqual(plain);
      }),
      RUNS,
    );
  });

  test.for([
    {form: 'unpacked', bytes: bytesOf([field(2, 0), (w) => w.int32(80)], [field(2, 0), (w) => w.int32(-1)])},
    {form: 'packed', bytes: bytesOf([field(2, 2), (w) => w.fork().int32(80).int32(-1).ldelim()])},
    {
      form: 'mixed',
      bytes: bytesOf([field(2, 0), (w) => w.int32(80)], [field(2, 2), (w) => w.fork().int32(-1).ldelim()]),
    },
  ])('repeated numbers are decoded from the $form form', ({bytes}, {expect}) => {
    expect(decode('PortForwardRequest', bytes).port).toEqual([80, -1]);
  });

  test('repeated numbers are encoded packed', ({expect}) => {
    const bytes = encode('LinuxContainerUser', {supplementalGroups: [0n, 10n]});
    expect([...bytes]).toEqual([field(3, 2), 2, 0, 10]);
  });

  test.for([
    {value: 'int32', message: {exitCode: -(2 ** 31)}, name: 'ExecSyncResponse'},
    {value: 'the smallest int64', message: {timeout: -(2n ** 63n)}, name: 'StopContainerRequest'},
    {value: 'the largest int64', message: {timeout: 2n ** 63n - 1n}, name: 'StopContainerRequest'},
    {value: 'the largest uint64', message: {value: 2n ** 64n - 1n}, name: 'UInt64Value'},
    {value: 'the largest uint32', message: {hostId: 2 ** 32 - 1}, name: 'IDMapping'},
  ] as const)('a round trip preserves $value, $message', ({message, name}, {expect}) => {
    expect(decode(name, encode(name, message as never))).toMatchObject(message);
  });

  test('a negative int32 is encoded in ten bytes, as by other implementations', ({expect}) => {
    expect([...encode('ExecSyncResponse', {exitCode: -1})]).toEqual([
      field(3, 0),
      ...Array<number>(9).fill(255),
      1,
    ]);
  });

  test('a round trip preserves an unknown enum value', ({expect}) => {
    const bytes = bytesOf([field(3, 0), (writer) => writer.int32(77)]);
    const status = decode('PodSandboxStatus', bytes);
    expect(status.state).toBe('77');
    expect(encode('PodSandboxStatus', status)).toEqual(bytes);
  });

  test('the last occurrence of a field wins', ({expect}) => {
    const bytes = bytesOf([field(1, 2), (w) => w.string('a')], [field(1, 2), (w) => w.string('b')]);
    expect(decode('VersionRequest', bytes).version).toBe('b');
  });

  test('a field with the wrong wire type is skipped', ({expect}) => {
    const bytes = bytesOf([field(1, 0), (w) => w.uint32(5)], [field(1, 2), (w) => w.string('v1')]);
    expect(decode('VersionRequest', bytes).version).toBe('v1');
  });

  describe('maps', () => {
    const entry = (key?: string, value?: string) => (writer: protobuf.Writer) => {
      writer.fork();
      if (key !== undefined) writer.uint32(field(1, 2)).string(key);
      if (value !== undefined) writer.uint32(field(2, 2)).string(value);
      writer.ldelim();
    };
    const labels = (...entries: readonly ReturnType<typeof entry>[]) =>
      decode('PodSandbox', bytesOf(...entries.map((write) => [field(5, 2), write] as const))).labels;

    test('the last occurrence of a key wins', ({expect}) => {
      expect(labels(entry('a', '1'), entry('a', '2'))).toEqual({a: '2'});
    });

    test('a missing key or value of an entry is empty', ({expect}) => {
      expect(labels(entry('a'), entry(undefined, '1'))).toEqual({a: '', '': '1'});
    });

    test('the key __proto__ is an ordinary key', ({expect}) => {
      const map = labels(entry('__proto__', 'x'), entry('a', '1'));
      expect(Object.entries(map)).toEqual([
        ['__proto__', 'x'],
        ['a', '1'],
      ]);
      expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
    });
  });

  test('bytes do not share memory with the encoded message', ({expect}) => {
    const bytes = encode('ExecSyncResponse', {stdout: Buffer.from('page')});
    const {stdout} = decode('ExecSyncResponse', bytes);
    bytes.fill(0);
    expect(Buffer.from(stdout).toString()).toBe('page');
  });

  test('defaults are not shared between messages', ({expect}) => {
    const first = decode('PodSandbox', Buffer.alloc(0));
    const second = decode(
      'PodSandbox',
      bytesOf([field(5, 2), (w) => w.fork().uint32(10).string('a').ldelim()]),
    );
    expect([first.labels, second.labels]).toEqual([{}, {a: ''}]);
  });
});

/** Decodes bytes and reports whether they are malformed; throws for any other error. */
function tryDecode(name: MessageName, bytes: Uint8Array): 'decoded' | 'rejected' {
  try {
    decode(name, Buffer.from(bytes));
    return 'decoded';
  } catch (error) {
    if (error instanceof WireError) return 'rejected';
    throw error;
  }
}

test('similar label names are distinguished in any order', ({expect}) => {
  const keys = [
    'io.kubernetes.pod.name',
    'io.kubernetes.pid.name',
    'ab',
    'Ab',
    '',
    'a',
    'é',
    'e\u0301',
    '漢字',
  ];
  const labels = Object.fromEntries(keys.map((key) => [key, `of ${key}`]));
  const bytes = encode('Container', {
    labels,
    annotations: Object.fromEntries(Object.entries(labels).reverse()),
  });
  for (const pass of [1, 2]) {
    const {labels: read, annotations} = decode('Container', bytes);
    expect({pass, read, annotations}).toEqual({pass, read: labels, annotations: labels});
  }
});

describe('malformed input', () => {
  test('a message truncated anywhere is decoded or rejected with WireError', ({expect}) => {
    const seen = {decoded: 0, rejected: 0};
    fc.assert(
      fc.property(fc.constantFrom(...RICH), fc.gen(), (name, gen) => {
        const bytes = encode(name, gen(messages, name) as never);
        for (let end = 0; end < bytes.length; end++) seen[tryDecode(name, bytes.subarray(0, end))] += 1;
      }),
      RUNS,
    );
    expect(seen.decoded).toBeGreaterThan(0);
    expect(seen.rejected).toBeGreaterThan(0);
  });

  test('arbitrary bytes are decoded or rejected with WireError', ({expect}) => {
    const seen = {decoded: 0, rejected: 0};
    fc.assert(
      fc.property(fc.constantFrom(...MESSAGE_NAMES), fc.uint8Array({maxLength: 200}), (name, bytes) => {
        seen[tryDecode(name, bytes)] += 1;
      }),
      {numRuns: 3000},
    );
    expect(seen.decoded).toBeGreaterThan(0);
    expect(seen.rejected).toBeGreaterThan(0);
  });

  test.for([
    {
      input: 'a string longer than its message',
      bytes: [field(1, 2), 5, 97],
      message: 'the message is truncated',
    },
    {
      input: 'a length beyond 2 GiB',
      bytes: [field(1, 2), 255, 255, 255, 255, 15],
      message: 'the message is truncated',
    },
    {
      input: 'a varint that never ends',
      bytes: [field(9, 0), ...Array<number>(20).fill(255)],
      message: 'a varint is longer than 10 bytes',
    },
    {
      input: 'a tag that never ends',
      bytes: Array<number>(20).fill(255),
      message: 'a varint is longer than 10 bytes',
    },
    {input: 'a group', bytes: [field(9, 3)], message: 'unknown wire type 3'},
    {input: 'wire type 7', bytes: [field(9, 7)], message: 'unknown wire type 7'},
  ])('$input is rejected', ({bytes, message}, {expect}) => {
    expect(() => decode('VersionRequest', Buffer.from(bytes))).toThrow(new WireError(message));
  });

  test('a sub-message that exceeds its message is rejected', ({expect}) => {
    const bytes = Buffer.from([field(1, 2), 2, field(1, 2), 200, 1, 2, 3]);
    expect(() => decode('RunPodSandboxRequest', bytes)).toThrow(WireError);
  });
});

test('a field mask selects the fields to decode', ({expect}) => {
  const container = {
    id: 'c1' as never,
    metadata: {name: 'main', attempt: 3},
    image: {image: 'busybox', userSpecifiedImage: 'bb'},
    createdAt: 5n,
    labels: {app: 'wéb'},
    annotations: {note: 'n'},
  };
  const bytes = encode('ListContainersResponse', {containers: [container, container]});
  const fields = {containers: {metadata: true, image: {image: true}, labels: true}} as const;
  const {containers} = decode('ListContainersResponse', bytes, fields);
  const [empty] = decode(
    'ListContainersResponse',
    encode('ListContainersResponse', {containers: [{}]}),
  ).containers;
  const image = decode('ImageSpec', encode('ImageSpec', {image: 'busybox'}));
  const narrowed = {...empty, metadata: container.metadata, image, labels: container.labels};
  expect(containers).toEqual([narrowed, narrowed]);
});

test('a field mask selects keys of a map, also if a value precedes its key', ({expect}) => {
  const text = (number: number, value: string): Buffer =>
    Buffer.concat([Buffer.from([field(number, 2), value.length]), Buffer.from(value)]);
  const entry = (...parts: readonly Buffer[]): Buffer => {
    const bytes = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([field(8, 2), bytes.length]), bytes]);
  };
  const bytes = Buffer.concat([
    entry(text(1, 'app'), text(2, 'web')),
    entry(text(1, 'tier'), text(2, 'front')),
    entry(text(2, 'turned'), text(1, 'round')),
    entry(text(2, 'no'), text(1, 'other')),
    entry(text(1, 'empty')),
  ]);
  const selected = {app: true, round: true, empty: true, missing: true} as const;
  expect(decode('Container', bytes, {labels: selected}).labels).toEqual({
    app: 'web',
    round: 'turned',
    empty: '',
  });
});

test('names that differ in one byte are distinguished', ({expect}) => {
  const labels = {'x.name': '1', 'y.name': '2', 'x.nàme': '3', 'x.na': '4', '': '5'};
  const bytes = encode('Container', {labels});
  expect(decode('Container', bytes).labels).toEqual(labels);
  expect(decode('Container', bytes).labels).toEqual(labels);
});

test('an unknown enum value is rejected by name when encoding', ({expect}) => {
  expect(() => encode('PodSandboxStateValue', {state: 'READY' as never})).toThrow(
    'PodSandboxState has no value "READY"',
  );
});
