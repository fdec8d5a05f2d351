import {describe, expect, test} from 'vitest';
import {
  portsFromAnnotations,
  restartCountFromAnnotations,
  parseContainerInfo,
  parseImageInfo,
  parseSandboxInfo,
} from '../../../src/operations/inspect/verbose-info.js';

const info = (value: unknown): Readonly<Record<string, string>> => ({info: JSON.stringify(value)});

describe('parseContainerInfo', () => {
  test('reads the process configuration of containerd and CRI-O', () => {
    const process = {args: ['sleep', '1'], env: ['A=b'], cwd: '/work', user: {uid: 0}};
    const linux = {cgroupsPath: '/pods/c1'};
    const annotations = {
      'io.kubernetes.cri.sandbox-name': 'web',
      'io.kubernetes.cri.sandbox-namespace': 'team',
    };
    expect(
      parseContainerInfo(info({pid: 42, sandboxID: 'p1', runtimeSpec: {process, linux, annotations}})),
    ).toEqual({
      pid: 42,
      command: ['sleep', '1'],
      env: ['A=b'],
      workingDir: '/work',
      cgroup: '/pods/c1',
      sandboxId: 'p1',
      pod: 'team/web',
    });
  });

  test.each([
    [{}],
    [info(null)],
    [{info: 'not JSON'}],
    [info({pid: 0})],
    [info({pid: 'x', runtimeSpec: []})],
  ])('returns empty values for %j', (given) => {
    expect(parseContainerInfo(given)).toMatchObject({pid: undefined, command: [], env: [], cgroup: ''});
  });
});

describe('parseSandboxInfo', () => {
  const web = {hostIp: '', hostPort: 8080, containerPort: 80, protocol: 'TCP'};

  test.each([
    ['containerd', {config: {port_mappings: [{host_port: 8080, container_port: 80}, {container_port: 9}]}}],
    ['camelCase', {config: {portMappings: [{hostPort: 8080, containerPort: 80, protocol: 'TCP'}]}}],
    [
      'CRI-O',
      {
        runtimeSpec: {
          annotations: {
            'io.kubernetes.cri-o.PortMappings':
              '[{"HostPort":8080,"ContainerPort":80,"Protocol":"TCP","HostIP":""}]',
          },
        },
      },
    ],
  ])('reads the forwarded ports of %s', (_, facts) => {
    expect(parseSandboxInfo(info(facts)).ports).toEqual([web]);
  });

  test('reads address and protocol of CRI-O', () => {
    const annotation = '[{"HostPort":53,"ContainerPort":5353,"Protocol":"UDP","HostIP":"::1"}]';
    const annotations = {'io.kubernetes.cri-o.PortMappings': annotation};
    expect(parseSandboxInfo(info({runtimeSpec: {annotations}})).ports).toEqual([
      {hostIp: '::1', hostPort: 53, containerPort: 5353, protocol: 'UDP'},
    ]);
  });

  test('reads an address and a protocol by number', () => {
    const port = {host_ip: '::1', host_port: 53, container_port: 53, protocol: 1};
    expect(parseSandboxInfo(info({config: {port_mappings: [port]}})).ports).toEqual([
      {hostIp: '::1', hostPort: 53, containerPort: 53, protocol: 'UDP'},
    ]);
  });
});

describe('parseImageInfo', () => {
  test('reads the config of an image', () => {
    const config = {
      Entrypoint: ['/app'],
      Cmd: ['serve'],
      Env: ['PATH=/bin'],
      ExposedPorts: {'80/tcp': {}},
      Labels: {a: 'b'},
    };
    const imageSpec = {
      created: '2026-05-01T12:00:00Z',
      os: 'linux',
      architecture: 'arm64',
      variant: 'v8',
      config,
    };
    expect(parseImageInfo(info({imageSpec}))).toMatchObject({
      createdAtMs: Date.UTC(2026, 4, 1, 12),
      platform: 'linux/arm64/v8',
      entrypoint: ['/app'],
      command: ['serve'],
      ports: ['80/tcp'],
      labels: {a: 'b'},
    });
  });

  test.each(['1970-01-01T00:00:00Z', '0001-01-01T00:00:00Z', 'soon', ''])(
    'ignores the build time "%s"',
    (created) => {
      expect(parseImageInfo(info({imageSpec: {created}})).createdAtMs).toBeUndefined();
    },
  );
});

describe('annotations of the kubelet', () => {
  test('contain the forwarded ports', () => {
    const ports =
      '[{"hostPort":8080,"containerPort":80,"protocol":"TCP","hostIP":"10.0.0.1"},{"containerPort":9}]';
    expect(portsFromAnnotations({'io.kubernetes.container.ports': ports})).toEqual([
      {hostIp: '10.0.0.1', hostPort: 8080, containerPort: 80, protocol: 'TCP'},
    ]);
    expect(portsFromAnnotations({})).toBeUndefined();
  });

  test.each([
    ['3', 3],
    ['', undefined],
    ['x', undefined],
  ])('with the restart count %j are read as %j', (text, count) => {
    expect(restartCountFromAnnotations({'io.kubernetes.container.restartCount': text})).toBe(count);
  });
});
