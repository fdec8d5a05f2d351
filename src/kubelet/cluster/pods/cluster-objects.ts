import {decodeApiObject} from '../../../api/json/decode-api-object.js';
import type {ConfigMap, RuntimeClass, Secret} from '../../../api/types/v1-objects.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {ServiceAccountTokenProjection, Volume} from '../../../api/types/v1-volumes.js';
import {abortable} from '../../../base/async/abortable.js';
import {finishesWithin} from '../../../base/async/deadline.js';
import type {Clock} from '../../../base/clock.js';
import type {KcriError} from '../../../base/errors.js';
import type {ApiClient, Informer} from '../../../kube-api/index.js';
import type {ApiObjects, ObjectUse} from '../../contract/api-objects.js';
import type {ClaimedVolume} from '../../contract/volumes/claimed-volume.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {podRef} from '../../contract/pod-ref.js';
import {isStaticPod} from '../../sources/static-pod.js';
import type {FollowedObject} from '../objects/followed-object.js';
import {dataObjectsOf, type DataObject, type DataObjectRef} from '../objects/object-reference.js';
import {ReferencedObjects} from '../objects/referenced-objects.js';
import {ClaimedVolumes} from './claimed-volumes.js';
import {computeServiceVariables, type Service} from '../../../api/services/service-variables.js';
import {ServiceAccountTokens} from './service-account-tokens.js';

/** Options of {@link ClusterObjects}. */
export interface ClusterObjectsOptions {
  readonly client: ApiClient;
  /** URL of the API server, for messages. */
  readonly origin: string;
  /** Returns name and labels of the node. */
  readonly node: () => Pick<NodeFacts, 'nodeName' | 'labels'>;
  readonly services: Pick<Informer<Service>, 'items' | 'synced'>;
  readonly runtimeClasses: Pick<Informer<RuntimeClass>, 'items' | 'synced'>;
  /** Follows a ConfigMap or Secret as long as pods refer to it. */
  readonly follow: (ref: DataObjectRef) => FollowedObject;
  /** Tokens of service accounts; requested from the API server by default. */
  readonly tokens?: Pick<ServiceAccountTokens, 'get' | 'load' | 'retain'>;
  readonly clock: Clock;
}

/** Collection of the Services whose variables containers get. */
export const SERVICES = {
  path: '/api/v1/services',
  fieldSelector: 'spec.clusterIP!=None',
  decode: (value: object): Service => value as Service,
};

/** Collection of the RuntimeClasses. */
export const RUNTIME_CLASSES = {
  path: '/apis/node.k8s.io/v1/runtimeclasses',
  decode: (value: object): RuntimeClass | undefined => decodeApiObject(value, 'RuntimeClass'),
};

/** Time for which a pod waits for RuntimeClasses that are not known yet, in ms. */
const MAX_WAIT_MS = 1000;

/** Objects of the API server that pods refer to. */
export class ClusterObjects implements ApiObjects {
  readonly #options: ClusterObjectsOptions;
  readonly #data: ReferencedObjects;
  readonly #tokens: NonNullable<ClusterObjectsOptions['tokens']>;
  readonly #volumes: ClaimedVolumes;
  readonly sources: readonly string[];

  constructor(options: ClusterObjectsOptions) {
    this.#options = options;
    this.sources = [options.origin];
    this.#data = new ReferencedObjects(options.follow);
    this.#tokens = options.tokens ?? new ServiceAccountTokens(options.client, options.clock);
    this.#volumes = new ClaimedVolumes(options);
  }

  configMap(namespace: string, name: string): ConfigMap | undefined {
    return this.#find('ConfigMap', namespace, name);
  }

  secret(namespace: string, name: string): Secret | undefined {
    return this.#find('Secret', namespace, name);
  }

  failure(kind: DataObject['kind'], namespace: string, name: string): KcriError | undefined {
    return this.#data.get({kind, namespace, name})?.failure;
  }

  /** Pull secrets of a service account are in the Pod's spec: the API server puts them there. */
  serviceAccount(): undefined {
    return undefined;
  }

  runtimeClass(name: string): RuntimeClass | undefined {
    return this.#options.runtimeClasses.items.find(({metadata}) => metadata.name === name);
  }

  serviceVariables(pod: Pod): ReadonlyMap<string, string> {
    const {enableServiceLinks: serviceLinks = true} = pod.spec;
    return computeServiceVariables(this.#options.services.items, {
      namespace: podRef(pod).namespace,
      serviceLinks,
    });
  }

  serviceAccountToken(pod: Pod, projection: ServiceAccountTokenProjection): string | undefined {
    return this.#tokens.get(pod, projection);
  }

  claimedVolume(pod: Pod, volume: Volume): ClaimedVolume | undefined {
    return this.#volumes.get(pod, volume);
  }

  /**
   * Follows the objects that a pod of the API server refers to, waits for those that it uses, and requests its tokens.
   * Rejects with the signal's reason and programming errors: what is missing is reported by what is used of it.
   */
  async load(pod: Pod, use: ObjectUse, signal: AbortSignal): Promise<void> {
    if (isStaticPod(pod)) return;
    // Before anything else, since the objects arrive meanwhile.
    this.#data.register(podRef(pod).uid, dataObjectsOf(pod, {volumesOnly: false}));
    // As in a kubelet, no container starts before the Services are known, except those of static pods.
    await abortable(this.#options.services.synced, signal);
    const {runtimeClasses, clock} = this.#options;
    if ((pod.spec.runtimeClassName ?? '') !== '')
      await finishesWithin(runtimeClasses.synced, MAX_WAIT_MS, clock, signal);
    await Promise.all([
      ...dataObjectsOf(pod, use).map(async (ref) => this.#data.get(ref)?.load(signal)),
      this.#volumes.load(pod, signal),
      ...tokenProjectionsOf(pod).map(async (projection) => this.#tokens.load(pod, projection, signal)),
    ]);
  }

  /** Ends the references of a pod that has ended. */
  release(uid: string): void {
    this.#data.unregister(uid);
  }

  /** Forgets what only pods refer to for which `keep` returns false, and stops watches of objects that are not used. */
  retain(keep: (uid: string) => boolean): void {
    this.#tokens.retain(keep);
    this.#volumes.retain(keep);
    for (const uid of this.#data.users) if (!keep(uid)) this.#data.unregister(uid);
    this.#data.stopIdle();
  }

  /** Ends all requests about objects. */
  stop(): void {
    for (const uid of this.#data.users) this.#data.unregister(uid);
  }

  #find<K extends DataObject['kind']>(
    kind: K,
    namespace: string,
    name: string,
  ): Extract<DataObject, {readonly kind: K}> | undefined {
    // The reference names the kind.
    const followed = this.#data.get({kind, namespace, name});
    return followed?.object as Extract<DataObject, {readonly kind: K}> | undefined;
  }
}

function tokenProjectionsOf({spec}: Pod): readonly ServiceAccountTokenProjection[] {
  return (spec.volumes ?? []).flatMap(({projected}) =>
    (projected?.sources ?? []).flatMap(({serviceAccountToken}) => serviceAccountToken ?? []),
  );
}
