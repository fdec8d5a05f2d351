import {describe, expect, test} from 'vitest';
import {loadManifest} from '../../../src/api/manifest/load-manifest.js';

/** Returns the issues of a manifest as `line:column: message`. */
function issueLines(text: string): string[] {
  const {issues} = loadManifest(text, {file: 'w.yaml'});
  return issues.map(({line, column, message}) => `${line}:${column}: ${message}`);
}

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: i}
`;

const JOB = `apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: c, image: i}
`;

describe('a workload is rejected with the position of', () => {
  test.each([
    [
      'an invalid field of its template',
      '{name: c, image: i}',
      '{name: c, image: ""}',
      '11:26: spec.template.spec.containers[0].image: Required value',
    ],
    [
      'an unknown field of its template',
      '{name: c, image: i}',
      '{name: c, image: i, imag: j}',
      '11:29: unknown field "spec.template.spec.containers[0].imag", did you mean "image"?',
    ],
    [
      'an unknown field of its spec',
      'replicas: 1',
      'replica: 1',
      '5:3: unknown field "spec.replica", did you mean "replicas"?',
    ],
    [
      'a negative count',
      'replicas: 1',
      'replicas: -1',
      '5:13: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      'a missing selector',
      '  selector: {matchLabels: {app: web}}\n',
      '',
      '5:3: spec.selector: Required value',
    ],
    [
      'an empty selector',
      'selector: {matchLabels: {app: web}}',
      'selector: {}',
      '6:13: spec.selector: Invalid value: {}: empty selector is invalid for deployment',
    ],
    [
      'labels that the selector does not match',
      'labels: {app: web}',
      'labels: {app: api}',
      '8:24: spec.template.metadata.labels: Invalid value: {"app":"api"}: `selector` does not match template `labels`',
    ],
    [
      'a restart policy',
      '    spec:\n',
      '    spec:\n      restartPolicy: Never\n',
      '10:22: spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ],
    [
      'an invalid label',
      'labels: {app: web}',
      'labels: {app: web, "a b": c}',
      expect.stringMatching(/^8:42: spec.template.metadata.labels\[a b\]: Invalid value/),
    ],
    [
      'its name',
      'name: web',
      'name: Web',
      expect.stringMatching(/^3:18: metadata.name: Invalid value: "Web"/),
    ],
    [
      'an unsupported version',
      'apps/v1',
      'extensions/v1beta1',
      '1:13: apiVersion: Unsupported value: "extensions/v1beta1": supported values: "apps/v1"',
    ],
  ])('%s', (_what, from, to, expected) => {
    expect(issueLines(DEPLOYMENT)).toEqual([]);
    expect(issueLines(DEPLOYMENT.replace(from, to))).toEqual([expected]);
  });
});

describe('a Job is rejected with the position of', () => {
  test.each([
    [
      'a missing restart policy',
      '      restartPolicy: Never\n',
      '',
      '7:7: spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ],
    [
      'a missing number of completions',
      'spec:\n',
      'spec:\n  completionMode: Indexed\n  parallelism: 2\n',
      '5:3: spec.completions: Required value: when completion mode is Indexed',
    ],
    [
      'a field that requires indexes',
      'spec:\n',
      'spec:\n  backoffLimitPerIndex: 1\n',
      '5:25: spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
    ],
    [
      'a rule without a container',
      'spec:\n',
      'spec:\n  podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {containerName: d, operator: In, values: [1]}}]}\n',
      '5:76: spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "d": must be one of the container or initContainer names in the pod template',
    ],
    [
      'malformed indexes',
      'spec:\n',
      'spec:\n  completionMode: Indexed\n  completions: 3\n  successPolicy: {rules: [{succeededIndexes: "2,1"}]}\n',
      '7:46: spec.successPolicy.rules[0].succeededIndexes: Invalid value: "2,1": must be increasing indexes and intervals below 3 (the number of completions), such as 1,3-5',
    ],
  ])('%s', (_what, from, to, expected) => {
    expect(issueLines(JOB)).toEqual([]);
    expect(issueLines(JOB.replace(from, to))).toEqual([expected]);
  });
});
