import {join} from 'node:path';
import {systemClock} from '../../../src/base/clock.js';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {ApiClient} from '../../../src/kube-api/api-client.js';
import {HttpConnection} from '../../../src/kube-api/http-connection.js';
import {
  CertificateManager,
  type CertificateManagerOptions,
} from '../../../src/kubelet/cluster/certificates/certificate-manager.js';
import {CertificateStore} from '../../../src/kubelet/cluster/certificates/certificate-store.js';
import {
  clientPurpose,
  servingPurpose,
  type CertificatePurpose,
} from '../../../src/kubelet/cluster/certificates/certificate-purpose.js';
import {signCertificateRequest} from '../../fakes/api-server/certificate-signer.js';
import type {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {anImage, BUSYBOX} from '../../fakes/runtime-builders.js';
import {ClusterTestbed, type ClusterTestbedOptions} from '../../kubelet/cluster/cluster-testbed.js';
import {readKubeletConfig} from '../../../src/kubelet/configuration/kubelet-config.js';
import {createManagerSettings} from '../../../src/kubelet/configuration/manager-settings.js';
import type {ConfigValues} from '../../../src/kubelet/configuration/fields-and-defaults/kubelet-config-defaults.js';
import {createNodePolicies} from '../../../src/kubelet/configuration/node-policies.js';
import {createShutdownManager} from '../../../src/kubelet/managers/shutdown/shutdown-manager.js';
import type {Machine} from '../../../src/kubelet/contract/resources/machine.js';
import {computeReservations} from '../../../src/kubelet/daemon/reserve-node-resources.js';
import {GOLDEN_NODE} from '../golden-cases.js';
import {apiBehaviour, apiExec} from './api-behaviour.js';
import type {ApiCase, KubeletSettings} from './api-cases.js';

/** Registry of the recordings. */
export const REGISTRY = 'localhost:17530';
/** ID of the image that all names of the registry have. */
export const IMAGE_ID = `sha256:${'b'.repeat(64)}`;
/** File of the static pod in the manifest directory. */
export const STATIC_FILE = 'st.yaml';

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
const {nodeName, nodeIps} = GOLDEN_NODE;
/** runtimeRequestTimeout of the recordings. */
const RUNTIME_REQUEST_TIMEOUT_MS = 120_000;
const FEATURES = {userNamespaces: false, recursiveReadOnlyMounts: true};

/** What the recorder configures of every kubelet. */
const RECORDER_SETTINGS = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  evictionHard: {'memory.available': '1Mi', 'nodefs.available': '1%', 'imagefs.available': '1%'},
};

/** The node of the recordings with an API server, as far as it differs from GOLDEN_NODE. */
const API_NODE = {
  clusterDns: ['10.99.0.10'],
  labels: {
    ...GOLDEN_NODE.labels,
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/os': 'linux',
  },
  runtime: {
    ...GOLDEN_NODE.runtime,
    handlers: new Map(['', 'runc', 'second'].map((name) => [name, FEATURES])),
  },
};

/** Options of {@link startCaseTestbed}. */
export interface CaseTestbedOptions {
  readonly recorded: ApiCase;
  /** Machine that the kubelet finds. */
  readonly machine: Machine;
  readonly directory: string;
  /** Directory of the device plugins' sockets. */
  readonly devices: string;
  readonly streamingUrl: string;
  /** Address of the system bus. */
  readonly bus: string;
  readonly stepMs?: number | undefined;
  /** Called before the kubelet starts. */
  readonly prepare: (api: FakeApiServer) => void;
}

/** Starts a kubelet with the settings of a case, and an API server with what a cluster has. */
export async function startCaseTestbed({
  recorded: {run, files, plugins},
  machine,
  directory,
  devices,
  streamingUrl,
  bus,
  stepMs,
  prepare,
}: CaseTestbedOptions): Promise<ClusterTestbed> {
  const {kubelet = {}, before = []} = run;
  const [, file = ''] = (before.find(([verb]) => verb === 'static') ?? []) as readonly string[];
  const manifest = files?.[file]?.[0];
  return await ClusterTestbed.start(
    async (api) => {
      createClusterObjects(api);
      prepare(api);
      signCertificates(api, CLIENT_SIGNER);
      if (run.bootstrap === true) await bootstrap(api, directory);
    },
    {
      ...(stepMs !== undefined && {stepMs}),
      ...(manifest !== undefined && {manifests: {[STATIC_FILE]: JSON.stringify(manifest)}}),
      callTimeoutMs: RUNTIME_REQUEST_TIMEOUT_MS,
      ...settingsOf(kubelet, {machine, directory, devices: plugins && devices}),
      ...shutdownManager(kubelet, directory, bus),
      certificates: ({client, ...parts}) => ({
        managers: certificateManagers(kubelet, {...parts, client: async () => client, directory}),
        issued: Promise.resolve(),
      }),
      runtime: {
        streamingUrl,
        images: [anImage({id: IMAGE_ID, name: BUSYBOX})],
        registry: ['some/x:1', 'x:1', 'auth/x:1'].map((image) =>
          anImage({id: IMAGE_ID, name: `${REGISTRY}/${image}`, size: 1_032_138}),
        ),
        unimplemented: ['UpdatePodSandboxResources'],
        behaviour: apiBehaviour,
        exec: apiExec,
        runtimeHandlers: ['second', 'runc'],
        userNamespaces: false,
        supplementalGroups: ['0'],
      },
    },
  );
}

