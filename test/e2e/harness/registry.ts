import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createServer, type AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {busyboxImage} from '../../../scripts/test-images.mjs';
import type {Blob} from '../../../src/private-runtime/oci-image.js';

/** An image registry on loopback. */
export interface Registry extends AsyncDisposable {
  /** `127.0.0.1:PORT`, the first part of its images' names. */
  readonly host: string;
  /** Puts the busybox image there under this name and tag; gives the complete name. */
  push(name: string, tag: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a registry that keeps its images in a temporary directory. */
export async function startRegistry(): Promise<Registry> {
  const dir = await mkdtemp(join(tmpdir(), 'kcri-registry-'));
  const host = `127.0.0.1:${await freePort()}`;
  const config = join(dir, 'config.yml');
  await writeFile(
    config,
    `version: 0.1\nstorage: {filesystem: {rootdirectory: ${dir}}}\nhttp: {addr: "${host}"}\n`,
  );
  const server = spawn('docker-registry', ['serve', config], {stdio: 'ignore'});
  const ended = once(server, 'exit');
  await untilAnswers(`http://${host}/v2/`);
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL');
    await ended;
    await rm(dir, {recursive: true});
  };
  return {host, push: (name, tag) => push(host, name, tag), stop, [Symbol.asyncDispose]: stop};
}

async function push(host: string, name: string, tag: string): Promise<string> {
  const {manifest, blobs} = await busyboxImage();
  for (const blob of blobs) await pushBlob(`http://${host}/v2/${name}`, blob);
  await expectStatus(201, `http://${host}/v2/${name}/manifests/${tag}`, {
    method: 'PUT',
    headers: {'content-type': manifest.mediaType},
    body: Buffer.from(manifest.data),
  });
  return `${host}/${name}:${tag}`;
}

async function pushBlob(repository: string, blob: Blob): Promise<void> {
  const started = await expectStatus(202, `${repository}/blobs/uploads/`, {method: 'POST'});
  const location = new URL(started.headers.get('location') ?? '', repository);
  location.searchParams.set('digest', blob.digest);
  await expectStatus(201, location, {
    method: 'PUT',
    headers: {'content-type': 'application/octet-stream'},
    body: Buffer.from(blob.data),
  });
}

async function expectStatus(status: number, url: string | URL, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.status === status) return response;
  throw new Error(`${init.method ?? 'GET'} ${String(url)}: ${response.status} ${await response.text()}`);
}

async function untilAnswers(url: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const answered = await fetch(url).then(
      ({ok}) => ok,
      () => false,
    );
    if (answered) return;
    await delay(50);
  }
  throw new Error(`nothing answers at ${url}`);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const {port} = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
