import {describe, expect, test} from 'vitest';
import {NOT_A_LABEL, issueMessages, containerIssues, testValidation} from '../validation-cases.js';

describe('container', () => {
  testValidation(containerIssues, [
    [
      'imagePullPolicy: Often',
      'C.imagePullPolicy: Unsupported value: "Often": supported values: "Always", "IfNotPresent", "Never"',
    ],
    [
      'terminationMessagePolicy: X',
      'C.terminationMessagePolicy: Unsupported value: "X": supported values: "File", "FallbackToLogsOnError"',
    ],
    ['ports: [{containerPort: 80}, {name: http, containerPort: 8080, protocol: UDP}]'],
    ['ports: [{}]', 'C.ports[0].containerPort: Required value'],
    [
      'ports: [{containerPort: 70000, hostPort: -1, protocol: ICMP}]',
      'C.ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
      'C.ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive',
      'C.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
    ],
    [
      'ports: [{name: a, containerPort: 1}, {name: a, containerPort: 2}, {name: 123--, containerPort: 3}]',
      'C.ports[1].name: Duplicate value: "a"',
      'C.ports[2].name: Invalid value: "123--": must contain at least one letter (a-z)',
      'C.ports[2].name: Invalid value: "123--": must not contain consecutive hyphens',
      'C.ports[2].name: Invalid value: "123--": must not begin or end with a hyphen',
    ],
    [
      'ports: [{name: a-name-that-is-long, containerPort: 1}]',
      'C.ports[0].name: Invalid value: "a-name-that-is-long": must be no more than 15 characters',
    ],
    [
      'ports: [{containerPort: 1, hostPort: 9}, {containerPort: 2, hostPort: 9}]',
      'C.ports[1].hostPort: Duplicate value: "TCP//9"',
    ],
    [
      'resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}, {resourceName: disk, restartPolicy: X}]',
      'C.resizePolicy[1].resourceName: Unsupported value: "disk": supported values: "cpu", "memory"',
      'C.resizePolicy[1].restartPolicy: Unsupported value: "X": supported values: "NotRequired", "RestartContainer"',
    ],
    [
      'restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]',
    ],
    [
      'restartPolicyRules: [{action: Stop, exitCodes: {operator: Is}}, {}]',
      'C.restartPolicy: Required value: must specify restartPolicy when restart rules are used',
      'C.restartPolicyRules[0].action: Unsupported value: "Stop": supported values: "Restart", "RestartAllContainers"',
      'C.restartPolicyRules[0].exitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"',
      'C.restartPolicyRules[1].action: Required value',
      'C.restartPolicyRules[1].exitCodes: Required value: must be specified',
    ],
    [
      'restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {values: [1]}}]',
      'C.restartPolicyRules[0].exitCodes.operator: Unsupported value: "": supported values: "In", "NotIn"',
    ],
  ]);

  test('must have a name and an image', () => {
    expect(
      issueMessages(
        'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{image: " i"}, {name: C_1}]}\n',
      ),
    ).toEqual([
      'spec.containers[0].name: Required value',
      'spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace',
      'spec.containers[1].image: Required value',
      `spec.containers[1].name: Invalid value: "C_1": ${NOT_A_LABEL}`,
    ]);
  });
});

