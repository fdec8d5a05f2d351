import {changeMap, findField, findText, withField} from '../decoding/edit-node.js';
import type {MapNode} from '../decoding/manifest-node.js';
import type {ManifestObjectNode} from '../decoding/manifest-objects.js';
import {isSet, removeFields, type OnRemoved} from './server-field.js';

/** Metadata that an API server or a controller sets. */
const SERVER_METADATA = [
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'finalizers',
  'generation',
  'managedFields',
  'ownerReferences',
  'resourceVersion',
  'selfLink',
  'uid',
];

/** Annotations that kubectl, admission plugins, network plugins and kubelets add. */
const SERVER_ANNOTATIONS = new RegExp(
  [
    'kubectl\\.kubernetes\\.io/last-applied-configuration',
    'kubernetes\\.io/config\\.(?:hash|mirror|seen|source)',
    'kubernetes\\.io/(?:limit-ranger|psp)',
    'deployment\\.kubernetes\\.io/.*',
    'deprecated\\.daemonset\\.template\\.generation',
    'openshift\\.io/scc',
    'cni\\.projectcalico\\.org/(?:containerID|podIPs?)',
    'k8s\\.ovn\\.org/pod-networks',
    'k8s\\.v1\\.cni\\.cncf\\.io/networks?-status',
  ]
    .map((name) => `^${name}$`)
    .join('|'),
);

/** Reports whether an annotation is one that a server, a plugin or a kubelet adds. */
export function isServerAnnotation(key: string): boolean {
  return SERVER_ANNOTATIONS.test(key);
}

/** Returns an exported object without the metadata that the server added. */
export function removeServerMetadata({node, path}: ManifestObjectNode, onRemoved: OnRemoved): MapNode {
  const removal = {path: path.child('metadata'), prefix: 'metadata.', onRemoved};
  const hasName = isSet(findField(node, 'metadata', 'name'));
  const names = [...SERVER_METADATA, ...(hasName ? ['generateName'] : [])].toSorted();
  const cleaned = changeMap(node, ['metadata'], (metadata) => removeFields(metadata, names, removal));
  return changeMap(cleaned, ['metadata'], (metadata) => removeServerAnnotations(metadata, path, onRemoved));
}

function removeServerAnnotations(
  metadata: MapNode,
  path: ManifestObjectNode['path'],
  onRemoved: OnRemoved,
): MapNode {
  const annotations = findField(metadata, 'annotations');
  if (annotations?.kind !== 'map') return metadata;
  const entries = new Map(annotations.entries);
  for (const [key, {keyOffset}] of annotations.entries) {
    if (!isServerAnnotation(key)) continue;
    entries.delete(key);
    const place = path.child('metadata', 'annotations').key(key);
    onRemoved({path: place, offset: keyOffset, name: `annotation "${key}"`});
  }
  if (entries.size === annotations.entries.size) return metadata;
  return withField(metadata, 'annotations', entries.size === 0 ? undefined : {...annotations, entries});
}

/** Returns a static pod with the name of its manifest: its kubelet has added the node's name. */
export function restoreStaticPodName({node, path}: ManifestObjectNode, onRemoved: OnRemoved): MapNode {
  const source = findText(node, 'metadata', 'annotations', 'kubernetes.io/config.source');
  const suffix = `-${findText(node, 'spec', 'nodeName')?.toLowerCase() ?? ''}`;
  const name = findField(node, 'metadata', 'name');
  if ((source !== 'file' && source !== 'http') || suffix === '-' || name?.kind !== 'scalar') return node;
  const full = String(name.value);
  if (!full.endsWith(suffix) || full === suffix) return node;
  onRemoved({
    path: path.child('metadata', 'name'),
    offset: name.offset,
    name: `"${suffix}" of metadata.name`,
  });
  const value = full.slice(0, -suffix.length);
  return changeMap(node, ['metadata'], (metadata) => withField(metadata, 'name', {...name, value}));
}
