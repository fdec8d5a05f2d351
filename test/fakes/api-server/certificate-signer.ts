import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createSelfSignedPair} from '../../../src/format/x509/self-signed-certificate.js';

/** Certificate authority of a cluster, which signs requests of nodes. */
export const CLUSTER_CA = createSelfSignedPair({
  commonName: 'kubernetes',
  names: ['kubernetes'],
  notBeforeMs: 0,
  notAfterMs: 4e12,
});

/** Returns the certificate of a request in PEM, valid for some days from now; expired for a negative number. */
export function signCertificateRequest(request: string, days = 1): string {
  const directory = mkdtempSync(join(tmpdir(), 'kcri-signer-'));
  try {
    const [csr, ca, key, out] = ['csr', 'ca', 'key', 'out'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
      string,
    ];
    writeFileSync(csr, request);
    writeFileSync(ca, CLUSTER_CA.certificate);
    writeFileSync(key, CLUSTER_CA.key, {mode: 0o600});
    const source = ['-req', '-in', csr, '-CA', ca, '-CAkey', key, '-set_serial', '7'];
    execFileSync(
      'openssl',
      ['x509', ...source, '-days', String(days), '-copy_extensions', 'copy', '-out', out],
      {
        stdio: 'pipe',
      },
    );
    return readFileSync(out, 'utf8');
  } finally {
    rmSync(directory, {recursive: true});
  }
}
