import {createPrivateKey, X509Certificate} from 'node:crypto';
import {ConfigError, messageOf} from '../base/errors.js';
import {withFileErrors} from '../base/fs/files.js';
import {readBoundedFile} from '../base/fs/read-bounded-file.js';
import type {CertificatePair} from '../format/x509/x509-parts.js';

/** Reads a certificate and its key. Rejects with ConfigError if they are invalid, and with SystemError if a file cannot be read. */
export async function readCertificatePair(certFile: string, keyFile: string): Promise<CertificatePair> {
  const pair = await withFileErrors('reading the certificate', certFile, () => readFiles(certFile, keyFile));
  return validateCertificatePair(pair, certFile, keyFile);
}

async function readFiles(certFile: string, keyFile: string): Promise<CertificatePair> {
  const [certificate, key] = await Promise.all([readBoundedFile(certFile), readBoundedFile(keyFile)]);
  return {certificate: certificate.toString(), key: key.toString()};
}

/**
 * Returns the pair if it can be parsed and the key belongs to the certificate; throws ConfigError otherwise. Messages
 * never include the content of the key file.
 */
export function validateCertificatePair(
  pair: CertificatePair,
  certFile: string,
  keyFile: string,
): CertificatePair {
  try {
    const certificate = new X509Certificate(pair.certificate);
    if (certificate.checkPrivateKey(createPrivateKey(pair.key))) return pair;
  } catch (error) {
    throw new ConfigError(
      `invalid certificate "${certFile}" or private key "${keyFile}": ${messageOf(error)}`,
      {
        cause: error,
        hint: 'both must be PEM files, the key without a passphrase',
      },
    );
  }
  throw new ConfigError(`private key "${keyFile}" does not match certificate "${certFile}"`);
}
