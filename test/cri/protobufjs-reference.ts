import fc from 'fast-check';
import protobuf from 'protobufjs';
import type {MessageName} from '../../src/cri/gen/schema.js';
import {apiProtoPath} from '../fakes/runtime/cri-messages.js';

/* The interface as protobufjs sees it, with generated messages: kcri's codec shares only the .proto file with it. */

const root = protobuf.loadSync(apiProtoPath());
root.resolveAll();
const namespace = root.lookup('runtime.v1') as protobuf.Namespace;

/** Names of all messages of the interface. */
export const MESSAGE_NAMES = namespace.nestedArray
  .filter((item) => item instanceof protobuf.Type)
  .map((type) => type.name as MessageName);

function typeOf(name: string): protobuf.Type {
  return namespace.lookupType(name);
}

type Plain = Record<string, unknown>;

const SCALARS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: fc.string({unit: 'binary', maxLength: 20}),
  bytes: fc.uint8Array({maxLength: 20}),
  bool: fc.boolean(),
  int32: fc.oneof(fc.integer(), fc.constantFrom(0, -1, 2 ** 31 - 1, -(2 ** 31))),
  uint32: fc.oneof(fc.nat(), fc.constantFrom(0, 2 ** 32 - 1)),
  int64: fc.oneof(
    fc.bigInt({min: -(2n ** 63n), max: 2n ** 63n - 1n}),
    fc.constantFrom(0n, -1n, -(2n ** 63n), 2n ** 63n - 1n),
  ),
  uint64: fc.oneof(fc.bigInt({min: 0n, max: 2n ** 64n - 1n}), fc.constantFrom(0n, 2n ** 64n - 1n)),
  // protobufjs omits -0, which is not the default and must be sent.
  double: fc.double().map((value) => (value === 0 ? 0 : value)),
};

const known = new Map<string, fc.Arbitrary<Plain>>();

/** Generates complete messages in the form of kcri's types: all fields set, sub-messages optional. */
export function messages(name: string): fc.Arbitrary<Plain> {
  const arbitrary = known.get(name) ?? fc.record(mapValues(typeOf(name).fields, fieldValues));
  known.set(name, arbitrary);
  return arbitrary;
}

function fieldValues(field: protobuf.Field): fc.Arbitrary<unknown> {
  if (field.map) return fc.dictionary(fc.string({maxLength: 8}), fc.string({maxLength: 8}), {maxKeys: 3});
  const single = singleValues(field);
  if (field.repeated) return fc.array(single, {maxLength: 3});
  return field.resolvedType instanceof protobuf.Type ? fc.option(single, {nil: undefined}) : single;
}

function singleValues({type, resolvedType}: protobuf.Field): fc.Arbitrary<unknown> {
  if (resolvedType instanceof protobuf.Enum) return fc.constantFrom(...Object.keys(resolvedType.values));
  if (resolvedType instanceof protobuf.Type) return messages(resolvedType.name);
  const scalar = SCALARS[type];
  if (scalar === undefined) throw new Error(`no values for the type ${type}`);
  return scalar;
}

/** Encodes a message in kcri's form with protobufjs. */
export function encodeByProtobufjs(name: string, message: Plain): Buffer {
  const type = typeOf(name);
  return Buffer.from(type.encode(type.fromObject(forProtobufjs(message) as Plain)).finish());
}

function forProtobufjs(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(forProtobufjs);
  if (value instanceof Uint8Array || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, forProtobufjs(each)]));
}

/** Decodes a message with protobufjs to the form of `comparable`. */
export function decodeByProtobufjs(name: string, bytes: Uint8Array): unknown {
  const type = typeOf(name);
  const message = type.decode(bytes);
  return comparable(
    type.toObject(message, {
      longs: String,
      enums: String,
      bytes: Array,
      defaults: true,
      arrays: true,
      objects: true,
    }),
  );
}

/** Returns a message as plain data: 64-bit numbers as decimal strings, bytes as lists, absent messages omitted. */
export function comparable(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return [...value];
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  const present = Object.entries(value).filter(([, each]) => each !== undefined && each !== null);
  return Object.fromEntries(present.map(([key, each]) => [key, comparable(each)]));
}

function mapValues<T, U>(fields: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, map(value)]));
}
