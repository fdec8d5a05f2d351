import {describe, expect, test} from 'vitest';
import {isPlainName, isPlainText} from '../../../src/cli/redaction/plain-bytes.js';
import {maskSecrets} from '../../../src/cli/redaction/mask-secrets.js';
import {decode, encodeMessage} from '../../../src/cri/codec.js';
import {MESSAGES, type MessageName} from '../../../src/cri/gen/schema.js';
import {
  CRI_SCHEMAS,
  type FieldType,
  type MessageSchema,
  type ScalarKind,
} from '../../../src/cri/message-schema.js';
import {toJson} from '../../../src/cri/proto-json.js';
import {WireError} from '../../../src/cri/wire-format.js';
import {JsonBuffer} from '../../../src/recording/lines/json-buffer.js';
import {MessageJson} from '../../../src/recording/lines/message-json.js';

/** Texts with everything that masks, JSON and UTF-8 treat specially, and some that only resemble it. */
const TEXTS = [
  '',
  'plain',
  'registry.example.org/team/app:v1',
  'a"b\\c\n\u0001\u007f',
  'größe 日本 🙂',
  'DB_PASSWORD=hunter2',
  'x=1 API_TOKEN="two words" y',
  '/cri/exec/abcdef',
  'http://127.0.0.1:1/attach/abcdef?x',
  '/portforward/abcdef',
  '/var/exec/log',
  '{"password": "hidden", "x": 1}',
  '{"key":"MY_TOKEN","value":"hidden"}',
  'x'.repeat(70_000),
  ' ~/-_.:',
  '/exec',
];
const KEYS = [
  'app',
  'io.kubernetes.pod.name',
  'key',
  'value',
  'auth',
  'password',
  'stdout',
  '7',
  '__proto__',
  'ä',
  'b"',
];

const SCALARS: Readonly<Record<ScalarKind, readonly unknown[]>> = {
  string: [...TEXTS, 'DB_PASSWORD', 'DB_PASSWORD', 'DB_PASSWORD'],
  bytes: TEXTS.map((text) => Buffer.from(text)),
  bool: [true, false],
  int32: [0, 1, -1, 2 ** 31 - 1],
  uint32: [0, 1, 2 ** 32 - 1],
  int64: [0n, 1n, -1n, 1_700_000_000_000_000_000n, -(2n ** 63n)],
  uint64: [0n, 7n, 2n ** 64n - 1n],
  double: [0, -0, 0.5, 1e21, NaN],
};

/** Returns numbers below a limit, the same ones for the same seed. */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

type Random = ReturnType<typeof randomNumbers>;

const oneOf = <T>(random: Random, items: readonly T[]): T => items[random(items.length)] as T;

function randomMessage(schema: MessageSchema, random: Random, depth = 0): Record<string, unknown> {
  const fields = schema.fields.filter(() => random(10) < 7);
  return Object.fromEntries(
    fields.map(({name, type, repeated}) => {
      const value = () => randomValue(type, random, depth);
      return [name, repeated ? Array.from({length: random(4)}, value) : value()];
    }),
  );
}

function randomValue(type: FieldType, random: Random, depth: number): unknown {
  switch (type.kind) {
    case 'message':
      return depth > 4 ? {} : randomMessage(type.schema(), random, depth + 1);
    case 'map':
      return Object.fromEntries(
        Array.from({length: random(5)}, () => [
          random(3) === 0 ? oneOf(random, KEYS) : `label-${random(9)}`,
          oneOf(random, TEXTS),
        ]),
      );
    case 'enum':
      return random(9) === 0 ? '99' : oneOf(random, [...type.values.numbers.keys()]);
    default:
      return oneOf(random, SCALARS[type.kind]);
  }
}

/** Returns the JSON of a message without its writer. */
function slowJson(name: MessageName, bytes: Buffer): string {
  return JSON.stringify(maskSecrets(toJson(name, decode(name, bytes))));
}

const target = new JsonBuffer();
let maskedParts = 0;
const writer = new MessageJson(
  {
    mask: (json) => {
      maskedParts += 1;
      return maskSecrets(json);
    },
    isPlainText,
    isPlainName,
  },
  target,
);

function write(name: MessageName, bytes: Buffer): string {
  writer.write(name, bytes);
  return target.take().toString();
}

const NAMES = Object.keys(MESSAGES) as MessageName[];
const LISTS: readonly MessageName[] = [
  'ListContainersResponse',
  'ListPodSandboxResponse',
  'ContainerStatusResponse',
];

