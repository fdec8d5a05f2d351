import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {aContainerSpec, createTestbed, expectUserError, type CommandTestbed} from '../command-testbed.js';

/** Returns a Pod with the label `app`. */
function aPodOf(name: string, app = name, spec: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name, uid: name, labels: {app}},
    spec: {
      containers: [aContainerSpec('main', {ports: [{name: 'http', containerPort: 8080}]})],
      terminationGracePeriodSeconds: 1,
      ...spec,
    },
  };
}

function aService(spec: object = {}, name = 'web'): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {name},
    spec: {selector: {app: 'web'}, ports: [{port: 80, targetPort: 'http'}], ...spec},
  };
}

const documents = (...objects: readonly object[]): string =>
  objects.map((object) => JSON.stringify(object)).join('\n---\n');

/** Returns the environment of the container of a pod. */
function environmentOf({runtime}: CommandTestbed, pod: string): Readonly<Record<string, string>> {
  const created = runtime.containers.find(({config}) => config.labels['io.kubernetes.pod.name'] === pod);
  return Object.fromEntries((created?.config.envs ?? []).map(({key, value}) => [key, String(value)]));
}

function addressOf({runtime}: CommandTestbed, pod: string): string {
  return runtime.sandboxes.find(({config}) => config.metadata!.name === pod)?.ips[0] ?? '';
}

async function hostsOf({rootDir}: CommandTestbed, uid: string): Promise<string> {
  return await readFile(join(rootDir, 'pods', uid, 'etc-hosts'), 'utf8');
}

const NAMES = 'web.default.svc.cluster.local\tweb.default.svc\tweb.default\tweb';

