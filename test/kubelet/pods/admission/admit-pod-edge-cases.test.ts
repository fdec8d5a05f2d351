import {describe, expect, test} from 'vitest';
import type {Container, Pod, PodSpec} from '../../../../src/api/types/v1-pod.js';
import type {Rejection} from '../../../../src/kubelet/contract/pod-rejection.js';
import {findRejection} from '../../../../src/kubelet/pods/admission/admit-pod.js';
import type {NodeFacts} from '../../../../src/kubelet/contract/node-facts.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';

function rejection(
  pod: Pod,
  node: Partial<NodeFacts> = {},
  others: readonly Pod[] = [],
): Rejection | undefined {
  return findRejection({pod, others, node: {...GOLDEN_NODE, ...node}});
}

const requesting = (requests: Readonly<Record<string, string>>, spec: Partial<PodSpec> = {}): Pod =>
  aPod({containers: [aContainer({resources: {requests}})], ...spec});
const ports = [{containerPort: 80, hostPort: 80}];
const listener = aPod({containers: [aContainer({ports})]});
const withSysctl = (name: string): Pod => aPod({securityContext: {sysctls: [{name, value: '1'}]}});

describe('the hint of a rejection names what to change', () => {
  const noGroups = {runtime: {handlers: new Map(), supplementalGroupsPolicy: false}};

  // Proves: PodSecurityContext.appArmorProfile, PodSecurityContext.supplementalGroupsPolicy
  test.each<[string, string, Rejection | undefined]>([
    ['SysctlForbidden', '--allowed-unsafe-sysctls', rejection(withSysctl('vm.x'))],
    [
      'PodOSSelectorNodeLabelDoesNotMatch',
      'metadata.labels["kubernetes.io/os"]',
      rejection(aPod({}, {labels: {'kubernetes.io/os': 'windows'}})),
    ],
    [
      'SupplementalGroupsPolicyNotSupported',
      'supplementalGroupsPolicy',
      rejection(aPod({securityContext: {supplementalGroupsPolicy: 'Strict'}}), noGroups),
    ],
    ['OutOfcpu', 'resources.requests', rejection(requesting({cpu: '3'}))],
    ['NodeAffinity', '--node-labels', rejection(aPod({nodeSelector: {no: 'where'}}))],
    ['NodePorts', 'hostPort', rejection(listener, {}, [listener])],
    [
      'UnexpectedAdmissionError',
      'resources.requests',
      rejection(requesting({cpu: '3'}, {priority: 2_000_000_000})),
    ],
    [
      'AppArmor',
      'appArmorProfile',
      rejection(aPod({securityContext: {appArmorProfile: {type: 'RuntimeDefault'}}})),
    ],
  ])('%s: %s', (reason, hint, found) => {
    expect(found?.reason).toBe(reason);
    expect(found?.hint).toContain(hint);
  });
});

describe('resources on the node', () => {
  test('ephemeral storage excludes the 10% eviction threshold, computed as a 32-bit float, and the requests of other pods', () => {
    const all = requesting({'ephemeral-storage': '89999999851'});

    expect(rejection(all)).toBeUndefined();
    expect(rejection(all, {}, [requesting({'ephemeral-storage': '7'})])?.message).toBe(
      "Node didn't have enough resource: ephemeral-storage, requested: 89999999851, used: 7, capacity: 89999999851",
    );
  });

  test('the 110th pod is admitted', () => {
    expect(
      rejection(
        aPod(),
        {},
        Array.from({length: 109}, () => aPod()),
      ),
    ).toBeUndefined();
  });
});

