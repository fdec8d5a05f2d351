import {KcriError, UsageError} from '../../base/errors.js';
import type {AuthConfig, ImageRef, ImageService, Init, PodSandboxConfig} from '../../cri/index.js';

/** Looks up credentials for the registry of an image; undefined for none. */
export type ImageAuth = (image: string) => Promise<Init<AuthConfig> | undefined>;

/** Options of pullImage. */
export interface PullOptions {
  readonly authFor?: ImageAuth | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly sandboxConfig?: Init<PodSandboxConfig> | undefined;
  /** Timeout in milliseconds; 0 for none. */
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** The timeout of a pull is negative. */
class PullTimeoutError extends KcriError {
  readonly code = 'PULL_TIMEOUT';
}

/** Pulls an image and returns the runtime's reference. Rejects with KcriError. */
export async function pullImage(
  images: ImageService,
  image: string,
  {authFor, annotations = {}, sandboxConfig, timeoutMs = 0, signal}: PullOptions,
): Promise<ImageRef> {
  if (timeoutMs < 0) throw new PullTimeoutError('timeout should be bigger than 0');
  const auth = await authFor?.(image);
  const request = {image: {image, annotations}, auth, sandboxConfig};
  const {imageRef} = await images.pullImage(request, {signal, ...(timeoutMs > 0 ? {timeoutMs} : {})});
  return imageRef;
}

/** Registry credentials given by the user. */
export interface Credentials {
  /** `USER[:PASSWORD]` */
  readonly creds?: string | undefined;
  /** Base64 of `USER[:PASSWORD]`. */
  readonly auth?: string | undefined;
  readonly username?: string | undefined;
}

/**
 * Converts credentials to the CRI's form; undefined for none. Asks for the password of a bare user name. Rejects with
 * UsageError for two kinds of credentials and for an empty user. Messages do not contain secrets.
 */
export async function buildAuthConfig(
  {creds = '', auth = '', username = ''}: Credentials,
  askPassword: () => Promise<string>,
): Promise<Init<AuthConfig> | undefined> {
  if (username !== '') return {username, password: await askPassword()};
  if (creds !== '' && auth !== '') throw new UsageError('both `--creds` and `--auth` are specified');
  if (creds !== '') return fromCreds(creds);
  return auth === '' ? undefined : {auth};
}

function fromCreds(creds: string): Init<AuthConfig> {
  const colon = creds.indexOf(':');
  if (colon === -1) return {username: creds, password: ''};
  if (colon === 0) throw new UsageError("username can't be empty");
  return {username: creds.slice(0, colon), password: creds.slice(colon + 1)};
}
