import {rename} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../base/until.js';
import {
  startKubeletTestbed,
  type KubeletTestbed,
  type ServingDaemon,
} from '../e2e/harness/kubelet-testbed.js';
import {aManifest, IMAGE, SLEEP_COMMAND} from '../e2e/harness/manifests.js';
import {newestRuntime} from '../e2e/harness/runtimes-under-test.js';
import {startControlPlane, type ControlPlane} from './control-plane.js';
import {detachRootDir, startRealKubelet} from './real-kubelet.js';

const PROGRAMS = process.env['KCRI_TEST_CONTROL_PLANE'] ?? '';
const NODE = 'node-a';
/** Configuration of both kubelets, besides that of the testbed. */
const CONFIG = `clusterDNS: [10.96.0.10]
failSwapOn: false
failCgroupV1: false
cgroupDriver: cgroupfs
`;

/** Pods with what a kubelet keeps on a node. */
const PODS = `
apiVersion: v1
kind: ConfigMap
metadata: {name: cm}
data: {a: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: sec}
stringData: {k: x}
---
apiVersion: v1
kind: Pod
metadata: {name: full, labels: {app: full}}
spec:
  nodeName: ${NODE}
  terminationGracePeriodSeconds: 2
  initContainers:
  - {name: i, image: ${IMAGE}, command: [sh, -c, 'echo init']}
  - {name: side, image: ${IMAGE}, restartPolicy: Always, command: ${JSON.stringify(SLEEP_COMMAND)}}
  containers:
  - name: main
    image: ${IMAGE}
    command: ${JSON.stringify(SLEEP_COMMAND)}
    resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}
    livenessProbe: {exec: {command: ["true"]}, periodSeconds: 5}
    readinessProbe: {exec: {command: ["true"]}, periodSeconds: 5}
    startupProbe: {exec: {command: ["true"]}, periodSeconds: 2}
    volumeMounts:
    - {name: e, mountPath: /e}
    - {name: s, mountPath: /s, subPath: k}
    - {name: m, mountPath: /m}
    - {name: c, mountPath: /c}
    - {name: d, mountPath: /d}
  volumes:
  - {name: e, emptyDir: {}}
  - {name: m, emptyDir: {medium: Memory}}
  - {name: c, configMap: {name: cm}}
  - {name: s, secret: {secretName: sec}}
  - {name: d, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: done}
spec:
  nodeName: ${NODE}
  restartPolicy: Never
  containers: [{name: c, image: ${IMAGE}, command: [sh, -c, 'echo bye']}]
---
apiVersion: v1
kind: Pod
metadata: {name: crash}
spec:
  nodeName: ${NODE}
  containers: [{name: c, image: ${IMAGE}, command: [sh, -c, 'echo bye >/dev/termination-log; exit 3']}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: dep}
spec:
  replicas: 3
  selector: {matchLabels: {app: dep}}
  template:
    metadata: {labels: {app: dep}}
    spec:
      terminationGracePeriodSeconds: 2
      containers: [{name: c, image: ${IMAGE}, command: ${JSON.stringify(SLEEP_COMMAND)}}]
`;

/** A Pod of the API server, as far as it is compared. */
interface SeenPod {
  readonly metadata: {readonly name: string; readonly uid: string};
  readonly status: unknown;
}

/** A kubelet of either kind. */
interface Stoppable {
  stop(): Promise<void>;
}

