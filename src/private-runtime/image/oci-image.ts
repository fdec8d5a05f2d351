import {createHash} from 'node:crypto';
import {createTarArchive, type TarEntry} from './tar.js';

/** Specification of an image: one layer and its container configuration. */
export interface ImageSpec {
  /** Full names of the image, such as `docker.io/library/busybox:1.36`. */
  readonly names: readonly string[];
  /** Files of the layer. */
  readonly files: readonly TarEntry[];
  /** OCI architecture: `amd64`, `arm64` … */
  readonly architecture: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  /** Environment variables as `NAME=value`. */
  readonly env?: readonly string[];
  readonly workingDir?: string;
  readonly user?: string;
}

/** Blobs of an image, ready for an archive or a registry. */
export interface OciImage {
  readonly manifest: Blob;
  /** The configuration and the layer. */
  readonly blobs: readonly Blob[];
}

/** A blob and its digest. */
export interface Blob {
  readonly mediaType: string;
  /** Digest of the data: `sha256:…`. */
  readonly digest: string;
  readonly data: Uint8Array;
}

const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG_TYPE = 'application/vnd.oci.image.config.v1+json';
const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar';

/** Builds the image. Equal specifications give equal digests, because the image contains no timestamps. */
export function buildOciImage(spec: ImageSpec): OciImage {
  const layer = blob(LAYER_TYPE, createTarArchive(spec.files));
  const config = jsonBlob(CONFIG_TYPE, {
    architecture: spec.architecture,
    os: 'linux',
    config: {
      Entrypoint: spec.entrypoint,
      Cmd: spec.command,
      Env: spec.env,
      WorkingDir: spec.workingDir,
      User: spec.user,
    },
    rootfs: {type: 'layers', diff_ids: [layer.digest]},
    history: [{created_by: 'kcri'}],
  });
  const manifest = jsonBlob(MANIFEST_TYPE, {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: descriptor(config),
    layers: [descriptor(layer)],
  });
  return {manifest, blobs: [config, layer]};
}

/**
 * Returns the image as an OCI image layout in a tar archive for `ctr images import` and `kcri runtime load`. Each name
 * is an entry of its index, with the annotations of containerd and of the OCI specification.
 */
export function buildOciArchive(spec: ImageSpec): Uint8Array {
  const {manifest, blobs} = buildOciImage(spec);
  const index = {
    schemaVersion: 2,
    manifests: spec.names.map((name) => ({
      ...descriptor(manifest),
      annotations: {
        'io.containerd.image.name': name,
        'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
      },
    })),
  };
  return createTarArchive([
    jsonFile('oci-layout', {imageLayoutVersion: '1.0.0'}),
    jsonFile('index.json', index),
    {type: 'directory', path: 'blobs'},
    {type: 'directory', path: 'blobs/sha256'},
    ...[manifest, ...blobs].map(({digest, data}): TarEntry => ({
      type: 'file',
      path: `blobs/${digest.replace(':', '/')}`,
      data,
    })),
  ]);
}

/** Returns the OCI architecture of the machine: Node.js's `x64` is `amd64`. */
export function toOciArchitecture(nodeArchitecture: string): string {
  return nodeArchitecture === 'x64' ? 'amd64' : nodeArchitecture;
}

function descriptor({mediaType, digest, data}: Blob): {mediaType: string; digest: string; size: number} {
  return {mediaType, digest, size: data.length};
}

function blob(mediaType: string, data: Uint8Array): Blob {
  return {mediaType, digest: `sha256:${createHash('sha256').update(data).digest('hex')}`, data};
}

function jsonBlob(mediaType: string, value: unknown): Blob {
  return blob(mediaType, Buffer.from(JSON.stringify(value)));
}

function jsonFile(path: string, value: unknown): TarEntry {
  return {type: 'file', path, data: Buffer.from(JSON.stringify(value))};
}
