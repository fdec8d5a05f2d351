import {describe, expect, test} from 'vitest';
import {completeMessage} from '../../../src/cri/complete-message.js';
import type {ContainerStatusResponse, PodSandboxStatusResponse} from '../../../src/cri/index.js';
import {generatePod, type GeneratedPod} from '../../../src/operations/generate/generate-pod.js';

const POD_LABELS = {
  'io.kubernetes.pod.name': 'web',
  'io.kubernetes.pod.namespace': 'shop',
  'io.kubernetes.pod.uid': 'u1',
};
const KUBELET_POD = '/var/lib/kubelet/pods/u1';

interface Scene {
  readonly sandbox?: object;
  readonly containers?: readonly object[];
  readonly handler?: string;
  readonly states?: readonly ('CONTAINER_RUNNING' | 'CONTAINER_EXITED')[];
}

const info = (value: object): Readonly<Record<string, string>> => ({info: JSON.stringify(value)});

/** Generates the manifest of a pod from the configs that containerd returns. */
function generate({sandbox = {}, containers = [{}], handler = '', states = []}: Scene): GeneratedPod {
  const metadata = {name: 'web', namespace: 'shop', uid: 'u1'};
  const sandboxResponse: PodSandboxStatusResponse = {
    ...completeMessage('PodSandboxStatusResponse', {status: {runtimeHandler: handler}}),
    info: info({config: {metadata, labels: POD_LABELS, ...sandbox}}),
  };
  const responses = containers.map((config, index): ContainerStatusResponse => {
    const named = {metadata: {name: `c${index}`}, image: {image: 'nginx:1'}, ...config};
    return {
      ...completeMessage('ContainerStatusResponse', {
        status: {state: states[index] ?? 'CONTAINER_RUNNING', metadata: named.metadata},
      }),
      info: info({config: named}),
    };
  });
  return generatePod({sandbox: sandboxResponse, containers: responses, findImage: () => undefined});
}

const containerOf = (config: object): unknown => generate({containers: [config]}).pod.spec.containers[0];

describe('a pod of a kubelet', () => {
  test('loses labels, annotations, variables and files that the kubelet added', () => {
    const {pod, notes} = generate({
      sandbox: {
        labels: {...POD_LABELS, app: 'web'},
        annotations: {
          'kubernetes.io/config.seen': 'now',
          team: 'a',
          'cni.projectcalico.org/podIP': '10.0.0.1',
        },
        dns_config: {servers: ['10.96.0.10']},
      },
      containers: [
        {
          image: {image: `sha256:${'a'.repeat(64)}`, user_specified_image: 'nginx:1'},
          envs: [
            {key: 'PAGE', value: 'x'},
            {key: 'KUBERNETES_SERVICE_HOST', value: '10.96.0.1'},
            {key: 'KUBERNETES_PORT_443_TCP_ADDR', value: '10.96.0.1'},
            {key: 'KUBERNETES_TOKEN', value: 'own'},
          ],
          mounts: [
            {container_path: '/cache', host_path: `${KUBELET_POD}/volumes/kubernetes.io~empty-dir/cache`},
            {container_path: '/conf', host_path: `${KUBELET_POD}/volumes/kubernetes.io~configmap/conf`},
            {container_path: '/sub', host_path: `${KUBELET_POD}/volume-subpaths/data/c0/0`},
            {
              container_path: '/var/run/secrets/kubernetes.io/serviceaccount',
              host_path: `${KUBELET_POD}/volumes/kubernetes.io~projected/kube-api-access-x7k2p`,
            },
            {container_path: '/etc/hosts', host_path: `${KUBELET_POD}/etc-hosts`},
            {container_path: '/dev/termination-log', host_path: `${KUBELET_POD}/containers/c0/0a1b2c3d`},
            {container_path: '/opt', host_path: '/opt', propagation: 'PROPAGATION_BIDIRECTIONAL'},
          ],
          annotations: {
            'io.kubernetes.container.ports': '[{"name":"http","containerPort":80,"protocol":"TCP"}]',
            'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
            'io.kubernetes.container.preStopHandler': '{"exec":{"command":["sync"]}}',
            'io.kubernetes.pod.terminationGracePeriod': '5',
          },
        },
      ],
    });
    expect(pod).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {name: 'web', namespace: 'shop', labels: {app: 'web'}, annotations: {team: 'a'}},
      spec: {
        terminationGracePeriodSeconds: 5,
        volumes: [
          {name: 'cache', emptyDir: {}},
          {name: 'opt', hostPath: {path: '/opt'}},
        ],
        containers: [
          {
            name: 'c0',
            image: 'nginx:1',
            imagePullPolicy: 'IfNotPresent',
            ports: [{name: 'http', containerPort: 80, protocol: 'TCP'}],
            env: [
              {name: 'PAGE', value: 'x'},
              {name: 'KUBERNETES_TOKEN', value: 'own'},
            ],
            volumeMounts: [
              {name: 'cache', mountPath: '/cache'},
              {name: 'opt', mountPath: '/opt', mountPropagation: 'Bidirectional'},
            ],
            terminationMessagePath: '/dev/termination-log',
            lifecycle: {preStop: {exec: {command: ['sync']}}},
          },
        ],
      },
    });
    expect(notes).toEqual([
      'container "c0": KUBERNETES_TOKEN may be secret: move the values to a Secret',
      'volume "conf" at "/conf" is left out: the runtime does not know its source',
      'volume "data" at "/sub" is left out: the runtime does not know its subPath',
      'the token of the service account at "/var/run/secrets/kubernetes.io/serviceaccount" is left out',
      expect.stringContaining('probes, restart policy'),
    ]);
  });

  test('has the containers that run, or all those of a job', () => {
    const containers = [{}, {}];
    const served = generate({containers, states: ['CONTAINER_EXITED', 'CONTAINER_RUNNING']});
    expect(served.pod.spec.containers.map(({name}) => name)).toEqual(['c1']);
    expect(served.notes).toContain('container "c0" has exited and is left out; it may be an init container');
    const job = generate({containers, states: ['CONTAINER_EXITED', 'CONTAINER_EXITED']});
    expect(job.pod.spec).toMatchObject({restartPolicy: 'Never', containers: [{name: 'c0'}, {name: 'c1'}]});
  });
});

