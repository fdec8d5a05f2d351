import {createHash} from 'node:crypto';
import {SystemError} from '../../../base/errors.js';
import type {ContainerdServices} from '../../../containerd/connect-containerd.js';
import type {Descriptor} from '../../../containerd/gen/types.js';
import {isNotFound} from '../../../cri/index.js';
import {at, number, objectOf, parsed, text} from '../../inspect/verbose-info.js';
import type {Json} from '../../../format/json.js';

/** Reference to a blob (OCI image specification). */
export interface OciDescriptor {
  readonly mediaType: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  readonly size: number;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Platform of an image. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
}

/** A manifest of an image for one platform. */
export interface StoredManifest {
  readonly descriptor: OciDescriptor;
  readonly config: OciDescriptor;
  readonly layers: readonly OciDescriptor[];
  readonly platform: Platform;
  /** Digests of the uncompressed layers. */
  readonly diffIds: readonly string[];
}

/** Content of an image, as far as it is in the content store. */
export interface StoredTree {
  readonly root: OciDescriptor;
  /** Indexes, the root first if it is one. */
  readonly indexes: readonly StoredIndex[];
  /** Manifests whose blobs are all present. */
  readonly manifests: readonly StoredManifest[];
  /** Digests of missing blobs. */
  readonly missing: readonly string[];
}

/** An index, and its manifests and indexes that are present. */
export interface StoredIndex {
  readonly descriptor: OciDescriptor;
  readonly children: readonly OciDescriptor[];
}

type Content = ContainerdServices['content'];

export const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
export const OCI_INDEX = 'application/vnd.oci.image.index.v1+json';
export const DOCKER_MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const MANIFESTS: ReadonlySet<string> = new Set([OCI_MANIFEST, DOCKER_MANIFEST]);
const INDEXES: ReadonlySet<string> = new Set([
  OCI_INDEX,
  'application/vnd.docker.distribution.manifest.list.v2+json',
]);

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Maximum size of an index, a manifest or a config: containerd's limit for manifests. */
export const MAX_JSON_BYTES = 8 * 1024 * 1024;
/** Maximum nesting of indexes. */
const MAX_DEPTH = 4;
/** Maximum number of manifests of an image, and of layers of a manifest. */
const MAX_ITEMS = 1000;

/** Reads a descriptor of JSON. Throws SystemError if it is invalid. */
export function parseDescriptor(value: Json | undefined, where: string): OciDescriptor {
  const digest = text(at(value, 'digest'));
  const size = number(at(value, 'size'));
  if (!DIGEST.test(digest) || size === undefined || !Number.isSafeInteger(size) || size < 0)
    throw new SystemError(`${where} has an invalid reference to a blob`);
  const annotations = Object.entries(objectOf(at(value, 'annotations'))).map(
    ([key, each]) => [key, text(each)] as const,
  );
  return {
    mediaType: text(at(value, 'mediaType')),
    digest,
    size,
    annotations: Object.fromEntries(annotations),
  };
}

/** Returns a descriptor of containerd's API as one of JSON. */
export function fromStored({mediaType, digest, size, annotations}: Descriptor): OciDescriptor {
  return {mediaType, digest, size: Number(size), annotations};
}

/** Returns a descriptor of JSON as one of containerd's API. */
export function toStored({mediaType, digest, size, annotations}: OciDescriptor): Descriptor {
  return {mediaType, digest, size: BigInt(size), annotations};
}

