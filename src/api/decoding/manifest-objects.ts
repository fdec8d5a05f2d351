import {FieldPath} from '../field-path.js';
import {changeItems, changeMap, findField, findText} from './edit-node.js';
import type {ManifestNode, MapNode} from './manifest-node.js';

/** An API object in a document. */
export interface ManifestObjectNode {
  readonly node: MapNode;
  /** Kind as written, or implied by the list; it may be unknown. */
  readonly kind: string;
  /** Path in the document: empty for the document itself, `items[2]` inside a list. */
  readonly path: FieldPath;
}

const LIST_SUFFIX = 'List';

/** Returns a document in which each API object has been replaced, including those of lists. */
export function changeObjects(
  root: ManifestNode,
  change: (object: ManifestObjectNode) => MapNode,
  {kind: impliedKind = '', path = new FieldPath()}: Partial<Omit<ManifestObjectNode, 'node'>> = {},
): ManifestNode {
  if (root.kind !== 'map') return root;
  const kind = findText(root, 'kind') ?? impliedKind;
  if (!kind.endsWith(LIST_SUFFIX) || findField(root, 'items')?.kind !== 'list')
    return change({node: root, kind, path});
  const place = {kind: kind.slice(0, -LIST_SUFFIX.length), path: path.child('items')};
  return changeItems(
    root,
    'items',
    (item, index) => changeObjects(item, change, {...place, path: place.path.index(index)}) as MapNode,
  );
}

/** Paths of the Pod spec in objects of kinds that do not have it at `spec.template.spec`. */
const POD_SPEC_PATHS: Readonly<Record<string, readonly string[]>> = {
  CronJob: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
  Pod: ['spec'],
  PodTemplate: ['template', 'spec'],
};
const TEMPLATE_SPEC = ['spec', 'template', 'spec'];

/** Returns the path of the Pod spec in an object of a kind, whether or not the object has one. */
export function podSpecPath(kind: string): readonly string[] {
  return (Object.hasOwn(POD_SPEC_PATHS, kind) ? POD_SPEC_PATHS[kind] : undefined) ?? TEMPLATE_SPEC;
}

/** Returns an object in which the Pod spec, that of a Pod or of a workload's template, has been replaced. */
export function changePodSpec(
  {node, kind, path}: ManifestObjectNode,
  change: (spec: MapNode, path: FieldPath) => MapNode,
): MapNode {
  const steps = podSpecPath(kind);
  return changeMap(node, steps, (spec) => change(spec, path.child(...steps)));
}

/** Fields of a Pod spec that list containers. */
export const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;