describe('node affinity', () => {
  const labels = {zone: 'a', cores: '+8', size: '8x', left: 'x8'};
  const name = {key: 'metadata.name', operator: 'In' as const, values: ['goldennode']};
  const fits = (
    key: string,
    operator: 'In' | 'Exists' | 'Gt',
    values: readonly string[],
    more = {},
  ): boolean => {
    const term = {matchExpressions: [{key, operator, values}], ...more};
    const required = {nodeSelectorTerms: [term]};
    const pod = aPod({affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: required}}});
    return rejection(pod, {labels}) === undefined;
  };

  test('a term with matching matchExpressions and matchFields is met', () => {
    expect(fits('zone', 'In', ['a'], {matchFields: [name]})).toBe(true);
  });

  // Proves: Affinity.nodeAffinity, NodeAffinity.requiredDuringSchedulingIgnoredDuringExecution,
  //   PodSpec.affinity
  test('a property inherited by every JavaScript object is not a label', () => {
    expect(fits('toString', 'Exists', [])).toBe(false);
  });

  test.each<[string, string, boolean]>([
    ['cores', '7', true],
    ['cores', '+7', true],
    ['cores', '-9', true],
    ['cores', '8', false],
    ['cores', 'x', false],
    ['size', '7', false],
    ['left', '7', false],
  ])('for label %s, Gt %s is met: %s', (key, value, expected) => {
    expect(fits(key, 'Gt', [value])).toBe(expected);
  });
});

describe('host ports', () => {
  const withInit = (init: Partial<Container>): Pod => aPod({initContainers: [aContainer({...init, ports})]});
  const sidecar = withInit({name: 'init', restartPolicy: 'Always'});
  const init = withInit({name: 'init'});

  test.each<[string, boolean, Pod]>([
    ['a sidecar', true, sidecar],
    ['an init container that runs to completion', false, init],
  ])('the ports of %s are reserved: %s', (_title, taken, pod) => {
    expect(rejection(pod, {}, [listener])?.reason).toBe(taken ? 'NodePorts' : undefined);
    expect(rejection(listener, {}, [pod])?.reason).toBe(taken ? 'NodePorts' : undefined);
  });

  test('one conflicting port among several rejects the pod', () => {
    const free = {containerPort: 81, hostPort: 81};
    const pod = aPod({containers: [aContainer({ports: [free, ...ports]})]});

    expect(rejection(pod, {}, [aPod(), listener])?.reason).toBe('NodePorts');
  });

  const on = (hostPort: number | undefined, hostIP?: string): Pod =>
    aPod({
      containers: [
        aContainer({
          ports: [{containerPort: 80, ...(hostPort !== undefined && {hostPort}), ...(hostIP && {hostIP})}],
        }),
      ],
    });

  test.each<[string, boolean, Pod, Pod]>([
    ['no host port and the other pod has none either', false, on(undefined), on(undefined)],
    ['host port 0, which means none', false, on(0), on(0)],
    ['host port 1', true, on(1), on(1)],
    ['the same port on the same address', true, on(80, '127.0.0.1'), on(80, '127.0.0.1')],
    ['a port on all addresses that another pod has on one', true, on(80, '0.0.0.0'), on(80, '127.0.0.1')],
    ['a port on one address that another pod has on all', true, on(80, '127.0.0.1'), on(80, '0.0.0.0')],
  ])('a pod that requests %s conflicts: %s', (_title, taken, pod, other) => {
    expect(rejection(pod, {}, [other])?.reason).toBe(taken ? 'NodePorts' : undefined);
  });

  test('a port without a protocol is a TCP port', () => {
    const udp = aPod({containers: [aContainer({ports: [{...ports[0]!, protocol: 'UDP'}]})]});
    const {spec} = listener;
    const unnamed: Pod = {...listener, spec: {...spec, containers: [{name: 'main', image: 'x', ports}]}};

    expect(rejection(unnamed, {}, [listener])?.reason).toBe('NodePorts');
    expect(rejection(listener, {}, [unnamed])?.reason).toBe('NodePorts');
    expect(rejection(unnamed, {}, [udp])).toBeUndefined();
    expect(rejection(udp, {}, [unnamed])).toBeUndefined();
  });
});

test('a node without support for supplementalGroupsPolicy admits pods that do not request it', () => {
  const runtime = {handlers: new Map(), supplementalGroupsPolicy: false};

  expect(rejection(aPod(), {runtime})).toBeUndefined();
});

describe('an AppArmor profile is enforced for', () => {
  const securityContext = {appArmorProfile: {type: 'RuntimeDefault' as const}};
  const confined = aContainer({name: 'confined', securityContext});

  // Proves: SecurityContext.appArmorProfile
  test.each<[string, Pod]>([
    ['an init container', aPod({initContainers: [confined]})],
    ['one of the containers', aPod({containers: [aContainer(), confined]})],
    ['an ephemeral container', aPod({ephemeralContainers: [confined]})],
  ])('%s', (_title, pod) => {
    expect(rejection(pod)?.reason).toBe('AppArmor');
    expect(rejection(pod, {appArmorEnabled: true})).toBeUndefined();
  });
});

