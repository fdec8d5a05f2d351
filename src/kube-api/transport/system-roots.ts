import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {READ_WITHOUT_BLOCKING} from '../../base/fs/read-text-file.js';

/** Files and directories with the certificate authorities of a machine, by distribution. */
const FILES = [
  '/etc/ssl/certs/ca-certificates.crt', // Debian, Ubuntu, Arch
  '/etc/pki/tls/certs/ca-bundle.crt', // Fedora
  '/etc/ssl/ca-bundle.pem', // openSUSE
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem', // RHEL
  '/etc/ssl/cert.pem', // Alpine
];
const DIRECTORIES = ['/etc/ssl/certs', '/etc/pki/tls/certs'];

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Resolves with the certificate authorities that this machine trusts, in PEM, as Go programs find them: in the first file
 * that exists, and in directories; SSL_CERT_FILE and SSL_CERT_DIR name others. NODE_EXTRA_CA_CERTS adds a file, as
 * for all programs on Node.js. What cannot be read has no certificates. Never rejects.
 */
export async function readSystemRoots(
  env: Readonly<Record<string, string | undefined>>,
  root = '/',
): Promise<readonly string[]> {
  const certificates = new Set<string>();
  const add = async (path: string): Promise<boolean> => {
    try {
      const text = await readFile(path, {encoding: 'latin1', flag: READ_WITHOUT_BLOCKING});
      for (const certificate of text.match(CERTIFICATE) ?? []) certificates.add(certificate);
      return true;
    } catch {
      return false; // missing or not readable
    }
  };
  for (const path of locations(env['SSL_CERT_FILE'], FILES, root)) if (await add(path)) break;
  for (const directory of locations(env['SSL_CERT_DIR'], DIRECTORIES, root, ':'))
    for (const name of await readdir(directory).catch(() => [])) await add(join(directory, name));
  await add(env['NODE_EXTRA_CA_CERTS'] ?? '');
  return [...certificates];
}

/** Returns the paths in a variable, or else those of the distributions. */
function locations(
  variable: string | undefined,
  paths: readonly string[],
  root: string,
  separator?: string,
): readonly string[] {
  if (variable === undefined || variable === '') return paths.map((path) => join(root, path));
  return separator === undefined ? [variable] : variable.split(separator);
}
