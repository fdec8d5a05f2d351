import {computePodUid} from '../../api/container-hash.js';
import {isServerAnnotation} from '../../api/exported/server-metadata.js';
import type {Pod} from '../../api/types/v1-pod.js';
import {omit} from '../../base/omit.js';

/**
 * Returns the manifest of a pod that kcri runs with its state in `rootDir`: without what kcri added, such as a computed UID
 * and the node.
 */
export function manifestOfRecord(pod: Pod, rootDir: string): Pod {
  const {uid, annotations = {}, ...metadata} = pod.metadata;
  const {nodeName = '', ...spec} = pod.spec;
  const source = annotations['kubernetes.io/config.source'];
  const isStatic = source === 'file' || source === 'http';
  const own = Object.entries(annotations).filter(([key]) => !isServerAnnotation(key));
  const manifest: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      name: isStatic ? withoutNode(metadata.name ?? '', nodeName) : (metadata.name ?? ''),
      ...(own.length > 0 && {annotations: Object.fromEntries(own)}),
    },
    spec: isStatic ? {...spec, ...withoutStaticToleration(spec)} : spec,
  };
  const isComputed = isStatic || uid === undefined || computePodUid(manifest, rootDir) === uid;
  // The name of a workload's pod was made from generateName, which a sync of the manifest would ignore with a note.
  const named = omit(manifest.metadata, 'generateName');
  return {...manifest, metadata: isComputed ? named : {...named, uid}};
}

function withoutNode(name: string, nodeName: string): string {
  const suffix = `-${nodeName.toLowerCase()}`;
  return nodeName !== '' && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

/** Removes the toleration that a kubelet adds to a static pod. */
function withoutStaticToleration({tolerations = []}: Pod['spec']): Pick<Pod['spec'], 'tolerations'> {
  const last = tolerations.at(-1);
  const isAdded = last?.operator === 'Exists' && last.effect === 'NoExecute' && last.key === undefined;
  return isAdded ? {tolerations: tolerations.slice(0, -1)} : {};
}
