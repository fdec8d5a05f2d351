import {describe, expect, expectTypeOf, test} from 'vitest';
import {pod} from '../../../src/api/types/v1-pod.js';
import type {
  AnySchema,
  Described,
  FieldType,
  Fields,
  ObjectSchema,
} from '../../../src/api/schema/object-schema.js';
import {
  bool,
  enumeration,
  int32,
  list,
  object,
  objectSchema,
  required,
  schemaOf,
  text,
} from '../../../src/api/schema/object-schema.js';

interface Part {
  readonly name: string;
  readonly size?: number;
}

describe('a table of fields', () => {
  const good = {name: required(text), size: int32};

  test('is accepted if it matches its interface', () => {
    expectTypeOf(good).toExtend<Fields<Part>>();
    expect(objectSchema<Part>('Part', good).fields.size).toEqual({type: {kind: 'int32'}, required: false});
  });

  test('does not compile if a field is missing, has another type, or is wrongly required or optional', () => {
    const missing = {name: required(text)};
    const wrongType = {name: required(text), size: bool};
    const wrongItem = {name: required(text), size: list(int32)};
    const notRequired = {name: text, size: int32};
    const tooRequired = {name: required(text), size: required(int32)};
    expectTypeOf(missing).not.toExtend<Fields<Part>>();
    expectTypeOf(wrongType).not.toExtend<Fields<Part>>();
    expectTypeOf(wrongItem).not.toExtend<Fields<Part>>();
    expectTypeOf(notRequired).not.toExtend<Fields<Part>>();
    expectTypeOf(tooRequired).not.toExtend<Fields<Part>>();
    // @ts-expect-error: "colour" is not a field of Part
    expect(objectSchema<Part>('Part', {...good, colour: text}).name).toBe('Part');
  });

  test('does not compile if an enumeration is wider or narrower than its type', () => {
    const wide = {policy: enumeration(['a', 'b', 'c'])};
    const narrow = {policy: enumeration(['a'])};
    const exact = {policy: enumeration(['a', 'b'])};
    expectTypeOf(wide).not.toExtend<Fields<{policy?: 'a' | 'b'}>>();
    expectTypeOf(narrow).not.toExtend<Fields<{policy?: 'a' | 'b'}>>();
    expectTypeOf(exact).toExtend<Fields<{policy?: 'a' | 'b'}>>();
  });

  test('nests only objects of the right type', () => {
    const part = objectSchema<Part>('Part', good);
    expectTypeOf({parts: list(object(part))}).toExtend<Fields<{parts?: readonly Part[]}>>();
    expectTypeOf({parts: list(object(part))}).not.toExtend<Fields<{parts?: readonly {other: string}[]}>>();
  });
});

interface Member extends Described<typeof member> {}
const member = schemaOf<Member>('Member')({
  name: required(text),
  policy: enumeration(['a', 'b']),
  parts: list(object(objectSchema<Part>('Part', {name: required(text), size: int32}))),
});

describe('a schema from which an interface is derived', () => {
  test('gives required and optional fields of the right types', () => {
    interface Written {
      readonly name: string;
      readonly policy?: 'a' | 'b';
      readonly parts?: readonly Part[];
    }
    expectTypeOf<Fields<Member>>().toEqualTypeOf<Fields<Written>>();
    expectTypeOf(object(member)).toExtend<Fields<{member?: Member}>['member']>();
    expect(member).toMatchObject({
      name: 'Member',
      fields: {name: {required: true}, parts: {required: false}},
    });
  });

  test('extends another one', () => {
    const longer = schemaOf<Part>('Longer')({...member.fields, size: required(int32)});
    expectTypeOf<Described<typeof longer>>().toExtend<Member & {readonly size: number}>();
    expect(Object.keys(longer.fields)).toEqual(['name', 'policy', 'parts', 'size']);
  });

  test('cannot be used if it names the interface of another schema', () => {
    const wrong = schemaOf<Member>('Member')({name: required(text)});
    expectTypeOf(member).toExtend<ObjectSchema<Member>>();
    expectTypeOf(wrong).not.toExtend<ObjectSchema<Member>>();
    expect(Object.keys(wrong.fields)).toEqual(['name']);
  });
});

/** Yields every path of a schema, such as `spec.containers[].name`. */
function* paths(type: FieldType, path: string): Generator<string> {
  if (type.kind === 'list') yield* paths(type.item, `${path}[]`);
  else if (type.kind === 'map') yield* paths(type.value, `${path}{}`);
  else if (type.kind === 'object') yield* objectPaths(type.schema, path);
  else yield path;
}

function* objectPaths(schema: AnySchema, path: string): Generator<string> {
  for (const [name, {type}] of Object.entries(schema.fields)) yield* paths(type, `${path}.${name}`);
}

test('the Pod schema covers the whole API of 1.36', () => {
  const all = [...objectPaths(pod, '')];
  expect(all).toEqual(
    expect.arrayContaining([
      '.metadata.annotations{}',
      '.spec.containers[].restartPolicyRules[].exitCodes.values[]',
      '.spec.ephemeralContainers[].targetContainerName',
      '.spec.hostnameOverride',
      '.spec.initContainers[].lifecycle.preStop.sleep.seconds',
      '.spec.resources.limits{}',
      '.spec.schedulingGroup.podGroupName',
      '.spec.volumes[].image.pullPolicy',
      '.spec.volumes[].projected.sources[].podCertificate.userAnnotations{}',
      '.status.containerStatuses[].user.linux.supplementalGroups[]',
    ]),
  );
  expect(new Set(all).size).toBe(all.length);
});
