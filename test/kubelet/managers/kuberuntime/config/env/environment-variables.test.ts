import {describe, expect, test} from 'vitest';
import type {EnvVar} from '../../../../../../src/api/types/v1-pod.js';
import type {ResourceFieldSelector} from '../../../../../../src/api/types/v1-selectors.js';
import {ContainerConfigError} from '../../../../../../src/kubelet/managers/kuberuntime/config/config-errors.js';
import {makeEnvironmentVariables} from '../../../../../../src/kubelet/managers/kuberuntime/config/env/environment-variables.js';
import {expandVariables, ExpansionError} from '../../../../../../src/api/expansion.js';
import {
  fieldRefValue,
  formatMap,
} from '../../../../../../src/kubelet/managers/kuberuntime/config/env/field-ref.js';
import {resourceFieldRefValue} from '../../../../../../src/kubelet/managers/kuberuntime/config/env/resource-field-ref.js';
import {GOLDEN_NODE} from '../../../../../golden/golden-cases.js';
import {aContainer, aPod, UID} from '../../../../../fakes/a-pod.js';
import {NO_REFERENCES} from '../no-references.js';

test.each([
  ['$(A)', 'a'],
  ['x$(A)y$(B)z', 'xaybz'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$a'],
  ['$(NONE)', '$(NONE)'],
  ['$(A', '$(A'],
  ['$A $', '$A $'],
  ['$()', '$()'],
  ['$(A$(B)', '$(A$(B)'],
  ['', ''],
])('%j expands to %j', (text, expected) => {
  expect(
    expandVariables(
      text,
      new Map([
        ['A', 'a'],
        ['B', 'b'],
      ]),
    ),
  ).toBe(expected);
});

test('unclosed references take linear time', () => {
  const text = '$('.repeat(1_000_000);
  expect(expandVariables(text, new Map())).toBe(text);
  expect(() => expandVariables(`${text}$$`, new Map())).toThrow(ExpansionError);
});

test('the value of a variable is not expanded again', () => {
  expect(
    expandVariables(
      '$(A)',
      new Map([
        ['A', '$(B)'],
        ['B', 'b'],
      ]),
    ),
  ).toBe('$(B)');
});

describe('the environment', () => {
  function values(env: readonly EnvVar[]): Record<string, string> {
    const container = aContainer({env});
    const context = {
      ...NO_REFERENCES,
      pod: aPod({containers: [container]}),
      container,
      podIps: ['10.244.0.2'],
      node: GOLDEN_NODE,
    };
    return Object.fromEntries(makeEnvironmentVariables(context));
  }

  test('expands only variables that are defined earlier', () => {
    expect(
      values([
        {name: 'B', value: '$(A)'},
        {name: 'A', value: '1'},
        {name: 'C', value: '$(A)$(B)'},
      ]),
    ).toEqual({B: '$(A)', A: '1', C: '1$(A)'});
  });

  test('keeps the last of several variables with the same name', () => {
    expect(
      values([
        {name: 'A', value: '1'},
        {name: 'A', value: '$(A)2'},
      ]),
    ).toEqual({A: '12'});
  });

  // Proves: EnvVarSource.fieldRef, ObjectFieldSelector.fieldPath
  test('prefers valueFrom to an empty value', () => {
    const valueFrom = {fieldRef: {fieldPath: 'metadata.name'}};

    expect(
      values([
        {name: 'A', value: '', valueFrom},
        {name: 'B', value: ''},
      ]),
    ).toEqual({A: 'web', B: ''});
  });

  /** Returns variables of which each is twice the one before it. */
  const doubled = (count: number): EnvVar[] => [
    {name: 'A0', value: 'x'},
    ...Array.from({length: count}, (_, index) => ({
      name: `A${index + 1}`,
      value: `$(A${index})$(A${index})`,
    })),
  ];

  test('rejects an expanded value that no process can be given', () => {
    expect(values(doubled(16))['A16']).toHaveLength(2 ** 16);
    expect(() => values(doubled(60))).toThrow(
      'environment variable "A17" of container "main": argument list too long: the expanded value exceeds 131071 bytes',
    );
  });

  test('accepts a long value that is not expanded', () => {
    const value = `$(NONE)${'x'.repeat(200_000)}`;
    expect(values([{name: 'A', value}])).toEqual({A: value});
  });

  test('rejects values that are too large together', () => {
    const copies = Array.from({length: 1000}, (_, index) => ({name: `B${index}`, value: '$(A16)'}));
    expect(() => values([...doubled(16), ...copies])).toThrow(
      'environment variable "B93" of container "main": argument list too long: arguments and environment exceed 6291456 bytes',
    );
  });

  test('rejects an unknown source in valueFrom', () => {
    expect(() => values([{name: 'A', valueFrom: {}}])).toThrow(ContainerConfigError);
  });
});

describe('fieldRef', () => {
  const pod = aPod(
    {nodeName: 'goldennode', serviceAccountName: 'robot'},
    {labels: {b: 'say "hi"', a: 'x\ny'}, annotations: {'example.com/note': 'é'}},
  );
  const dualStack = {
    pod,
    podIps: ['10.0.0.1', 'fd00::1', '10.0.0.2'],
    node: {nodeName: 'goldennode', nodeIps: ['::'], hostIps: {current: ['fd00::9', '192.0.2.2']}},
  };

  test.each([
    ['metadata.name', 'web'],
    ['metadata.namespace', 'default'],
    ['metadata.uid', UID],
    ['metadata.labels', 'a="x\\ny"\nb="say \\"hi\\""'],
    ["metadata.labels['b']", 'say "hi"'],
    ["metadata.labels['none']", ''],
    ["metadata.labels['constructor']", ''],
    ["metadata.labels['__proto__']", ''],
    ["metadata.annotations['toString']", ''],
    ["metadata.annotations['example.com/note']", 'é'],
    ['spec.nodeName', 'goldennode'],
    ['spec.serviceAccountName', 'robot'],
    ['status.hostIP', 'fd00::9'],
    ['status.hostIPs', 'fd00::9,192.0.2.2'],
    ['status.podIP', 'fd00::1'],
    ['status.podIPs', 'fd00::1,10.0.0.1'],
  ])('%s is %j', (fieldPath, expected) => {
    expect(fieldRefValue(fieldPath, dualStack)).toBe(expected);
  });

  test.each(['status.phase', 'spec.restartPolicy', "spec.labels['a']", 'constructor'])(
    '%s is not supported',
    (path) => {
      expect(() => fieldRefValue(path, dualStack)).toThrow(`unsupported fieldPath: ${path}`);
    },
  );

  test.each([
    [[], '10.0.0.1,fd00::1'],
    [['192.0.2.2', 'fd00::9'], '10.0.0.1,fd00::1'],
    [['fd00::9'], 'fd00::1,10.0.0.1'],
  ])('the order of status.podIPs follows --node-ip %j, not the host IPs', (nodeIps, expected) => {
    const node = {...dualStack.node, nodeIps};
    expect(fieldRefValue('status.podIPs', {...dualStack, node})).toBe(expected);
  });

  test.each(['status.hostIP', 'status.hostIPs'])('%s fails while no host IP is known', (path) => {
    const node = {...dualStack.node, hostIps: {current: []}};
    expect(() => fieldRefValue(path, {...dualStack, node})).toThrow(
      new ContainerConfigError('host IP unknown; known addresses: [{Hostname goldennode}]'),
    );
  });

  test('escapes values as Go does', () => {
    expect(formatMap({k: '\u0000\u0007\v\u007f\u0085\u2028😀\u{e0001}'})).toBe(
      'k="\\x00\\a\\v\\x7f\\u0085\\u2028😀\\U000e0001"',
    );
  });
});

describe('resourceFieldRef', () => {
  const main = aContainer({
    resources: {
      requests: {cpu: '250m', memory: '32Mi', 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '4Mi'},
      limits: {cpu: '1500m', memory: '64Mi', 'hugepages-2Mi': '4Mi'},
    },
  });
  const other = aContainer({name: 'other', resources: {limits: {memory: '48Mi', cpu: '0'}}});
  const pod = aPod({containers: [main, other]});
  const value = (selector: ResourceFieldSelector, container = main): string =>
    resourceFieldRefValue(selector, {pod, container, node: GOLDEN_NODE});

  test.each([
    ['limits.cpu', '2'],
    ['requests.cpu', '1'],
    ['limits.memory', '67108864'],
    ['requests.ephemeral-storage', '1073741824'],
    ['limits.hugepages-2Mi', '4194304'],
    ['requests.hugepages-1Gi', '0'],
  ])('%s is %s', (resource, expected) => {
    expect(value({resource})).toBe(expected);
  });

  test.each([
    ['limits.cpu', '1m', '1500'],
    ['limits.memory', '1Mi', '64'],
    ['requests.memory', '1M', '34'],
    ['requests.memory', '0', '33554432'],
  ])('%s divided by %s is %s', (resource, divisor, expected) => {
    expect(value({resource, divisor})).toBe(expected);
  });

  test('can refer to another container', () => {
    expect(value({containerName: 'other', resource: 'limits.memory', divisor: '1Mi'})).toBe('48');
  });

  test.each([
    ['limits.cpu', '2'],
    ['limits.memory', '25171644416'],
    ['limits.ephemeral-storage', '89999999851'],
    ['requests.cpu', '0'],
    ['limits.hugepages-2Mi', '0'],
  ])('without a limit of the container is the node allocatable: %s', (resource, expected) => {
    expect(value({resource}, aContainer())).toBe(expected);
  });

  test('without a limit of the container is the limit of the pod', () => {
    const limited = aPod({resources: {limits: {memory: '128Mi'}}});
    const context = {pod: limited, container: aContainer(), node: GOLDEN_NODE};

    expect(resourceFieldRefValue({resource: 'limits.memory', divisor: '1Mi'}, context)).toBe('128');
  });

  test('to an unknown resource or container is rejected with the kubelet’s message', () => {
    expect(() => value({resource: 'limits.gpu'})).toThrow('unsupported container resource : limits.gpu');
    expect(() => value({containerName: 'nobody', resource: 'limits.cpu'})).toThrow(
      'container nobody not found',
    );
  });
});
