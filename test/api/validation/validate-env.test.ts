import {describe} from 'vitest';
import {NOT_A_SUBDOMAIN, containerIssues, testValidation} from '../validation-cases.js';

describe('env', () => {
  testValidation(containerIssues, [
    ['env: [{name: A-b.c, value: "1"}, {name: "with space"}]'],
    ['env: [{value: x}]', 'C.env[0].name: Required value'],
    [
      'env: [{name: "A=B"}]',
      `C.env[0].name: Invalid value: "A=B": a valid environment variable name must consist only of printable ASCII characters other than '='`,
    ],
    [
      'env: [{name: A, valueFrom: {}}]',
      'C.env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    ],
    [
      'env: [{name: A, value: x, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]',
      'C.env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
    ],
    [
      'env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}, secretKeyRef: {name: s, key: k}}}]',
      'C.env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time',
    ],
    [
      `env: [{name: A, valueFrom: {fieldRef: {fieldPath: "metadata.labels['a/b']"}}}, {name: B, valueFrom: {fieldRef: {fieldPath: spec.host}}}]`,
    ],
    [
      'env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.nope}}}]',
      'C.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.nope": error converting fieldPath: field label not supported: spec.nope',
    ],
    [
      'env: [{name: A, valueFrom: {fieldRef: {apiVersion: v2, fieldPath: metadata.name}}}]',
      'C.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
    ],
    [
      `env: [{name: A, valueFrom: {fieldRef: {fieldPath: "spec.nodeName['a']"}}}]`,
      `C.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.nodeName['a']": error converting fieldPath: field label does not support subscript: spec.nodeName['a']`,
    ],
    [
      'env: [{name: A, valueFrom: {fieldRef: {fieldPath: status.phase}}}]',
      'C.env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
    ],
    ['env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.hugepages-2Mi}}}]'],
    [
      'env: [{name: A, valueFrom: {resourceFieldRef: {resource: cpu}}}]',
      'C.env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "cpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
    ],
    [
      'env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1Mi}}}]',
      `C.env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
    ],
    ['env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1024Ki}}}]'],
    [
      'env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: ..}}}]',
      `C.env[0].valueFrom.configMapKeyRef.key: Invalid value: "..": must not be '..'`,
    ],
    [
      'env: [{name: A, valueFrom: {secretKeyRef: {key: ""}}}]',
      `C.env[0].valueFrom.secretKeyRef.name: Invalid value: "": ${NOT_A_SUBDOMAIN}`,
      'C.env[0].valueFrom.secretKeyRef.key: Required value',
    ],
    ['env: [{name: A, valueFrom: {fileKeyRef: {volumeName: data, path: f, key: k}}}]'],
    [
      'env: [{name: A, valueFrom: {fileKeyRef: {volumeName: claim, path: f, key: k}}}]',
      'C.env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "claim": referenced volume must be of type emptyDir',
    ],
    [
      'env: [{name: A, valueFrom: {fileKeyRef: {volumeName: nope, path: ../f, key: ""}}}]',
      'C.env[0].valueFrom.fileKeyRef.volumeName: Not found: "nope"',
      `C.env[0].valueFrom.fileKeyRef.path: Invalid value: "../f": must not contain '..'`,
      'C.env[0].valueFrom.fileKeyRef.key: Required value',
    ],
    ['envFrom: [{}]', 'C.envFrom[0]: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
    [
      'envFrom: [{prefix: "=", configMapRef: {name: ""}}]',
      `C.envFrom[0].prefix: Invalid value: "=": a valid environment variable name must consist only of printable ASCII characters other than '='`,
      'C.envFrom[0].configMapRef.name: Required value',
    ],
  ]);
});
