import type {Node} from '../../../api/types/v1-node.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import type {Logger} from '../../../base/logger.js';
import type {ApiClient} from '../../../kube-api/index.js';
import {FetchedObject} from './fetched-object.js';
import type {FollowedObject} from './followed-object.js';
import type {DataObjectRef} from './object-reference.js';
import {WatchedObject} from './watched-object.js';

/** Detection of changes of ConfigMaps and Secrets (configMapAndSecretChangeDetectionStrategy). */
export type ChangeDetectionStrategy = 'Get' | 'Cache' | 'Watch';

/** Options of {@link createObjectFollower}. */
export interface ObjectFollowerOptions {
  readonly strategy: ChangeDetectionStrategy;
  readonly client: ApiClient;
  /** Period in ms in which the volumes of pods are refreshed. */
  readonly syncFrequencyMs: number;
  /** Returns the Node of the API server; undefined before it is known. */
  readonly node: () => Node | undefined;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/** Multiple of the refresh period after which only variables can use an object, so that its watch ends. */
const IDLE_PERIODS = 5;
const MIN_IDLE_MS = 60_000;
const DEFAULT_TTL_MS = 60_000;
/** Annotation with the time in seconds for which kubelets may cache objects (v1.ObjectTTLAnnotationKey). */
const TTL_ANNOTATION = 'node.alpha.kubernetes.io/ttl';

/** Returns the function that follows an object with a strategy. */
export function createObjectFollower(options: ObjectFollowerOptions): (ref: DataObjectRef) => FollowedObject {
  const {strategy, client, syncFrequencyMs, node, clock, random, logger} = options;
  if (strategy !== 'Watch') {
    const ttlMs = (): number => (strategy === 'Get' ? 0 : computeTtlMs(node()));
    return (ref) => new FetchedObject(ref, {client, ttlMs, clock});
  }
  const maxIdleMs = Math.max(syncFrequencyMs * IDLE_PERIODS, MIN_IDLE_MS);
  const log = logger.forFile('change-detection.ts');
  return (ref) => {
    const onFailure = (error: unknown): void => {
      const {kind, namespace, name} = ref;
      log.error(error, 'Failed to watch', {type: `*v1.${kind}`, object: `${namespace}/${name}`});
    };
    return new WatchedObject(ref, {client, maxIdleMs, onFailure, clock, random});
  };
}

/** Returns the time in ms for which objects are cached (GetObjectTTLFromNodeFunc). */
export function computeTtlMs(node: Node | undefined): number {
  const text = node?.metadata.annotations?.[TTL_ANNOTATION] ?? '';
  return /^[+-]?\d+$/.test(text) ? Number(text) * 1000 : DEFAULT_TTL_MS;
}
