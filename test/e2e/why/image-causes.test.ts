import {createHash} from 'node:crypto';
import {createServer, type Server} from 'node:http';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {listenOnLoopback} from '../../base/listen-on-loopback.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

interface Found {
  readonly rule: string;
  readonly cause: string;
  readonly tries: readonly string[];
}

/** Port on which nothing listens. */
const NO_PROXY_THERE = 'http://127.0.0.1:1';
const INDEX = JSON.stringify({
  schemaVersion: 2,
  mediaType: 'application/vnd.oci.image.index.v1+json',
  manifests: [
    {
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      digest: `sha256:${'1'.repeat(64)}`,
      size: 100,
      platform: {os: 'linux', architecture: 's390x'},
    },
  ],
});
const DIGEST = `sha256:${createHash('sha256').update(INDEX).digest('hex')}`;

/** A registry whose images exist for another platform only. */
function startForeignRegistry(): Server {
  return createServer(({url = '', method}, response) => {
    if (!url.includes('/manifests/')) {
      response.writeHead(url === '/v2/' ? 200 : 404).end();
      return;
    }
    response.writeHead(200, {
      'content-type': 'application/vnd.oci.image.index.v1+json',
      'content-length': Buffer.byteLength(INDEX),
      'docker-content-digest': DIGEST,
    });
    response.end(method === 'HEAD' ? undefined : INDEX);
  });
}

describe.each(newestRuntime)('why, images that cannot be pulled: $name', (which) => {
  let testbed: PodTestbed;
  let registry = '';
  const server = startForeignRegistry();

  beforeAll(async () => {
    // Registries on loopback are reached without the proxy.
    const env = {HTTP_PROXY: NO_PROXY_THERE, HTTPS_PROXY: NO_PROXY_THERE, NO_PROXY: ''};
    testbed = await startPodTestbed(which, undefined, env);
    registry = `127.0.0.1:${await listenOnLoopback(server)}`;
  });
  afterAll(async () => {
    await testbed[Symbol.asyncDispose]();
    server.close();
  });

  /** Returns what is wrong with a pod of this image, which a sync has left when `rule` was found. */
  async function causesOf(name: string, image: string, rule: string): Promise<readonly Found[]> {
    const causes = async (): Promise<readonly Found[]> => {
      const {stdout} = await testbed.runtime.kcri(['why', name, '-o', 'json']);
      if (stdout === '') return [];
      return (JSON.parse(stdout) as {items: {findings: readonly Found[]}[]}).items[0]?.findings ?? [];
    };
    const isFound = async (): Promise<boolean> => (await causes()).some((found) => found.rule === rule);
    const containers = [aContainer('main', {image})];
    await testbed.leaveWhen(isFound, aManifest(name, {containers}));
    onTestFinished(async () => {
      await testbed.delete(name);
    });
    return await causes();
  }

  test('an image that does not exist for the platform of the node', async () => {
    expect(await causesOf('platform', `${registry}/foreign:1`, 'image-platform')).toMatchObject([
      {
        rule: 'image-platform',
        cause: `image ${registry}/foreign:1 does not exist for the platform of this node`,
      },
    ]);
  });

  test('a proxy that does not answer', async () => {
    expect(await causesOf('proxy', 'registry.invalid/none:1', 'image-proxy')).toMatchObject([
      {
        rule: 'image-proxy',
        cause: expect.stringMatching(
          /^the proxy of the runtime does not forward the request: proxyconnect tcp: .*127\.0\.0\.1:1.*refused/,
        ) as string,
      },
    ]);
  });
});
