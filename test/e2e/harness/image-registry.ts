import {spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {busyboxSpec} from '../../../scripts/test-images.mjs';
import {buildOciImage, type Blob, type OciImage} from '../../../src/private-runtime/image/oci-image.js';
import {listenOnLoopback} from '../../base/listen-on-loopback.js';
import {until} from '../../base/until.js';

/** An image registry on loopback. */
export interface ImageRegistry extends AsyncDisposable {
  /** `127.0.0.1:PORT`, the first component of its image names. */
  readonly host: string;
  /** Pushes the busybox image, with additional files, under this name and tag, and returns its full name. */
  push(name: string, tag: string, files?: ImageFiles): Promise<string>;
  /**
   * Pushes the busybox image with an additional file of random content, so that no runtime has its layer already.
   * `bytes` is the size of the file, by default 1 KiB.
   */
  pushUnique(name: string, tag: string, bytes?: number): Promise<string>;
  stop(): Promise<void>;
}

type ImageFiles = Parameters<typeof buildOciImage>[0]['files'];

/** A user of a registry. */
export interface RegistryUser {
  readonly name: string;
  readonly password: string;
  /** The bcrypt hash of the password. */
  readonly bcrypt: string;
}

/** User for registries with authentication. */
export const ALICE: RegistryUser = {
  name: 'alice',
  password: 'se:cret',
  bcrypt: '$2y$04$dKuqfsDakM0EFGrzvKtYUeoSi2hoEFH8.un6flMJtlTmIN2CGqSmK',
};

/** Starts a registry that stores its images in a temporary directory. Without `user` it needs no authentication. */
export async function startImageRegistry(user?: RegistryUser, port?: number): Promise<ImageRegistry> {
  const dir = await mkdtemp(join(tmpdir(), 'kcri-registry-'));
  const host = `127.0.0.1:${port ?? (await freePort())}`;
  const config = join(dir, 'config.yml');
  await writeFile(
    config,
    `version: 0.1\nstorage: {filesystem: {rootdirectory: ${dir}}}\nhttp: {addr: "${host}"}\n` +
      (user === undefined ? '' : `auth: {htpasswd: {realm: test, path: ${join(dir, 'users')}}}\n`),
  );
  if (user !== undefined) await writeFile(join(dir, 'users'), `${user.name}:${user.bcrypt}\n`);
  const server = spawn('docker-registry', ['serve', config], {stdio: 'ignore'});
  const ended = once(server, 'exit');
  await untilAnswers(`http://${host}/v2/`);
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL');
    await ended;
    await rm(dir, {recursive: true});
  };
  const headers: Headers =
    user === undefined
      ? {}
      : {authorization: `Basic ${Buffer.from(`${user.name}:${user.password}`).toString('base64')}`};
  return {
    host,
    push: async (name, tag, files = []) =>
      await push(host, `${name}:${tag}`, headers, await busyboxWith(files)),
    pushUnique: async (name, tag, bytes = 1024) => {
      const own: ImageFiles = [{type: 'file', path: 'own', data: randomBytes(bytes)}];
      return await push(host, `${name}:${tag}`, headers, await busyboxWith(own));
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

type Headers = Readonly<Record<string, string>>;

async function busyboxWith(files: ImageFiles): Promise<OciImage> {
  const spec = await busyboxSpec();
  return buildOciImage({...spec, files: [...spec.files, ...files]});
}

async function push(
  host: string,
  image: string,
  headers: Headers,
  {manifest, blobs}: OciImage,
): Promise<string> {
  const [name = '', tag = ''] = image.split(':');
  for (const blob of blobs) await pushBlob(`http://${host}/v2/${name}`, blob, headers);
  await expectStatus(201, `http://${host}/v2/${name}/manifests/${tag}`, {
    method: 'PUT',
    headers: {...headers, 'content-type': manifest.mediaType},
    body: Buffer.from(manifest.data),
  });
  return `${host}/${image}`;
}

async function pushBlob(repository: string, blob: Blob, headers: Headers): Promise<void> {
  const started = await expectStatus(202, `${repository}/blobs/uploads/`, {method: 'POST', headers});
  const location = new URL(started.headers.get('location') ?? '', repository);
  location.searchParams.set('digest', blob.digest);
  await expectStatus(201, location, {
    method: 'PUT',
    headers: {...headers, 'content-type': 'application/octet-stream'},
    body: Buffer.from(blob.data),
  });
}

async function expectStatus(status: number, url: string | URL, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.status === status) return response;
  throw new Error(`${init.method ?? 'GET'} ${String(url)}: ${response.status} ${await response.text()}`);
}

async function untilAnswers(url: string): Promise<void> {
  const answers = (): Promise<boolean> =>
    fetch(url).then(
      ({status}) => status === 200 || status === 401,
      () => false,
    );
  await until(answers, () => `an answer at ${url}`);
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnLoopback(server);
  server.close();
  await once(server, 'close');
  return port;
}
