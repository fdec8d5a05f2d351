import {join} from 'node:path';
import {readdirSync} from 'node:fs';
import type {FakeApiServer} from '../../../fakes/api-server/fake-api-server.js';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {
  CSI_DRIVER,
  FakeCsiDriver,
  type FakeCsiDriverOptions,
} from '../../../fakes/plugins/fake-csi-driver.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {ClusterTestbed, type ClusterTestbedOptions} from '../cluster-testbed.js';

export const CSI_NODE = `/apis/storage.k8s.io/v1/csinodes/${GOLDEN_NODE.nodeName}`;
const CLAIM_UID = 'claim-uid';

/** Options of {@link startCsiTestbed}. */
export interface CsiTestbedOptions extends ClusterTestbedOptions {
  /** Spec of the CSIDriver object; false for none. Volumes are not attached by default. */
  readonly driver?: object | false;
  /** CSI source and other fields of the PersistentVolume. */
  readonly source?: object;
  readonly volume?: object;
  readonly prepare?: (api: FakeApiServer) => void;
}

/** A kubelet of a cluster with a claim `c` whose PersistentVolume `pv` belongs to a CSI driver. */
export interface CsiTestbed extends AsyncDisposable {
  readonly cluster: ClusterTestbed;
  /** Starts the driver, which registers. */
  plug(options?: Partial<FakeCsiDriverOptions>): Promise<FakeCsiDriver>;
  /** Creates a pod that mounts the claim. */
  createPod(name: string, spec?: object): void;
  /** Messages of the events FailedMount. */
  failures(): readonly string[];
  /** Directory below the root directory with the volumes of a pod. */
  podVolume(name: string): string;
  /** Paths below the directory of staged volumes. */
  staged(): readonly string[];
}

export async function startCsiTestbed({
  driver = {attachRequired: false, fsGroupPolicy: 'File', volumeLifecycleModes: ['Persistent', 'Ephemeral']},
  source = {},
  volume = {},
  prepare,
  ...options
}: CsiTestbedOptions = {}): Promise<CsiTestbed> {
  const devicePluginsDir = await temporaryDirectory();
  const cluster = await ClusterTestbed.start(
    (api) => {
      if (driver !== false) api.create(`/apis/storage.k8s.io/v1/csidrivers/${CSI_DRIVER}`, {spec: driver});
      createClaim(api, {driver: CSI_DRIVER, volumeHandle: 'h1', ...source}, volume);
      prepare?.(api);
    },
    {...options, node: {devicePluginsDir, ...options.node}},
  );
  const {daemon, api} = cluster;
  const drivers: FakeCsiDriver[] = [];
  const failures = (): readonly string[] =>
    daemon.events.filter(({reason}) => reason === 'FailedMount').map(({message}) => message);
  return {
    cluster,
    failures,
    plug: async (plugin = {}) => {
      const path = join(daemon.rootDir, 'plugins/disk/csi.sock');
      const registration = join(daemon.rootDir, 'plugins_registry/disk-reg.sock');
      const started = await FakeCsiDriver.start({path, registration, ...plugin});
      drivers.push(started);
      await daemon.until('the driver is told', () => (started.registrar?.statuses.length ?? 0) > 0);
      return started;
    },
    createPod: (name, spec = {}) => {
      cluster.createPod(name, {
        terminationGracePeriodSeconds: 1,
        containers: [{name: 'main', image: BUSYBOX, volumeMounts: [{name: 'v', mountPath: '/v'}]}],
        volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'c'}}],
        ...spec,
      });
    },
    podVolume: (name) => {
      const uid = api.pod(name)?.metadata.uid ?? '';
      return join(daemon.rootDir, 'pods', uid, 'volumes/kubernetes.io~csi/pv');
    },
    staged: () => listBelow(join(daemon.rootDir, 'plugins/kubernetes.io/csi', CSI_DRIVER)),
    [Symbol.asyncDispose]: async () => {
      await cluster[Symbol.asyncDispose]();
      for (const started of drivers) await started[Symbol.asyncDispose]();
    },
  };
}

function listBelow(directory: string): readonly string[] {
  try {
    return readdirSync(directory, {recursive: true, encoding: 'utf8'}).toSorted();
  } catch {
    return [];
  }
}

function createClaim(api: FakeApiServer, csi: object, volume: object): void {
  api.create('/api/v1/namespaces/default/persistentvolumeclaims/c', {
    metadata: {name: 'c', namespace: 'default', uid: CLAIM_UID},
    spec: {volumeName: 'pv'},
    status: {phase: 'Bound'},
  });
  api.create('/api/v1/persistentvolumes/pv', {
    metadata: {name: 'pv'},
    spec: {accessModes: ['ReadWriteOnce'], claimRef: {uid: CLAIM_UID}, csi, ...volume},
  });
}