describe('mounts and devices', () => {
  testValidation(containerIssues, [
    ['volumeMounts: [{name: data, mountPath: /a, subPath: x/y}]'],
    ['volumeMounts: [{name: nope, mountPath: /a}]', 'C.volumeMounts[0].name: Not found: "nope"'],
    [
      'volumeMounts: [{}]',
      'C.volumeMounts[0].name: Required value',
      'C.volumeMounts[0].mountPath: Required value',
    ],
    [
      'volumeMounts: [{name: data, mountPath: /a}, {name: data, mountPath: /a}]',
      'C.volumeMounts[1].mountPath: Invalid value: "/a": must be unique',
    ],
    [
      'volumeMounts: [{name: data, mountPath: /a, subPath: /x, subPathExpr: ../y}]',
      'C.volumeMounts[0].subPath: Invalid value: "/x": must be a relative path',
      'C.volumeMounts[0].subPathExpr: Invalid value: "../y": subPathExpr and subPath are mutually exclusive',
      `C.volumeMounts[0].subPathExpr: Invalid value: "../y": must not contain '..'`,
    ],
    [
      'volumeMounts: [{name: data, mountPath: /a, mountPropagation: Bidirectional}, {name: data, mountPath: /b, mountPropagation: Both}]',
      'C.volumeMounts[0].mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers',
      'C.volumeMounts[1].mountPropagation: Unsupported value: "Both": supported values: "Bidirectional", "HostToContainer", "None"',
    ],
    [
      'securityContext: {privileged: true}, volumeMounts: [{name: data, mountPath: /a, mountPropagation: Bidirectional}]',
    ],
    [
      'volumeMounts: [{name: data, mountPath: /a, recursiveReadOnly: Enabled, mountPropagation: HostToContainer}]',
      'C.volumeMounts[0].recursiveReadOnly: Forbidden: may only be specified when readOnly is true',
      'C.volumeMounts[0].recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified',
    ],
    ['volumeDevices: [{name: claim, devicePath: /dev/x}]'],
    [
      'volumeDevices: [{name: data, devicePath: /dev/x}, {name: nope, devicePath: /dev/../x}, {name: claim, devicePath: /dev/x}]',
      'C.volumeDevices[0].name: Invalid value: "data": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
      'C.volumeDevices[1].name: Not found: "nope"',
      `C.volumeDevices[1].devicePath: Invalid value: "/dev/../x": can not contain backsteps ('..')`,
      'C.volumeDevices[2].devicePath: Invalid value: "/dev/x": must be unique',
    ],
    [
      'volumeDevices: [{name: claim, devicePath: /x}], volumeMounts: [{name: claim, mountPath: /x}]',
      'C.volumeMounts[0].name: Invalid value: "claim": must not already exist in volumeDevices',
      'C.volumeMounts[0].mountPath: Invalid value: "/x": must not already exist as a path in volumeDevices',
    ],
  ]);
});

