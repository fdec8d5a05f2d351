import {describe, expect, test} from 'vitest';
import {loadManifest} from '../../../src/api/manifest/load-manifest.js';
import {renderIssue} from '../../../src/api/decoding/manifest-issue.js';
import {NOT_A_LABEL, issueMessages} from '../validation-cases.js';

describe('loadManifest', () => {
  test('reports the position of the object with a missing field', () => {
    const text = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: web\n';
    const [issue] = loadManifest(text, {file: 'web.yaml'}).issues;
    expect(issue && renderIssue(issue)).toBe(
      [
        'web.yaml:7:5: spec.containers[0].image: Required value',
        '    7 |   - name: web',
        '      |     ^',
      ].join('\n'),
    );
  });

  test('reports the position of an invalid value, through a merge key and for a key with a dot', () => {
    const text =
      'apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  annotations:\n    a.b/c d: x\nspec:\n  containers:\n  - &base {name: a, image: i, tty: true}\n  - <<: *base\n    name: A\n';
    expect(
      loadManifest(text, {file: 'p'}).issues.map(({line, column, path}) => [line, column, path]),
    ).toEqual([
      [6, 14, 'metadata.annotations[a.b/c d]'],
      [11, 11, 'spec.containers[1].name'],
    ]);
  });

  test('reports the position of the key if there is no value', () => {
    const text = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name:\nspec: {containers: [{name: c, image: i}]}\n';
    expect(loadManifest(text, {file: 'p'}).issues.map(({line, column}) => [line, column])).toEqual([[4, 3]]);
  });

  test('reports the index of a list item', () => {
    const text = 'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: p}\n';
    expect(issueMessages(text)).toEqual(['items[0].spec.containers: Required value']);
  });

  test('does not report an undecodable value as missing, and finds the other issues', () => {
    const text =
      'apiVersion: v1\nkind: Pod\nmetadata: {name: 5}\nspec: {hostname: A, containers: [{name: c, image: true}]}\n';
    expect(issueMessages(text)).toEqual([
      'metadata.name: Invalid value: 5: must be a string, not a number (write "5")',
      `spec.hostname: Invalid value: "A": ${NOT_A_LABEL}`,
      'spec.containers[0].image: Invalid value: true: must be a string, not a boolean (write "true")',
    ]);
  });

  test('reports issues of all documents', () => {
    const text = 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n';
    expect(issueMessages(`${text}spec: {containers: x}\n---\n${text}`)).toEqual([
      'spec.containers: Invalid value: "x": must be a list, not a string',
      'spec.containers: Required value',
    ]);
  });
});
