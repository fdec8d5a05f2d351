import fc from 'fast-check';
import {expect, test} from 'vitest';
import {stringify} from 'yaml';
import {applyPodDefaults} from '../../src/api/defaults/pod-defaults.js';
import {computePodUid} from '../../src/api/container-hash.js';
import {loadManifest} from '../../src/api/manifest/load-manifest.js';
import {renderIssue} from '../../src/api/decoding/manifest-issue.js';
import {decodeManifest} from '../../src/api/manifest/parse-manifest.js';
import {pod as podSchema} from '../../src/api/types/v1-pod.js';
import type {AnySchema, FieldType, ScalarType} from '../../src/api/schema/object-schema.js';
import type {Pod} from '../../src/api/types/v1-pod.js';
import {KcriError} from '../../src/base/errors.js';

const file = 'pod.yaml';
/** Generating a Pod with every field is slow. */
const FEW_RUNS = {numRuns: 40};

/** Strings, some of which have a meaning in a Pod. */
const words = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'A_b',
    'y',
    '017',
    '..',
    '/x',
    'metadata.name',
    "metadata.labels['a']",
    'limits.cpu',
    '__proto__',
  ),
  fc.string({maxLength: 8}),
);
/** Probability of an optional field. It is low, since a Pod with every field has thousands. */
const OPTIONAL = {freq: 12, nil: undefined};

const SCALARS: Readonly<Record<ScalarType['kind'] | 'anything', fc.Arbitrary<unknown>>> = {
  text: words,
  secretText: words,
  bytes: fc.base64String({maxLength: 8}),
  bool: fc.boolean(),
  int32: fc.oneof(fc.integer(), fc.constantFrom(0, 1, 80, 65535)),
  int64: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, 1, 30)),
  quantity: fc.constantFrom('0', '1', '100m', '64Mi', '-1', '1e3', '3'),
  time: fc.constant('2026-01-31T12:00:00Z'),
  intOrString: fc.oneof(fc.integer({min: -1, max: 70_000}), words),
  anything: fc.constantFrom({a: [1, 'b', null]}, []),
};

function aValue(type: FieldType): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case 'enumeration':
      return fc.oneof(fc.constantFrom(...type.values), fc.constant('Nonsense'));
    case 'list':
      return fc.array(aValue(type.item), {maxLength: 2});
    case 'map':
      return fc.dictionary(words, aValue(type.value), {maxKeys: 2, noNullPrototype: true});
    case 'object':
      return anObject(type.schema);
    default:
      return SCALARS[type.kind];
  }
}

function anObject(schema: AnySchema): fc.Arbitrary<unknown> {
  const optionalField = ([name, {type, required}]: [string, AnySchema['fields'][string]]) => {
    const isFrequent = required || ['spec', 'metadata', 'initContainers', 'volumes'].includes(name);
    const value = fc.constant(undefined).chain(() => aValue(type));
    return [name, isFrequent ? value : fc.option(value, OPTIONAL)] as const;
  };
  return fc
    .record(Object.fromEntries(Object.entries(schema.fields).map(optionalField)))
    .map((object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)));
}

const aPod = anObject(podSchema).map((pod) => ({...(pod as Pod), apiVersion: 'v1', kind: 'Pod'}));

function decodeOne(text: string): Pod {
  const [document] = decodeManifest(text, {file});
  if (document === undefined) throw new Error('no document');
  return document.pod;
}

/** Strings are quoted, since Kubernetes reads `y` and `+_0` as other types. */
const YAML_TEXT = {indent: 4, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_SINGLE'} as const;

/** Loads a manifest and expects either Pods with issues that can be rendered, or a KcriError. */
function expectResultOrKcriError(text: string): void {
  try {
    for (const issue of loadManifest(text, {file}).issues)
      expect(renderIssue(issue)).toContain(issue.message);
  } catch (error) {
    expect(error).toBeInstanceOf(KcriError);
  }
}

test('any text is loaded or rejected with a KcriError', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({unit: 'binary'}), fc.string({unit: 'grapheme-ascii', maxLength: 200})),
      expectResultOrKcriError,
    ),
  );
});

test("any text of YAML's special characters is loaded or rejected with a KcriError", () => {
  const unit = fc.constantFrom(
    ...Array.from('&*!|>%@`?:-#{}[],"\'\n\t  ~<=ab0.'),
    '<<: ',
    '- ',
    '&a ',
    '*a',
    '---\n',
  );
  fc.assert(fc.property(fc.string({unit, maxLength: 80}), expectResultOrKcriError), {numRuns: 500});
});

test('any Pod with modified text is loaded or rejected with a KcriError', () => {
  const modification = fc.tuple(aPod, fc.nat(), fc.nat({max: 10}), fc.string({maxLength: 3}));
  fc.assert(
    fc.property(modification, ([pod, at, deleted, added]) => {
      const text = stringify(pod);
      const start = at % text.length;
      expectResultOrKcriError(text.slice(0, start) + added + text.slice(start + deleted));
    }),
    FEW_RUNS,
  );
});

test('a Pod with any value replaced is loaded or rejected with a KcriError', () => {
  fc.assert(
    fc.property(aPod, fc.json(), fc.nat(), (pod, value, at) => {
      const places = Array.from(JSON.stringify(pod).matchAll(/:/g), ({index}) => index + 1);
      const place = places[at % places.length] ?? 0;
      const text = JSON.stringify(pod);
      expectResultOrKcriError(`${text.slice(0, place)}${value},"x":${text.slice(place)}`);
    }),
    FEW_RUNS,
  );
});

test('every generated Pod decodes equally from YAML and JSON, and again from its own JSON', () => {
  fc.assert(
    fc.property(aPod, (written) => {
      const pod = decodeOne(JSON.stringify(written));
      expect(decodeOne(stringify(written, YAML_TEXT))).toEqual(pod);
      expect(decodeOne(JSON.stringify(pod))).toEqual(pod);
    }),
    FEW_RUNS,
  );
});

test('every generated Pod can be defaulted and validated, its defaults are idempotent, and its UID is stable', () => {
  fc.assert(
    fc.property(aPod, (written) => {
      const text = JSON.stringify(written);
      const {pods} = loadManifest(text, {file});
      const [pod] = pods.map((document) => document.pod);
      expect(pod && applyPodDefaults(pod)).toEqual(pod);
      expect(
        loadManifest(stringify(JSON.parse(text), YAML_TEXT), {file}).pods.map((document) =>
          computePodUid(document.pod, '/root'),
        ),
      ).toEqual(pods.map((document) => computePodUid(document.pod, '/root')));
    }),
    FEW_RUNS,
  );
});
