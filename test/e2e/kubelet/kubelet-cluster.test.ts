import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {Node} from '../../../src/api/types/v1-node.js';
import type {PodStatus} from '../../../src/api/types/v1-status.js';
import {createSelfSignedPair} from '../../../src/format/x509/self-signed-certificate.js';
import {until} from '../../base/until.js';
import {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {startKubeletTestbed, type KubeletTestbed} from '../harness/kubelet-testbed.js';
import {aContainer, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const NODE = 'joined';
const TOKEN = 'token-of-the-node';
const DAY_MS = 86_400_000;

/** Returns a kubeconfig for the server, which the certificate identifies. */
function kubeconfigFor({url}: FakeApiServer, certificate: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'node',
    clusters: [
      {
        name: 'fake',
        cluster: {
          server: url,
          'certificate-authority-data': Buffer.from(certificate).toString('base64'),
        },
      },
    ],
    users: [{name: 'node', user: {tokenFile: 'token'}}],
    contexts: [{name: 'node', context: {cluster: 'fake', user: 'node'}}],
  });
}

describe.each(newestRuntime)('a kubelet in a cluster: $name', (which) => {
  let kubelet: KubeletTestbed;
  let api: FakeApiServer;

  const statusOf = (name: string): PodStatus => api.pod(name)?.['status'] ?? {};
  const untilPhase = async (name: string, phase: string): Promise<void> => {
    await until(() => statusOf(name).phase === phase);
  };

  beforeAll(async () => {
    const now = Date.now();
    const {certificate, key} = createSelfSignedPair({
      commonName: 'fake',
      names: ['127.0.0.1'],
      notBeforeMs: now - DAY_MS,
      notAfterMs: now + DAY_MS,
    });
    api = await FakeApiServer.start({token: TOKEN, tls: {cert: certificate, key}});
    kubelet = await startKubeletTestbed(which, NODE);
    const {rootDir} = kubelet.podTestbed.runtime;
    const kubeconfig = join(rootDir, 'kubeconfig');
    await writeFile(kubeconfig, kubeconfigFor(api, certificate));
    await writeFile(join(rootDir, 'token'), TOKEN);
    api.create('/api/v1/namespaces/default/configmaps/kube-root-ca.crt', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: {'ca.crt': 'root of trust'},
    });
    await kubelet.start('', ['--kubeconfig', kubeconfig]);
  });
  afterAll(async () => {
    await kubelet[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
  });

  test('the node is registered, and becomes ready', async () => {
    const node = (): Node | undefined => api.storage.get(`/api/v1/nodes/${NODE}`) as Node | undefined;
    await until(() => node()?.status?.conditions?.find(({type}) => type === 'Ready')?.status === 'True');
    expect(node()?.status).toMatchObject({
      capacity: {pods: '110'},
      nodeInfo: {
        operatingSystem: 'linux',
        containerRuntimeVersion: expect.stringContaining('containerd://') as string,
      },
    });
  });

  // Proves: kubelet --kubeconfig
  test('a pod with a token runs to its end, and its log and status say so', async () => {
    api.createPod({
      metadata: {name: 'job'},
      spec: {
        nodeName: NODE,
        hostNetwork: true,
        restartPolicy: 'Never',
        serviceAccountName: 'default',
        terminationGracePeriodSeconds: 2,
        volumes: [
          {
            name: 'access',
            projected: {
              defaultMode: 420,
              sources: [
                {serviceAccountToken: {path: 'token', expirationSeconds: 3607}},
                {configMap: {name: 'kube-root-ca.crt', items: [{key: 'ca.crt', path: 'ca.crt'}]}},
              ],
            },
          },
        ],
        containers: [
          aContainer('main', {
            command: shellCommand('cat /access/ca.crt; echo; cat /access/token'),
            volumeMounts: [{name: 'access', mountPath: '/access', readOnly: true}],
          }),
        ],
      },
    });
    await untilPhase('job', 'Succeeded');
    const {uid} = api.pod('job')!.metadata;
    const {logsDir} = kubelet.podTestbed;
    const log = await readFile(join(logsDir, `default_job_${uid}`, 'main', '0.log'), 'utf8');
    expect(log).toMatch(/root of trust\n.* token-/s);
  });

  test('a deleted pod is stopped, and disappears from the API server', async () => {
    api.createPod({
      metadata: {name: 'web'},
      spec: {
        nodeName: NODE,
        hostNetwork: true,
        terminationGracePeriodSeconds: 2,
        containers: [aContainer()],
      },
    });
    await untilPhase('web', 'Running');
    const {uid} = await kubelet.podTestbed.pod('web');
    expect(uid).toBe(api.pod('web')?.metadata.uid);
    api.deletePod('web');
    await until(() => api.pod('web') === undefined);
    await until(async () => {
      const left = await kubelet.podTestbed.listLeftovers(uid);
      return left.every((path) => path.endsWith('/__kubelet.lock'));
    });
  });
});