describe('sysctls', () => {
  test.each([
    ['net.ipv4.ip_local_reserved_ports', '3.15.9', '3.16'],
    ['net.ipv4.tcp_keepalive_time', '4.4', '4.5'],
    ['net.ipv4.tcp_fin_timeout', '4.5', '4.6'],
    ['net.ipv4.tcp_keepalive_intvl', '4.4', '4.5'],
    ['net.ipv4.tcp_keepalive_probes', '4.4', '4.5'],
    ['net.ipv4.tcp_rmem', '4.14', '4.15'],
    ['net.ipv4.tcp_wmem', '4.14', '4.15'],
  ])('%s is unsafe on kernel %s and safe from %s on', (name, before, since) => {
    expect(rejection(withSysctl(name), {kernelRelease: before})?.reason).toBe('SysctlForbidden');
    expect(rejection(withSysctl(name), {kernelRelease: since})).toBeUndefined();
    expect(rejection(withSysctl(name), {kernelRelease: `${since}.0-1-amd64`})).toBeUndefined();
  });

  test.each(['net.ipv4.tcp_syncookies', 'net.ipv4.ping_group_range', 'net.ipv4.ip_local_port_range'])(
    '%s is safe when the kernel version is unknown',
    (name) => {
      expect(rejection(withSysctl(name), {kernelRelease: 'unknown'})).toBeUndefined();
    },
  );

  test('a name in --allowed-unsafe-sysctls has at most 253 characters', () => {
    const long = `net.${'a'.repeat(249)}`;

    expect(rejection(withSysctl(long), {allowedUnsafeSysctls: [long]})).toBeUndefined();
    expect(() => rejection(withSysctl('net.x'), {allowedUnsafeSysctls: [`${long}a`]})).toThrow(
      /at most 253 characters/,
    );
  });

  test.each<[string, string, string]>([
    ...['net.*x', 'net..x', '-net.x', 'net.x ', ' net.x', 'net.x-', 'x net.*', 'net.-x*', '* net.*'].map(
      (pattern): [string, string, string] => [pattern, 'match regex', 'change --allowed-unsafe-sysctls'],
    ),
    ['*', 'not known to be namespaced', 'to network and IPC sysctls only'],
    ['vm.x', 'not known to be namespaced', 'to network and IPC sysctls only'],
  ])('--allowed-unsafe-sysctls %j is invalid: %s', (pattern, problem, hint) => {
    const given = {allowedUnsafeSysctls: [pattern]};

    expect(() => rejection(withSysctl('net.x'), given)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(problem) as string,
        hint: expect.stringContaining(hint) as string,
      }) as Error,
    );
    expect(rejection(aPod(), given)).toBeUndefined();
  });

  test.each([
    ['4', 'SysctlForbidden'],
    ['5', undefined],
    ['10.1', undefined],
    ['3.99', 'SysctlForbidden'],
    ['my-6.12', 'SysctlForbidden'],
  ])(
    'the leading numbers of the kernel release %s decide whether tcp_rmem is safe: %s',
    (kernelRelease, reason) => {
      expect(rejection(withSysctl('net.ipv4.tcp_rmem'), {kernelRelease})?.reason).toBe(reason);
    },
  );

  test('an allowed name matches exactly, an allowed pattern matches a prefix', () => {
    const forbidden = (name: string, allowed: string): string | undefined =>
      rejection(withSysctl(name), {allowedUnsafeSysctls: [allowed]})?.reason;

    expect(forbidden('net.core.x1', 'net.core.x')).toBe('SysctlForbidden');
    expect(forbidden('net.core.x1', 'net.core.x*')).toBeUndefined();
    expect(forbidden('net.core', 'net.core.x*')).toBe('SysctlForbidden');
  });

  test('the message names the first forbidden sysctl', () => {
    const sysctls = ['net.ipv4.tcp_syncookies', 'net.b', 'net.a'].map((name) => ({name, value: '1'}));

    expect(rejection(aPod({securityContext: {sysctls}}))?.message).toBe(
      'forbidden sysctl: "net.b" not allowlisted',
    );
  });
});
