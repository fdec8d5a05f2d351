import {join} from 'node:path';
import {ConfigError, KcriError} from '../../base/errors.js';
import type {AuthConfig, Init} from '../../cri/index.js';
import {authFromFile, helperFor, readAuthFile, type AuthFile} from './auth-file.js';
import {runCredentialHelper, type CredentialHelperOptions} from './credential-helper.js';
import {parseImageRepository} from './image-repository.js';

/** Options of findStoredCredentials. */
export interface AuthSources extends CredentialHelperOptions {
  /** Credential file named by the user; no other file is used. */
  readonly file: string | undefined;
  /** Called for a default file or helper that fails: the image may be public. */
  readonly onWarning: (text: string) => void;
}

/**
 * Returns the credentials that docker or podman stored for an image: in the named file, in `$REGISTRY_AUTH_FILE`, or
 * in the first of podman's auth.json and docker's config.json that has any; undefined for none. Rejects with
 * ConfigError and SystemError for the named file.
 */
export async function findStoredCredentials(
  image: string,
  sources: AuthSources,
): Promise<Init<AuthConfig> | undefined> {
  const {file} = sources;
  if (file !== undefined) {
    const found = await readAuthFile(file);
    if (found === undefined) throw new ConfigError(`cannot read credentials in "${file}": no such file`);
    return await authFrom(found, image, sources);
  }
  for (const path of authFilePaths(sources.env)) {
    try {
      const found = await readAuthFile(path);
      const auth = found === undefined ? undefined : await authFrom(found, image, sources);
      if (auth !== undefined) return auth;
    } catch (error) {
      sources.signal.throwIfAborted();
      if (!(error instanceof KcriError)) throw error;
      sources.onWarning(error.message);
    }
  }
  return undefined;
}

async function authFrom(
  file: AuthFile,
  image: string,
  sources: AuthSources,
): Promise<Init<AuthConfig> | undefined> {
  const repository = parseImageRepository(image);
  const helper = helperFor(file, repository);
  const fromHelper =
    helper === undefined ? undefined : await runCredentialHelper(helper, repository.host, sources);
  return fromHelper ?? authFromFile(file, repository);
}

/** Returns the credential files of podman and docker by their environment variables, in podman's order. */
export function authFilePaths(env: AuthSources['env']): string[] {
  const given = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const below = (folder: string | undefined, path: string): string[] =>
    folder === undefined ? [] : [join(folder, path)];
  const named = given('REGISTRY_AUTH_FILE');
  if (named !== undefined) return [named];
  return [
    ...below(given('XDG_RUNTIME_DIR'), 'containers/auth.json'),
    ...below(given('XDG_CONFIG_HOME') ?? below(given('HOME'), '.config')[0], 'containers/auth.json'),
    ...below(given('DOCKER_CONFIG') ?? below(given('HOME'), '.docker')[0], 'config.json'),
  ];
}
