import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {ConfigError} from '../../src/base/errors.js';
import {decodeCrictlConfig} from '../../src/features/cri-configs/crictl/decode-crictl-config.js';
import {parseGoYaml, type GoYamlNode} from '../../src/format/go-yaml/parser.js';

/** Errors of crictl for invalid config files, by the version of go-yaml that reads them. */
const ERRORS = JSON.parse(readFileSync(new URL('go-yaml.json', import.meta.url), 'utf8')) as Readonly<
  Record<2 | 3, readonly (readonly [text: string, error: string])[]>
>;

describe('errors equal those of go-yaml 2 under sigs.k8s.io/yaml', () => {
  test.each(ERRORS[2])('%j', (text, error) => {
    expect(() => decodeCrictlConfig('PodSandboxConfig', text)).toThrow(
      new ConfigError(`error converting YAML to JSON: ${error}`),
    );
  });
});

describe('errors equal those of go-yaml 3', () => {
  test.each(ERRORS[3])('%j', (text, error) => {
    expect(parseGoYaml(text, 3)).toEqual({error});
  });
});

/** Returns the JSON that corresponds to a node. */
function toJson(node: GoYamlNode | undefined): unknown {
  switch (node?.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(toJson);
    case 'map':
      return Object.fromEntries(node.entries.map(([key, value]) => [toJson(key), toJson(value)]));
    case 'alias':
      return toJson(node.target);
    case undefined:
      return undefined;
  }
}

test.each([
  ['', undefined],
  ['# only a comment\n', undefined],
  ['---\n', ''],
  ['a: [b, c: d, {e, f: }, "g\\u00e9\\\n  h", ]', {a: ['b', {c: 'd'}, {e: '', f: ''}, 'géh']}],
  ["a: one\n  two\n\n  three # no\nb: 'it''s'\n", {a: 'one two\nthree', b: "it's"}],
  ['a: |+\n  x\n   y\n\nb: >-\n  x\n  y\n\n   z\n  w\n', {a: 'x\n y\n\n', b: 'x y\n\n z\nw'}],
  ['a: |2-\n   x\nb:\n- c\n-\n- - d\n', {a: ' x', b: ['c', '', ['d']]}],
  ['? a\n: b\n? c\n', {a: 'b', c: ''}],
  ['a: &x {b: !!str c}\nd: *x\n...\n} garbage', {a: {b: 'c'}, d: {b: 'c'}}],
])('a text is read as by go-yaml: %j', (text, json) => {
  const parsed = parseGoYaml(text, 2);
  expect('error' in parsed ? parsed : toJson(parsed.root)).toEqual(json);
});

test('go-yaml 3 scans two tokens ahead, and so finds other errors first', () => {
  const text = 'a: b\n- c\n@';
  expect([parseGoYaml(text, 2), parseGoYaml(text, 3)]).toEqual([
    {error: 'yaml: line 1: did not find expected key'},
    {error: 'yaml: line 3: found character that cannot start any token'},
  ]);
});
