import {describe, expect, test} from 'vitest';
import {loadManifest} from '../../../src/api/manifest/load-manifest.js';

const HEAD = 'apiVersion: v1\nkind: Pod\n';

describe('a Helm template', () => {
  test.each([
    ['with an action instead of a value', `${HEAD}metadata:\n  name: {{ .Release.Name }}-web\n`, 4, 9],
    ['with a condition', `{{- if .Values.enabled }}\n${HEAD}metadata: {name: web}\n{{- end }}\n`, 1, 1],
    [
      'with a quoted action',
      `${HEAD}metadata:\n  name: "{{ .Release.Name }}"\nspec: {containers: []}\n`,
      4,
      10,
    ],
    ['with a helper', `${HEAD}metadata:\n  labels:\n    {{- include "web.labels" . | nindent 4 }}\n`, 5, 5],
    ['with a comment', `{{/* A web server. */}}\n${HEAD}`, 1, 1],
  ])('%s has one issue, which says how to render it', (_, text, line, column) => {
    const {issues} = loadManifest(text, {file: 'web.yaml'});
    expect(issues).toMatchObject([{line, column}]);
    expect(issues[0]!.message).toContain('render it first, such as with "helm template');
  });

  test('is not what a valid manifest with braces is', () => {
    const spec = 'spec:\n  containers:\n  - {name: c, image: i, args: ["{{ if .ID }}{{ end }}"]}\n';
    expect(loadManifest(`${HEAD}metadata: {name: p}\n${spec}`, {file: 'p'}).issues).toEqual([]);
  });

  test('is not what a manifest with other braces and an issue is', () => {
    const spec = 'spec:\n  containers:\n  - {name: c, image: i, args: ["{{.ID}}"], tty: maybe}\n';
    const {issues} = loadManifest(`${HEAD}metadata: {name: p}\n${spec}`, {file: 'p'});
    expect(issues).toMatchObject([{path: 'spec.containers[0].tty'}]);
  });
});

test.each([
  ['in a name', 'metadata:\n  name: web-{{.Index}}\n', 4, 9],
  ['instead of a value', 'metadata:\n  name: web\nspec:\n  hostname: {{name}}\n  containers: []\n', 6, 14],
  ['behind a value', 'metadata:\n  name: web\nspec:\n  hostname: "8"{{name}}\n', 6, 16],
])('another template with an action %s has one issue, which says so', (_, text, line, column) => {
  const {issues} = loadManifest(`${HEAD}${text}`, {file: 'web.yaml'});
  expect(issues).toMatchObject([{line, column}]);
  expect(issues[0]!.message).toMatch(/^this is a template, not a manifest: /);
});
