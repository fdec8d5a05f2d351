import {execFileSync} from 'node:child_process';
import {createPrivateKey, createPublicKey} from 'node:crypto';
import {expect, test} from 'vitest';
import {createCertificateRequest} from '../../../src/format/x509/certificate-request.js';

const SUBJECT = {commonName: 'system:node:node-1', organizations: ['system:nodes']};

function verify(request: string): string {
  const options = ['req', '-verify', '-noout', '-text', '-pubkey', '-nameopt', 'oneline'];
  return execFileSync('openssl', options, {input: request, stdio: ['pipe', 'pipe', 'pipe']}).toString();
}

test('OpenSSL verifies a request for a client certificate, which contains the public key', () => {
  const {request, key} = createCertificateRequest(SUBJECT);
  const text = verify(request);
  expect(text).toContain('Subject: O = system:nodes, CN = system:node:node-1');
  expect(text).not.toContain('Alternative Name');
  const publicKey = createPublicKey(createPrivateKey(key)).export({type: 'spki', format: 'pem'});
  expect(text).toContain(publicKey.toString().trim());
});

test('a request for a serving certificate has DNS names and IP addresses', () => {
  const {request} = createCertificateRequest(SUBJECT, {names: ['node-1', '192.0.2.7', '2001:db8::1']});
  expect(verify(request)).toMatch(/DNS:node-1, IP Address:192\.0\.2\.7, IP Address:2001:DB8:0:0:0:0:0:1/);
});
