import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {aContainerSpec} from '../../../commands/command-testbed.js';
import {DaemonTestbed, NOTHING_REMAINS} from '../daemon-testbed.js';

const RUNS = aContainerSpec('main');
const CLAIM = {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}};
/** Readiness probe that never succeeds. */
const NEVER_READY = {readinessProbe: {exec: {command: ['false']}, periodSeconds: 1}};

/** Returns a workload of apps/v1 as a manifest; `fields` are added to its spec. */
function aWorkload(kind: string, name: string, container: object, fields: object = {}): string {
  const labels = {app: name};
  const spec = {terminationGracePeriodSeconds: 0, containers: [container]};
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind,
    metadata: {name},
    spec: {selector: {matchLabels: labels}, template: {metadata: {labels}, spec}, ...fields},
  });
}

function aDeployment(container: object, fields: object = {}): string {
  return aWorkload('Deployment', 'web', container, fields);
}

/** Returns the pods with a running container, without the node name and generated parts. */
function pods(testbed: DaemonTestbed): readonly string[] {
  return testbed.running.map((name) => name.replace(/-goldennode\/.*$/, ''));
}

/** Returns the hashes of the templates of the running pods of a Deployment, in order. */
function hashes(testbed: DaemonTestbed): readonly string[] {
  return pods(testbed).map((name) => name.split('-').at(-2) ?? '');
}

async function untilRunning(testbed: DaemonTestbed, count: number): Promise<void> {
  await testbed.until(`${count} pods run`, () => testbed.running.length === count);
}

async function expectNothingRemains(testbed: DaemonTestbed): Promise<void> {
  await testbed.untilAllRemoved();
  expect(await testbed.listRemains()).toEqual(NOTHING_REMAINS);
  expect(testbed.callsToForeignPod).toEqual([]);
}

describe('a Deployment', () => {
  test('runs its pods, is scaled, and is removed with its file', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('web.json', aDeployment(RUNS, {replicas: 2}));
    await untilRunning(testbed, 2);
    const first = pods(testbed);
    expect(first).toEqual([
      expect.stringMatching(/^web-[a-z0-9]+-[a-z0-9]{5}$/),
      expect.stringMatching(/^web-[a-z0-9]+-[a-z0-9]{5}$/),
    ]);
    await testbed.put('web.json', aDeployment(RUNS, {replicas: 3}));
    await untilRunning(testbed, 3);
    expect(pods(testbed)).toEqual(expect.arrayContaining([...first]));
    await testbed.put('web.json', aDeployment(RUNS, {replicas: 1}));
    await untilRunning(testbed, 1);
    await testbed.remove('web.json');
    await expectNothingRemains(testbed);
  });

  test('with a changed template rolls over, and deletes the previous pods when the new ones are ready', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('web.json', aDeployment(RUNS, {replicas: 2}));
    await untilRunning(testbed, 2);
    const [before] = hashes(testbed);
    const counts: number[] = [];
    const old = (): number => hashes(testbed).filter((hash) => hash === before).length;
    await testbed.put('web.json', aDeployment({...RUNS, env: [{name: 'V', value: '2'}]}, {replicas: 2}));
    await testbed.until('the new pods run alone', () => {
      counts.push(testbed.running.length);
      return testbed.running.length === 2 && old() === 0;
    });
    expect(Math.min(...counts)).toBe(2);
    expect(Math.max(...counts)).toBe(4);
  });

  test('keeps the previous pods while the new ones are not ready, also after a restart', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('web.json', aDeployment(RUNS));
    await untilRunning(testbed, 1);
    await testbed.put('web.json', aDeployment({...RUNS, ...NEVER_READY}));
    await untilRunning(testbed, 2);
    const names = testbed.running;
    await testbed.stop();
    testbed.run();
    const restartedAt = testbed.clock.now();
    await testbed.until('a minute passes', () => testbed.clock.now() > restartedAt + 60_000);
    expect(testbed.running).toEqual(names);
    await testbed.put('web.json', aDeployment({...RUNS, env: [{name: 'V', value: '3'}]}));
    await untilRunning(testbed, 3);
    await untilRunning(testbed, 1);
    expect(names).not.toContain(testbed.running[0]);
  });

  test('waits for minReadySeconds before the previous pods are deleted', async () => {
    await using testbed = await DaemonTestbed.start();
    const fields = {minReadySeconds: 90};
    await testbed.put('web.json', aDeployment(RUNS, fields));
    await untilRunning(testbed, 1);
    await testbed.put('web.json', aDeployment({...RUNS, env: [{name: 'V', value: '2'}]}, fields));
    await untilRunning(testbed, 2);
    const startedAt = testbed.clock.now();
    await untilRunning(testbed, 1);
    expect(testbed.clock.now() - startedAt).toBeGreaterThan(85_000);
  });

  test('remains when its manifest becomes invalid, which get kubelet reports', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('web.json', aDeployment(RUNS));
    await untilRunning(testbed, 1);
    await testbed.put('web.json', aDeployment({...RUNS, image: ''}));
    await testbed.until('the problem is reported', () => {
      const {manifestProblems = []} = testbed.view.report();
      return manifestProblems.some(({message}) => message.includes('containers[0].image: Required value'));
    });
    expect(testbed.view.report().manifestProblems).toEqual([
      {
        level: 'error',
        place: expect.stringMatching(/web\.json:1:\d+$/) as string,
        message: 'spec.template.spec.containers[0].image: Required value',
      },
    ]);
    const startedAt = testbed.clock.now();
    await testbed.until('the directory is listed again', () => testbed.clock.now() > startedAt + 45_000);
    expect(testbed.running).toHaveLength(1);
  });

  test('replaces a pod that the node rejects, after a delay', async () => {
    await using testbed = await DaemonTestbed.start();
    const large = {resources: {requests: {cpu: '1500m'}}};
    await testbed.put('a.json', aWorkload('Deployment', 'first', {...RUNS, ...large}));
    await untilRunning(testbed, 1);
    await testbed.put('b.json', aWorkload('ReplicaSet', 'second', {...RUNS, ...large}));
    await testbed.until('it is rejected twice', () => rejections(testbed).length === 2);
    const [first = 0, second = 0] = rejections(testbed);
    expect(second - first).toBeGreaterThanOrEqual(10_000);
    await testbed.remove('a.json');
    await testbed.until('it runs', () => pods(testbed).join().startsWith('second-'));
  });
});