/** Returns the manager of shutdowns in place of all others, and its root directory, if the case configures one. */
function shutdownManager(
  kubelet: KubeletSettings,
  directory: string,
  bus: string,
): Pick<ClusterTestbedOptions, 'rootDir' | 'nodeManagers'> {
  const rootDir = join(directory, 'root');
  const {shutdown} = createNodePolicies(valuesOf(kubelet), GOLDEN_NODE.cgroup);
  const manager = createShutdownManager({shutdown, rootDir}, {bus});
  return manager === undefined ? {} : {rootDir, nodeManagers: [manager]};
}

function valuesOf(kubelet: KubeletSettings): ConfigValues {
  const content = JSON.stringify({...RECORDER_SETTINGS, ...kubelet});
  return readKubeletConfig([{path: 'config.yaml', content}], new Map()).values;
}

/** What a kubelet finds on its node. */
interface CaseNode extends Pick<CaseTestbedOptions, 'machine' | 'directory'> {
  readonly devices: string | undefined;
}

/** Returns the settings of the kubelet and what they change in the node. */
export function settingsOf(
  kubelet: KubeletSettings,
  {machine, directory, devices}: CaseNode,
): Pick<ClusterTestbedOptions, 'node' | 'settings' | 'reportFrequencyMs'> {
  const {maxPods = 110, registerWithTaints = [], nodeStatusReportFrequency = '300s'} = kubelet;
  const values = valuesOf(kubelet);
  return {
    node: {
      ...API_NODE,
      ...createManagerSettings(values),
      maxPods,
      machine: () => machine,
      devicePluginsDir: devices,
      cpuMilli: BigInt(machine.cpuCount * 1000),
      // There are no hierarchies, so that nothing is written.
      cgroupMount: join(directory, 'cgroup'),
      reservations: computeReservations(values, GOLDEN_NODE),
    },
    settings: {maxPods, registerWithTaints},
    reportFrequencyMs: Number.parseInt(nodeStatusReportFrequency, 10) * 1000,
  };
}

function createClusterObjects(api: FakeApiServer): void {
  api.create('/api/v1/namespaces/default/configmaps/kube-root-ca.crt', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    data: {'ca.crt': 'ca'},
  });
  api.create('/api/v1/namespaces/default/services/kubernetes', {
    apiVersion: 'v1',
    kind: 'Service',
    spec: {clusterIP: '10.99.0.1', ports: [{name: 'https', port: 443, protocol: 'TCP', targetPort: 6443}]},
  });
}

/** Signs the open requests of a signer, and later ones when they are created. */
export function signCertificates(api: FakeApiServer, signerName: string): void {
  api.storage.watch(CSRS, 0, ({type, object}) => {
    const spec = object['spec'] as {readonly request: string; readonly signerName: string};
    if (type !== 'ADDED' || spec.signerName !== signerName) return;
    const request = Buffer.from(spec.request, 'base64').toString();
    // The answer to the request that creates the object comes first.
    setImmediate(() => {
      const certificate = Buffer.from(signCertificateRequest(request)).toString('base64');
      api.storage.put(`${CSRS}/${object.metadata.name}`, {...object, status: {certificate}});
    });
  });
}

interface ManagerParts extends Pick<CertificateManagerOptions, 'client' | 'clock' | 'logger'> {
  readonly directory: string;
}

function createManager(
  {directory, ...parts}: ManagerParts,
  name: string,
  purpose: CertificatePurpose,
): CertificateManager {
  const store = new CertificateStore(join(directory, 'pki'), name);
  return new CertificateManager({
    ...{...parts, store, purpose: () => purpose},
    random: () => 0,
    onRotated: () => undefined,
  });
}

function certificateManagers(
  {rotateCertificates = false, serverTLSBootstrap = false}: KubeletSettings,
  parts: ManagerParts,
): readonly CertificateManager[] {
  return [
    ...(rotateCertificates ? [createManager(parts, 'kubelet-client', clientPurpose(nodeName))] : []),
    ...(serverTLSBootstrap
      ? [createManager(parts, 'kubelet-server', servingPurpose(nodeName, [nodeName, ...nodeIps]))]
      : []),
  ];
}

/** Requests the client certificate before the kubelet starts. */
async function bootstrap(api: FakeApiServer, directory: string): Promise<void> {
  const connection = new HttpConnection(new URL(api.url), {
    current: async () => ({tls: {rejectUnauthorized: true}, token: 'bootstrap-token'}),
  });
  const client = new ApiClient({connection, userAgent: 'kcri', clock: systemClock});
  const parts = {client: async () => client, clock: systemClock, logger: SILENT_LOGGER, directory};
  const manager = createManager(parts, 'kubelet-client', clientPurpose(nodeName));
  await manager.rotate(new AbortController().signal);
  connection.close();
}
