import {setTimeout as delay} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../base/until.js';
import {IMAGE, shellCommand, SLEEP_COMMAND, type ManifestFields} from '../e2e/harness/manifests.js';
import {newestRuntime} from '../e2e/harness/runtimes-under-test.js';
import {startClusterNode, type ClusterNode} from './cluster-node.js';
import {startControlPlane, type ControlPlane} from './control-plane.js';

const PROGRAMS = process.env['KCRI_TEST_CONTROL_PLANE'] ?? '';
const OUTAGE_MS = 60_000;
/** A web server whose page is the name of its pod. */
const WEB =
  'mkdir /www; hostname >/www/index.html; httpd -p 8080 -h /www; trap "exit 0" TERM; sleep 3600 & wait';

/** Returns a workload of the group apps with one container, which sleeps by default. */
function workload(
  kind: string,
  name: string,
  fields: ManifestFields,
  command: readonly string[] = SLEEP_COMMAND,
): string {
  const labels = {app: name};
  const containers = [{name: 'main', image: IMAGE, command}];
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind,
    metadata: {name},
    spec: {
      selector: {matchLabels: labels},
      template: {metadata: {labels}, spec: {terminationGracePeriodSeconds: 2, containers}},
      ...fields,
    },
  });
}

describe.each(newestRuntime)('a cluster of two nodes: $name', (which) => {
  let plane: ControlPlane;
  let nodes: readonly [ClusterNode, ClusterNode];

  const kubectl = async (...args: readonly string[]): Promise<string> => await plane.kubectl.output(...args);
  const apply = async (manifest: string): Promise<void> => {
    expect(await plane.kubectl.run(['apply', '-f', '-'], manifest)).toMatchObject({exitCode: 0});
  };
  const untilRolledOut = async (workloadName: string): Promise<void> => {
    await kubectl('rollout', 'status', workloadName, '--timeout=300s');
  };
  /** Returns a field of each pod with a label, by the name of the pod. */
  const podField = async (app: string, path: string): Promise<Readonly<Record<string, string>>> => {
    const format = `jsonpath={range .items[*]}{.metadata.name}={${path}}{"\\n"}{end}`;
    const text = await kubectl('get', 'pods', '-l', `app=${app}`, '-o', format);
    return Object.fromEntries(
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.split('=') as [string, string]),
    );
  };
  const containerIds = async (app: string): Promise<Readonly<Record<string, string>>> =>
    await podField(app, '.status.containerStatuses[0].containerID');
  const nodesOf = async (app: string): Promise<ReadonlySet<string>> =>
    new Set(Object.values(await podField(app, '.spec.nodeName')));
  const nodeOf = async (pod: string): Promise<ClusterNode> => {
    const name = await kubectl('get', 'pod', pod, '-o', 'jsonpath={.spec.nodeName}');
    return nodes.find((node) => node.name === name)!;
  };
  const untilNodesAreReady = async (): Promise<void> => {
    await kubectl('wait', '--for=condition=Ready', 'node', '--all', '--timeout=300s');
  };

  beforeAll(async () => {
    const names = ['kcri-a', 'kcri-b'] as const;
    plane = await startControlPlane(PROGRAMS, names);
    nodes = [await startClusterNode(which, plane, names[0]), await startClusterNode(which, plane, names[1])];
    await until(async () => (await kubectl('get', 'nodes', '-o', 'name')).split('\n').length === 2);
    await untilNodesAreReady();
  });
  afterAll(async () => {
    // The kubelets end first, since they would see the pods of a stopping cluster.
    for (const node of nodes) await node[Symbol.asyncDispose]();
    await plane[Symbol.asyncDispose]();
  });

  test('a Deployment runs behind a Service, and is updated', async () => {
    await apply(workload('Deployment', 'web', {replicas: 3}, shellCommand(WEB)));
    await kubectl('expose', 'deployment', 'web', '--port=80', '--target-port=8080');
    await untilRolledOut('deployment/web');
    const pods = await podField('web', '.status.podIP');
    for (const [name, ip] of Object.entries(pods)) {
      const response = await fetch(`http://${ip}:8080/`);
      expect(await response.text()).toBe(`${name}\n`);
    }
    const addresses = 'jsonpath={.items[*].endpoints[?(@.conditions.ready==true)].addresses[0]}';
    const ready = async (): Promise<string[]> =>
      (await kubectl('get', 'endpointslices', '-l', 'kubernetes.io/service-name=web', '-o', addresses)).split(
        ' ',
      );
    await until(async () => (await ready()).toSorted().join() === Object.values(pods).toSorted().join());

    await kubectl('set', 'env', 'deployment/web', 'COLOR=blue');
    await untilRolledOut('deployment/web');
    const variables = shellCommand('echo $COLOR $KUBERNETES_SERVICE_HOST');
    expect(await kubectl('exec', 'deployment/web', '--', ...variables)).toBe('blue 10.96.0.1');
  });

  test('a Job completes, and its logs can be read', async () => {
    const spec = {
      restartPolicy: 'Never',
      containers: [{name: 'main', image: IMAGE, command: ['echo', 'done']}],
    };
    const metadata = {name: 'job'};
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata,
      spec: {completions: 3, parallelism: 2, template: {spec}},
    };
    await apply(JSON.stringify(job));
    await kubectl('wait', '--for=condition=Complete', 'job/job', '--timeout=300s');
    expect(await kubectl('logs', 'job/job')).toMatch(/done$/);
  });

  test('a DaemonSet runs on both nodes', async () => {
    await apply(workload('DaemonSet', 'agent', {}));
    await untilRolledOut('daemonset/agent');
    expect(await nodesOf('agent')).toEqual(new Set(['kcri-a', 'kcri-b']));
  });

  test('a StatefulSet replaces a deleted pod under its name', async () => {
    await apply(workload('StatefulSet', 'db', {replicas: 2, serviceName: 'db'}));
    await untilRolledOut('statefulset/db');
    const before = await containerIds('db');
    expect(Object.keys(before)).toEqual(['db-0', 'db-1']);
    await kubectl('delete', 'pod', 'db-0');
    await untilRolledOut('statefulset/db');
    const after = await containerIds('db');
    expect(after['db-1']).toBe(before['db-1']);
    expect(after['db-0']).not.toBe(before['db-0']);
  });

  test('pods of a drained node move to the other one', async () => {
    await kubectl('drain', 'kcri-a', '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=300s');
    await untilRolledOut('deployment/web');
    await untilRolledOut('statefulset/db');
    expect([...(await nodesOf('web')), ...(await nodesOf('db'))]).toEqual(['kcri-b', 'kcri-b']);
    expect(await nodesOf('agent')).toEqual(new Set(['kcri-a', 'kcri-b']));
    await kubectl('uncordon', 'kcri-a');
  });

  test('debug node shows the file system of the node', async () => {
    const flags = ['-i', '--quiet', `--image=${IMAGE}`, '--profile=general'];
    // The command waits for the connection, which the runtime ends with its input.
    const command = shellCommand('read line; cat /host/proc/sys/kernel/ostype');
    const debug = plane.kubectl.start(['debug', 'node/kcri-a', ...flags, '--', ...command]);
    debug.write('go\n');
    await debug.waitForOutput(/^Linux$/m);
    debug.end();
    expect(await debug.exited).toMatchObject({exitCode: 0});
  });

  test('a killed kubelet takes over its pods when it is started again, except for deleted ones', async () => {
    const before = await containerIds('web');
    const [deleted = ''] = Object.keys(before);
    const node = await nodeOf(deleted);
    await node.kill();
    await kubectl('delete', 'pod', deleted, '--wait=false');
    await node.start();
    await kubectl('wait', '--for=delete', `pod/${deleted}`, '--timeout=300s');
    await untilRolledOut('deployment/web');
    const after = await containerIds('web');
    for (const [name, id] of Object.entries(before)) if (name !== deleted) expect(after[name]).toBe(id);
  });

  test('pods survive an API server that is away for a minute, and restarts are reported afterwards', async () => {
    const [before, ofAgents] = [await containerIds('web'), await containerIds('agent')];
    const [killed = ''] = Object.keys(before);
    const node = await nodeOf(killed);
    await plane.stopApiServer();
    const {containers} = await node.pod(killed);
    process.kill(await node.kubelet.podTestbed.pidOf(containers[0]!.id), 'SIGKILL');
    await until(async () => (await node.pod(killed)).containers.length === 2);
    await delay(OUTAGE_MS);
    await plane.startApiServer();

    const restarts = 'jsonpath={.status.containerStatuses[0].restartCount}';
    await until(async () => (await kubectl('get', 'pod', killed, '-o', restarts)) === '1');
    await untilNodesAreReady();
    await untilRolledOut('deployment/web');
    const after = await containerIds('web');
    expect(Object.keys(after)).toEqual(Object.keys(before));
    for (const [name, id] of Object.entries(before)) if (name !== killed) expect(after[name]).toBe(id);
    expect(await containerIds('agent')).toEqual(ofAgents);
  });
});