describe.each(newestRuntime)('a node changes between a kubelet and kcri: $name', (which) => {
  let plane: ControlPlane;
  let testbed: KubeletTestbed;
  let current: Stoppable;

  const startKcri = async (): Promise<Stoppable> => {
    const flags = ['--kubeconfig', plane.kubeconfigOf(NODE), '--client-ca-file', plane.clientCaFile];
    const {kcri}: ServingDaemon = await testbed.start(CONFIG, flags);
    return {
      stop: async () => {
        kcri.kill('SIGTERM');
        await kcri.exited;
      },
    };
  };
  const startKubelet = async (): Promise<Stoppable> => {
    const {runtime, cgroupRoot} = testbed.podTestbed;
    const {rootDir} = runtime;
    const kubeconfig = plane.kubeconfigOf(NODE);
    return await startRealKubelet({
      ...{programs: PROGRAMS, rootDir, cgroupRoot, nodeName: NODE, kubeconfig},
      configFile: join(rootDir, 'kubelet.yaml'),
    });
  };
  /** Renames a manifest, from which a kubelet computes another UID of its static pod. */
  const moveManifest = async (from: string, to: string): Promise<void> => {
    const manifests = join(testbed.podTestbed.runtime.rootDir, 'manifests');
    await rename(join(manifests, from), join(manifests, to));
  };
  /** Returns the pods of the API server without `crash`, which restarts. */
  const pods = async (): Promise<readonly SeenPod[]> => {
    const {items} = JSON.parse(await plane.kubectl.output('get', 'pods', '-o', 'json')) as {
      readonly items: readonly SeenPod[];
    };
    return items.filter(({metadata}) => metadata.name !== 'crash');
  };
  /** Returns all container instances of these pods in the runtime. */
  const instances = async (): Promise<readonly string[]> =>
    (await testbed.podTestbed.runtime.connection.runtime.listContainers()).containers
      .filter(({labels}) => labels['io.kubernetes.pod.name'] !== 'crash')
      .map(({id, state, metadata}) => `${metadata?.name} ${metadata?.attempt} ${state} ${id}`)
      .toSorted();
  /** Resolves when the kubelet has handled a change of a pod. */
  const untilServed = async (value: string): Promise<void> => {
    await plane.kubectl.output('label', 'pod', 'full', `served=${value}`, '--overwrite');
    const {containers} = await testbed.podTestbed.pod('full');
    const main = containers.find(({metadata}) => metadata?.name === 'main');
    if (main === undefined) throw new Error('the pod "full" has no container');
    await until(async () => (await testbed.podTestbed.exec(main.id, 'cat', '/d/labels')).includes(value));
  };

  beforeAll(async () => {
    plane = await startControlPlane(PROGRAMS, [NODE]);
    testbed = await startKubeletTestbed(which, NODE);
    await testbed.put('static', aManifest('static'));
    await testbed.put('moved', aManifest('moved'));
    // Writes the configuration.
    await (await startKcri()).stop();
    current = await startKubelet();
    // Pods are refused until their ServiceAccount exists.
    await until(async () => (await plane.kubectl.run(['apply', '-f', '-'], PODS)).exitCode === 0);
    const ready =
      /^(?:static-node-a|moved-node-a|full|dep-\S+) +(?:1\/1|2\/2) +Running|^done .* Completed|^crash .* [2-9] \(/gm;
    const list = async (): Promise<string> => await plane.kubectl.output('get', 'pods');
    await until(async () => (await list()).match(ready)?.length === 8);
    await untilServed('kubelet');
  });
  afterAll(async () => {
    await current.stop();
    const {runtime} = testbed.podTestbed;
    await runtime.kcri(['rmp', '--all', '--force']);
    detachRootDir(runtime.rootDir);
    await testbed[Symbol.asyncDispose]();
    await plane[Symbol.asyncDispose]();
  });

  test.each([
    ['kcri takes over', startKcri],
    ['the kubelet comes back', startKubelet],
    ['kcri takes over again', startKcri],
  ])('%s: no container restarts', async (name, start) => {
    const before = {pods: await pods(), instances: await instances()};
    await current.stop();
    const [from, to] = start === startKcri ? ['moved.json', 'else.json'] : ['else.json', 'moved.json'];
    await moveManifest(from, to);
    current = await start();
    await untilServed(name.replaceAll(' ', '-'));
    expect(await instances()).toEqual(before.instances);
    // A kubelet gives its static pods other times, and pods without limits a limit of memory.
    if (start === startKcri)
      expect((await pods()).map(({metadata, status}) => [metadata.name, status])).toEqual(
        before.pods.map(({metadata, status}) => [metadata.name, status]),
      );
  });
});
