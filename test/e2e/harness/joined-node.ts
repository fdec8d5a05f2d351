import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {Node} from '../../../src/api/types/v1-node.js';
import type {PodStatus} from '../../../src/api/types/v1-status.js';
import {createSelfSignedPair} from '../../../src/format/x509/self-signed-certificate.js';
import {until} from '../../base/until.js';
import {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {logHandlers} from '../../fakes/api-server/kubelet-logs.js';
import {metricsHandlers} from '../../fakes/api-server/kubelet-metrics.js';
import {kubeletStreams} from '../../fakes/api-server/kubelet-streams.js';
import {createClientCertificate} from '../../kubelet/server/auth/client-certificate.js';
import {kubectlFor, type Kubectl} from './kubectl.js';
import {startKubeletTestbed, type KubeletTestbed, type ServingDaemon} from './kubelet-testbed.js';
import {aContainer, type ManifestFields} from './manifests.js';
import type {RuntimeUnderTest} from './runtimes-under-test.js';

const DAY_MS = 86_400_000;
const TOKEN = 'token-of-the-cluster';

/** A fake API server, a node that has joined it with kcri on a private runtime, and kubectl. */
export interface JoinedNode extends AsyncDisposable {
  readonly api: FakeApiServer;
  readonly kubelet: KubeletTestbed;
  readonly daemon: ServingDaemon;
  readonly kubectl: Kubectl;
  /** Creates a pod on the node; its containers sleep by default. */
  createPod(name: string, spec?: ManifestFields, metadata?: ManifestFields): void;
  statusOf(name: string): PodStatus;
  untilPhase(name: string, phase: string): Promise<void>;
  untilReady(...names: readonly string[]): Promise<void>;
}

/** Options of {@link startJoinedNode}. */
export interface JoinedNodeOptions {
  /** Directory of the node's files. */
  readonly parent?: string;
  readonly flags?: readonly string[];
  /** Additional lines of the kubelet's configuration. */
  readonly config?: string;
}

/**
 * Starts all of them with a node of this name, whose files are below `parent` if given; resolves when the node is ready.
 */
export async function startJoinedNode(
  which: RuntimeUnderTest,
  node: string,
  {parent, flags: more = [], config = ''}: JoinedNodeOptions = {},
): Promise<JoinedNode> {
  const now = Date.now();
  const {certificate, key} = createSelfSignedPair({
    ...{commonName: 'fake', names: ['127.0.0.1']},
    ...{notBeforeMs: now - DAY_MS, notAfterMs: now + DAY_MS},
  });
  const apiServer = createClientCertificate('kube-apiserver-kubelet-client', 'system:masters');
  const api = await FakeApiServer.start({
    token: TOKEN,
    tls: {cert: certificate, key},
    handlers: {...logHandlers(apiServer), ...metricsHandlers(apiServer)},
    upgrade: kubeletStreams(apiServer),
  });
  const kubelet = await startKubeletTestbed(which, node, parent);
  const {rootDir} = kubelet.podTestbed.runtime;
  const file = (name: string): string => join(rootDir, name);
  await writeFile(file('kubeconfig'), kubeconfigFor(api, certificate));
  await writeFile(file('token'), TOKEN);
  await writeFile(file('clients.crt'), apiServer.certificate);
  const flags = [
    '--container-logs-dir=',
    '--kubeconfig',
    file('kubeconfig'),
    '--client-ca-file',
    file('clients.crt'),
    ...more,
  ];
  const daemon = await kubelet.start(config, flags);
  const nodeObject = (): Node | undefined => api.storage.get(`/api/v1/nodes/${node}`) as Node | undefined;
  await until(() => isTrue(nodeObject()?.status?.conditions, 'Ready'));
  const statusOf = (name: string): PodStatus => api.pod(name)?.['status'] ?? {};
  return {
    ...{api, kubelet, daemon, statusOf},
    kubectl: kubectlFor(file('kubeconfig'), rootDir),
    createPod: (name, spec = {}, metadata = {}) => {
      api.createPod({
        metadata: {name, ...metadata},
        spec: {nodeName: node, terminationGracePeriodSeconds: 2, containers: [aContainer()], ...spec},
      });
    },
    untilPhase: async (name, phase) => {
      await until(
        () => statusOf(name).phase === phase,
        () => `${name} to be ${phase}: ${JSON.stringify(statusOf(name))}`,
      );
    },
    untilReady: async (...names) => {
      const isReady = (name: string): boolean => isTrue(statusOf(name).conditions, 'Ready');
      await until(
        () => names.every(isReady),
        () => `ready pods: ${JSON.stringify(names.map(statusOf))}`,
      );
    },
    [Symbol.asyncDispose]: async () => {
      await kubelet[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}

function isTrue(
  conditions: readonly {readonly type: string; readonly status: string}[] | undefined,
  type: string,
): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}

/** Returns a kubeconfig for the server, which the certificate identifies. */
function kubeconfigFor({url}: FakeApiServer, certificate: string): string {
  const authority = Buffer.from(certificate).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'node',
    clusters: [{name: 'fake', cluster: {server: url, 'certificate-authority-data': authority}}],
    users: [{name: 'node', user: {tokenFile: 'token'}}],
    contexts: [{name: 'node', context: {cluster: 'fake', user: 'node'}}],
  });
}
