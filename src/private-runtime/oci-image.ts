import {createHash} from 'node:crypto';
import {tarArchive, type TarEntry} from './tar.js';

/** What an image is made of: one layer and how its containers start. */
export interface ImageSpec {
  /** The names the image gets, complete: `docker.io/library/busybox:1.36`. */
  readonly names: readonly string[];
  /** The one layer's files. */
  readonly files: readonly TarEntry[];
  /** `amd64`, `arm64` …, as the OCI spec calls them. */
  readonly architecture: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  /** `NAME=value` each. */
  readonly env?: readonly string[];
  readonly workingDir?: string;
  readonly user?: string;
}

/** The parts of an image, ready for an archive or a registry. */
export interface OciImage {
  readonly manifest: Blob;
  /** Every blob but the manifest: the configuration and the layer. */
  readonly blobs: readonly Blob[];
}

/** Content under its digest. */
export interface Blob {
  readonly mediaType: string;
  /** `sha256:…`. */
  readonly digest: string;
  readonly data: Uint8Array;
}

const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG_TYPE = 'application/vnd.oci.image.config.v1+json';
const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar';

/** Makes the image. Equal specs give equal digests: nothing in it says when it was made. */
export function ociImage(spec: ImageSpec): OciImage {
  const layer = blob(LAYER_TYPE, tarArchive(spec.files));
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
 * The image as an OCI image layout in a tar archive, as `ctr images import` and `kcri runtime load` take it.
 * Every name is an entry of its index, under the annotations that containerd and the OCI spec read.
 */
export function ociArchive(spec: ImageSpec): Uint8Array {
  const {manifest, blobs} = ociImage(spec);
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
  return tarArchive([
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

/** The OCI name of the machine's processor: Node's `x64` is `amd64`. */
export function ociArchitecture(nodeArchitecture: string): string {
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