describe('resources', () => {
  testValidation(containerIssues, [
    [
      'resources: {requests: {cpu: 100m, memory: 1Gi, ephemeral-storage: 1Gi}, limits: {cpu: 1, example.com/gpu: 2}}',
    ],
    [
      'resources: {requests: {cpu: 2}, limits: {cpu: 1}}',
      'C.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    ],
    [
      'resources: {requests: {example.com/gpu: 1}, limits: {example.com/gpu: 2}}',
      'C.resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2',
    ],
    [
      'resources: {requests: {example.com/gpu: 1}}',
      'C.resources.limits: Required value: Limit must be set for non overcommitable resources',
    ],
    [
      'resources: {limits: {example.com/gpu: 500m}}',
      'C.resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer',
      'C.resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer',
    ],
    [
      'resources: {limits: {memory: -1}}',
      'C.resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0',
      'C.resources.limits[memory]: Invalid value: "-1": must be greater than or equal to 0',
    ],
    [
      'resources: {limits: {disk: 1}}',
      'C.resources.requests[disk]: Invalid value: "disk": must be a standard resource type or fully qualified',
      'C.resources.requests[disk]: Invalid value: "disk": must be a standard resource for containers',
      'C.resources.limits[disk]: Invalid value: "disk": must be a standard resource type or fully qualified',
      'C.resources.limits[disk]: Invalid value: "disk": must be a standard resource for containers',
    ],
    [
      'resources: {limits: {hugepages-2Mi: 3Mi, cpu: 1}}',
      'C.resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      'C.resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
    ],
    [
      'resources: {limits: {hugepages-x: 3Mi, cpu: 1}}',
      'C.resources.requests[hugepages-x]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-x',
      'C.resources.limits[hugepages-x]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-x',
    ],
    ['resources: {limits: {hugepages-2Mi: 4Mi}}', 'C.resources: Forbidden: HugePages require cpu or memory'],
    [
      'resources: {claims: [{name: gpu}]}',
      'C.resources.claims[0]: Not found: "gpu": must be one of the names in pod.spec.resourceClaims which is empty',
    ],
  ]);

  test('must not list a claim twice', () => {
    const claims = '{name: a}, {name: a, request: r}, {name: b, request: r}, {name: b, request: r}';
    expect(
      issueMessages(
        `apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  resourceClaims: [{name: a, resourceClaimName: x}, {name: b, resourceClaimName: x}]\n  containers: [{name: c, image: i, resources: {claims: [${claims}]}}]\n`,
      ),
    ).toEqual([
      'spec.containers[0].resources.claims[1]: Duplicate value: "a"',
      'spec.containers[0].resources.claims[3]: Duplicate value: "b/r"',
    ]);
  });

  test('of the pod must cover those of its containers', () => {
    expect(
      issueMessages(
        'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  resources: {requests: {cpu: 1, disk: 1, ephemeral-storage: 1}, limits: {cpu: 2}}\n  containers:\n  - {name: a, image: i, resources: {requests: {cpu: 600m}, limits: {cpu: 3}}}\n  - {name: b, image: i, resources: {requests: {cpu: 600m}}}\n',
      ),
    ).toEqual([
      'spec.resources.containers[0][cpu].limits: Invalid value: "3": must be less than or equal to pod limits of 2',
      'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 1200m',
      'spec.resources.requests[disk]: Invalid value: "disk": must be a standard resource type or fully qualified',
      'spec.resources.requests[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"',
    ]);
  });
});

describe('init containers', () => {
  const inInit = (fields: string): string[] =>
    issueMessages(
      `apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  initContainers: [{name: i, image: i, ${fields}}]\n  containers: [{name: c, image: i}]\n`,
    ).map((message) => message.replace('spec.initContainers[0]', 'I'));

  testValidation(inInit, [
    [
      'restartPolicy: Always, livenessProbe: {exec: {command: [x]}}, lifecycle: {preStop: {sleep: {seconds: 1}}}',
    ],
    [
      'livenessProbe: {exec: {command: [x]}}, lifecycle: {}',
      'I.livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
      'I.lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always',
    ],
    [
      'restartPolicy: Always, restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [1]}}]',
    ],
    ['restartPolicy: Always, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]'],
    [
      'resizePolicy: [{resourceName: memory, restartPolicy: NotRequired}, {resourceName: cpu, restartPolicy: RestartContainer}]',
      `I.resizePolicy[1].restartPolicy: Invalid value: "RestartContainer": must not be set to 'RestartContainer' for non-sidecar initContainers`,
    ],
    [
      'restartPolicy: Sometimes',
      'I.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"',
    ],
  ]);

  test('must not have the name of another container', () => {
    expect(
      issueMessages(
        'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: a, image: i}, {name: a, image: i}]\n  initContainers: [{name: b, image: i}, {name: a, image: i}]\n  ephemeralContainers: [{name: b, image: i, targetContainerName: x, ports: [{containerPort: 1}]}]\n',
      ),
    ).toEqual([
      'spec.containers[1].name: Duplicate value: "a"',
      'spec.initContainers[1].name: Duplicate value: "a"',
      'spec.ephemeralContainers: Forbidden: cannot be set on create',
      'spec.ephemeralContainers[0].name: Duplicate value: "b"',
      'spec.ephemeralContainers[0].targetContainerName: Not found: "x"',
      'spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
    ]);
  });
});

describe('host network', () => {
  test('requires the container port as host port', () => {
    expect(
      issueMessages(
        'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {hostNetwork: true, containers: [{name: c, image: i, ports: [{containerPort: 1}, {containerPort: 2, hostPort: 3}]}]}\n',
      ),
    ).toEqual([
      'spec.containers[0].ports[1].hostPort: Invalid value: 3: must match `containerPort` when `hostNetwork` is true',
    ]);
  });
});
