import {describe, expect, test} from 'vitest';
import {
  annotatedPorts,
  annotatedRestarts,
  containerFacts,
  imageFacts,
  sandboxFacts,
} from '../../src/operations/verbose-info.js';

const info = (value: unknown): Readonly<Record<string, string>> => ({info: JSON.stringify(value)});

describe('containerFacts', () => {
  test('reads the process that containerd and CRI-O set up', () => {
    const process = {args: ['sleep', '1'], env: ['A=b'], cwd: '/work', user: {uid: 0}};
    const linux = {cgroupsPath: '/pods/c1'};
    const annotations = {
      'io.kubernetes.cri.sandbox-name': 'web',
      'io.kubernetes.cri.sandbox-namespace': 'team',
    };
    expect(
      containerFacts(info({pid: 42, sandboxID: 'p1', runtimeSpec: {process, linux, annotations}})),
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
  ])('knows nothing from %j', (given) => {
    expect(containerFacts(given)).toMatchObject({pid: undefined, command: [], env: [], cgroup: ''});
  });
});

describe('sandboxFacts', () => {
  const web = {hostIp: '', hostPort: 8080, containerPort: 80, protocol: 'TCP'};

  test.each([
    ['containerd', {config: {port_mappings: [{host_port: 8080, container_port: 80}, {container_port: 9}]}}],
    ['camelCase', {config: {portMappings: [{hostPort: 8080, containerPort: 80, protocol: 'TCP'}]}}],
    [
      'CRI-O',
      {
        runtimeSpec: {
          annotations: {
            'io.kubernetes.cri-o.PortMappings': '[{"container_port":80,"host_port":8080,"protocol":0}]',
          },
        },
      },
    ],
  ])('reads the ports of the node from %s', (_, facts) => {
    expect(sandboxFacts(info(facts)).ports).toEqual([web]);
  });

  test('reads an address and a protocol by number', () => {
    const port = {host_ip: '::1', host_port: 53, container_port: 53, protocol: 1};
    expect(sandboxFacts(info({config: {port_mappings: [port]}})).ports).toEqual([
      {hostIp: '::1', hostPort: 53, containerPort: 53, protocol: 'UDP'},
    ]);
  });
});

describe('imageFacts', () => {
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
    expect(imageFacts(info({imageSpec}))).toMatchObject({
      createdAtMs: Date.UTC(2026, 4, 1, 12),
      platform: 'linux/arm64/v8',
      entrypoint: ['/app'],
      command: ['serve'],
      ports: ['80/tcp'],
      labels: {a: 'b'},
    });
  });

  test.each(['1970-01-01T00:00:00Z', '0001-01-01T00:00:00Z', 'soon', ''])(
    'takes "%s" for no time of building',
    (created) => {
      expect(imageFacts(info({imageSpec: {created}})).createdAtMs).toBeUndefined();
    },
  );
});

describe('annotations of the kubelet', () => {
  test('tell ports that the node forwards', () => {
    const ports = '[{"hostPort":8080,"containerPort":80,"protocol":"TCP"},{"containerPort":9}]';
    expect(annotatedPorts({'io.kubernetes.container.ports': ports})).toHaveLength(1);
    expect(annotatedPorts({})).toBeUndefined();
  });

  test.each([
    ['3', 3],
    ['', undefined],
    ['x', undefined],
  ])('tell %j restarts as %j', (text, count) => {
    expect(annotatedRestarts({'io.kubernetes.container.restartCount': text})).toBe(count);
  });
});
