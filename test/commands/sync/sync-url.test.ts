import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {describe, expect, onTestFinished, test} from 'vitest';
import {aManifest, createTestbed, expectUserError} from '../command-testbed.js';

interface ManifestServer {
  /** URL with credentials. */
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
}

async function serve(
  respond: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<ManifestServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    respond(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const {port} = server.address() as AddressInfo;
  return {url: `http://user:secret@127.0.0.1:${port}/web.yaml?token=hidden`, requests};
}

const SHOWN = /http:\/\/user:\*\*\*@127\.0\.0\.1:\d+\/web\.yaml\?token=\*\*\*/;

describe('a manifest from a URL', () => {
  test('is synced with the credentials of the URL, planned, run and deleted', async () => {
    const testbed = await createTestbed();
    const {url, requests} = await serve((_, response) => response.end(aManifest()));
    expect(await testbed.run(['sync', url])).toMatchObject({exitCode: 0, stderr: ''});
    expect(requests[0]!.headers.authorization).toBe(`Basic ${btoa('user:secret')}`);
    expect(await testbed.run(['plan', url])).toMatchObject({exitCode: 0});
    const ran = await testbed.run(['runp', url]);
    expect(ran).toMatchObject({exitCode: 0, stdout: `${testbed.runtime.sandboxes[0]!.id}\n`});
    expect(await testbed.run(['delete', url])).toMatchObject({stdout: 'pod "default/web" deleted\n'});
    expect(requests).toHaveLength(4);
  });

  test('is read after a redirect, and a static pod has the URL as its source', async () => {
    const testbed = await createTestbed();
    const {url} = await serve((request, response) => {
      if (request.url === '/next') response.end(aManifest());
      else response.writeHead(302, {location: '/next'}).end();
    });
    expect(await testbed.run(['sync', '--static', '--hostname-override', 'n1', url])).toMatchObject({
      exitCode: 0,
    });
    expect(testbed.runtime.sandboxes[0]!.config).toMatchObject({
      metadata: {name: 'web-n1'},
      annotations: {'kubernetes.io/config.source': 'http'},
    });
  });

  test.each<[string, number, string, RegExp]>([
    ['is a web page', 200, '<!DOCTYPE html><html></html>', /is a web page, not a manifest\n.*browser/],
    ['is empty', 200, ' \n', /is empty/],
    ['is missing', 404, 'no', /: 404 Not Found\n.*check the URL/],
    ['needs a login', 401, 'no', /: 401 Unauthorized\n.*curl/],
    ['has an invalid field', 200, aManifest({hostNetwork: 'no'}), /:1:\d+: spec\.hostNetwork: Invalid value/],
    ['is larger than a manifest', 200, `#${'x'.repeat(11 * 1024 * 1024)}`, /the read limit is reached/],
  ])('that %s is refused without showing credentials', async (_, status, body, message) => {
    const testbed = await createTestbed();
    const {url} = await serve((_request, response) => response.writeHead(status).end(body));
    const result = await testbed.run(['sync', url]);
    expectUserError(result);
    expect(result.stderr).toMatch(message);
    expect(result.stderr).toMatch(SHOWN);
    expect(result.stderr).not.toMatch(/secret@|hidden/);
    expect({exitCode: result.exitCode, calls: testbed.mutatingCalls}).toEqual({exitCode: 1, calls: []});
  });

  test.each([
    [
      'http://127.0.0.1:1/web.yaml',
      /cannot read manifest "http:\/\/127\.0\.0\.1:1\/web\.yaml": .*ECONNREFUSED/,
    ],
    ['https://user:secret@[bad/web.yaml', /invalid URL "https:\/\/\*\*\*@\[bad\/web\.yaml"/],
  ])('%s is refused', async (url, message) => {
    const testbed = await createTestbed();
    const result = await testbed.run(['sync', url]);
    expectUserError(result);
    expect(result.stderr).toMatch(message);
  });

  test('whose pod does not exist is not shown with credentials by delete', async () => {
    const testbed = await createTestbed();
    const {url} = await serve((_, response) => response.end(aManifest()));
    const {stderr, exitCode} = await testbed.run(['delete', url]);
    expect({exitCode, stderr}).toMatchObject({exitCode: 1, stderr: expect.stringMatching(SHOWN) as string});
    expect(stderr).not.toMatch(/secret@|hidden/);
  });

  test('redirected without end is refused', async () => {
    const testbed = await createTestbed();
    const {url, requests} = await serve((_, response) => response.writeHead(302, {location: '/next'}).end());
    const {stderr, exitCode} = await testbed.run(['sync', url]);
    expect({exitCode, requests: requests.length}).toEqual({exitCode: 1, requests: 11});
    expect(stderr).toContain('stopped after 10 redirects');
  });
});
