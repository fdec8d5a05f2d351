import {resolve} from 'node:path';
import {stablePodUid, staticPodUid} from '../../api/hash.js';
import type {Pod} from '../../api/v1.js';
import {ConfigError} from '../../base/errors.js';
import type {ApiObjects} from '../container/api-objects.js';
import {apiReference} from './api-references.js';

const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash';
export const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen';
/** How standard input is named where a file is. */
const STDIN = '-';
export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source';

const DEFAULT_NAMESPACE = 'default';
const FOR_EVER = {operator: 'Exists', effect: 'NoExecute'} as const;

/** Where and when a manifest was found. */
export interface LocalPodSource {
  readonly nodeName: string;
  /** When it was first seen, RFC 3339. */
  readonly seen: string;
}

/** The same for a kubelet's own manifest: what is found in a file, unless there is a URL. */
export interface StaticPodSource extends LocalPodSource {
  readonly file: string;
  /** Where the manifest was fetched from. */
  readonly url?: string | undefined;
}

/** True for a pod of a kubelet's own manifests, in contrast to one of an API server (kubetypes.IsStaticPod). */
export function isStaticPod({metadata}: Pod): boolean {
  const source = metadata.annotations?.[CONFIG_SOURCE_ANNOTATION];
  return source !== undefined && source !== 'api';
}

/**
 * A manifest's Pod as kcri runs it: its own name, in the namespace `default` unless it says another, on this node. The
 * UID comes from the content unless the manifest has one, so that a changed manifest is another pod.
 */
export function toLocalPod(pod: Pod, {nodeName, seen}: LocalPodSource): Pod {
  const named = withNamespace(pod);
  return {
    ...named,
    metadata: {
      ...named.metadata,
      uid: ownUid(named) ?? stablePodUid(named),
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
 * A manifest's Pod as the kubelet runs those that it finds itself (config/common.go applyDefaults): named after the
 * node, and with a UID from its content and where it comes from: node and absolute path, or the URL. Those from files
 * aren't driven away by taints.
 */
export function toStaticPod(pod: Pod, {nodeName, seen, file, url}: StaticPodSource): Pod {
  const isFile = url === undefined;
  const origin = isFile ? `host:${nodeName}file:${file === STDIN ? file : resolve(file)}` : `url:${url}`;
  const uid = ownUid(pod) ?? staticPodUid(pod, origin);
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
      ...(isFile && {tolerations: [...(named.spec.tolerations ?? []), FOR_EVER]}),
    },
    status: {phase: 'Pending'},
  };
}

/** A static pod refers to an object that only an API server has and that didn't come with the manifests. */
export class StaticReferenceError extends ConfigError {
  /** In the kubelet's words: `static pods may not reference configmaps`. */
  readonly reason: string;

  constructor(file: string, kind: string) {
    const reason = `static pods may not reference ${kind}`;
    super(`the manifest "${file}": ${reason}`, {
      hint: 'leave out --static or the reference, or put the ConfigMap, Secret or ServiceAccount beside the Pod',
    });
    this.reason = reason;
  }
}

/** Throws StaticReferenceError for a static pod that doesn't stand alone, but for what is among `objects`. */
export function checkStaticReferences(pod: Pod, file: string, objects: ApiObjects): void {
  const kind = apiReference(withNamespace(pod), objects);
  if (kind !== undefined) throw new StaticReferenceError(file, kind);
}

/** The manifest's UID; an empty one is none. */
function ownUid({metadata}: Pod): string | undefined {
  return metadata.uid === '' ? undefined : metadata.uid;
}

function withNamespace(pod: Pod): Pod {
  const {namespace = ''} = pod.metadata;
  return {...pod, metadata: {...pod.metadata, namespace: namespace === '' ? DEFAULT_NAMESPACE : namespace}};
}
