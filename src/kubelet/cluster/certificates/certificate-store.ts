import {X509Certificate, createPrivateKey} from 'node:crypto';
import {readFile, rename, symlink} from 'node:fs/promises';
import {basename, join} from 'node:path';
import {writeFileAtomic, removeAtomicFile} from '../../../base/fs/atomic-write.js';
import {ifPresent, withFileErrors} from '../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../base/fs/make-directory-path.js';
import {ConfigError, messageOf} from '../../../base/errors.js';
import type {CertificatePair} from '../../../format/x509/x509-parts.js';

/**
 * Certificates with their keys in a directory, as a kubelet stores them: `PREFIX-current.pem` is a symbolic link to the
 * newest of `PREFIX-TIME.pem`. Only the owner can read them (client-go certificate.FileStore).
 */
export class CertificateStore {
  readonly #directory: string;
  readonly #prefix: string;

  constructor(directory: string, prefix: string) {
    this.#directory = directory;
    this.#prefix = prefix;
  }

  /** Path of the current certificate and key. */
  get currentPath(): string {
    return join(this.#directory, `${this.#prefix}-current.pem`);
  }

  /** Path of the key of a certificate that is not issued yet. */
  get temporaryKeyPath(): string {
    return join(this.#directory, `${this.#prefix}.key.tmp`);
  }

  /**
   * Resolves with the current certificate and key; undefined if there are none. Rejects with SystemError, and with
   * ConfigError for an unusable file; messages never include its content.
   */
  async current(): Promise<CertificatePair | undefined> {
    const path = this.currentPath;
    const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
    if (text === undefined) return undefined;
    try {
      return requirePair(text);
    } catch (error) {
      throw new ConfigError(`invalid certificate or private key in "${path}": ${messageOf(error)}`, {
        cause: error,
        hint: 'move the file away to request a new certificate',
      });
    }
  }

  /** Stores a pair as the current one. Rejects with SystemError; the previous one is then still current. */
  async update({certificate, key}: CertificatePair, nowMs: number): Promise<void> {
    await makeDirectoryPath(this.#directory, 0o750);
    const time = new Date(nowMs).toISOString().slice(0, 19).replace(/[T:]/g, '-');
    const path = join(this.#directory, `${this.#prefix}-${time}.pem`);
    await writeFileAtomic(path, `${certificate.trimEnd()}\n${key.trimEnd()}\n`, 0o600);
    const link = join(this.#directory, `${this.#prefix}-updated.pem`);
    await withFileErrors('writing', this.currentPath, async () => {
      await removeAtomicFile(link);
      await symlink(basename(path), link);
      await rename(link, this.currentPath);
    });
  }
}

/** Splits a PEM text into certificates and key. Throws if either is missing or they do not match. */
function requirePair(text: string): CertificatePair {
  const blocks = text.match(/-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g) ?? [];
  const isCertificate = (block: string): boolean => block.startsWith('-----BEGIN CERTIFICATE-----');
  const certificate = blocks.filter(isCertificate).join('\n');
  const key = blocks.find((block) => !isCertificate(block)) ?? '';
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)))
    throw new Error('the key does not match the certificate');
  return {certificate: `${certificate}\n`, key: `${key}\n`};
}