test('messages are written as decoded, masked and formatted ones', () => {
  for (const name of [...NAMES, ...LISTS])
    for (let seed = 1; seed <= 5; seed += 1) {
      const bytes = encodeMessage(
        CRI_SCHEMAS.message(name),
        randomMessage(CRI_SCHEMAS.message(name), randomNumbers(seed)),
      );
      expect(write(name, bytes), `${name} ${seed}`).toBe(slowJson(name, bytes));
    }
});

test('no secret is written, wherever it is', () => {
  for (const name of NAMES)
    for (let seed = 1; seed <= 5; seed += 1) {
      const message = randomMessage(CRI_SCHEMAS.message(name), randomNumbers(seed));
      const text = write(name, encodeMessage(CRI_SCHEMAS.message(name), message));
      expect(text, `${name} ${seed}`).not.toMatch(/hunter2|hidden|two words|abcdef/);
    }
});

/** Fields with their tags, in any order. */
const field = (number: number, content: string | Buffer): Buffer => {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
};
const entry = (key: string, value: string): Buffer => Buffer.concat([field(1, key), field(2, value)]);

describe('bytes that other encoders send', () => {
  test.each<readonly [string, MessageName, readonly Buffer[]]>([
    ['fields in another order', 'VersionResponse', [field(4, 'v1'), field(1, '0.1.0')]],
    ['a field that occurs twice', 'VersionResponse', [field(1, 'first'), field(1, 'second')]],
    ['an unknown field', 'VersionResponse', [field(1, '0.1.0'), field(15, 'new'), field(4, 'v1')]],
    ['a field of another wire type', 'VersionResponse', [Buffer.from([1 << 3, 5]), field(4, 'v1')]],
    [
      'an entry of a map that occurs twice',
      'ContainerFilter',
      [field(4, entry('a', '1')), field(4, entry('a', '2'))],
    ],
    ['an entry of a map without a value', 'ContainerFilter', [field(4, field(1, 'a'))]],
    [
      'an entry of a map in another order',
      'ContainerFilter',
      [field(4, Buffer.concat([field(2, 'v'), field(1, 'k')]))],
    ],
    [
      'an entry of a map without a value, before another field',
      'ContainerFilter',
      [field(3, ''), field(4, field(1, 'a')), field(4, entry('b', '1'))],
    ],
    ['a list that is interrupted', 'Capability', [field(1, 'a'), field(2, 'b'), field(1, 'c')]],
    ['a list of defaults', 'Capability', [field(1, ''), field(1, '')]],
    ['names that are numbers', 'ContainerFilter', [field(4, entry('b', '1')), field(4, entry('10', '2'))]],
    [
      'more entries than are sorted here',
      'ContainerFilter',
      Array.from({length: 100}, (_, index) => field(4, entry(`k${index}`, 'v'))),
    ],
  ])('%s', (_, name, parts) => {
    const bytes = Buffer.concat(parts);
    expect(write(name, bytes)).toBe(slowJson(name, bytes));
  });

  test.each<readonly [string, Buffer]>([
    ['a truncated field', Buffer.from([0x0a, 9, 0x61])],
    ['text that is not UTF-8', field(1, Buffer.from([0xff, 0x61]))],
    ['an unknown wire type', Buffer.from([0x0b])],
  ])('%s is malformed', (_, bytes) => {
    const before = target.length;
    expect(() => {
      writer.write('VersionResponse', bytes);
    }).toThrow(WireError);
    target.truncate(before);
  });
});

test('a usual list is written without a mask', () => {
  const labels = {'io.kubernetes.pod.name': 'web', app: 'web'};
  const container = {
    ...{
      id: 'c1',
      podSandboxId: 's1',
      metadata: {name: 'main', attempt: 0},
      image: {image: 'registry/team/app:v1'},
    },
    ...{imageRef: 'sha256:1', state: 'CONTAINER_RUNNING', createdAt: 1_700_000_000_000_000_000n, labels},
  };
  const schema = CRI_SCHEMAS.message('ListContainersResponse');
  maskedParts = 0;
  const text = write('ListContainersResponse', encodeMessage(schema, {containers: [container, container]}));
  expect(JSON.parse(text)).toMatchObject({
    containers: [
      {id: 'c1', labels},
      {id: 'c1', labels},
    ],
  });
  expect(maskedParts).toBe(0);
});