describe('a Service of the manifests', () => {
  test('gives pods the address and port of its pod, whatever the order of the documents', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', documents(aPodOf('client'), aService(), aPodOf('web')));
    const {exitCode, stderr} = await testbed.run(['sync', file, '--strict']);
    expect({exitCode, stderr}).toEqual({
      exitCode: 0,
      stderr: `kcri: ${file}:3:129: note: spec.ports[0].targetPort: nothing forwards port 80 of Service "web" here: connect to web:8080\n`,
    });
    const ip = addressOf(testbed, 'web');
    expect(environmentOf(testbed, 'client')).toMatchObject({
      WEB_SERVICE_HOST: ip,
      WEB_SERVICE_PORT: '8080',
      WEB_PORT: `tcp://${ip}:8080`,
      WEB_PORT_80_TCP_ADDR: ip,
    });
    for (const uid of ['client', 'web']) expect(await hostsOf(testbed, uid)).toContain(`${ip}\t${NAMES}\n`);
  });

  test('leads to pods of earlier syncs, and changes nothing about them', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', '-'], {stdin: documents(aPodOf('web'))});
    const ip = addressOf(testbed, 'web');
    testbed.runtime.clearCalls();
    const {stderr} = await testbed.run(['sync', '-'], {stdin: documents(aPodOf('client'), aService())});
    expect(stderr).not.toContain('selects no pod');
    expect(environmentOf(testbed, 'client')['WEB_SERVICE_HOST']).toBe(ip);
    expect(await hostsOf(testbed, 'client')).toContain(`${ip}\t${NAMES}\n`);
    expect(testbed.mutatingCalls.filter((method) => method === 'RunPodSandbox')).toHaveLength(1);
  });

  test('leads running pods to the new pods of a changed workload', async () => {
    const testbed = await createTestbed();
    const aDeployment = (command: string): object => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {name: 'web'},
      spec: {
        selector: {matchLabels: {app: 'web'}},
        template: {
          metadata: {labels: {app: 'web'}},
          spec: {
            containers: [aContainerSpec('main', {command: ['sleep', command]})],
            terminationGracePeriodSeconds: 1,
          },
        },
      },
    });
    const manifest = (command: string): string =>
      documents(aDeployment(command), aService({ports: [{port: 80}]}), aPodOf('client'));
    await testbed.run(['sync', '-'], {stdin: manifest('60')});
    const before = testbed.runtime.sandboxes.map(({id}) => id);
    await testbed.run(['sync', '-'], {stdin: manifest('61')});
    const added = testbed.runtime.sandboxes.find(({id}) => !before.includes(id));
    const hosts = await hostsOf(testbed, 'client');
    expect(hosts.split('\n').filter((line) => line.endsWith(NAMES))).toEqual([`${added?.ips[0]}\t${NAMES}`]);
  });

  test('that is headless has the names of the pods of its StatefulSet', async () => {
    const testbed = await createTestbed();
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: {name: 'db'},
      spec: {
        replicas: 2,
        serviceName: 'web',
        selector: {matchLabels: {app: 'web'}},
        template: {
          metadata: {labels: {app: 'web'}},
          spec: {containers: [aContainerSpec('main')], terminationGracePeriodSeconds: 1},
        },
      },
    };
    const stdin = documents(set, aService({clusterIP: 'None'}), aPodOf('client'));
    expect(await testbed.run(['sync', '-'], {stdin})).toMatchObject({exitCode: 0, stderr: ''});
    expect(environmentOf(testbed, 'client')).not.toHaveProperty('WEB_SERVICE_HOST');
    const hosts = await hostsOf(testbed, 'client');
    for (const name of ['db-0', 'db-1'])
      expect(hosts).toContain(`${addressOf(testbed, name)}\t${name}.web.default.svc.cluster.local\t`);
  });

  // Proves: PodSpec.enableServiceLinks
  test('has no variables for a pod without service links', async () => {
    const testbed = await createTestbed();
    const client = aPodOf('client', 'client', {enableServiceLinks: false});
    await testbed.run(['sync', '-'], {stdin: documents(client, aService(), aPodOf('web'))});
    expect(environmentOf(testbed, 'client')).not.toHaveProperty('WEB_SERVICE_HOST');
    expect(await hostsOf(testbed, 'client')).toContain(NAMES);
  });

  test('that selects no pod on the node causes a warning', async () => {
    const testbed = await createTestbed();
    const stdin = documents(aPodOf('client'), aService());
    const {stderr, exitCode} = await testbed.run(['sync', '-'], {stdin});
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /stdin:3:\d+: spec.selector: Service "web" selects no pod on this node, so that its name does not resolve/,
    );
    const planned = await testbed.run(['plan', '-'], {stdin});
    expect(planned.stderr).toContain('selects no pod on this node');
    await testbed.run(['sync', '-'], {stdin: documents(aPodOf('web'))});
    expect((await testbed.run(['plan', '-'], {stdin})).stderr).not.toContain('selects no pod');
    expect((await testbed.run(['plan', '-', '--offline'], {stdin})).stderr).toContain('selects no pod');
  });

  test.each<[string, object, string]>([
    ['a missing port', {ports: []}, 'spec.ports: Required value'],
    ['a port out of range', {ports: [{port: 70_000}]}, 'spec.ports[0].port: Invalid value: 70000'],
    ['ports without names', {ports: [{port: 1}, {port: 2}]}, 'spec.ports[0].name: Required value'],
    [
      'another protocol',
      {ports: [{port: 1, protocol: 'HTTP'}]},
      'spec.ports[0].protocol: Unsupported value: "HTTP"',
    ],
    ['an invalid selector', {selector: {app: 'a b'}}, 'spec.selector[app]: Invalid value: "a b"'],
    ['another type', {type: 'Nodeport'}, 'spec.type: Unsupported value: "Nodeport"'],
    ['an invalid address', {clusterIP: '1.2.3'}, 'spec.clusterIP: Invalid value: "1.2.3"'],
    ['an unknown field', {port: 80}, 'spec.port'],
  ])('with %s is an error with its position', async (_title, spec, message) => {
    const testbed = await createTestbed();
    const result = await testbed.run(['sync', '-'], {stdin: documents(aPodOf('web'), aService(spec))});
    expectUserError(result);
    expect(result.stderr).toContain(message);
    expect(result.stderr).toMatch(/stdin:3:\d+/);
    expect(testbed.mutatingCalls).toEqual([]);
  });

  // Proves: plan --offline
  test('is planned with placeholders of addresses', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', documents(aPodOf('client'), aService(), aPodOf('web')));
    const {stdout, exitCode} = await testbed.run(['plan', '--offline', file]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('tcp://<IP of default/web>:8080');
  });
});

test('the JSON output has the workloads with their pods, and the objects without effect', async () => {
  const testbed = await createTestbed();
  const ingress = {apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: {name: 'front'}};
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {name: 'once'},
    spec: {
      template: {
        spec: {
          restartPolicy: 'Never',
          containers: [aContainerSpec('main', {command: ['true']})],
          terminationGracePeriodSeconds: 1,
        },
      },
    },
  };
  const {stdout} = await testbed.run(['sync', '-', '-o', 'json'], {stdin: documents(ingress, job)});
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  expect(lines[0]).toMatchObject({type: 'workload', kind: 'Job', namespace: 'default', name: 'once'});
  expect(lines[0]?.['pods']).toEqual([expect.stringMatching(/^once-/)]);
  expect(lines[1]).toMatchObject({type: 'skipped', kind: 'Ingress', name: 'front', file: 'stdin', line: 1});
});
