import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import {describe, test} from 'vitest';
import {factsOfGo, factsOfProto} from './proto-facts.js';
import {temporaryDirectory} from '../base/temporary-directory.js';

const PROTO = `syntax = "proto3";
package test.v1;
service S { rpc Watch(A) returns (stream B); }
message A {
  enum Kind { NONE = 0; }
  repeated int32 numbers = 1;
  map<string, string> labels = 2;
  Kind kind = 3 [deprecated = true];
  bytes secret = 4 [debug_redact = true];
}
message B {}
`;

const FACTS = [
  'syntax proto3',
  'package test.v1',
  'message A',
  'field A.numbers = 1: repeated int32',
  'field A.labels = 2: map<string, string>',
  'field A.kind = 3: enum Kind [deprecated]',
  'field A.secret = 4: bytes [debug_redact]',
  'enum Kind',
  'value Kind.NONE = 0',
  'message B',
  'rpc S.Watch(A) returns (stream B)',
];

function descriptorBytes(): Buffer {
  const {root} = protobuf.parse(PROTO, {keepCase: true});
  root.resolveAll();
  const [file] = root.toDescriptor('proto3').file as unknown as protobuf.Message[];
  return Buffer.from(descriptor.FileDescriptorProto.encode(file!).finish());
}

describe('facts of an interface', () => {
  test('a .proto file yields one fact per message, field, enum, value and RPC', async ({expect}) => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'x.proto'), PROTO);
    const facts = factsOfProto(join(directory, 'x.proto'));
    expect([...facts].sort()).toEqual([...FACTS].sort());
  });

  test.for([
    ['a list of bytes', (bytes: Buffer) => `var x_rawDesc = []byte{\n${[...bytes].map(hex).join(', ')},\n}`],
    [
      'a string of bytes',
      (bytes: Buffer) => `var x_rawDesc = string([]byte{${[...bytes].map(hex).join(',')}})`,
    ],
    ['string literals', (bytes: Buffer) => `const x_rawDesc = "" +\n\t${literals(bytes).join(' +\n\t')}\n`],
  ] as const)('a Go file with the descriptor as %s yields the same facts', ([, write], {expect}) => {
    expect([...factsOfGo(write(descriptorBytes()))].sort()).toEqual([...FACTS].sort());
  });

  test('a Go file without a descriptor is rejected', ({expect}) => {
    expect(() => factsOfGo('package v1')).toThrow('the Go file contains no descriptor');
  });
});

const hex = (byte: number): string => `0x${byte.toString(16).padStart(2, '0')}`;

/** Splits and escapes bytes like Go's %q. */
function literals(bytes: Buffer): string[] {
  const escaped = [...bytes].map((byte) => {
    if (byte === 10) return '\\n';
    if (byte === 34 || byte === 92) return `\\${String.fromCharCode(byte)}`;
    return byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  });
  const middle = escaped.length >> 1;
  return [`"${escaped.slice(0, middle).join('')}"`, `"${escaped.slice(middle).join('')}"`];
}
