import {ALIAS_BOMBS} from '../decoding/alias-bombs.js';
import {describe, expect, test} from 'vitest';
import {loadManifest} from '../../../src/api/manifest/load-manifest.js';
import {PodValidationError, renderIssue} from '../../../src/api/decoding/manifest-issue.js';
import {decodeManifest, parseManifest} from '../../../src/api/manifest/parse-manifest.js';

const file = 'web.yaml';

function decode(text: string): readonly unknown[] {
  return decodeManifest(text, {file}).map(({pod}) => pod);
}

/** Returns all issues of a text, with their positions. */
function issueLines(text: string): string[] {
  return parseManifest(text, {file}).issues.map(({line, column, message}) => `${line}:${column}: ${message}`);
}

/** Returns a Pod manifest with these lines in its only container. */
function withContainer(...lines: readonly string[]): string {
  const container = ['  - name: a', ...lines.map((line) => `    ${line}`)];
  return ['apiVersion: v1', 'kind: Pod', 'spec:', '  containers:', ...container, ''].join('\n');
}

test.each([`kind: ${'x'.repeat(10_000)}`, `a: *${'x'.repeat(10_000)}`, `a: |${'x'.repeat(10_000)}`])(
  'a message shortens what it quotes',
  (text) => {
    const {issues} = parseManifest(`apiVersion: v1\n${text}\n`, {file});
    expect(issues.length).toBeGreaterThan(0);
    for (const issue of issues) expect(renderIssue(issue).length).toBeLessThan(1300);
  },
);

const minimal = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {name: 'a'},
  spec: {containers: [{name: 'c', image: 'i'}]},
};
const minimalText =
  'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - {name: c, image: i}\n';