describe('resources and security settings', () => {
  test.each<[object, object | undefined]>([
    [
      {cpu_shares: 102, memory_limit_in_bytes: 67_108_864},
      {limits: {memory: '64Mi'}, requests: {cpu: '100m'}},
    ],
    [{cpu_quota: 50_000, cpu_period: 100_000, cpu_shares: 512}, {limits: {cpu: '500m'}}],
    [
      {cpu_quota: 50_000, cpu_shares: 2},
      {limits: {cpu: '500m'}, requests: {cpu: '0'}},
    ],
    [
      {
        hugepage_limits: [
          {page_size: '2MB', limit: 4_194_304},
          {page_size: '1GB', limit: 0},
        ],
      },
      {limits: {'hugepages-2Mi': '4Mi'}},
    ],
    [{cpu_shares: 2}, undefined],
  ])('%j', (resources, expected) => {
    expect(containerOf({linux: {resources}})).toEqual({
      name: 'c0',
      image: 'nginx:1',
      imagePullPolicy: 'IfNotPresent',
      ...(expected && {resources: expected}),
    });
  });

  test.each<[object, object]>([
    [
      {run_as_user: {value: 0}, run_as_group: {value: 7}},
      {runAsUser: 0, runAsGroup: 7},
    ],
    [{privileged: true, capabilities: {add_capabilities: ['ALL']}}, {privileged: true}],
    [{capabilities: {drop_capabilities: ['ALL']}}, {capabilities: {drop: ['ALL']}}],
    [
      {readonly_rootfs: true, no_new_privs: true},
      {readOnlyRootFilesystem: true, allowPrivilegeEscalation: false},
    ],
    [{seccomp: {profile_type: 'RuntimeDefault'}}, {seccompProfile: {type: 'RuntimeDefault'}}],
    [
      {seccomp: {profile_type: 'Localhost', localhost_ref: '/var/lib/kubelet/seccomp/a/b.json'}},
      {seccompProfile: {type: 'Localhost', localhostProfile: 'a/b.json'}},
    ],
    [{selinux_options: {level: 's0:c1', user: ''}}, {seLinuxOptions: {level: 's0:c1'}}],
  ])('%j', (security_context, expected) => {
    expect(containerOf({linux: {security_context}})).toMatchObject({securityContext: expected});
  });

  test('of the pod are its namespaces, groups, sysctls and RuntimeClass', () => {
    const namespace_options = {network: 'NODE', pid: 'NODE', userns_options: {mode: 'POD'}};
    const {pod, runtimeClass} = generate({
      handler: 'kata',
      sandbox: {
        hostname: 'node1',
        linux: {sysctls: {'net.core.somaxconn': '9'}, security_context: {namespace_options}},
      },
      containers: [{linux: {security_context: {supplemental_groups: [10]}}}],
    });
    expect(pod.spec).toMatchObject({
      runtimeClassName: 'kata',
      hostNetwork: true,
      hostPID: true,
      hostUsers: false,
      securityContext: {supplementalGroups: [10], sysctls: [{name: 'net.core.somaxconn', value: '9'}]},
    });
    expect(pod.spec.hostname).toBeUndefined();
    expect(runtimeClass).toMatchObject({kind: 'RuntimeClass', metadata: {name: 'kata'}, handler: 'kata'});
  });
});

test('labels and annotations that a Pod cannot have are annotations or left out', () => {
  const labels = {quoted: '"<&>"', 'not a key': 'x', ok: 'yes'};
  const {pod, notes} = generate({sandbox: {labels, annotations: {'a b': 'c', multi: 'a\nb'}}});
  expect(pod.metadata).toMatchObject({labels: {ok: 'yes'}, annotations: {quoted: '"<&>"', multi: 'a\nb'}});
  expect(Object.keys({...pod.metadata.labels, ...pod.metadata.annotations})).toHaveLength(3);
  expect(notes.slice(0, 3)).toEqual([
    'label "quoted" is an annotation, since its value is not valid for a label',
    'label "not a key" is left out, since its name is not valid',
    'annotation "a b" is left out, since its name is not valid',
  ]);
});

test('a pod that a kubelet did not create has the DNS settings and ports of its config', () => {
  const sandbox = {
    metadata: {name: 'My Pod', namespace: 'default'},
    labels: {},
    dns_config: {servers: ['192.0.2.1'], searches: ['example.com'], options: ['ndots:2', 'rotate']},
    port_mappings: [{container_port: 80, host_port: 8080, host_ip: '127.0.0.1'}],
  };
  const {pod, notes} = generate({sandbox, containers: [{metadata: {name: 'A_b'}}, {}]});
  expect(pod.metadata.name).toBe('my-pod');
  expect(pod.spec).toMatchObject({
    dnsPolicy: 'None',
    dnsConfig: {
      nameservers: ['192.0.2.1'],
      searches: ['example.com'],
      options: [{name: 'ndots', value: '2'}, {name: 'rotate'}],
    },
    containers: [
      {name: 'a-b', ports: [{containerPort: 80, hostPort: 8080, hostIP: '127.0.0.1', protocol: 'TCP'}]},
      {name: 'c1'},
    ],
  });
  expect(notes).toContain('the ports of the pod are assigned to container "a-b"');
});
