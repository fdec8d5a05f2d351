import {lstat, mkdir, readFile, readlink, readdir, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {createSelfSignedPair} from '../../../../src/format/x509/self-signed-certificate.js';
import {CertificateStore} from '../../../../src/kubelet/cluster/certificates/certificate-store.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

/* The certificates that a kubelet has left in its certificate directory (client-go certificate.FileStore). */

const NOW = Date.UTC(2026, 10, 27, 15, 0, 1);
const {certificate, key} = createSelfSignedPair({
  ...{commonName: 'system:node:node-1', names: ['node-1'], notBeforeMs: 0, notAfterMs: 4e12},
});
const PAIR = `${certificate.trimEnd()}\n${key.trimEnd()}\n`;
const OLD = 'kubelet-client-2026-11-26-13-13-21.pem';
const NEW = 'kubelet-client-2026-11-26-13-13-54.pem';

async function createFixture() {
  const directory = join(await temporaryDirectory(), 'pki');
  await mkdir(directory);
  const at = (name: string): string => join(directory, name);
  await writeFile(at(OLD), 'older', {mode: 0o600});
  await writeFile(at(NEW), PAIR, {mode: 0o600});
  return {at, directory, store: new CertificateStore(directory, 'kubelet-client')};
}

test.each([
  ['a relative link', (path: string) => path.split('/').at(-1)!],
  ['an absolute link, which a kubelet makes', (path: string) => path],
])(
  'the pair behind %s is current, and its successor is linked as a kubelet expects',
  async (_name, target) => {
    const {at, directory, store} = await createFixture();
    await symlink(target(at(NEW)), store.currentPath);
    // A kubelet that was killed while it replaced the link leaves this one.
    await symlink(at(OLD), at('kubelet-client-updated.pem'));
    expect((await store.current())?.key.trim()).toBe(key.trim());
    await store.update({certificate, key}, NOW);
    // A kubelet refuses a current pair that is not a link.
    expect((await lstat(store.currentPath)).isSymbolicLink()).toBe(true);
    expect(await readlink(store.currentPath)).toBe('kubelet-client-2026-11-27-15-00-01.pem');
    expect((await readdir(directory)).toSorted()).toEqual([
      OLD,
      NEW,
      'kubelet-client-2026-11-27-15-00-01.pem',
      'kubelet-client-current.pem',
    ]);
    expect(await readFile(at(NEW), 'utf8')).toBe(PAIR);
  },
);

test('a link to a file that was removed counts as no pair', async () => {
  const {at, store} = await createFixture();
  await symlink(at('kubelet-client-2026-01-01-00-00-00.pem'), store.currentPath);
  expect(await store.current()).toBeUndefined();
});

test.each([
  ['an empty file', ''],
  ['a torn file', PAIR.slice(0, -80)],
  ['a certificate without its key', certificate],
  ['a foreign file', '{"kind":"Config"}'],
])('%s is an error that names the file and what to do, and stays as it is', async (_name, text) => {
  const {at, store} = await createFixture();
  await writeFile(at(NEW), text);
  await symlink(NEW, store.currentPath);
  await expect(store.current()).rejects.toMatchObject({
    message: expect.stringContaining(
      `invalid certificate or private key in "${store.currentPath}"`,
    ) as unknown,
    hint: 'move the file away to request a new certificate',
  });
  expect(await readFile(at(NEW), 'utf8')).toBe(text);
});

test('a directory instead of the link is an error that names it', async () => {
  const {store} = await createFixture();
  await mkdir(store.currentPath);
  await expect(store.current()).rejects.toThrow(`reading "${store.currentPath}"`);
});
