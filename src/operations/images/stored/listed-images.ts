import {SystemError} from '../../../base/errors.js';
import {parseImageName} from '../../../base/parse-image-name.js';
import type {Json} from '../../../format/json.js';
import {at, text, texts} from '../../inspect/verbose-info.js';
import {fullImageName} from './find-image.js';
import {DOCKER_MANIFEST, parseContent, parseDescriptor, type OciDescriptor} from './oci-content.js';
import type {StagedArchive, StagedFile} from './stage-archive.js';

/** An image of an archive: a descriptor of its index or manifest, or a manifest that has to be written. */
export interface ListedImage {
  /** Full names. */
  readonly names: readonly string[];
  readonly root: OciDescriptor | {readonly manifest: Buffer};
}

/**
 * Returns the images that the archive lists, with their names. `name` is for an image without one. Throws SystemError for
 * an archive without images, or with an unnamed one.
 */
export function listImagesOf(archive: StagedArchive, name: string | undefined): readonly ListedImage[] {
  const images = archive.index === undefined ? dockerImages(archive) : ociImages(archive, archive.index);
  if (images.length === 0) throw new SystemError('the archive contains no image');
  const unnamed = images.filter(({names}) => names.length === 0);
  if (unnamed.length > 1 || (unnamed.length === 1 && name === undefined))
    throw new SystemError('the archive contains an image without a name', {
      hint:
        unnamed.length > 1
          ? 'save the images with their names, or each in its own archive'
          : 'name it with --name NAME[:TAG]',
    });
  return images.map((image) =>
    image.names.length > 0 || name === undefined ? image : {...image, names: [fullImageName(name)]},
  );
}

/** Returns the images of an OCI image layout. Entries of one descriptor with several names are one image. */
function ociImages(archive: StagedArchive, index: Buffer): readonly ListedImage[] {
  const byDigest = new Map<string, {names: string[]; root: OciDescriptor}>();
  for (const entry of listOf(parseContent(index, '"index.json" of the archive'), 'manifests')) {
    const root = parseDescriptor(entry, '"index.json" of the archive');
    const known = byDigest.get(root.digest) ?? {names: [], root};
    known.names.push(...annotatedName(root));
    byDigest.set(root.digest, known);
  }
  const images = [...byDigest.values()].map(({names, root}) => ({
    names: [...new Set(names)],
    root: {...root, annotations: {}},
  }));
  const [only] = images;
  // "docker save" before 25 and podman write names only into manifest.json.
  if (images.length === 1 && only?.names.length === 0) return [{...only, names: dockerNames(archive)}];
  return images;
}

function annotatedName({annotations}: OciDescriptor): readonly string[] {
  const name =
    annotations['io.containerd.image.name'] ?? annotations['org.opencontainers.image.ref.name'] ?? '';
  // The reference name of many programs is only the tag.
  return /[/:]/.test(name) && parseImageName(name).kind === 'name' ? [fullImageName(name)] : [];
}

function dockerNames({dockerManifest}: StagedArchive): readonly string[] {
  if (dockerManifest === undefined) return [];
  return entriesOf(dockerManifest).flatMap((entry) => texts(at(entry, 'RepoTags')).map(fullImageName));
}

/** Returns the images of "docker save", whose manifests are made of the files that it lists. */
function dockerImages(archive: StagedArchive): readonly ListedImage[] {
  if (archive.dockerManifest === undefined)
    throw new SystemError('the input is neither an OCI nor a docker archive', {
      hint: 'it must contain index.json (OCI) or manifest.json (docker save)',
    });
  return entriesOf(archive.dockerManifest).map((entry) => {
    const file = (path: string): StagedFile => {
      const found = archive.file(path);
      if (found !== undefined) return found;
      throw new SystemError(`the archive is incomplete: "${path}" is missing`);
    };
    const config = file(text(at(entry, 'Config')));
    const manifest = {
      schemaVersion: 2,
      mediaType: DOCKER_MANIFEST,
      config: {mediaType: 'application/vnd.docker.container.image.v1+json', ...reference(config)},
      layers: texts(at(entry, 'Layers')).map((path) => {
        const layer = file(path);
        return {mediaType: LAYER_TYPES[layer.compression], ...reference(layer)};
      }),
    };
    return {
      names: texts(at(entry, 'RepoTags')).map(fullImageName),
      root: {manifest: Buffer.from(JSON.stringify(manifest))},
    };
  });
}

const LAYER_TYPES = {
  none: 'application/vnd.docker.image.rootfs.diff.tar',
  gzip: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
  zstd: 'application/vnd.docker.image.rootfs.diff.tar.zstd',
} as const satisfies Record<StagedFile['compression'], string>;

function reference({digest, size}: StagedFile) {
  return {digest, size};
}

function entriesOf(dockerManifest: Buffer): readonly Json[] {
  const json = parseContent(dockerManifest, '"manifest.json" of the archive');
  if (!Array.isArray(json)) throw new SystemError('"manifest.json" of the archive is not a list');
  return json as readonly Json[];
}

function listOf(json: Json, key: string): readonly Json[] {
  const list = at(json, key);
  return Array.isArray(list) ? (list as readonly Json[]) : [];
}
