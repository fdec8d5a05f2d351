import {X509Certificate} from 'node:crypto';
import {pause} from '../../../base/async/pause.js';
import {ConfigError} from '../../../base/errors.js';
import {withFileErrors} from '../../../base/fs/files.js';
import {readBoundedFile} from '../../../base/fs/read-bounded-file.js';
import type {Clock} from '../../../base/clock.js';
import type {FileLogger} from '../../../base/logger.js';

/** Time between two reads of the bundle, in ms. */
const PERIOD_MS = 5000;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Reads a bundle of certificate authorities in PEM. Rejects with SystemError or ConfigError, which names the file. */
export async function readClientCa(file: string): Promise<string> {
  const bundle = await withFileErrors('reading the client CA bundle', file, () => readBoundedFile(file));
  const text = bundle.toString();
  const certificates = text.match(CERTIFICATE) ?? [];
  try {
    for (const certificate of certificates) new X509Certificate(certificate);
  } catch (error) {
    throw new ConfigError(`invalid client CA bundle "${file}": it has an invalid certificate`, {
      cause: error,
    });
  }
  if (certificates.length > 0) return text;
  throw new ConfigError(`invalid client CA bundle "${file}": it has no certificate`, {
    hint: 'each authority must begin with "-----BEGIN CERTIFICATE-----"',
  });
}

/** Options of {@link followClientCa}. */
export interface FollowClientCaOptions {
  readonly file: string;
  /** The bundle as last read. */
  readonly current: string;
  readonly onChange: (bundle: string) => void;
  readonly clock: Clock;
  readonly logger: FileLogger;
}

/**
 * Reads the bundle again every few seconds and reports changes until the signal aborts (DynamicFileCAContent). An invalid or
 * missing file leaves the last bundle in use and is logged once. Never rejects.
 */
export async function followClientCa(
  {file, current, onChange, clock, logger}: FollowClientCaOptions,
  signal: AbortSignal,
): Promise<void> {
  let [known, problem] = [current, ''];
  for (;;) {
    await pause(clock, PERIOD_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    try {
      const next = await readClientCa(file);
      if (next !== known) onChange(next);
      [known, problem] = [next, ''];
    } catch (error) {
      if (String(error) !== problem) logger.error(error, 'Failed to load the client CA bundle', {path: file});
      problem = String(error);
    }
  }
}
