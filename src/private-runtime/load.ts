import {SystemError} from '../base/errors.js';
import {containerdClient, type ContainerdClient} from './ctr.js';
import {imageSource} from './image-source.js';
import {layoutOf} from './layout.js';
import {isRunning} from './process-identity.js';
import {readRecord} from './record.js';
import {canonical} from './root-dir.js';

/**
 * Imports images into the private runtime: OCI or docker archives (tar, also compressed), or directories with
 * an OCI image layout. Gives the names of the images in them, in the order of the paths.
 *
 * Throws SystemError when the runtime isn't up, a path holds no image or an import fails.
 */
export async function load(
  {rootDir, paths}: {readonly rootDir: string; readonly paths: readonly string[]},
  signal: AbortSignal,
): Promise<string[]> {
  const record = readRecord(rootDir);
  if (record?.process === undefined || !isRunning(record.process)) {
    throw new SystemError('the private runtime is not up', {hint: 'start it with "kcri runtime up"'});
  }
  const {socket} = layoutOf(await canonical(rootDir));
  const client = containerdClient(record.ctr, socket, record.snapshotter.value);
  const names: string[] = [];
  for (const path of paths) names.push(...(await loadOne(client, path, signal)));
  return names;
}

async function loadOne(client: ContainerdClient, path: string, signal: AbortSignal): Promise<string[]> {
  const source = await imageSource(path);
  // Archives that docker writes today have both; the index is what containerd goes by.
  const index = await source.read('index.json', signal);
  const manifests = index === undefined ? await source.read('manifest.json', signal) : undefined;
  if (index === undefined && manifests === undefined) {
    throw new SystemError(`"${path}" is neither an OCI image nor a docker archive`, {
      hint: 'it must hold an index.json (OCI) or a manifest.json (docker save)',
    });
  }
  await source.importInto(client, signal);
  if (index === undefined) return dockerNames(parse(path, manifests ?? '') as readonly DockerManifest[]);
  const digests = ((parse(path, index) as OciIndex).manifests ?? []).map(({digest}) => digest);
  const images = await client.images(signal);
  return images.filter(({name, digest}) => digests.includes(digest) && !isDigest(name)).map(({name}) => name);
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
