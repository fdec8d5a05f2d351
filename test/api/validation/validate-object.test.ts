import {describe, expect, test} from 'vitest';
import {loadManifest} from '../../../src/api/manifest/load-manifest.js';
import {renderIssue} from '../../../src/api/decoding/manifest-issue.js';
import type {ApiObject} from '../../../src/api/types/v1-objects.js';
import {NOT_A_LABEL, NOT_A_SUBDOMAIN, issueMessages, testValidation} from '../validation-cases.js';

const NOT_A_KEY =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const MIB = 1024 * 1024;

function objects(text: string): readonly ApiObject[] {
  const loaded = loadManifest(text, {file: 'objects.yaml'});
  expect(loaded.issues).toEqual([]);
  return loaded.objects.map(({object}) => object);
}

const of =
  (kind: string, apiVersion = 'v1') =>
  (fields: string): string[] =>
    issueMessages(`apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: x}\n${fields}\n`);

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('a ConfigMap', () => {
  test('has strings and bytes, in the namespace default unless it has one', () => {
    const text =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nimmutable: true\ndata: {a: b}\nbinaryData: {c: AP8=}\n';

    expect(objects(text)).toEqual([
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {name: 'x', namespace: 'default'},
        immutable: true,
        data: {a: 'b'},
        binaryData: {c: Buffer.of(0, 255)},
      },
    ]);
  });

  testValidation(of('ConfigMap'), [
    ['data: {"a b": x}', `data[a b]: Invalid value: "a b": ${NOT_A_KEY}`],
    ['data: {..: x}', `data[..]: Invalid value: "..": must not be '..'`],
    ['binaryData: {"..a": eA==}', `binaryData[..a]: Invalid value: "..a": must not start with '..'`],
    [
      '{data: {a: x}, binaryData: {a: eA==}}'.slice(1, -1).replace('}, ', '}\n'),
      'data[a]: Invalid value: "a": duplicate of key present in binaryData',
    ],
    ['binaryData: {a: "x y"}', 'binaryData[a]: Invalid value: illegal base64 data at input byte 1'],
    ['data: {a: 1}', 'data[a]: Invalid value: 1: must be a string, not a number (write "1")'],
    ['dat: {a: x}', 'unknown field "dat", did you mean "data"?'],
    [`data: {a: ${'x'.repeat(MIB)}}`],
    [`data: {a: ${'x'.repeat(MIB)}}\nbinaryData: {b: eA==}`, 'Too long: may not be more than 1048576 bytes'],
  ]);

  test('must have a valid name', () => {
    expect(issueMessages('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_b}\n')).toEqual([
      `metadata.name: Invalid value: "A_b": ${NOT_A_SUBDOMAIN}`,
    ]);
  });
});

describe('a Secret', () => {
  test('has bytes, and stringData overrides data', () => {
    const text =
      'apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: ns}\ndata: {a: YQ==, b: Yg==}\nstringData: {b: new, c: ö}\n';

    expect(objects(text)).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {name: 'x', namespace: 'ns'},
        type: 'Opaque',
        data: {a: Buffer.from('a'), b: Buffer.from('new'), c: Buffer.from('ö')},
      },
    ]);
  });

  testValidation(of('Secret'), [
    ['type: example.com/own\ndata: {}'],
    ['stringData: {"a b": x}', `data[a b]: Invalid value: "a b": ${NOT_A_KEY}`],
    [`stringData: {a: ${'x'.repeat(MIB + 1)}}`, 'data: Too long: may not be more than 1048576 bytes'],
    [
      'type: kubernetes.io/service-account-token',
      'metadata.annotations[kubernetes.io/service-account.name]: Required value',
    ],
    ['type: kubernetes.io/dockercfg', 'data[.dockercfg]: Required value'],
    ['type: kubernetes.io/dockerconfigjson', 'data[.dockerconfigjson]: Required value'],
    [
      `type: kubernetes.io/dockerconfigjson\ndata: {.dockerconfigjson: ${base64('hunter2')}}`,
      'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": must be an object in JSON',
    ],
    [
      `type: kubernetes.io/dockercfg\ndata: {.dockercfg: ${base64('[]')}}`,
      'data[.dockercfg]: Invalid value: "<secret contents redacted>": must be an object in JSON',
    ],
    [`type: kubernetes.io/dockerconfigjson\ndata: {.dockerconfigjson: ${base64('{"auths":{}}')}}`],
    ['type: kubernetes.io/basic-auth', 'data[username]: Required value', 'data[password]: Required value'],
    ['type: kubernetes.io/basic-auth\nstringData: {password: x}'],
    ['type: kubernetes.io/ssh-auth\ndata: {ssh-privatekey: ""}', 'data[ssh-privatekey]: Required value'],
    ['type: kubernetes.io/tls\ndata: {tls.crt: eA==}', 'data[tls.key]: Required value'],
  ]);
});

