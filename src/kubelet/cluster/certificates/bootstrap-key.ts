import {createHash, createPrivateKey, createPublicKey} from 'node:crypto';
import {readFile, rm} from 'node:fs/promises';
import {dirname} from 'node:path';
import {writeFileAtomic} from '../../../base/fs/atomic-write.js';
import {ifPresent, withFileErrors} from '../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../base/fs/make-directory-path.js';
import {createKey} from '../../../format/x509/certificate-request.js';
import {commonNameOf, NODES_ORGANIZATION, type CertificatePurpose} from './certificate-purpose.js';
import type {CertificateStore} from './certificate-store.js';
import type {ReusedRequest} from './request-certificate.js';

/**
 * Returns the request of a node that has no kubeconfig yet: with the key of its last certificate, or with a key that is
 * stored until the certificate is issued, so that a restarted kubelet finds its request (bootstrap.LoadClientCert). Rejects
 * with SystemError.
 */
export async function openBootstrapRequest(
  purpose: CertificatePurpose,
  store: CertificateStore,
): Promise<ReusedRequest> {
  const path = store.temporaryKeyPath;
  const last = await store.current().catch(() => undefined);
  let key =
    last?.key ?? (await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8'))));
  if (!isUsableKey(key)) {
    key = createKey();
    await makeDirectoryPath(dirname(path), 0o750);
    await writeFileAtomic(path, key, 0o600);
  }
  return {name: requestName(purpose, key), key};
}

/** Removes the stored key. Rejects with SystemError. */
export async function removeBootstrapKey({temporaryKeyPath: path}: CertificateStore): Promise<void> {
  await withFileErrors('removing', path, async () => rm(path, {force: true}));
}

function isUsableKey(key: string | undefined): key is string {
  try {
    return createPrivateKey(key ?? '').asymmetricKeyType === 'ec';
  } catch {
    return false;
  }
}

/** Returns the name of the request for a key, which differs if anything of the request does (digestedName). */
function requestName({nodeName, usages}: CertificatePurpose, key: string): string {
  const publicKey = createPublicKey(key).export({type: 'spki', format: 'der'});
  const parts = [publicKey, commonNameOf(nodeName), NODES_ORGANIZATION, ...usages];
  const text = parts.map((part) => `${Buffer.from(part as string).toString('base64url')}|`).join('');
  return `node-csr-${createHash('sha512-256').update(text).digest('base64url')}`;
}
