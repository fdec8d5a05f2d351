import {expect, test} from 'vitest';
import {describeTlsFailure} from '../../../src/streaming/socket/tls-errors.js';

const opensslError = (reason: string): Error =>
  new Error(
    `80AB2C0:error:0A00045C:SSL routines:ssl3_read_bytes:${reason}:../deps/openssl/ssl/record/rec_layer_s3.c:1605:SSL alert number 116\n`,
  );
const REQUIRED = 'the server requires a client certificate';

test.each([
  // OpenSSL with TLS 1.3, Go with TLS 1.2, BoringSSL.
  [opensslError('tlsv13 alert certificate required'), REQUIRED],
  [opensslError('sslv3 alert bad certificate'), REQUIRED],
  [new Error('error:10000454:SSL routines:OPENSSL_internal:TLSV1_ALERT_CERTIFICATE_REQUIRED'), REQUIRED],
  [opensslError('sslv3 alert handshake failure'), 'sslv3 alert handshake failure'],
  [Object.assign(new Error('read ECONNRESET'), {code: 'ECONNRESET'}), 'read ECONNRESET'],
])('without a client certificate, %j means: %s', (error, message) => {
  expect(describeTlsFailure(error, {})).toEqual({
    message,
    hint: expect.stringContaining('--tls-cert and --tls-key') as string,
  });
});

test('a client certificate that the server rejects is named as the cause', () => {
  expect(describeTlsFailure(opensslError('tlsv1 alert unknown ca'), {cert: 'client.pem'})).toMatchObject({
    message: 'the server rejected the client certificate: unknown ca',
  });
});

test.each([
  [opensslError('wrong version number'), 'wrong version number'],
  [new Error('one\ntwo\n'), 'one two'],
  [Object.assign(new Error('self signed'), {code: 'DEPTH_ZERO_SELF_SIGNED_CERT'}), 'self-signed certificate'],
])('another failure has one line and no hint: %j', (error, message) => {
  expect(describeTlsFailure(error, {})).toEqual({message});
});
