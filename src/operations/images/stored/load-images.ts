import {createHash} from 'node:crypto';
import {SystemError} from '../../../base/errors.js';
import {systemRandom} from '../../../base/clock.js';
import type {ContainerdConnection, ContainerdServices} from '../../../containerd/connect-containerd.js';
import type {ImageRuntime} from './image-runtime.js';
import {listImagesOf, type ListedImage} from './listed-images.js';
import {
  DOCKER_MANIFEST,
  manifestForMachine,
  readTree,
  toStored,
  type OciDescriptor,
  type StoredManifest,
  type StoredTree,
} from './oci-content.js';
import {registerImage, untilCriShows} from './register-image.js';
import {findSnapshotter} from './snapshotter.js';
import {stageArchive} from './stage-archive.js';
import {unpackImage} from './unpack-image.js';
import {writeBlob} from './write-blob.js';

/** Options of loadArchive. */
export interface LoadOptions {
  /** Name for an image that has none in the archive. */
  readonly name?: string | undefined;
  /** Called with the number of bytes of the archive that were read since the last call. */
  readonly onProgress: (bytes: number) => void;
  /** Called before the layers are unpacked. */
  readonly onUnpack: () => void;
}

/** Time after which containerd removes the lease of a killed kcri, in milliseconds. */
const LEASE_MS = 24 * 3_600_000;

/**
 * Loads the images of an archive into containerd and unpacks them, so that the CRI shows and runs them. Returns their
 * names. Names appear when all images are complete; a lease protects the content until then, and what was written is
 * garbage collected if it fails. Rejects with SystemError and CriError.
 */
export async function loadArchive(
  runtime: ImageRuntime,
  connection: ContainerdConnection,
  input: AsyncIterable<Uint8Array>,
  options: LoadOptions,
): Promise<readonly string[]> {
  const {clock, signal} = runtime;
  const id = `kcri-load-${systemRandom().toString(16)}${systemRandom().toString(16)}`;
  const expire = new Date(clock.now() + LEASE_MS).toISOString();
  await connection.leases.create({id, labels: {'containerd.io/gc.expire': expire}}, {signal});
  let isLoaded = false;
  try {
    const names = await loadUnderLease(runtime, {services: connection.withLease(id), id}, input, options);
    isLoaded = true;
    return names;
  } finally {
    // Waits for the garbage collection after a failure, so that nothing is left behind.
    await connection.leases.delete({id, sync: !isLoaded}).catch(() => undefined);
  }
}

async function loadUnderLease(
  runtime: ImageRuntime,
  {services, id}: {readonly services: ContainerdServices; readonly id: string},
  input: AsyncIterable<Uint8Array>,
  {name, onProgress, onUnpack}: LoadOptions,
): Promise<readonly string[]> {
  const {cri, signal} = runtime;
  let ingests = 0;
  const nextRef = (): string => `${id}-${ingests++}`;
  const archive = await stageArchive(services.content, input, {nextRef, onProgress, signal});
  const snapshotter = await findSnapshotter(cri.images, services, signal);
  onUnpack();
  const ready: {readonly names: readonly string[]; readonly root: OciDescriptor; readonly config: string}[] =
    [];
  for (const {names, root: listed} of listImagesOf(archive, name)) {
    const root = await writeRoot(services, listed, {ref: nextRef(), signal});
    const tree = await readTree(services.content, root, signal);
    const manifest = requireManifest(names[0] ?? '', tree, runtime);
    const snapshot = await unpackImage(services, manifest, {snapshotter, keyPrefix: `extract-${id}`, signal});
    await labelContent(services, tree, {manifest, snapshotter, snapshot}, signal);
    ready.push({names, root, config: manifest.config.digest});
  }
  for (const {names, root, config} of ready)
    for (const each of names) {
      await registerImage(services, each, toStored(root), signal);
      await untilCriShows(runtime, each, (image) => image !== undefined && isSameImage(image, each, config));
    }
  return ready.flatMap(({names}) => names);
}

function isSameImage(
  {id, repoTags}: {readonly id: string; readonly repoTags: readonly string[]},
  name: string,
  config: string,
): boolean {
  return config.endsWith(id.replace(/^sha256:/, '')) && (name.includes('@') || repoTags.includes(name));
}

async function writeRoot(
  {content}: ContainerdServices,
  root: ListedImage['root'],
  {ref, signal}: {readonly ref: string; readonly signal: AbortSignal},
): Promise<OciDescriptor> {
  if (!('manifest' in root)) return root;
  const {manifest} = root;
  const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
  async function* chunks(): AsyncGenerator<Buffer, void, undefined> {
    yield await Promise.resolve(manifest);
  }
  await writeBlob(content, {ref, digest, size: manifest.length, chunks: chunks()}, signal);
  return {mediaType: DOCKER_MANIFEST, digest, size: manifest.length, annotations: {}};
}

function requireManifest(
  name: string,
  {manifests, missing}: StoredTree,
  {isRemote}: Pick<ImageRuntime, 'isRemote'>,
): StoredManifest {
  const [other, ...more] = manifests;
  // The architecture of another node is unknown here; containerd rejects an image for another one.
  const only = isRemote && more.length === 0 ? other : undefined;
  const manifest = manifestForMachine(manifests) ?? only;
  if (manifest !== undefined) return manifest;
  if (other === undefined)
    throw new SystemError(`the archive is incomplete: it lacks ${missing[0] ?? 'the content'} of "${name}"`);
  const {os, architecture} = other.platform;
  throw new SystemError(`the image "${name}" is for ${os}/${architecture}, not for this machine`);
}

/** Labels content with what it refers to, which containerd's garbage collection follows from the names of images. */
async function labelContent(
  {content}: ContainerdServices,
  {indexes, manifests}: StoredTree,
  own: {readonly manifest: StoredManifest; readonly snapshotter: string; readonly snapshot: string},
  signal: AbortSignal,
): Promise<void> {
  const label = async (digest: string, labels: Readonly<Record<string, string>>): Promise<void> => {
    const paths = Object.keys(labels).map((key) => `labels.${key}`);
    if (paths.length > 0) await content.update({info: {digest, labels}, updateMask: {paths}}, {signal});
  };
  const references = (prefix: string, blobs: readonly OciDescriptor[]): Record<string, string> =>
    Object.fromEntries(blobs.map(({digest}, index) => [`${GC_CONTENT}.${prefix}.${index}`, digest]));
  for (const {descriptor, children} of indexes) await label(descriptor.digest, references('m', children));
  for (const {descriptor, config, layers} of manifests)
    await label(descriptor.digest, {[`${GC_CONTENT}.config`]: config.digest, ...references('l', layers)});
  const {manifest, snapshotter, snapshot} = own;
  if (snapshot !== '')
    await label(manifest.config.digest, {[`containerd.io/gc.ref.snapshot.${snapshotter}`]: snapshot});
}

const GC_CONTENT = 'containerd.io/gc.ref.content';