/** Reports whether a blob is in the content store. Rejects with CriError. */
export async function hasBlob(content: Content, digest: string, signal: AbortSignal): Promise<boolean> {
  try {
    await content.info({digest}, {signal});
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/**
 * Returns the data of a blob in chunks, as fast as they are read. Rejects with SystemError before the last chunk if the
 * size or the digest differs from the descriptor.
 */
export async function* readBlob(
  content: Content,
  {digest, size}: OciDescriptor,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const hash = createHash('sha256');
  let length = 0;
  let last: Buffer | undefined;
  for await (const {data} of content.read({digest}, {signal})) {
    length += data.length;
    if (length > size) break;
    hash.update(data);
    if (last !== undefined) yield last;
    last = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  }
  if (length !== size || `sha256:${hash.digest('hex')}` !== digest)
    throw new SystemError(`the blob ${digest} in containerd's content store is damaged`, {
      hint: 'remove the image and pull it again',
    });
  if (last !== undefined) yield last;
}

/** Parses JSON of an archive or a blob. Throws SystemError, which names `where`, if it is not JSON. */
export function parseContent(data: Buffer, where: string): Json {
  const json = parsed(data.toString());
  if (json === null) throw new SystemError(`${where} is not JSON`);
  return json;
}

/** Reads a small blob as JSON. Rejects with SystemError if it is too large, damaged or not JSON. */
export async function readJsonBlob(
  content: Content,
  descriptor: OciDescriptor,
  signal: AbortSignal,
): Promise<Json> {
  const {digest, size} = descriptor;
  if (size > MAX_JSON_BYTES)
    throw new SystemError(`the blob ${digest} has ${size} bytes, too many for a manifest or config`);
  const chunks: Buffer[] = [];
  for await (const chunk of readBlob(content, descriptor, signal)) chunks.push(chunk);
  return parseContent(Buffer.concat(chunks), `the blob ${digest}`);
}

/** Reads the content of an image as far as it is present. Rejects with SystemError for invalid content. */
export async function readTree(
  content: Content,
  root: OciDescriptor,
  signal: AbortSignal,
): Promise<StoredTree> {
  const indexes: StoredIndex[] = [];
  const manifests: StoredManifest[] = [];
  const missing: string[] = [];
  const visit = async (descriptor: OciDescriptor, depth: number): Promise<void> => {
    const {mediaType, digest} = descriptor;
    if (!(await hasBlob(content, digest, signal))) missing.push(digest);
    else if (MANIFESTS.has(mediaType)) {
      const manifest = await readManifest(content, descriptor, signal);
      if (typeof manifest === 'string') missing.push(manifest);
      else manifests.push(manifest);
    } else if (INDEXES.has(mediaType)) {
      const items = listOf(await readJsonBlob(content, descriptor, signal), 'manifests', digest);
      if (depth >= MAX_DEPTH) throw new SystemError(`the index ${digest} is nested too deeply`);
      const children = items.map((item) => parseDescriptor(item, `the index ${digest}`));
      const present: OciDescriptor[] = [];
      indexes.push({descriptor, children: present});
      for (const child of children) {
        await visit(child, depth + 1);
        if (await hasBlob(content, child.digest, signal)) present.push(child);
      }
    } else throw new SystemError(`the blob ${digest} of the unknown type "${mediaType}" is not an image`);
  };
  await visit(root, 0);
  return {root, indexes, manifests, missing};
}

/** Reads a manifest; returns the digest of the first blob of it that is missing. */
async function readManifest(
  content: Content,
  descriptor: OciDescriptor,
  signal: AbortSignal,
): Promise<StoredManifest | string> {
  const where = `the manifest ${descriptor.digest}`;
  const json = await readJsonBlob(content, descriptor, signal);
  const config = parseDescriptor(at(json, 'config'), where);
  const layers = listOf(json, 'layers', descriptor.digest).map((layer) => parseDescriptor(layer, where));
  for (const {digest} of [config, ...layers]) if (!(await hasBlob(content, digest, signal))) return digest;
  const settings = await readJsonBlob(content, config, signal);
  const diffIds = listOf(at(settings, 'rootfs') ?? {}, 'diff_ids', config.digest).map(text);
  const platform = {os: text(at(settings, 'os')), architecture: text(at(settings, 'architecture'))};
  return {descriptor, config, layers, platform, diffIds};
}

function listOf(json: Json, key: string, digest: string): readonly Json[] {
  const list = at(json, key);
  const items = Array.isArray(list) ? (list as readonly Json[]) : [];
  if (items.length > MAX_ITEMS) throw new SystemError(`the blob ${digest} has too many ${key}`);
  return items;
}

/** Returns the manifest for this machine, or the only one. */
export function manifestForMachine(
  manifests: readonly StoredManifest[],
  nodeArchitecture: string = process.arch,
): StoredManifest | undefined {
  const architecture = nodeArchitecture === 'x64' ? 'amd64' : nodeArchitecture;
  return manifests.find(({platform}) => platform.os === 'linux' && platform.architecture === architecture);
}
