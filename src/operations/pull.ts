import {KcriError, UsageError} from '../base/errors.js';
import type {AuthConfig, ImageRef, ImageService, Init, PodSandboxConfig} from '../cri/index.js';

/** Finds what lets one into the registry of an image; undefined for nothing. */
export type ImageAuth = (image: string) => Promise<Init<AuthConfig> | undefined>;

/** How an image is pulled. */
export interface PullOptions {
  readonly authFor?: ImageAuth | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly sandboxConfig?: Init<PodSandboxConfig> | undefined;
  /** 0 = as long as it takes. */
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** The time limit of a pull is none. */
class PullTimeoutError extends KcriError {
  readonly code = 'PULL_TIMEOUT';
}

/** Pulls an image and gives what the runtime calls it. Throws KcriError. */
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

/** What the user gave to get into a registry. */
export interface Credentials {
  /** `USER[:PASSWORD]` */
  readonly creds?: string | undefined;
  /** Base64 of the same. */
  readonly auth?: string | undefined;
  readonly username?: string | undefined;
}

/**
 * The CRI's form of credentials; undefined for none. The password for a bare user name is asked for. Throws
 * UsageError for two kinds at once and for an empty user. No message repeats a secret.
 */
export async function authOf(
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