describe('a RuntimeClass', () => {
  testValidation(of('RuntimeClass', 'node.k8s.io/v1'), [
    [
      'handler: runc\noverhead: {podFixed: {cpu: 100m}}\nscheduling: {nodeSelector: {a: b}, tolerations: [{key: k}]}',
    ],
    [
      'handler: ""',
      expect.stringMatching(/^handler: Invalid value: "": a lowercase RFC 1123 label/) as string,
    ],
    ['handler: A', `handler: Invalid value: "A": ${NOT_A_LABEL}`],
    [
      'handler: runc\noverhead: {podFixed: {cpu: "-1"}}',
      'overhead.podFixed.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ],
    [
      'handler: runc\nscheduling: {tolerations: [{key: k}, {key: k}]}',
      'scheduling.tolerations[1]: Duplicate value: {"key":"k"}',
    ],
  ]);

  test('must not have a namespace', () => {
    const text = 'apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: x}\nhandler: runc\n';

    expect(objects(text)[0]?.metadata).toEqual({name: 'x'});
    expect(issueMessages(text.replace('x}', 'x, namespace: ns}'))).toEqual([
      'metadata.namespace: Forbidden: not allowed on this type',
    ]);
  });
});

test('Lists contain objects of any kind, and items of typed lists may omit their type', () => {
  const text = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}, imagePullSecrets: [{name: s}]}
- apiVersion: v1
  kind: ConfigMapList
  items: [{metadata: {name: a}}, {metadata: {name: b}}]
- apiVersion: node.k8s.io/v1
  kind: RuntimeClassList
  items: [{metadata: {name: kata}, handler: kata}]
`;

  expect(objects(text).map(({apiVersion, kind, metadata}) => [apiVersion, kind, metadata.name])).toEqual([
    ['v1', 'ServiceAccount', 'robot'],
    ['v1', 'ConfigMap', 'a'],
    ['v1', 'ConfigMap', 'b'],
    ['node.k8s.io/v1', 'RuntimeClass', 'kata'],
  ]);
});

describe('no message contains a value of a Secret:', () => {
  const head = 'apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n';
  const pod = '{apiVersion: v1, kind: Pod, metadata: {name: P}, spec: {containers: [{name: c, image: i}]}}';

  test.each([
    ['an unquoted number', `${head}stringData: {password: 31337}`],
    ['a boolean for bytes', `${head}data: {password: true}\nstringData: {user: 31337}`],
    ['invalid base64', `${head}data: {password: 31337-hunter}`],
    ['a string in place of data', `${head}data: hunter-31337`],
    ['a list in place of the object', `${head}stringData: [31337]`],
    ['a misspelled field', `${head}strData: {password: 31337}`],
    ['a duplicate key', `${head}stringData: {a: 31337, a: 31338}`],
    ['broken YAML', `${head}stringData: {password: "31337`],
    ['broken YAML on the line', `${head}stringData:\n  a: b: "31337"`],
    ['another version', '{apiVersion: v2, kind: Secret, stringData: {password: "31337"}}'],
    ['a misspelled kind', '{apiVersion: v1, kind: secret, data: {password: "31337"}}'],
    ['a missing kind', '{apiVersion: v1, stringData: {password: "31337"}}'],
    [
      'a list item',
      `{apiVersion: v1, kind: SecretList, items: [{metadata: {name: X}, stringData: {a: "31337"}}]}`,
    ],
    [
      'a Pod on the same line',
      `{apiVersion: v1, kind: List, items: [${pod}, {apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {a: "31337"}}]}`,
    ],
  ])('%s', (_what, text) => {
    const {issues} = loadManifest(text, {file: 'secret.yaml'});

    expect(issues).not.toEqual([]);
    expect(issues.map(renderIssue).join('\n')).not.toMatch(/3133|hunter/);
  });

  test('the position is still shown, and lines of other objects are too', () => {
    const text = `${head}data: {password: hunter2}\n---\n${pod}\n`;
    const [first, second] = loadManifest(text, {file: 'f.yaml'}).issues.map(renderIssue);

    expect(first).toBe(
      'f.yaml:4:18: data[password]: Invalid value: illegal base64 data at input byte 4\n    4 | (not shown, since it may contain secrets)',
    );
    expect(second).toContain('    6 | {apiVersion: v1, kind: Pod');
  });
});
