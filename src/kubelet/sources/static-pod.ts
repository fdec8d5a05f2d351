import {resolve} from 'node:path';
import {computePodUid} from '../../api/container-hash.js';
import {computeStaticPodUid} from '../../api/static-uid/static-pod-uid.js';
import type {Pod} from '../../api/types/v1-pod.js';
import {ConfigError} from '../../base/errors.js';
import type {PodUid} from '../../cri/index.js';
import type {ApiObjects} from '../contract/api-objects.js';
import type {PodSourceName} from '../contract/pod-update.js';
import {findApiObjectReference} from './api-object-reference.js';

const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash';
export const CONFIG_MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
export const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen';
/** File name that means standard input. */
const STDIN = '-';
export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source';

const DEFAULT_NAMESPACE = 'default';
const TOLERATE_NO_EXECUTE = {operator: 'Exists', effect: 'NoExecute'} as const;

/** Node of a manifest, and the time at which it was first seen. */
interface PodSource {
  readonly nodeName: string;
  /** Time at which the manifest was first seen, in RFC 3339. */
  readonly seen: string;
}

/** Node of a pod's manifest, and the directory of the pod's state. */
export interface LocalPodSource extends PodSource {
  readonly rootDir: string;
}

/** Origin of a static pod's manifest: a URL, or else a file. */
export interface StaticPodSource extends PodSource {
  readonly file: string;
  /** URL from which the manifest was fetched. */
  readonly url?: string | undefined;
  /** Returns the JSON of the manifest, from which a kubelet computes the UID; by default that of the Pod. */
  readonly written?: (() => unknown) | undefined;
}

/** Returns the source of a pod: `file`, `http` or `api`. */
export function configSourceOf({metadata}: Pick<Pod, 'metadata'>): PodSourceName | undefined {
  return metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] as PodSourceName | undefined;
}

/** Reports whether the pod is from a file or URL and not from an API server (kubetypes.IsStaticPod). */
export function isStaticPod(pod: Pick<Pod, 'metadata'>): boolean {
  const source = configSourceOf(pod);
  return source !== undefined && source !== 'api';
}

/** Reports whether the pod only represents a static pod in the API server (kubetypes.IsMirrorPod). */
export function isMirrorPod({metadata}: Pod): boolean {
  return metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined;
}

/** Reports whether a mirror pod represents the current version of a static pod (IsMirrorPodOf). */
export function isMirrorPodOf(mirror: Pod, staticPod: Pod): boolean {
  const hash = mirror.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION];
  return (
    hash !== undefined &&
    hash === configHashOf(staticPod) &&
    mirror.metadata.name === staticPod.metadata.name &&
    mirror.metadata.namespace === staticPod.metadata.namespace
  );
}

/** Returns the hash of a static pod's content and origin. */
export function configHashOf({metadata}: Pod): string | undefined {
  return metadata.annotations?.[CONFIG_HASH_ANNOTATION];
}

/** Reports whether the node knows its addresses and RuntimeClasses for the pod, as a kubelet with an API server. */
export function hasApiServer(pod: Pod, node: {readonly inCluster?: boolean | undefined}): boolean {
  return node.inCluster === true || !isStaticPod(pod);
}

/**
 * Returns the Pod of a manifest as kcri runs it: with its name unchanged, in its namespace or `default`, on this node.
 * Without a UID in the manifest, the UID is a hash of content and root directory, so a changed manifest is another pod.
 */
export function toLocalPod(pod: Pod, {nodeName, seen, rootDir}: LocalPodSource): Pod {
  const named = withNamespace(pod);
  return {
    ...named,
    metadata: {
      ...named.metadata,
      uid: manifestUid(named) ?? computePodUid(named, rootDir),
      annotations: {
        ...named.metadata.annotations,
        [CONFIG_SEEN_ANNOTATION]: seen,
        [CONFIG_SOURCE_ANNOTATION]: 'api',
      },
    },
    spec: {...named.spec, nodeName},
  };
}

/**
 * Returns the Pod of a manifest as a static pod (config/common.go applyDefaults): its name ends with the node name, and
 * its UID is a kubelet's, a hash of its content and origin, which is the node and absolute path, or the URL. Pods from files
 * tolerate all NoExecute taints.
 */
export function toStaticPod(
  pod: Pod,
  {nodeName, seen, file, url, written = () => pod}: StaticPodSource,
): Pod {
  const isFile = url === undefined;
  const origin = isFile ? `host:${nodeName}file:${file === STDIN ? file : resolve(file)}` : `url:${url}`;
  const uid = manifestUid(pod) ?? computeStaticPodUid(written(), origin);
  const named = withNamespace(pod);
  return {
    ...named,
    metadata: {
      ...named.metadata,
      name: `${named.metadata.name ?? ''}-${nodeName.toLowerCase()}`,
      uid,
      annotations: {
        ...named.metadata.annotations,
        [CONFIG_HASH_ANNOTATION]: uid,
        [CONFIG_SEEN_ANNOTATION]: seen,
        [CONFIG_SOURCE_ANNOTATION]: isFile ? 'file' : 'http',
      },
    },
    spec: {
      ...named.spec,
      nodeName,
      ...(isFile && {tolerations: [...(named.spec.tolerations ?? []), TOLERATE_NO_EXECUTE]}),
    },
    status: {phase: 'Pending'},
  };
}

/** Returns a static pod with another UID, as a kubelet that computes that UID of the manifest has it. */
export function withStaticPodUid(pod: Pod, uid: PodUid): Pod {
  const annotations = {...pod.metadata.annotations, [CONFIG_HASH_ANNOTATION]: uid};
  return {...pod, metadata: {...pod.metadata, uid, annotations}};
}

/** Error for a static pod that refers to an API object that does not come with the manifests. */
export class StaticReferenceError extends ConfigError {
  /** Error text of the kubelet: `static pods may not reference configmaps`. */
  readonly reason: string;

  constructor(file: string, kind: string) {
    const reason = `static pods may not reference ${kind}`;
    super(`invalid manifest "${file}": ${reason}`, {
      hint: 'remove --static or the reference, or add the ConfigMap, Secret or ServiceAccount to the manifests',
    });
    this.reason = reason;
  }
}

/**
 * Throws StaticReferenceError if a static pod refers to an API object that is not among `objects`. Outside a cluster,
 * volumes of claims and of CSI drivers need none.
 */
export function checkStaticReferences(
  pod: Pod,
  file: string,
  objects: ApiObjects,
  {inCluster}: {readonly inCluster: boolean},
): void {
  const kind = findApiObjectReference(withNamespace(pod), objects, {inCluster});
  if (kind !== undefined) throw new StaticReferenceError(file, kind);
}

/** Reports whether a manifest has a UID of its own, so that none is computed. */
export function hasManifestUid(pod: Pod): boolean {
  return manifestUid(pod) !== undefined;
}

/** Returns the UID in the manifest, or undefined if it is empty or missing. */
function manifestUid({metadata}: Pod): string | undefined {
  return metadata.uid === '' ? undefined : metadata.uid;
}

function withNamespace(pod: Pod): Pod {
  const {namespace = ''} = pod.metadata;
  return {...pod, metadata: {...pod.metadata, namespace: namespace === '' ? DEFAULT_NAMESPACE : namespace}};
}
