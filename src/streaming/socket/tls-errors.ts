import {messageOf} from '../../base/errors.js';
import {StreamingError} from '../session/errors.js';
import type {TlsOptions} from '../session/session.js';

/** A failed TLS connection in one line, with a hint. */
interface TlsFailure {
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Messages of OpenSSL 3 for certificate errors, which differ in older versions and in BoringSSL (Bun). */
const CERTIFICATE_ERRORS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'self-signed certificate in certificate chain',
};

/** TLS alerts about the certificate of the client, in the texts of OpenSSL and BoringSSL. */
const CLIENT_CERTIFICATE_ALERT =
  /alert[ _](certificate[ _](?:required|expired|revoked|unknown)|bad[ _]certificate|unsupported[ _]certificate|unknown[ _]ca|access[ _]denied)/i;

/** Failures that a server may cause because it requires a client certificate, but that also have other causes. */
const MAYBE_NO_CERTIFICATE = /alert[ _]handshake[ _]failure|ECONNRESET|EPIPE|socket hang up/i;

/** Text of OpenSSL, `80B…:error:0A00045C:SSL routines:function:reason:file:line:…`, with its reason. */
const OPENSSL_TEXT = /error:[0-9A-F]+:SSL routines:[^:]*:([^:\n]+)/i;

const CLIENT_FLAGS = '--tls-cert and --tls-key to a certificate that the server trusts and its key';

/**
 * Describes why a TLS connection failed: in the handshake, or right after it, when a server with TLS 1.3 rejects the
 * client.
 */
export function describeTlsFailure(error: unknown, {cert}: TlsOptions): TlsFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = `${code} ${messageOf(error)}`;
  const [, alert] = CLIENT_CERTIFICATE_ALERT.exec(text) ?? [];
  if (alert === undefined) {
    const message = CERTIFICATE_ERRORS[code] ?? inOneLine(messageOf(error));
    return cert === undefined && MAYBE_NO_CERTIFICATE.test(text)
      ? {message, hint: `if the server requires a client certificate, set ${CLIENT_FLAGS}`}
      : {message};
  }
  const message =
    cert === undefined
      ? 'the server requires a client certificate'
      : `the server rejected the client certificate: ${alert.replaceAll('_', ' ').toLowerCase()}`;
  return {message, hint: `set ${CLIENT_FLAGS}`};
}

function inOneLine(message: string): string {
  const [, reason] = OPENSSL_TEXT.exec(message) ?? [];
  return (reason ?? message).trim().replaceAll(/\s*\n\s*/g, ' ');
}

/** Returns the error for a connection that ended before a stream was open; `operation` is the message's start. */
export function openingError(
  operation: string,
  cause: unknown,
  {secure, tls}: {readonly secure: boolean; readonly tls: TlsOptions},
): StreamingError {
  const {message, hint}: TlsFailure = secure ? describeTlsFailure(cause, tls) : {message: messageOf(cause)};
  return new StreamingError(`${operation}: ${message}`, {cause, hint});
}
