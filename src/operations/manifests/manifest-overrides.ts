import {findClosestMatch} from '../../base/closest-match.js';
import {ConfigError} from '../../base/errors.js';
import {changeItems, changeMap, findField, findText, withField} from '../../api/decoding/edit-node.js';
import type {ManifestNode, MapNode} from '../../api/decoding/manifest-node.js';
import {
  changeObjects,
  changePodSpec,
  CONTAINER_LISTS,
  type ManifestObjectNode,
} from '../../api/decoding/manifest-objects.js';
import type {EditDocument, EditedDocument} from '../../api/manifest/parse-manifest.js';
import {matchesName, withoutTag} from '../filters/image-matching.js';

/** A replacement of `from`, an image or a container, by an image. */
export interface ImageOverride {
  readonly from: string;
  readonly image: string;
}

/** Changes to manifests from the command line. */
export interface ManifestOverrides {
  /** Namespace of objects without one. */
  readonly namespace?: string | undefined;
  /** Replacements of images by name (--image). */
  readonly images?: readonly ImageOverride[] | undefined;
  /** Images of containers by container name; `*` matches all (--set-image). */
  readonly containerImages?: readonly ImageOverride[] | undefined;
}

/** Kinds without a namespace. */
const CLUSTER_SCOPED = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'CSIDriver',
  'CustomResourceDefinition',
  'DeviceClass',
  'IngressClass',
  'Namespace',
  'Node',
  'PersistentVolume',
  'PriorityClass',
  'ResourceSlice',
  'RuntimeClass',
  'StorageClass',
  'VolumeAttributesClass',
]);

/** Applies overrides to documents, and remembers which of them had an effect. */
export class ManifestEditor {
  readonly #overrides: ManifestOverrides;
  readonly #used = new Set<ImageOverride>();
  readonly #images = new Set<string>();
  readonly #containers = new Set<string>();

  constructor(overrides: ManifestOverrides) {
    this.#overrides = overrides;
  }

  /** Returns a document with the overrides; an object in another namespace is a problem. */
  readonly edit: EditDocument = (root) => {
    const problems: EditedDocument['problems'][number][] = [];
    const edited = changeObjects(root, (object) => {
      const conflict = this.#findConflict(object);
      if (conflict !== undefined) problems.push(conflict);
      const node = conflict === undefined ? this.#withNamespace(object) : object.node;
      return changePodSpec({...object, node}, (spec) => this.#withImages(spec));
    });
    return {root: edited, problems};
  };

  /** Throws ConfigError for the first image override that matched nothing in the documents. */
  assertUsed(): void {
    const {images = [], containerImages = []} = this.#overrides;
    const image = images.find((override) => !this.#used.has(override));
    if (image !== undefined)
      throw unusedError(`--image: no container uses the image "${image.from}"`, image.from, this.#images);
    const container = containerImages.find((override) => !this.#used.has(override));
    if (container !== undefined)
      throw unusedError(`--set-image: no container "${container.from}"`, container.from, this.#containers);
  }

  /** Returns the problem of an object in another namespace, in kubectl's words. */
  #findConflict({node, path}: ManifestObjectNode): EditedDocument['problems'][number] | undefined {
    const {namespace} = this.#overrides;
    const own = findField(node, 'metadata', 'namespace');
    const name = findText(node, 'metadata', 'namespace') ?? '';
    if (namespace === undefined || own === undefined || name === '' || name === namespace) return undefined;
    const place = path.child('metadata', 'namespace');
    const message = `${place.toString()}: Invalid value: "${name}": does not match the namespace "${namespace}" of --namespace`;
    return {path: place, offset: own.offset, message};
  }

  #withNamespace({node, kind}: ManifestObjectNode): MapNode {
    const {namespace} = this.#overrides;
    if (namespace === undefined || CLUSTER_SCOPED.has(kind)) return node;
    return changeMap(node, ['metadata'], (metadata) =>
      withField(metadata, 'namespace', createText(namespace, metadata)),
    );
  }

  #withImages(spec: MapNode): MapNode {
    const {images = [], containerImages = []} = this.#overrides;
    if (images.length + containerImages.length === 0) return spec;
    const withContainers = CONTAINER_LISTS.reduce(
      (current, list) => changeItems(current, list, (container) => this.#changeContainer(container)),
      spec,
    );
    return changeItems(withContainers, 'volumes', (volume) =>
      changeMap(volume, ['image'], (source) => this.#replaceImage(source, 'reference')),
    );
  }

  #changeContainer(container: MapNode): MapNode {
    const name = findText(container, 'name') ?? '';
    this.#containers.add(name);
    const replaced = this.#replaceImage(container, 'image');
    const override = this.#overrides.containerImages?.findLast(({from}) => from === name || from === '*');
    if (override === undefined) return replaced;
    for (const one of this.#overrides.containerImages ?? [])
      if (one.from === name || one.from === '*') this.#used.add(one);
    return withField(replaced, 'image', createText(override.image, container));
  }

  #replaceImage(map: MapNode, field: string): MapNode {
    const image = findText(map, field) ?? '';
    if (image !== '') this.#images.add(image);
    const matching = (this.#overrides.images ?? []).filter(({from}) => matchesName(image, from));
    for (const override of matching) this.#used.add(override);
    const last = matching.at(-1);
    return last === undefined || image === ''
      ? map
      : withField(map, field, createText(replaceName(image, last), findField(map, field) ?? map));
  }
}

/** Returns the new image; it keeps tag and digest if neither name of the override has any. */
function replaceName(image: string, {from, image: to}: ImageOverride): string {
  const isPlain = withoutTag(from) === from && withoutTag(to) === to;
  return isPlain ? `${to}${image.slice(withoutTag(image).length)}` : to;
}

function createText(value: string, {offset}: ManifestNode): ManifestNode {
  return {kind: 'scalar', value, source: value, offset};
}

function unusedError(message: string, wanted: string, known: ReadonlySet<string>): ConfigError {
  const guess = findClosestMatch(wanted, [...known]);
  const list = [...known].toSorted().join(', ');
  const hint =
    guess === undefined
      ? list === ''
        ? undefined
        : `the manifests have ${list}`
      : `did you mean "${guess}"?`;
  return new ConfigError(message, hint === undefined ? {} : {hint});
}
