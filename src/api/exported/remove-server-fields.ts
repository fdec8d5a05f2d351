import {changeMap, findField, findText} from '../decoding/edit-node.js';
import type {ManifestNode, MapNode} from '../decoding/manifest-node.js';
import {changeObjects, changePodSpec, type ManifestObjectNode} from '../decoding/manifest-objects.js';
import {isSet, removeFields, type OnRemoved, type ServerField} from './server-field.js';
import {removeServerMetadata, restoreStaticPodName} from './server-metadata.js';
import {removeApiAccess, removeServerSpec} from './server-pod-spec.js';

/** An object that was exported from an API server, and what was removed from it. */
export interface ExportedObject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly fields: readonly ServerField[];
}

/** Metadata that only an API server sets. */
const MARKS = ['resourceVersion', 'creationTimestamp', 'managedFields'];

/**
 * Removes from a document what an API server, its controllers and kubelets added to the objects: identity, status,
 * defaults of admission plugins, and the volume with the token of the service account. The rest is the manifest that
 * the object was created from. Objects that were not exported keep their UID and status.
 */
export function removeServerFields(root: ManifestNode): {
  readonly root: ManifestNode;
  readonly exported: readonly ExportedObject[];
} {
  const exported: ExportedObject[] = [];
  const cleaned = changeObjects(root, (object) => {
    const fields: ServerField[] = [];
    const node = clean(object, (field) => fields.push(field));
    const name = findText(node, 'metadata', 'name') ?? '';
    const namespace = findText(node, 'metadata', 'namespace');
    if (fields.length > 0) exported.push({kind: object.kind, name, namespace, fields});
    return node;
  });
  return {root: cleaned, exported};
}

function clean(object: ManifestObjectNode, onRemoved: OnRemoved): MapNode {
  const isExported = MARKS.some((name) => isSet(findField(object.node, 'metadata', name)));
  const node = changePodSpec(object, (spec, path) => removeApiAccess(spec, {path, prefix: '', onRemoved}));
  return isExported
    ? cleanExported({...object, node}, onRemoved)
    : removeUnusedGenerateName({...object, node}, onRemoved);
}

function cleanExported(object: ManifestObjectNode, onRemoved: OnRemoved): MapNode {
  const {kind, path} = object;
  const renamed = kind === 'Pod' ? restoreStaticPodName(object, onRemoved) : object.node;
  const isOfDaemonSet = hasOwner(renamed, 'DaemonSet');
  const metadata = removeServerMetadata({...object, node: renamed}, onRemoved);
  const node = removeFields(metadata, ['status'], {path, prefix: '', onRemoved});
  if (kind !== 'Pod') return node;
  return changePodSpec({...object, node}, (spec, specPath) =>
    removeServerSpec(spec, {path: specPath, prefix: 'spec.', onRemoved}, isOfDaemonSet),
  );
}

function hasOwner(object: MapNode, kind: string): boolean {
  const owners = findField(object, 'metadata', 'ownerReferences');
  return owners?.kind === 'list' && owners.items.some((owner) => findText(owner, 'kind') === kind);
}

/** Removes generateName from an object with a name, where the API server does not use it either. */
function removeUnusedGenerateName({node, path}: ManifestObjectNode, onRemoved: OnRemoved): MapNode {
  if ((findText(node, 'metadata', 'name') ?? '') === '') return node;
  const removal = {path: path.child('metadata'), prefix: 'metadata.', onRemoved};
  return changeMap(node, ['metadata'], (metadata) => removeFields(metadata, ['generateName'], removal));
}
