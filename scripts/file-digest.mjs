import {createHash} from 'node:crypto';
import {createReadStream} from 'node:fs';
import {pipeline} from 'node:stream/promises';

/**
 * Returns the digest of a file's content.
 *
 * @param {string} file
 * @param {string} algorithm such as `sha256`
 * @param {'hex' | 'base64'} encoding
 * @returns {Promise<string>}
 */
export async function fileDigest(file, algorithm, encoding) {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(file), hash);
  return hash.digest(encoding);
}
