import fc from 'fast-check';
import protobuf from 'protobufjs';
import {describe, test} from 'vitest';
import {decode, encode} from '../../src/cri/codec.js';
import {MESSAGES, type MessageName} from '../../src/cri/gen/schema.js';
import {WireError} from '../../src/cri/wire.js';
import {comparable, decodeByProtobufjs, encodeByProtobufjs, MESSAGE_NAMES, messages} from './reflection.js';

const RUNS = {numRuns: 25};
/** Messages that between them have every kind of field. */
const RICH: readonly MessageName[] = [
  'CreateContainerRequest',
  'ContainerStatusResponse',
  'LinuxContainerSecurityContext',
  'PortForwardRequest',
  'PsiData',
  'ListImagesResponse',
  'AuthConfig',
];

/** The bytes that protobufjs writes; tags and values in turn. */
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
  test('both know the same messages', ({expect}) => {
    expect(Object.keys(MESSAGES).sort()).toEqual([...MESSAGE_NAMES].sort());
    expect(MESSAGE_NAMES).toHaveLength(175);
  });

  test.for(MESSAGE_NAMES.map((name) => [name] as const))('%s in both directions', ([name], {expect}) => {
    fc.assert(
      fc.property(messages(name), (message) => {
        const expected = comparable(message);
        expect(comparable(decode(name, encodeByProtobufjs(name, message)))).toEqual(expected);
        expect(decodeByProtobufjs(name, encode(name, message as never))).toEqual(expected);
        expect(comparable(decode(name, encode(name, message as never)))).toEqual(expected);
      }),
      RUNS,
    );
  });

  test.for(RICH.map((name) => [name] as const))(
    '%s is the same with its zero values left out',
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
  test('an empty message has every default, and no sub-message', ({expect}) => {
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

  test('fields that are not known are skipped, whatever they hold', ({expect}) => {
    const unknown = bytesOf(
      [field(1000, 0), (writer) => writer.uint64(2 ** 40)],
      [field(1001, 1), (writer) => writer.double(1.5)],
      [field(1002, 2), (writer) => writer.string('what is this')],
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
  ])('repeated numbers are read $form', ({bytes}, {expect}) => {
    expect(decode('PortForwardRequest', bytes).port).toEqual([80, -1]);
  });

  test('repeated numbers are written packed', ({expect}) => {
    const bytes = encode('LinuxContainerUser', {supplementalGroups: [0n, 10n]});
    expect([...bytes]).toEqual([field(3, 2), 2, 0, 10]);
  });

  test.for([
    {what: 'int32', message: {exitCode: -(2 ** 31)}, name: 'ExecSyncResponse'},
    {what: 'the smallest int64', message: {timeout: -(2n ** 63n)}, name: 'StopContainerRequest'},
    {what: 'the largest int64', message: {timeout: 2n ** 63n - 1n}, name: 'StopContainerRequest'},
    {what: 'the largest uint64', message: {value: 2n ** 64n - 1n}, name: 'UInt64Value'},
    {what: 'the largest uint32', message: {hostId: 2 ** 32 - 1}, name: 'IDMapping'},
  ] as const)('$what survives, $message', ({message, name}, {expect}) => {
    expect(decode(name, encode(name, message as never))).toMatchObject(message);
  });

  test('a negative int32 takes ten bytes, as every other implementation writes it', ({expect}) => {
    expect([...encode('ExecSyncResponse', {exitCode: -1})]).toEqual([
      field(3, 0),
      ...Array<number>(9).fill(255),
      1,
    ]);
  });

  test('an enum value that is not known stands for itself, there and back', ({expect}) => {
    const bytes = bytesOf([field(3, 0), (writer) => writer.int32(77)]);
    const status = decode('PodSandboxStatus', bytes);
    expect(status.state).toBe('77');
    expect(encode('PodSandboxStatus', status)).toEqual(bytes);
  });

  test('of a field that comes twice, the last counts', ({expect}) => {
    const bytes = bytesOf([field(1, 2), (w) => w.string('a')], [field(1, 2), (w) => w.string('b')]);
    expect(decode('VersionRequest', bytes).version).toBe('b');
  });

  test('a field of another wire type than its own is skipped', ({expect}) => {
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

    test('of a key that comes twice, the last counts', ({expect}) => {
      expect(labels(entry('a', '1'), entry('a', '2'))).toEqual({a: '2'});
    });

    test('an entry without key or value has an empty one', ({expect}) => {
      expect(labels(entry('a'), entry(undefined, '1'))).toEqual({a: '', '': '1'});
    });

    test('a key named __proto__ is a key like others', ({expect}) => {
      const map = labels(entry('__proto__', 'x'), entry('a', '1'));
      expect(Object.entries(map)).toEqual([
        ['__proto__', 'x'],
        ['a', '1'],
      ]);
      expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
    });
  });

  test('bytes do not share memory with the message that they came in', ({expect}) => {
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

/** Decodes, or says that the bytes are malformed; anything else is a fault. */
function decodeOrRefuse(name: MessageName, bytes: Uint8Array): 'decoded' | 'refused' {
  try {
    decode(name, Buffer.from(bytes));
    return 'decoded';
  } catch (error) {
    if (error instanceof WireError) return 'refused';
    throw error;
  }
}

test('names of labels that differ little are told apart, whichever came before', ({expect}) => {
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
  for (const look of [1, 2]) {
    const {labels: read, annotations} = decode('Container', bytes);
    expect({look, read, annotations}).toEqual({look, read: labels, annotations: labels});
  }
});

describe('malformed input', () => {
  test('a message that is cut off anywhere is decoded or refused, never worse', ({expect}) => {
    const seen = {decoded: 0, refused: 0};
    fc.assert(
      fc.property(fc.constantFrom(...RICH), fc.gen(), (name, gen) => {
        const bytes = encode(name, gen(messages, name) as never);
        for (let end = 0; end < bytes.length; end++) seen[decodeOrRefuse(name, bytes.subarray(0, end))] += 1;
      }),
      RUNS,
    );
    expect(seen.decoded).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });

  test('any bytes at all are decoded or refused', ({expect}) => {
    const seen = {decoded: 0, refused: 0};
    fc.assert(
      fc.property(fc.constantFrom(...MESSAGE_NAMES), fc.uint8Array({maxLength: 200}), (name, bytes) => {
        seen[decodeOrRefuse(name, bytes)] += 1;
      }),
      {numRuns: 3000},
    );
    expect(seen.decoded).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });

  test.for([
    {
      what: 'a string longer than its message',
      bytes: [field(1, 2), 5, 97],
      message: 'the message is cut off',
    },
    {
      what: 'a length beyond 2 GiB',
      bytes: [field(1, 2), 255, 255, 255, 255, 15],
      message: 'the message is cut off',
    },
    {
      what: 'a varint that never ends',
      bytes: [field(9, 0), ...Array<number>(20).fill(255)],
      message: 'a varint is longer than 10 bytes',
    },
    {
      what: 'a tag that never ends',
      bytes: Array<number>(20).fill(255),
      message: 'a varint is longer than 10 bytes',
    },
    {what: 'a group', bytes: [field(9, 3)], message: 'unknown wire type 3'},
    {what: 'wire type 7', bytes: [field(9, 7)], message: 'unknown wire type 7'},
  ])('$what is refused', ({bytes, message}, {expect}) => {
    expect(() => decode('VersionRequest', Buffer.from(bytes))).toThrow(new WireError(message));
  });

  test('a sub-message that reaches beyond its end is refused', ({expect}) => {
    const bytes = Buffer.from([field(1, 2), 2, field(1, 2), 200, 1, 2, 3]);
    expect(() => decode('RunPodSandboxRequest', bytes)).toThrow(WireError);
  });
});

test('of the fields that are wanted all is decoded, of others nothing', ({expect}) => {
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

test('of a map the keys that are wanted are decoded, wherever they stand in an entry', ({expect}) => {
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
  const wanted = {app: true, round: true, empty: true, missing: true} as const;
  expect(decode('Container', bytes, {labels: wanted}).labels).toEqual({
    app: 'web',
    round: 'turned',
    empty: '',
  });
});

test('names that are alike but in a byte are not taken for one another', ({expect}) => {
  const labels = {'x.name': '1', 'y.name': '2', 'x.nàme': '3', 'x.na': '4', '': '5'};
  const bytes = encode('Container', {labels});
  expect(decode('Container', bytes).labels).toEqual(labels);
  expect(decode('Container', bytes).labels).toEqual(labels);
});

test('a value that an enum does not have is refused with its name', ({expect}) => {
  expect(() => encode('PodSandboxStateValue', {state: 'READY' as never})).toThrow(
    'PodSandboxState has no value "READY"',
  );
});
