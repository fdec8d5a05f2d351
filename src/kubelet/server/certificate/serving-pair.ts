import {createPrivateKey, X509Certificate} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../../../base/clock.js';
import {ConfigError, messageOf} from '../../../base/errors.js';
import {ifPresent, withFileErrors, writeFileAtomic} from '../../../base/files.js';
import {makeDirectoryPath} from '../../../base/make-directory-path.js';
import type {ServingCertificate} from '../options.js';
import {selfSignedPair, type CertificatePair} from './self-signed.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** As long as the kubelet's own. */
const VALID_MS = 365 * DAY_MS;
/** Clocks differ. */
const BACKDATED_MS = 60 * 60 * 1000;

/**
 * The certificate and key of the authenticated port: those of the files that are named, or `kubelet.crt` and
 * `kubelet.key` of the certificate directory, which are made when they are missing or, signed by themselves, have
 * expired (cmd/kubelet InitializeTLS). The key's file is for its owner alone. Rejects with ConfigError and SystemError.
 */
export async function servingPair(
  {certFile, keyFile, certDir, names}: ServingCertificate,
  nodeName: string,
  clock: Clock,
): Promise<CertificatePair> {
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new ConfigError('of tlsCertFile and tlsPrivateKeyFile only one is given', {
      hint: 'give both, or none to have a certificate made in the certificate directory',
    });
  if (certFile !== undefined && keyFile !== undefined) return await readPair(certFile, keyFile);
  const [certPath, keyPath] = [join(certDir, 'kubelet.crt'), join(certDir, 'kubelet.key')];
  const kept = await keptPair(certPath, keyPath);
  if (kept !== undefined && !isOutworn(kept.certificate, clock)) return checkedPair(kept, certPath, keyPath);
  const made = makePair(nodeName, names, clock);
  await makeDirectoryPath(certDir, 0o750);
  await writeFileAtomic(keyPath, made.key, 0o600);
  await writeFileAtomic(certPath, made.certificate, 0o644);
  return made;
}

function makePair(nodeName: string, names: readonly string[], clock: Clock): CertificatePair {
  const now = clock.now();
  return selfSignedPair({
    commonName: `${nodeName}@${Math.floor(now / 1000)}`,
    names: [...new Set([nodeName, 'localhost', '127.0.0.1', '::1', ...names])],
    notBeforeMs: now - BACKDATED_MS,
    notAfterMs: now + VALID_MS,
  });
}

async function keptPair(certPath: string, keyPath: string): Promise<CertificatePair | undefined> {
  const [certificate, key] = await Promise.all(
    [certPath, keyPath].map(
      async (path) => await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8'))),
    ),
  );
  if (certificate !== undefined && key !== undefined) return {certificate, key};
  if (certificate === undefined && key === undefined) return undefined;
  throw new ConfigError(`of "${certPath}" and "${keyPath}" only one is there`, {
    hint: 'put the other one there too, or move this one away to have both made',
  });
}

/** It was made by a kubelet and is good no longer. Nobody else's is ever replaced. */
function isOutworn(certificate: string, clock: Clock): boolean {
  const parsed = parsedCertificate(certificate);
  if (parsed === undefined || parsed.subject !== parsed.issuer) return false;
  return /^CN=.+@\d+$/.test(parsed.subject) && Date.parse(parsed.validTo) <= clock.now();
}

function parsedCertificate(certificate: string): X509Certificate | undefined {
  try {
    return new X509Certificate(certificate);
  } catch {
    return undefined; // told by checkedPair
  }
}

async function readPair(certFile: string, keyFile: string): Promise<CertificatePair> {
  const pair = await withFileErrors('reading the certificate', certFile, () => readFiles(certFile, keyFile));
  return checkedPair(pair, certFile, keyFile);
}

async function readFiles(certFile: string, keyFile: string): Promise<CertificatePair> {
  const [certificate, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  return {certificate, key};
}

/** Tells before anybody connects that the two are not what they should be; never what is in the key's file. */
function checkedPair(pair: CertificatePair, certFile: string, keyFile: string): CertificatePair {
  try {
    const certificate = new X509Certificate(pair.certificate);
    if (certificate.checkPrivateKey(createPrivateKey(pair.key))) return pair;
  } catch (error) {
    throw new ConfigError(
      `reading the certificate "${certFile}" and its key "${keyFile}": ${messageOf(error)}`,
      {
        cause: error,
        hint: 'both must be PEM files, the key without a passphrase',
      },
    );
  }
  throw new ConfigError(`the key "${keyFile}" is not that of the certificate "${certFile}"`);
}