/** Returns the times of the rejections of pods. */
function rejections({log}: DaemonTestbed): readonly number[] {
  return log
    .filter(
      ({message, fields}) => message === 'Event occurred' && fields['reason'] === 'UnexpectedAdmissionError',
    )
    .map(({at}) => at);
}

test('workloads of a List run beside objects that are skipped with one warning each', async () => {
  await using testbed = await DaemonTestbed.start();
  const items = [
    JSON.parse(aWorkload('DaemonSet', 'agent', RUNS)) as object,
    {apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: {name: 'web'}},
    {apiVersion: 'v1', kind: 'Service', metadata: {name: 'web'}, spec: {ports: [{port: 80}]}},
    {apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: 'data'}, spec: CLAIM},
    {apiVersion: 'v1', kind: 'PodTemplate', metadata: {name: 'once'}, template: {spec: {containers: [RUNS]}}},
    {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: {name: 'old'},
      spec: {template: {metadata: {labels: {a: 'b'}}, spec: {containers: [RUNS]}}},
    },
  ];
  await testbed.put('all.json', JSON.stringify({apiVersion: 'v1', kind: 'List', items}));
  await untilRunning(testbed, 3);
  expect(pods(testbed)).toEqual([
    expect.stringMatching(/^agent-[a-z0-9]{5}$/),
    expect.stringMatching(/^old-[a-z0-9]{5}$/),
    'once',
  ]);
  await testbed.until('the warning is reported', () => testbed.view.report().manifestProblems !== undefined);
  expect(testbed.view.report().manifestProblems).toEqual([
    {
      level: 'warning',
      place: expect.stringMatching(/all\.json:1:\d+$/) as string,
      message: 'skipping Ingress "web": objects of this kind have no effect here',
    },
    {
      level: 'warning',
      place: expect.stringMatching(/all\.json:1:\d+$/) as string,
      message: 'items[2].spec: Service "web" does not resolve here, because it has no selector',
    },
  ]);
  expect(testbed.errors.filter((error) => error.includes('Skipping objects'))).toHaveLength(1);
});

