import {SystemError} from '../base/errors.js';
import {containerdClient, type ContainerdClient} from './ctr.js';
import {imageSource} from './image-source.js';
import {layoutOf} from './layout.js';
import {isRunning} from './process-identity.js';
import {readRecord} from './record.js';
import {canonical} from './root-dir.js';

/**
 * Imports images into the private runtime: OCI or docker archives (tar, also compressed), or directories with
 * an OCI image layout. Yields the names of a path's images as soon as they are there, path by path.
 *
 * Throws SystemError when the runtime isn't up, a path holds no image with a name or an import fails.
 */
export async function* load(
  {rootDir, paths}: {readonly rootDir: string; readonly paths: readonly string[]},
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const {socket} = layoutOf(await canonical(rootDir));
  const record = readRecord(rootDir);
  if (record?.process === undefined || !isRunning(record.process)) {
    throw new SystemError('the private runtime is not up', {hint: 'start it with "kcri runtime up"'});
  }
  const client = containerdClient(record.ctr, socket, record.snapshotter.value);
  for (const path of paths) yield* await loadOne(client, path, signal);
}

async function loadOne(client: ContainerdClient, path: string, signal: AbortSignal): Promise<string[]> {
  const source = await imageSource(path);
  // Archives that docker writes today have both; the index is what containerd goes by.
  const index = await source.read('index.json', signal);
  const manifests = index === undefined ? await source.read('manifest.json', signal) : undefined;
  const text = index ?? manifests;
  if (text === undefined) {
    throw new SystemError(`"${path}" is neither an OCI image nor a docker archive`, {
      hint: 'it must hold an index.json (OCI) or a manifest.json (docker save)',
    });
  }
  const listed = parse(path, text);
  await source.importInto(client, signal);
  const names =
    index === undefined
      ? dockerNames(listed as readonly DockerManifest[])
      : ociNames(listed as OciIndex, await client.images(signal));
  if (names.length > 0) return names;
  throw new SystemError(`"${path}" gave no image with a name`, {
    hint: 'its index must name images that are whole: look at index.json or manifest.json in it',
  });
}

/** The names that containerd has for what the index lists: only images that were there as a whole. */
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

/** The complete names of a docker archive's images: docker leaves out its own registry. */
export function dockerNames(manifests: readonly DockerManifest[]): string[] {
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
    throw new SystemError(`the index of "${path}" is no JSON`, {cause: error});
  }
}
