import {SystemError} from '../../base/errors.js';
import {createCtrClient, type CtrClient} from '../containerd/ctr-client.js';
import {openImageSource} from './image-source.js';
import {computeRuntimeLayout} from '../private-runtime-layout.js';
import {isRunning} from '../process/running-process.js';
import {readRuntimeRecord} from '../private-runtime-record.js';
import {canonicalDirectory} from '../root-dir.js';

/**
 * Imports images into the private runtime: OCI or docker archives (tar, optionally compressed), or directories with an
 * OCI image layout. Yields the image names of each path after its import.
 *
 * Throws SystemError if the runtime is down, a path contains no named image, or an import fails.
 */
export async function* loadImages(
  {rootDir, paths}: {readonly rootDir: string; readonly paths: readonly string[]},
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const {socket} = computeRuntimeLayout(await canonicalDirectory(rootDir));
  const record = readRuntimeRecord(rootDir);
  if (record?.process === undefined || !isRunning(record.process)) {
    throw new SystemError('the private runtime is not running', {hint: 'start it with "kcri runtime up"'});
  }
  const client = createCtrClient(record.ctr, socket, record.snapshotter.value);
  for (const path of paths) yield* await loadOne(client, path, signal);
}

async function loadOne(client: CtrClient, path: string, signal: AbortSignal): Promise<string[]> {
  const source = await openImageSource(path);
  // Current docker archives have both; containerd uses the index.
  const index = await source.read('index.json', signal);
  const manifests = index === undefined ? await source.read('manifest.json', signal) : undefined;
  const text = index ?? manifests;
  if (text === undefined) {
    throw new SystemError(`"${path}" is neither an OCI image nor a docker archive`, {
      hint: 'it must contain index.json (OCI) or manifest.json (docker save)',
    });
  }
  const listed = parse(path, text);
  await source.importInto(client, signal);
  const names =
    index === undefined
      ? dockerImageNames(listed as readonly DockerManifest[])
      : ociNames(listed as OciIndex, await client.listImages(signal));
  if (names.length > 0) return names;
  throw new SystemError(`"${path}" contains no named image`, {
    hint: 'its index.json or manifest.json must name complete images',
  });
}

/** Returns containerd's names of the images in the index; only complete images have one. */
function ociNames({manifests = []}: OciIndex, images: readonly Image[]): string[] {
  const digests = manifests.map(({digest}) => digest);
  return images.filter(({name, digest}) => digests.includes(digest) && !isDigest(name)).map(({name}) => name);
}

interface Image {
  readonly name: string;
  readonly digest: string;
}

interface OciIndex {
  readonly manifests?: readonly {readonly digest: string}[];
}

interface DockerManifest {
  readonly RepoTags?: readonly string[] | null;
}

/** Returns the full names of a docker archive's images; docker omits its own registry. */
export function dockerImageNames(manifests: readonly DockerManifest[]): string[] {
  return manifests.flatMap(({RepoTags}) => RepoTags ?? []).map(completeName);
}

function completeName(name: string): string {
  const [first = '', ...rest] = name.split('/');
  if (rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')) return name;
  return rest.length === 0 ? `docker.io/library/${name}` : `docker.io/${name}`;
}

function isDigest(name: string): boolean {
  return name.startsWith('sha256:');
}

function parse(path: string, json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new SystemError(`the index of "${path}" is not valid JSON`, {cause: error});
  }
}