test('a Service gives pods its variables and its name, which follows the pods', async () => {
  await using testbed = await DaemonTestbed.start();
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {name: 'api'},
    spec: {selector: {app: 'web'}, ports: [{port: 80, targetPort: 8080}]},
  };
  await testbed.put('client.json', aWorkload('DaemonSet', 'agent', RUNS));
  await testbed.put('api.json', JSON.stringify(service));
  await testbed.put('web.json', aDeployment(RUNS));
  await untilRunning(testbed, 2);
  const sandboxOf = (name: string): {readonly id: string; readonly uid: string; readonly ip: string} => {
    const found = testbed.fake.sandboxes.filter(
      ({config, state}) => config.metadata!.name.startsWith(name) && state === 'SANDBOX_READY',
    );
    const {id, config, ips} = found.at(-1)!;
    return {id, uid: config.metadata!.uid, ip: ips[0]!};
  };
  const hostsOfClient = async (): Promise<string> =>
    readFile(join(testbed.rootDir, 'pods', sandboxOf('agent').uid, 'etc-hosts'), 'utf8');
  const first = sandboxOf('web');
  await testbed.until('the name leads to the pod', async () =>
    (await hostsOfClient()).includes(`${first.ip}\tapi.default.svc.`),
  );
  await testbed.put('web.json', aDeployment({...RUNS, env: [{name: 'V', value: '2'}]}));
  await testbed.until('the name leads to the new pod only', async () => {
    const hosts = await hostsOfClient();
    return (
      sandboxOf('web').ip !== first.ip &&
      hosts.includes(sandboxOf('web').ip) &&
      !hosts.includes(`${first.ip}\t`)
    );
  });
  const web = testbed.fake.containers.find(({sandboxId}) => sandboxId === sandboxOf('web').id);
  expect(web?.config.envs.map(({key}) => key)).toContain('API_SERVICE_HOST');
});

describe('a StatefulSet', () => {
  const aSet = (container: object, fields: object = {}): string =>
    aWorkload('StatefulSet', 'db', container, {replicas: 3, ...fields});

  test('starts its pods in order, and removes them in reverse order', async () => {
    await using testbed = await DaemonTestbed.start();
    const counts: string[] = [];
    const observe = (): void => {
      const now = pods(testbed).join(' ');
      if (counts.at(-1) !== now) counts.push(now);
    };
    await testbed.put('db.json', aSet(RUNS));
    await testbed.until('three pods run', () => {
      observe();
      return testbed.running.length === 3;
    });
    await testbed.put('db.json', aSet(RUNS, {replicas: 0}));
    await testbed.until('no pod runs', () => {
      observe();
      return testbed.running.length === 0;
    });
    expect(counts.filter((names) => names !== '')).toEqual([
      'db-0',
      'db-0 db-1',
      'db-0 db-1 db-2',
      'db-0 db-1',
      'db-0',
    ]);
  });

  test('is updated from the highest ordinal, and stops at a pod that does not become ready', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('db.json', aSet(RUNS));
    await untilRunning(testbed, 3);
    const created = testbed.ownContainers.map(({id}) => id);
    await testbed.put('db.json', aSet({...RUNS, ...NEVER_READY}));
    await testbed.until('the last pod is replaced', () => {
      const names = testbed.ownContainers.filter(({id}) => !created.includes(id));
      return names.some((container) => testbed.nameOf(container).startsWith('db-2-'));
    });
    const startedAt = testbed.clock.now();
    await testbed.until('a minute passes', () => testbed.clock.now() > startedAt + 60_000);
    expect(pods(testbed)).toEqual(['db-0', 'db-1', 'db-2']);
    expect(testbed.ownContainers.filter(({id}) => !created.includes(id))).toHaveLength(1);
  });

  test('keeps the claims of its templates when it is removed', async () => {
    await using testbed = await DaemonTestbed.start();
    const mounts = {volumeMounts: [{name: 'data', mountPath: '/data'}]};
    const volumeClaimTemplates = [{metadata: {name: 'data'}, spec: CLAIM}];
    await testbed.put('db.json', aSet({...RUNS, ...mounts}, {replicas: 1, volumeClaimTemplates}));
    await untilRunning(testbed, 1);
    await testbed.remove('db.json');
    await expectNothingRemains(testbed);
    expect(await readdir(join(testbed.rootDir, 'claims', 'default'))).toEqual(['data-db-0']);
  });
});