describe('decodeManifest reads', () => {
  test.each([
    ['YAML', minimalText],
    ['JSON', JSON.stringify(minimal, null, '\t')],
    ['CRLF line endings', minimalText.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\uFEFF${minimalText}`],
    ['comments and an empty document before it', `# first\n---\n---\n${minimalText}`],
    ['a List', `apiVersion: v1\nkind: List\nitems:\n- ${JSON.stringify(minimal)}\n`],
    [
      'a PodList whose items omit their kind',
      'apiVersion: v1\nkind: PodList\nmetadata: {resourceVersion: ""}\nitems:\n' +
        '- {metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}\n',
    ],
    [
      'anchors, aliases and merge keys',
      `apiVersion: v1\nkind: Pod\nmetadata: {name: &n a}\nspec:\n  containers:\n  - <<: [{image: i}, {image: j}]\n    name: c\n`,
    ],
  ])('%s', (_what, text) => {
    expect(decode(text)).toEqual([minimal]);
  });

  test('several documents, each with its position', () => {
    const documents = decodeManifest(`${minimalText}---\n${minimalText}`, {file});
    expect(documents.map(({line, column}) => [line, column])).toEqual([
      [1, 1],
      [8, 1],
    ]);
  });

  test("omitted required fields as Go's zero values, and omits the other ones", () => {
    expect(decode('{apiVersion: v1, kind: Pod, metadata: null, status: ~}')).toEqual([
      {apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: {containers: []}},
    ]);
  });

  test.each([
    ['yes', true],
    ['y', true],
    ['On', true],
    ['no', false],
    ['OFF', false],
  ])('%s as the boolean %s, as YAML 1.1 does', (word, value) => {
    expect(decode(withContainer(`tty: ${word}`))).toMatchObject([{spec: {containers: [{tty: value}]}}]);
  });

  test.each([
    ['0644', 420],
    ['0o644', 420],
    ['0x1A', 26],
    ['0b11', 3],
    ['1_000', 1000],
    ['-017', -15],
    ['+8', 8],
    ['09', 9],
    ['1e3', 1000],
    ['5.0', 5],
  ])('%s as the number %s, as Kubernetes does', (word, value) => {
    const text = `apiVersion: v1\nkind: Pod\nspec:\n  volumes:\n  - secret: {defaultMode: ${word}}\n`;
    expect(decode(text)).toMatchObject([{spec: {volumes: [{secret: {defaultMode: value}}]}}]);
  });

  test.each(['2001-01-01', '1:30', '0x', '1.2.3', 'nope', 'Off-white', '!!str 5'])(
    '%s as text, as Kubernetes does',
    (word) => {
      const pods = decode(withContainer(`image: ${word}`));
      expect(pods).toMatchObject([{spec: {containers: [{image: word.replace('!!str ', '')}]}}]);
    },
  );

  test('quantities into their canonical form, from text or number', () => {
    const text = withContainer('resources: {limits: {cpu: 0.5, memory: 1024Mi, x/y: 3, "z": "1e3"}}');
    expect(decode(text)).toMatchObject([
      {spec: {containers: [{resources: {limits: {cpu: '500m', memory: '1Gi', 'x/y': '3', z: '1e3'}}}]}},
    ]);
  });

  test('a port as a number or a name', () => {
    const text = withContainer(
      'livenessProbe: {httpGet: {port: 80}}',
      'startupProbe: {tcpSocket: {port: http}}',
    );
    expect(decode(text)).toMatchObject([
      {
        spec: {
          containers: [{livenessProbe: {httpGet: {port: 80}}, startupProbe: {tcpSocket: {port: 'http'}}}],
        },
      },
    ]);
  });

  test('hostile keys as keys', () => {
    const [pod] = decode(
      'apiVersion: v1\nkind: Pod\nmetadata: {labels: {__proto__: a, constructor: b, toString: c}}\n',
    );
    expect(JSON.stringify(pod)).toContain('{"__proto__":"a","constructor":"b","toString":"c"}');
  });
});

describe('decodeManifest rejects', () => {
  test.each([
    ['empty text', ''],
    ['only comments', '# nothing\n---\n# here\n'],
    ['an empty list', 'apiVersion: v1\nkind: List\nitems: []\n'],
  ])('%s, with the file name', (_what, text) => {
    expect(() => decode(text)).toThrow('no Pod in "web.yaml"');
  });

  test('more than 10 MiB', () => {
    expect(() => decode(`# ${'x'.repeat(10 * 1024 * 1024)}`)).toThrow('"web.yaml" is larger than 10 MiB');
  });

  test.each([
    [
      'a misspelled kind',
      'apiVersion: apps/v1\nkind: Deploymnt\n',
      '2:7: kind: Unsupported value: "Deploymnt", did you mean "Deployment"?',
    ],
    ['a missing kind', 'apiVersion: v1\nmetadata: {}\n', '1:1: kind: Required value'],
    [
      'another version',
      'apiVersion: v2\nkind: Pod\n',
      '1:13: apiVersion: Unsupported value: "v2": supported values: "v1"',
    ],
    [
      'the wrong group for a kind',
      'apiVersion: v1\nkind: RuntimeClass\n',
      '1:13: apiVersion: Unsupported value: "v1": supported values: "node.k8s.io/v1"',
    ],
    ['a missing version', 'kind: Pod\n', '1:1: apiVersion: Required value'],
    [
      'a misspelled kind in a list',
      'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pods}\n',
      '4:26: items[0].kind: Unsupported value: "Pods", did you mean "Pod"?',
    ],
    ['a string as document', 'just text\n', '1:1: Invalid value: must be an object with apiVersion and kind'],
    ['broken YAML', 'a: b: c\n', '1:4: yaml: a value that contains a colon and a space must be in quotes'],
    [
      'a tab as indentation',
      'spec:\n\tcontainers: []\n',
      '2:1: yaml: a line is indented by a tab; use spaces',
    ],
    ['a NUL', 'kind: Pod\nname: a\0b\n', '2:8: yaml: control characters are not allowed'],
    ['an escape sequence', 'kind: \u001b[31mPod\n', '1:7: yaml: control characters are not allowed'],
    ['an unknown anchor', 'kind: *nope\n', '1:7: yaml: unknown anchor "nope" referenced'],
    ['an anchor inside itself', 'kind: &a [*a]\n', '1:10: yaml: an anchor may not contain its own alias'],
    ['a tag of another type', 'kind: !!int x\n', '1:13: yaml: cannot decode !!str `x` as a !!int'],
    ['a list as key', '? [a]\n: 1\n', '1:3: yaml: a key must be a string, not a list or an object'],
    ['a merge of a string', '<<: x\n', '1:5: yaml: map merge requires map or sequence of maps as the value'],
    ['deep nesting', `a: ${'['.repeat(100_000)}`, expect.stringMatching(/^1:\d+: yaml: nested too deeply$/)],
    ['deep block nesting', '- '.repeat(100_000), expect.stringMatching(/yaml: nested too deeply$/)],
  ])('%s', (_what, text, message) => {
    expect(issueLines(text)).toEqual([message]);
  });

  test('a duplicate key, with its position', () => {
    expect(issueLines(withContainer('image: x', 'image: z'))).toEqual([
      '7:5: yaml: key "image" already set in map (line 6, column 5)',
    ]);
  });

  test('a duplicate key unless lenient, which takes the last with a warning', () => {
    const text = withContainer('image: x', 'image: z');
    const {issues, duplicates, pods} = parseManifest(text, {file, lenient: true});
    expect(issues).toEqual([]);
    expect(pods[0]?.pod.spec.containers[0]?.image).toBe('z');
    expect(duplicates).toMatchObject([
      {line: 7, message: 'yaml: key "image" already set in map (line 6, column 5); this one is used'},
    ]);
  });

  test.each(Object.entries(ALIAS_BOMBS))('an alias bomb: %s', (_what, bomb) => {
    const problem = /^\d+:\d+: yaml: (nested too deeply|.*document contains excessive aliasing)$/;
    expect(issueLines(`apiVersion: v1\nkind: List\n${bomb}`)).toEqual([expect.stringMatching(problem)]);
    const indented = bomb.replace(/^/gm, '      ');
    const text = `apiVersion: v1\nkind: Pod\nmetadata:\n  managedFields:\n  - fieldsV1:\n${indented}`;
    expect(issueLines(text)).toEqual([expect.stringMatching(problem)]);
  });

  test.each([
    ['command: ls', 'spec.containers[0].command: Invalid value: "ls": must be a list, not a string'],
    ['args: [1]', 'spec.containers[0].args[0]: Invalid value: 1: must be a string, not a number (write "1")'],
    ['tty: "yes"', 'spec.containers[0].tty: Invalid value: "yes": must be a boolean, not a string'],
    ['tty: 1', 'spec.containers[0].tty: Invalid value: 1: must be a boolean, not a number'],
    ['env: {A: b}', 'spec.containers[0].env: Invalid value: must be a list, not an object'],
    ['resources: []', 'spec.containers[0].resources: Invalid value: must be an object, not a list'],
    ['image: [x]', 'spec.containers[0].image: Invalid value: must be a string, not a list'],
    [
      'ports: [{containerPort: "80"}]',
      'spec.containers[0].ports[0].containerPort: Invalid value: "80": must be an integer, not a string',
    ],
    [
      'ports: [{containerPort: 1.5}]',
      'spec.containers[0].ports[0].containerPort: Invalid value: 1.5: must be an integer, not a number',
    ],
    [
      'ports: [{containerPort: 3000000000}]',
      'spec.containers[0].ports[0].containerPort: Invalid value: 3000000000: must be between -2147483648 and 2147483647, inclusive',
    ],
    [
      'resources: {limits: {cpu: 1K}}',
      `spec.containers[0].resources.limits[cpu]: Invalid value: "1K": unable to parse quantity's suffix, did you mean "1k" or "1Ki"?`,
    ],
    [
      'resources: {limits: {cpu: yes}}',
      'spec.containers[0].resources.limits[cpu]: Invalid value: true: must be a quantity, not a boolean',
    ],
    [
      'livenessProbe: {tcpSocket: {port: true}}',
      'spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: true: must be an integer or a string, not a boolean',
    ],
  ])('%s', (line, message) => {
    expect(issueLines(withContainer(line))).toEqual([expect.stringContaining(`: ${message}`)]);
  });

  test('a boolean as annotation, with a hint how to quote it (kubelet case bad-annotation-type)', () => {
    const text = 'apiVersion: v1\nkind: Pod\nmetadata: {name: badann, annotations: {x: y}}\n';
    expect(issueLines(text)).toEqual([
      '3:43: metadata.annotations[x]: Invalid value: true: must be a string, not a boolean (write "y")',
    ]);
  });

  test('an invalid time', () => {
    const text = 'apiVersion: v1\nkind: Pod\nmetadata: {deletionTimestamp: 2026-13-01T00:00:00Z}\n';
    expect(issueLines(text)).toEqual([
      '3:31: metadata.deletionTimestamp: Invalid value: "2026-13-01T00:00:00Z": must be a time such as "2026-01-31T12:00:00Z"',
    ]);
  });
});

describe('an unknown field', () => {
  const text = 'apiVersion: v1\nkind: Pod\nspec:\n  contaners: []\n  volumes:\n  - Name: x\n    zzzzzz: 1\n';

  test('is an error with a suggestion', () => {
    expect(issueLines(text)).toEqual([
      '4:3: unknown field "spec.contaners", did you mean "containers"?',
      '6:5: unknown field "spec.volumes[0].Name", did you mean "name"?',
      '7:5: unknown field "spec.volumes[0].zzzzzz"',
    ]);
  });

  test('is a warning if lenient, and other errors remain errors', () => {
    const {issues, warnings} = parseManifest(`${text}  hostPID: "no"\n`, {file, lenient: true});
    expect(warnings.map(({message}) => message)).toEqual([
      'unknown field "spec.contaners", did you mean "containers"?',
      'unknown field "spec.volumes[0].Name", did you mean "name"?',
      'unknown field "spec.volumes[0].zzzzzz"',
    ]);
    expect(issues.map(({path}) => path)).toEqual(['spec.hostPID']);
  });
});

describe('PodValidationError', () => {
  test('shows every issue with its line and a caret', () => {
    const text = `${minimalText}  hostpid: true\n---\nkind: Pod\n`;
    expect(() => decode(text)).toThrow(new PodValidationError(parseManifest(text, {file}).issues));
    expect(new PodValidationError(parseManifest(text, {file}).issues).message).toBe(
      [
        'web.yaml:7:3: unknown field "spec.hostpid", did you mean "hostPID"?',
        '    7 |   hostpid: true',
        '      |   ^',
        'web.yaml:9:1: apiVersion: Required value',
        '    9 | kind: Pod',
        '      | ^',
      ].join('\n'),
    );
  });

  test('shows 25 issues and counts the rest', () => {
    const fields = Array.from({length: 30}, (_, index) => `unknown-field-${index}: 1\n`).join('');
    const {message} = new PodValidationError(
      parseManifest(`apiVersion: v1\nkind: Pod\n${fields}`, {file}).issues,
    );
    expect(message.split('\n')).toHaveLength(25 * 3 + 1);
    expect(message).toMatch(/\nand 5 more$/);
  });
});

describe('renderIssue', () => {
  const issue = {file, line: 1, path: '', message: 'wrong'};

  test('aligns the caret after tabs', () => {
    expect(renderIssue({...issue, column: 3, source: '\t\tx'})).toBe(
      'web.yaml:1:3: wrong\n    1 | \t\tx\n      | \t\t^',
    );
  });

  test('shows an excerpt around a column far to the right', () => {
    const rendered = renderIssue({...issue, column: 1001, source: `${'a'.repeat(1000)}X${'b'.repeat(1000)}`});
    const [, source = '', caret = ''] = rendered.split('\n');
    expect(source.length).toBeLessThan(120);
    expect(source.charAt(caret.indexOf('^'))).toBe('X');
  });

  test('replaces control characters', () => {
    expect(renderIssue({...issue, column: 1, source: 'a\u001b[2Jb\u009b'})).toContain('a·[2Jb·');
  });
});

describe('a text that cannot be parsed', () => {
  const BROKEN =
    'apiVersion: v1\nkind: Pod\nspec:\n  volumes:\n  - secret: {secretName: s}\n\tcontainers: []\n';
  const SECRET = 'apiVersion: v1\nkind: Secret\nstringData:\n  key: hush\n';
  const sourcesOf = (text: string) => loadManifest(text, {file: 'a.yaml'}).issues.map(({source}) => source);

  test('is quoted if it only refers to a Secret', () => {
    expect(sourcesOf(BROKEN)).toContain('\tcontainers: []');
    expect(sourcesOf(`# a Secret\n${BROKEN}`)).toContain('\tcontainers: []');
    expect(sourcesOf(`${SECRET}---\n${BROKEN}`)).toContain('\tcontainers: []');
  });

  test.each([
    ['kind', 'kind: Secret\nx: [\n\ty: hush\n'],
    ['kind without a colon', 'kind Secret\nx: [\n\ty: hush\n'],
    ['stringData', 'stringData:\n\ty: hush\n'],
    ['type', 'type: Opaque\ndata:\n\ty: hush\n'],
  ])('is not quoted if its %s is that of a Secret', (_, text) => {
    const sources = sourcesOf(`${BROKEN}---\n${text}`);
    expect(sources.join('\n')).not.toContain('hush');
  });
});
