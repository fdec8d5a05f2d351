import {SystemError} from '../../../base/errors.js';
import type {FileEntry} from '../../../base/tar/file-entry.js';
import {encodeTarEnd, encodeTarMember} from '../../../base/tar/write-tar.js';
import type {ContainerdConnection} from '../../../containerd/connect-containerd.js';
import {findStoredImage, fullImageName, type FoundImage} from './find-image.js';
import type {ImageRuntime} from './image-runtime.js';
import {
  fromStored,
  manifestForMachine,
  OCI_INDEX,
  readBlob,
  readTree,
  type OciDescriptor,
  type StoredManifest,
  type StoredTree,
} from './oci-content.js';

/** Images of an archive, all of whose blobs are present. */
export interface SavePlan {
  readonly index: object;
  /** manifest.json, which docker reads. */
  readonly dockerManifest: readonly object[];
  /** Blobs, each once. */
  readonly blobs: readonly OciDescriptor[];
  /** Size of all blobs in bytes. */
  readonly totalBytes: number;
}

/** Plans an archive with images. Rejects with NotFoundError, and with SystemError if content of an image is missing. */
export async function planSave(
  runtime: ImageRuntime,
  containerd: ContainerdConnection,
  references: readonly string[],
): Promise<SavePlan> {
  const byRoot = new Map<string, SavedImage>();
  for (const reference of references) {
    const found = await findStoredImage(runtime, containerd, reference);
    const {target} = found.stored;
    if (target === undefined) continue;
    const tree = await readTree(containerd.content, fromStored(target), runtime.signal);
    requireContent(reference, tree);
    const {names = []} = byRoot.get(tree.root.digest) ?? {};
    byRoot.set(tree.root.digest, {names: [...new Set([...names, ...namesOf(reference, found)])], tree});
  }
  const saved = [...byRoot.values()];
  const blobs = uniqueBlobs(saved.flatMap(({tree}) => blobsOf(tree)));
  return {
    index: {schemaVersion: 2, mediaType: OCI_INDEX, manifests: saved.flatMap(indexEntries)},
    dockerManifest: saved.flatMap(dockerEntries),
    blobs,
    totalBytes: blobs.reduce((sum, {size}) => sum + size, 0),
  };
}

interface SavedImage {
  readonly names: readonly string[];
  readonly tree: StoredTree;
}

/** Returns the name by which an image was given, or all its tags for an ID. */
function namesOf(reference: string, {image, stored}: FoundImage): readonly string[] {
  const isId = image.id.replace(/^sha256:/, '').startsWith(reference.replace(/^sha256:/, ''));
  if (isId) return image.repoTags;
  return stored.name === image.id ? [fullImageName(reference)] : [stored.name];
}

function requireContent(reference: string, {manifests, missing}: StoredTree): void {
  if (manifests.length > 0) return;
  throw new SystemError(
    `the content of the image "${reference}" is incomplete: containerd does not have ${missing[0] ?? 'any of it'}`,
    {
      hint: 'containerd may discard layers after unpacking them: set discard_unpacked_layers = false in its configuration and pull the image again',
    },
  );
}

/** Reports whether everything that the root refers to is present. */
function isComplete({missing}: StoredTree): boolean {
  return missing.length === 0;
}

/** Returns the descriptors that stand for the image: its root, or the manifests that are present. */
function rootsOf(tree: StoredTree): readonly OciDescriptor[] {
  if (isComplete(tree)) return [tree.root];
  const own = manifestForMachine(tree.manifests);
  return own === undefined ? tree.manifests.map(({descriptor}) => descriptor) : [own.descriptor];
}

function manifestsOf(tree: StoredTree): readonly StoredManifest[] {
  const roots = rootsOf(tree).map(({digest}) => digest);
  return isComplete(tree)
    ? tree.manifests
    : tree.manifests.filter(({descriptor}) => roots.includes(descriptor.digest));
}

function blobsOf(tree: StoredTree): readonly OciDescriptor[] {
  const indexes = isComplete(tree) ? tree.indexes.map(({descriptor}) => descriptor) : [];
  const manifests = manifestsOf(tree).flatMap(({descriptor, config, layers}) => [
    descriptor,
    config,
    ...layers,
  ]);
  return [...indexes, ...manifests];
}

function uniqueBlobs(blobs: readonly OciDescriptor[]): readonly OciDescriptor[] {
  return [...new Map(blobs.map((blob) => [blob.digest, blob])).values()];
}

/** Returns the entries of index.json: one per name, with the annotations of containerd and of the OCI specification. */
function indexEntries({names, tree}: SavedImage): readonly object[] {
  return rootsOf(tree).flatMap(({mediaType, digest, size}) => {
    const descriptor = {mediaType, digest, size};
    if (names.length === 0) return [descriptor];
    return names.map((name) => ({
      ...descriptor,
      annotations: {
        'io.containerd.image.name': name,
        'org.opencontainers.image.ref.name': tagOf(name),
      },
    }));
  });
}

function tagOf(name: string): string {
  return /:([^/:@]+)$/.exec(name)?.[1] ?? name;
}

function dockerEntries({names, tree}: SavedImage): readonly object[] {
  const manifest = manifestForMachine(tree.manifests) ?? tree.manifests[0];
  if (manifest === undefined) return [];
  return [
    {
      Config: pathOf(manifest.config),
      RepoTags: names.filter((name) => !name.includes('@')),
      Layers: manifest.layers.map(pathOf),
    },
  ];
}

function pathOf({digest}: OciDescriptor): string {
  return `blobs/${digest.replace(':', '/')}`;
}

/**
 * Returns an archive in chunks: an OCI image layout that docker, podman and ctr load. Chunks are valid until the next one
 * is read. Rejects with SystemError if a blob is damaged.
 */
export async function* encodeArchive(
  {content}: Pick<ContainerdConnection, 'content'>,
  {index, dockerManifest, blobs}: SavePlan,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  yield* encodeTarMember(jsonFile('oci-layout', {imageLayoutVersion: '1.0.0'}));
  yield* encodeTarMember(directory('blobs'));
  yield* encodeTarMember(directory('blobs/sha256'));
  for (const blob of blobs)
    yield* encodeTarMember(file(pathOf(blob), blob.size, () => readBlob(content, blob, signal)));
  yield* encodeTarMember(jsonFile('index.json', index));
  yield* encodeTarMember(jsonFile('manifest.json', dockerManifest));
  yield encodeTarEnd();
}

const COMMON = {uid: 0, gid: 0, mtimeMs: 0, target: '', device: {major: 0, minor: 0}} as const;

function file(path: string, size: number, content: FileEntry['content']): FileEntry {
  return {...COMMON, path, kind: 'file', mode: 0o644, size, content};
}

function directory(path: string): FileEntry {
  return {...file(path, 0, noContent), kind: 'directory', mode: 0o755};
}

function jsonFile(path: string, value: object): FileEntry {
  const data = Buffer.from(JSON.stringify(value));
  return file(path, data.length, () => chunks(data));
}

async function* chunks(...data: readonly Buffer[]): AsyncGenerator<Buffer, void, undefined> {
  for (const chunk of data) yield await Promise.resolve(chunk);
}

function noContent(): AsyncIterable<Buffer> {
  return chunks();
}
