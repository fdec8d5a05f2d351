import {mkdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {startJoinedNode, type JoinedNode} from '../harness/joined-node.js';
import {listProcessesWithArgument} from '../harness/leftovers.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const NODE = 'drained';

describe.each(newestRuntime)('pods come and go: $name', (which) => {
  let cluster: JoinedNode;
  const deleted: string[] = [];
  /** Waits until the pod runs nowhere; its containers and records are removed later. */
  const untilStopped = async (uid: string): Promise<void> => {
    deleted.push(uid);
    const {podTestbed} = cluster.kubelet;
    const isRemovedLater = (line: string): boolean =>
      /^(sandbox|container) /.test(line) || line.startsWith(`${podTestbed.runtime.rootDir}/`);
    await until(async () => (await podTestbed.listLeftovers(uid)).every(isRemovedLater));
  };

  beforeAll(async () => {
    cluster = await startJoinedNode(which, NODE);
    cluster.api.create('/api/v1/namespaces/default/configmaps/kube-root-ca.crt', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: {'ca.crt': 'root of trust'},
    });
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  // Proves: kubelet --kubeconfig
  test('a pod with a token runs to its end, and its log and status say so', async () => {
    const sources = [
      {serviceAccountToken: {path: 'token', expirationSeconds: 3607}},
      {configMap: {name: 'kube-root-ca.crt', items: [{key: 'ca.crt', path: 'ca.crt'}]}},
    ];
    cluster.createPod('job', {
      hostNetwork: true,
      restartPolicy: 'Never',
      serviceAccountName: 'default',
      volumes: [{name: 'access', projected: {defaultMode: 420, sources}}],
      containers: [
        aContainer('main', {
          command: shellCommand('cat /access/ca.crt; echo; cat /access/token'),
          volumeMounts: [{name: 'access', mountPath: '/access', readOnly: true}],
        }),
      ],
    });
    await cluster.untilPhase('job', 'Succeeded');
    const {uid} = cluster.api.pod('job')!.metadata;
    const {logsDir} = cluster.kubelet.podTestbed;
    const log = await readFile(join(logsDir, `default_job_${uid}`, 'main', '0.log'), 'utf8');
    expect(log).toMatch(/root of trust\n.* token-/s);
    await cluster.kubectl.output('delete', 'pod', 'job');
    expect(cluster.api.pod('job')).toBeUndefined();
  });

  test('the files of a claimed local volume outlive the pods that use it', async () => {
    const directory = join(cluster.kubelet.podTestbed.runtime.rootDir, 'disk');
    await mkdir(directory);
    const onNode = {matchExpressions: [{key: 'kubernetes.io/hostname', operator: 'In', values: [NODE]}]};
    const claim = cluster.api.create('/api/v1/namespaces/default/persistentvolumeclaims/data', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      spec: {accessModes: ['ReadWriteOnce'], volumeName: 'disk'},
      status: {phase: 'Bound'},
    });
    cluster.api.create('/api/v1/persistentvolumes/disk', {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      spec: {
        accessModes: ['ReadWriteOnce'],
        volumeMode: 'Filesystem',
        claimRef: {namespace: 'default', name: 'data', uid: claim.metadata.uid},
        local: {path: directory},
        nodeAffinity: {required: {nodeSelectorTerms: [onNode]}},
      },
    });
    const runPod = async (name: string, script: string): Promise<void> => {
      const mount = {name: 'data', mountPath: '/data'};
      cluster.createPod(name, {
        restartPolicy: 'Never',
        volumes: [{name: 'data', persistentVolumeClaim: {claimName: 'data'}}],
        containers: [aContainer('main', {command: shellCommand(script), volumeMounts: [mount]})],
      });
      await cluster.untilPhase(name, 'Succeeded');
    };
    await runPod('writer', 'echo written >/data/file');
    await cluster.kubectl.output('delete', 'pod', 'writer');
    await runPod('reader', 'cat /data/file');
    expect(await cluster.kubectl.output('logs', 'reader')).toMatch(/written$/);
    await cluster.kubectl.output('delete', 'pod', 'reader');
    expect(await readFile(join(directory, 'file'), 'utf8')).toBe('written\n');
  });

  test('delete waits until the pod has stopped', async () => {
    cluster.createPod('web');
    await cluster.untilReady('web');
    const {uid} = await cluster.kubelet.podTestbed.pod('web');
    expect(uid).toBe(cluster.api.pod('web')?.metadata.uid);
    expect(await cluster.kubectl.output('delete', 'pod', 'web')).toMatch(/^pod "web" deleted/);
    expect(cluster.api.pod('web')).toBeUndefined();
    await untilStopped(uid);
  });

  test('delete --force does not wait for the node, which stops the pod nevertheless', async () => {
    const marker = 'sleep 35991';
    cluster.createPod('stubborn', {
      terminationGracePeriodSeconds: 3600,
      containers: [aContainer('main', {command: shellCommand(`trap "" TERM; ${marker} & wait; wait`)})],
    });
    await cluster.untilReady('stubborn');
    const {uid} = cluster.api.pod('stubborn')!.metadata;
    await cluster.kubectl.output('delete', 'pod', 'stubborn', '--force', '--grace-period=0');
    expect(cluster.api.pod('stubborn')).toBeUndefined();
    await untilStopped(uid);
    expect(listProcessesWithArgument(marker)).toEqual([]);
  });

  test('drain evicts pods, and leaves static pods and those of DaemonSets', async () => {
    await cluster.kubelet.put('fixed', aManifest('fixed'));
    cluster.api.create('/apis/apps/v1/namespaces/default/daemonsets/agent', {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      spec: {selector: {matchLabels: {app: 'agent'}}},
    });
    const owner = {apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'agent', controller: true};
    cluster.createPod('agent', {}, {ownerReferences: [owner], labels: {app: 'agent'}});
    cluster.createPod('evicted');
    await cluster.untilReady('agent', 'evicted', `fixed-${NODE}`);
    const {uid} = cluster.api.pod('evicted')!.metadata;

    const untilEvent = (reason: string): Promise<void> =>
      until(async () => (await cluster.kubectl.output('events', '--for', `node/${NODE}`)).includes(reason));
    await cluster.kubectl.output('cordon', NODE);
    await untilEvent('NodeNotSchedulable');
    expect(await cluster.kubectl.output('get', 'node', NODE)).toMatch(/ Ready,SchedulingDisabled /);
    const drained = await cluster.kubectl.output('drain', NODE, '--force', '--ignore-daemonsets');
    expect(drained).toMatch(/pod\/evicted evicted\nnode\/drained drained$/);
    expect(cluster.api.pod('evicted')).toBeUndefined();
    expect(cluster.api.pod('agent')).toBeDefined();
    expect(cluster.api.pod(`fixed-${NODE}`)).toBeDefined();
    await untilStopped(uid);

    await cluster.kubectl.output('uncordon', NODE);
    await untilEvent('NodeSchedulable');
  });

  test('nothing is left of deleted pods', async () => {
    const left = async (): Promise<readonly string[]> =>
      (await Promise.all(deleted.map((uid) => cluster.kubelet.podTestbed.listLeftovers(uid)))).flat();
    // Locks are those of pods that still exist.
    await until(async () => (await left()).every((line) => line.includes('/locks/')));
  });
});
