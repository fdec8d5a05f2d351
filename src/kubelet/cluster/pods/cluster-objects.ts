import {decodeApiObject} from '../../../api/decoding/decode-api-object.js';
import type {ApiObject} from '../../../api/types/v1-objects.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {ServiceAccountTokenProjection, Volume} from '../../../api/types/v1-volumes.js';
import {abortable} from '../../../base/async/abortable.js';
import type {Clock} from '../../../base/clock.js';
import {isNotFound, type ApiClient} from '../../../kube-api/index.js';
import type {ApiObjects} from '../../contract/api-objects.js';
import type {ClaimedVolume} from '../../contract/claimed-volume.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {podRef} from '../../contract/pod-ref.js';
import {configMapNames, secretNames} from '../../managers/sources/api-object-reference.js';
import {isStaticPod} from '../../managers/sources/static-pod.js';
import {ClaimedVolumes} from './claimed-volumes.js';
import {computeServiceVariables, type Service} from './service-variables.js';
import {ServiceAccountTokens} from './service-account-tokens.js';

/** Options of {@link ClusterObjects}. */
export interface ClusterObjectsOptions {
  readonly client: ApiClient;
  /** URL of the API server, for messages. */
  readonly origin: string;
  /** Returns the Services of the cluster; none before they were read. */
  readonly services: () => readonly Service[];
  /** Resolves when the Services have been read. */
  readonly servicesKnown: Promise<void>;
  /** Returns name and labels of the node. */
  readonly node: () => Pick<NodeFacts, 'nodeName' | 'labels'>;
  readonly clock: Clock;
}

/** An object that a pod refers to. */
interface Reference {
  readonly kind: ApiObject['kind'];
  readonly path: string;
  readonly key: string;
}

/**
 * Objects of the API server that pods refer to. They are read before each sync that needs them, as with the kubelet's
 * change detection strategy `Get`; what cannot be read keeps its last value.
 */
export class ClusterObjects implements ApiObjects {
  readonly #options: ClusterObjectsOptions;
  readonly #found = new Map<string, ApiObject>();
  /** Keys of the objects that each pod refers to. */
  readonly #references = new Map<string, readonly string[]>();
  readonly #tokens: ServiceAccountTokens;
  readonly #volumes: ClaimedVolumes;
  readonly sources: readonly string[];

  constructor(options: ClusterObjectsOptions) {
    this.#options = options;
    this.sources = [options.origin];
    this.#tokens = new ServiceAccountTokens(options.client, options.clock);
    this.#volumes = new ClaimedVolumes(options);
  }

  configMap(namespace: string, name: string): ReturnType<ApiObjects['configMap']> {
    return this.#find('ConfigMap', `${namespace}/${name}`);
  }

  secret(namespace: string, name: string): ReturnType<ApiObjects['secret']> {
    return this.#find('Secret', `${namespace}/${name}`);
  }

  /** Pull secrets of a service account are in the Pod's spec: the API server puts them there. */
  serviceAccount(): undefined {
    return undefined;
  }

  runtimeClass(name: string): ReturnType<ApiObjects['runtimeClass']> {
    return this.#find('RuntimeClass', name);
  }

  serviceVariables(pod: Pod): ReadonlyMap<string, string> {
    const {enableServiceLinks: serviceLinks = true} = pod.spec;
    return computeServiceVariables(this.#options.services(), {
      namespace: podRef(pod).namespace,
      serviceLinks,
    });
  }

  serviceAccountToken(pod: Pod, projection: ServiceAccountTokenProjection): string | undefined {
    return this.#tokens.get(pod, projection);
  }

  /**
   * Reads the objects that a pod of the API server refers to, and requests its tokens. Rejects with ApiError and the
   * errors of connections if an object was never read or a token is missing.
   */
  claimedVolume(pod: Pod, volume: Volume): ClaimedVolume | undefined {
    return this.#volumes.get(pod, volume);
  }

  async load(pod: Pod, signal: AbortSignal): Promise<void> {
    if (isStaticPod(pod)) return;
    // As in a kubelet, no container starts before the Services are known, except those of static pods.
    await abortable(this.#options.servicesKnown, signal);
    const references = referencesOf(pod);
    this.#references.set(
      podRef(pod).uid,
      references.map(({key}) => key),
    );
    await Promise.all([
      ...references.map(async (reference) => this.#read(reference, signal)),
      this.#volumes.load(pod, signal),
      ...tokenProjectionsOf(pod).map(async (projection) => this.#tokens.load(pod, projection, signal)),
    ]);
  }

  /** Forgets what only pods refer to for which `keep` returns false. */
  retain(keep: (uid: string) => boolean): void {
    this.#tokens.retain(keep);
    this.#volumes.retain(keep);
    for (const uid of this.#references.keys()) if (!keep(uid)) this.#references.delete(uid);
    const used = new Set([...this.#references.values()].flat());
    for (const key of this.#found.keys()) if (!used.has(key)) this.#found.delete(key);
  }

  async #read({kind, path, key}: Reference, signal: AbortSignal): Promise<void> {
    try {
      const raw = await this.#options.client.request({method: 'GET', path}, signal);
      const object = decodeApiObject(raw, kind);
      if (object === undefined) this.#found.delete(key);
      else this.#found.set(key, object);
    } catch (error) {
      if (isNotFound(error)) this.#found.delete(key);
      else if (signal.aborted || !this.#found.has(key)) throw error;
    }
  }

  #find<K extends ApiObject['kind']>(
    kind: K,
    name: string,
  ): Extract<ApiObject, {readonly kind: K}> | undefined {
    // The key starts with the kind.
    return this.#found.get(`${kind} ${name}`) as Extract<ApiObject, {readonly kind: K}> | undefined;
  }
}

function referencesOf(pod: Pod): readonly Reference[] {
  const {namespace} = podRef(pod);
  const {spec} = pod;
  const {runtimeClassName = ''} = spec;
  const namespaced = (kind: 'ConfigMap' | 'Secret', names: readonly (string | undefined)[]): Reference[] =>
    [...new Set(names)].flatMap((name) =>
      name === undefined || name === ''
        ? []
        : [
            {
              kind,
              path: `/api/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`,
              key: `${kind} ${namespace}/${name}`,
            },
          ],
    );
  return [
    ...namespaced('ConfigMap', configMapNames(spec)),
    ...namespaced('Secret', secretNames(spec)),
    ...(runtimeClassName === ''
      ? []
      : [
          {
            kind: 'RuntimeClass' as const,
            path: `/apis/node.k8s.io/v1/runtimeclasses/${runtimeClassName}`,
            key: `RuntimeClass ${runtimeClassName}`,
          },
        ]),
  ];
}

function tokenProjectionsOf({spec}: Pod): readonly ServiceAccountTokenProjection[] {
  return (spec.volumes ?? []).flatMap(({projected}) =>
    (projected?.sources ?? []).flatMap(({serviceAccountToken}) => serviceAccountToken ?? []),
  );
}
