import {join} from 'node:path';
import {ConfigError, KcriError} from '../../base/errors.js';
import type {AuthConfig, Init} from '../../cri/index.js';
import {authIn, helperFor, readAuthFile, type AuthFile} from './auth-file.js';
import {askHelper, type HelperOptions} from './credential-helper.js';
import {imagePlace} from './registry-of.js';

/** Where credentials are looked for. */
export interface AuthSources extends HelperOptions {
  /** The file that the user named; then it alone counts. */
  readonly file: string | undefined;
  /** Told of a file or helper of the user's environment that does not work: the image may be for everybody. */
  readonly onWarning: (text: string) => void;
}

/**
 * The credentials that docker or podman keep for an image: in the file named, in `$REGISTRY_AUTH_FILE`, or in the
 * first of podman's auth.json and docker's config.json that has any; undefined for none. Throws ConfigError and
 * SystemError for the file that was named.
 */
export async function storedAuth(image: string, sources: AuthSources): Promise<Init<AuthConfig> | undefined> {
  const {file} = sources;
  if (file !== undefined) {
    const found = await readAuthFile(file);
    if (found === undefined) throw new ConfigError(`reading credentials in "${file}": no such file`);
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
  const place = imagePlace(image);
  const helper = helperFor(file, place);
  const asked = helper === undefined ? undefined : await askHelper(helper, place.host, sources);
  return asked ?? authIn(file, place);
}

/** The files of docker and podman by their variables, podman's first as podman has it. */
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
