import {getCiphers} from 'node:tls';
import {ConfigError} from '../../../base/errors.js';

/** Suites of TLS 1.3, which are not configurable in Go: it always offers all of them. */
const TLS_1_3_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** OpenSSL's names of Go's suites of TLS 1.2 that Go considers secure (crypto/tls CipherSuites). */
const SECURE_SUITES = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  // Former names of the two above.
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
} as const;

/** OpenSSL's names of Go's suites with known weaknesses (crypto/tls InsecureCipherSuites). */
const INSECURE_SUITES = {
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: 'ECDHE-RSA-DES-CBC3-SHA',
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: 'DES-CBC3-SHA',
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: 'ECDHE-ECDSA-RC4-SHA',
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: 'ECDHE-RSA-RC4-SHA',
  TLS_RSA_WITH_RC4_128_SHA: 'RC4-SHA',
} as const;

const SUITES: ReadonlyMap<string, string> = new Map([
  ...TLS_1_3_SUITES.map((suite) => [suite, suite] as const),
  ...Object.entries(SECURE_SUITES),
  ...Object.entries(INSECURE_SUITES),
]);

/** Cipher suites that a server offers. */
export interface CipherSelection {
  /** OpenSSL's cipher list, in Go's order of preference, with all suites of TLS 1.3. */
  readonly ciphers: string;
  /** Go's names of the suites that have known weaknesses. */
  readonly insecure: readonly string[];
  /** Go's names of the suites that this program's TLS library does not have. */
  readonly unavailable: readonly string[];
}

/**
 * Converts tlsCipherSuites to a cipher list (cliflag.TLSCipherSuites). As in Go, the order does not matter and suites
 * of TLS 1.3 are always offered. Throws ConfigError for a name that Go does not know.
 */
export function selectCiphers(
  suites: readonly string[],
  available: readonly string[] = getCiphers(),
): CipherSelection {
  const unknown = suites.find((suite) => !SUITES.has(suite));
  if (unknown !== undefined)
    throw new ConfigError(`invalid tlsCipherSuites: unknown cipher suite "${unknown}"`, {
      hint: `use names such as ${Object.keys(SECURE_SUITES)[0] ?? ''}`,
    });
  const known = new Set(available.map((name) => name.toUpperCase()));
  const requested = [...SUITES].filter(([suite]) => suites.includes(suite));
  const usable = requested.filter(([, name]) => known.has(name)).map(([, name]) => name);
  return {
    ciphers: [...new Set([...TLS_1_3_SUITES, ...usable])].join(':'),
    insecure: requested.filter(([suite]) => suite in INSECURE_SUITES).map(([suite]) => suite),
    unavailable: requested.filter(([, name]) => !known.has(name)).map(([suite]) => suite),
  };
}
