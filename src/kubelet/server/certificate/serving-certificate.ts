import {X509Certificate} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../../../base/clock.js';
import {ConfigError} from '../../../base/errors.js';
import {writeFileAtomic} from '../../../base/fs/atomic-write.js';
import {ifPresent, withFileErrors} from '../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../base/fs/make-directory-path.js';
import type {ServingCertificate} from '../http-server-options.js';
import {createSelfSignedPair} from '../../../format/x509/self-signed-certificate.js';
import type {CertificatePair} from '../../../format/x509/x509-parts.js';
import {readCertificatePair, validateCertificatePair} from '../../../http-server/certificate-pair.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Validity of a generated certificate, in ms; equals the kubelet's. */
const VALIDITY_MS = 365 * DAY_MS;
/** Tolerance for clients whose clock is behind, in ms. */
const CLOCK_SKEW_MS = 60 * 60 * 1000;

/**
 * Returns the certificate and key of the authenticated port: from `certFile` and `keyFile`, or from `kubelet.crt` and
 * `kubelet.key` in the certificate directory (cmd/kubelet InitializeTLS). Generates the latter if they are missing, or
 * if they are self-signed by a kubelet and expired. Only the owner can read the key file. Rejects with ConfigError for
 * an incomplete or invalid pair, and with SystemError when a file cannot be read or written.
 */
export async function ensureServingCertificate(
  {certFile, keyFile, certDir, names}: ServingCertificate,
  nodeName: string,
  clock: Clock,
): Promise<CertificatePair> {
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new ConfigError('tlsCertFile and tlsPrivateKeyFile must be set together', {
      hint: 'set both, or neither to generate a self-signed certificate in the certificate directory',
    });
  if (certFile !== undefined && keyFile !== undefined) return await readCertificatePair(certFile, keyFile);
  const [certPath, keyPath] = [join(certDir, 'kubelet.crt'), join(certDir, 'kubelet.key')];
  const existing = await readExistingPair(certPath, keyPath);
  if (existing !== undefined && !isExpiredSelfSigned(existing.certificate, clock))
    return validateCertificatePair(existing, certPath, keyPath);
  const generated = generatePair(nodeName, names, clock);
  await makeDirectoryPath(certDir, 0o750);
  await writeFileAtomic(keyPath, generated.key, 0o600);
  await writeFileAtomic(certPath, generated.certificate, 0o644);
  return generated;
}

function generatePair(nodeName: string, names: readonly string[], clock: Clock): CertificatePair {
  const now = clock.now();
  return createSelfSignedPair({
    commonName: `${nodeName}@${Math.floor(now / 1000)}`,
    names: [...new Set([nodeName, 'localhost', '127.0.0.1', '::1', ...names])],
    notBeforeMs: now - CLOCK_SKEW_MS,
    notAfterMs: now + VALIDITY_MS,
  });
}

async function readExistingPair(certPath: string, keyPath: string): Promise<CertificatePair | undefined> {
  const [certificate, key] = await Promise.all(
    [certPath, keyPath].map(
      async (path) => await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8'))),
    ),
  );
  if (certificate !== undefined && key !== undefined) return {certificate, key};
  if (certificate === undefined && key === undefined) return undefined;
  throw new ConfigError(`"${certPath}" and "${keyPath}" must exist together, but only one does`, {
    hint: 'add the missing file, or move the other one away to generate a new pair',
  });
}

/** Reports whether a kubelet generated the certificate and it has expired. No other certificate is ever replaced. */
function isExpiredSelfSigned(certificate: string, clock: Clock): boolean {
  const parsed = parseCertificate(certificate);
  if (parsed === undefined || parsed.subject !== parsed.issuer) return false;
  return /^CN=.+@\d+$/.test(parsed.subject) && Date.parse(parsed.validTo) <= clock.now();
}

function parseCertificate(certificate: string): X509Certificate | undefined {
  try {
    return new X509Certificate(certificate);
  } catch {
    return undefined; // validatePair reports the error
  }
}
