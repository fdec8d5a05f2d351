import type {Pod} from '../../../api/types/v1-pod.js';
import {abortable} from '../../../base/async/abortable.js';
import {runInBackground} from '../../../base/async/background-work.js';
import {SystemError} from '../../../base/errors.js';
import {isObject} from '../../../base/is-object.js';
import {stringAt, valueAt} from '../../../base/string-at.js';
import {createMergePatch, type Informer, type ListedObject} from '../../../kube-api/index.js';
import type {
  CsiClaims,
  CsiCluster,
  CsiDriverInfo,
  CsiDriverSpec,
  CsiLimits,
  CsiSecretRef,
  CsiTokenRequest,
  SecretContent,
} from '../../contract/volumes/csi-cluster.js';
import type {
  ClaimEvent,
  ClaimRef,
  ResizedClaim,
  ResizedClaimStatus,
} from '../../contract/volumes/resized-claim.js';
import {eventAboutClaim, type ObjectEvent} from '../events/object-event.js';
import type {CsiNodeOptions} from '../node/csi-node.js';
import type {VolumesInUse} from '../node/volumes-in-use.js';
import {ServiceAccountTokens} from '../pods/service-account-tokens.js';
import {CsiDriverRegistration} from './csi-driver-registration.js';

/** Options of {@link ClusterCsi}. */
export interface ClusterCsiOptions extends CsiNodeOptions {
  readonly drivers: Pick<Informer<CsiDriver>, 'items' | 'synced' | 'onChange'>;
  /** See CsiCluster. */
  readonly attachesVolumes: boolean;
  readonly onEvent: (event: ObjectEvent) => void;
  readonly volumesInUse: Pick<VolumesInUse, 'untilAttached'>;
  /** Updates the status of the node at once. */
  readonly statusChanged: () => void;
}

/** A CSIDriver object. */
export interface CsiDriver extends ListedObject {
  readonly spec: CsiDriverSpec;
}

/** Collection of the CSIDriver objects. */
export const CSI_DRIVERS = {
  path: '/apis/storage.k8s.io/v1/csidrivers',
  decode: (value: object): CsiDriver => value as CsiDriver,
};

/** Code of gRPC. */
const RESOURCE_EXHAUSTED = 8;

type Texts = Readonly<Record<string, string>>;

/** Reads and writes the objects of the API server that CSI drivers need. */
export class ClusterCsi implements CsiCluster, CsiClaims {
  readonly #options: ClusterCsiOptions;
  readonly #registration: CsiDriverRegistration;
  readonly #tokens: ServiceAccountTokens;
  knowsDrivers = false;
  readonly claims = this;
  readonly limits: CsiLimits = {
    update: async (driver, signal) => this.#registration.update(driver, signal),
    isExhausted: async (attachment, signal) =>
      (await this.#attachment(attachment, signal)).status?.attachError?.errorCode === RESOURCE_EXHAUSTED,
    onDriversChanged: (listener) => {
      this.#options.drivers.onChange = listener;
    },
  };

  constructor(options: ClusterCsiOptions) {
    this.#options = options;
    this.#registration = new CsiDriverRegistration(options);
    this.#tokens = new ServiceAccountTokens(options.client, options.clock);
    const noteDrivers = async (): Promise<void> => {
      await options.drivers.synced;
      this.knowsDrivers = true;
      options.statusChanged();
    };
    runInBackground('CSIDriver objects', noteDrivers());
  }

  get attachesVolumes(): boolean {
    return this.#options.attachesVolumes;
  }

  async driversKnown(signal: AbortSignal): Promise<void> {
    await abortable(this.#options.drivers.synced, signal);
  }

  driver(name: string): CsiDriverSpec | undefined {
    return this.#options.drivers.items.find(({metadata}) => metadata.name === name)?.spec;
  }

  async secret({namespace, name}: CsiSecretRef, signal: AbortSignal): Promise<SecretContent> {
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
    const secret = await this.#options.client.request({method: 'GET', path}, signal);
    const data = valueAt(secret, 'data');
    const values = Object.entries(isObject(data) ? data : {});
    return {
      type: stringAt(secret, 'type') ?? '',
      data: Object.fromEntries(values.map(([key, value]) => [key, Buffer.from(String(value), 'base64')])),
    };
  }

  async tokens(pod: Pod, requests: readonly CsiTokenRequest[], signal: AbortSignal): Promise<string> {
    const tokens: [string, object][] = [];
    for (const {audience, expirationSeconds} of requests) {
      const projection = {path: '', audience, ...(expirationSeconds !== undefined && {expirationSeconds})};
      await this.#tokens.load(pod, projection, signal);
      tokens.push([audience, this.#tokens.status(pod, projection)]);
    }
    return JSON.stringify(Object.fromEntries(tokens.toSorted(([a], [b]) => (a < b ? -1 : 1))));
  }

  async untilAttached(volume: string, signal: AbortSignal): Promise<string> {
    return await this.#options.volumesInUse.untilAttached(volume, signal);
  }

  async publishContext(attachment: string, signal: AbortSignal): Promise<Texts> {
    const {metadata, status} = await this.#attachment(attachment, signal);
    if (status?.attached === true) return status.attachmentMetadata ?? {};
    if (metadata.deletionTimestamp !== undefined)
      throw new SystemError(`volume attachment ${attachment} is being deleted`);
    const message = status?.attachError?.message ?? 'the controller of the CSI driver has not attached it';
    throw new SystemError(`volume attachment ${attachment}: ${message}`, {
      hint: `look at "kubectl get volumeattachment ${attachment} -o yaml"`,
    });
  }

  async #attachment(name: string, signal: AbortSignal): Promise<VolumeAttachment> {
    const path = `/apis/storage.k8s.io/v1/volumeattachments/${name}`;
    return (await this.#options.client.request({method: 'GET', path}, signal)) as VolumeAttachment;
  }

  async claim({namespace, name}: ClaimRef, signal: AbortSignal): Promise<ResizedClaim> {
    const path = claimPath(namespace, name);
    return (await this.#options.client.request({method: 'GET', path}, signal)) as ResizedClaim;
  }

  async patchClaim(
    claim: ResizedClaim,
    {status, isForced}: {readonly status: ResizedClaimStatus; readonly isForced: boolean},
    signal: AbortSignal,
  ): Promise<ResizedClaim> {
    const {namespace, name, resourceVersion} = claim.metadata;
    const body = {
      ...(!isForced && {metadata: {resourceVersion}}),
      status: createMergePatch(claim.status ?? {}, status),
    };
    const path = `${claimPath(namespace, name)}/status`;
    return (await this.#options.client.request({method: 'PATCH', path, body}, signal)) as ResizedClaim;
  }

  claimEvent(claim: ResizedClaim, event: ClaimEvent): void {
    this.#options.onEvent(eventAboutClaim(claim, event));
  }

  async installDriver(driver: CsiDriverInfo, signal: AbortSignal): Promise<void> {
    await this.#registration.install(driver, signal);
  }

  async uninstallDriver(name: string, signal: AbortSignal): Promise<void> {
    await this.#registration.uninstall(name, signal);
  }

  /** Forgets the tokens of pods for which `keep` returns false. */
  retain(keep: (uid: string) => boolean): void {
    this.#tokens.retain(keep);
  }
}

function claimPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`;
}

interface VolumeAttachment {
  readonly metadata: {readonly deletionTimestamp?: string};
  readonly status?: {
    readonly attached: boolean;
    readonly attachmentMetadata?: Texts;
    readonly attachError?: {readonly message?: string; readonly errorCode?: number};
  };
}
