import {resolve} from 'node:path';
import {stablePodUid, staticPodUid} from '../../api/hash.js';
import type {Pod} from '../../api/v1.js';
import {ConfigError} from '../../base/errors.js';
import {NO_OBJECTS, type ApiObjects} from '../container/api-objects.js';
import {apiReference} from './api-references.js';

const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash';
const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen';
/** How standard input is named where a file is. */
const STDIN = '-';
export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source';

const DEFAULT_NAMESPACE = 'default';

/** Where and when a manifest was found. */
export interface LocalPodSource {
  readonly nodeName: string;
  /** When it was first seen, RFC 3339. */
  readonly seen: string;
}

/** The same for a file of the kubelet's manifest directory. */
export interface StaticPodSource extends LocalPodSource {
  readonly file: string;
  /** What came with the manifests: nothing by default. */
  readonly objects?: ApiObjects;
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
 * A manifest's Pod as the kubelet runs those of its manifest directory (config/common.go applyDefaults): named after
 * the node, with a UID from content, node and absolute path, and not to be driven away by taints.
 *
 * @throws ConfigError in the kubelet's words when the Pod refers to an object that only an API server has and that
 * didn't come with the manifests.
 */
export function toStaticPod(pod: Pod, source: StaticPodSource): Pod {
  const {nodeName, seen, file, objects = NO_OBJECTS} = source;
  const kind = apiReference(withNamespace(pod), objects);
  if (kind !== undefined)
    throw new ConfigError(`the manifest "${file}": static pods may not reference ${kind}`, {
      hint: 'leave out --static or the reference, or put the ConfigMap, Secret or ServiceAccount beside the Pod',
    });
  const uid = ownUid(pod) ?? staticPodUid(pod, {nodeName, file: file === STDIN ? file : resolve(file)});
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
        [CONFIG_SOURCE_ANNOTATION]: 'file',
      },
    },
    spec: {
      ...named.spec,
      nodeName,
      tolerations: [...(named.spec.tolerations ?? []), {operator: 'Exists', effect: 'NoExecute'}],
    },
    status: {phase: 'Pending'},
  };
}

/** The manifest's UID; an empty one is none. */
function ownUid({metadata}: Pod): string | undefined {
  return metadata.uid === '' ? undefined : metadata.uid;
}

function withNamespace(pod: Pod): Pod {
  const {namespace = ''} = pod.metadata;
  return {...pod, metadata: {...pod.metadata, namespace: namespace === '' ? DEFAULT_NAMESPACE : namespace}};
}
