import {access, constants, readdir, stat} from 'node:fs/promises';
import {extname, join} from 'node:path';
import {readBoundedFile} from '../../../../base/fs/read-bounded-file.js';
import {Decoder} from '../../../../api/decoding/decoder.js';
import {
  describeFieldError,
  duplicateValue,
  forbidden,
  invalidValue,
  requiredValue,
  unsupportedValue,
  type FieldErrors,
} from '../../../../api/field-error.js';
import {FieldPath} from '../../../../api/field-path.js';
import {renderIssue, type ManifestIssue} from '../../../../api/decoding/manifest-issue.js';
import {findFieldOffset} from '../../../../api/decoding/manifest-node.js';
import {
  anything,
  list,
  object,
  objectSchema,
  required,
  secretText,
  text,
} from '../../../../api/schema/object-schema.js';
import {SourceText} from '../../../../api/decoding/source-text.js';
import {parseYaml} from '../../../../api/decoding/parse-yaml.js';
import {ConfigError} from '../../../../base/errors.js';
import {systemErrorMessage} from '../../../../base/system-error-message.js';
import {parseDuration} from '../../../../format/duration.js';
import {isRegistryPattern} from './registry-match.js';

interface ExecEnvVar {
  readonly name: string;
  readonly value: string;
}

/** Configuration of a credential provider plugin (kubelet.config.k8s.io/v1 CredentialProvider). */
export interface CredentialProviderEntry {
  /** File name of the plugin in the bin directory. */
  readonly name: string;
  readonly matchImages: readonly string[];
  /** Go duration such as `12h`. */
  readonly defaultCacheDuration?: string;
  /** API version of requests and responses. */
  readonly apiVersion: string;
  readonly args?: readonly string[];
  readonly env?: readonly ExecEnvVar[];
  readonly tokenAttributes?: unknown;
}

interface CredentialProviderConfig {
  readonly apiVersion: string;
  readonly kind: string;
  readonly providers: readonly CredentialProviderEntry[];
}

const ENV_VAR = objectSchema<ExecEnvVar>('ExecEnvVar', {name: required(text), value: required(secretText)});
const PROVIDER = objectSchema<CredentialProviderEntry>('CredentialProvider', {
  name: required(text),
  matchImages: required(list(text)),
  defaultCacheDuration: text,
  apiVersion: required(text),
  args: list(text),
  env: list(object(ENV_VAR)),
  tokenAttributes: anything,
});
const CONFIG = objectSchema<CredentialProviderConfig>('CredentialProviderConfig', {
  apiVersion: required(text),
  kind: required(text),
  providers: required(list(object(PROVIDER))),
});

const VERSIONS = ['v1', 'v1alpha1', 'v1beta1'];
const CONFIG_VERSIONS = VERSIONS.map((version) => `kubelet.config.k8s.io/${version}`);
const PROTOCOL_VERSIONS = VERSIONS.map((version) => `credentialprovider.kubelet.k8s.io/${version}`);

/** Extensions of configuration files in a directory. */
const EXTENSIONS: ReadonlySet<string> = new Set(['.json', '.yaml', '.yml']);

/**
 * Reads the configuration of credential providers from a file, or from the files of a directory in lexical order
 * (credentialprovider/plugin/config.go). Rejects with ConfigError that lists each problem with its line, or if a plugin
 * is missing in `binDir`.
 */
export async function readCredentialProviderConfig(
  configPath: string,
  binDir: string,
): Promise<readonly CredentialProviderEntry[]> {
  const files = await withReadErrors(configPath, () => configFiles(configPath));
  const providers: CredentialProviderEntry[] = [];
  for (const file of files) {
    const content = await withReadErrors(file, () => readBoundedFile(file));
    providers.push(...parseCredentialProviderConfig(content.toString(), file));
  }
  const names = providers.map(({name}) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined)
    throw new ConfigError(
      `duplicate provider name ${JSON.stringify(duplicate)} found in configuration file(s)`,
    );
  for (const name of names) await requireExecutable(join(binDir, name));
  return providers;
}

async function configFiles(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path, {withFileTypes: true}))
    .filter((entry) => !entry.isDirectory() && EXTENSIONS.has(extname(entry.name)))
    .map(({name}) => name);
  if (names.length === 0)
    throw new ConfigError(`no configuration files found in directory ${JSON.stringify(path)}`);
  return names.sort().map((name) => join(path, name));
}

async function withReadErrors<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(
      `cannot read credential providers from ${JSON.stringify(path)}: ${systemErrorMessage(error)}`,
      {
        cause: error,
        hint: 'set --image-credential-provider-config to a readable file or directory',
      },
    );
  }
}

async function requireExecutable(path: string): Promise<void> {
  try {
    await access(path, constants.X_OK);
  } catch (cause) {
    throw new ConfigError(`cannot run credential provider "${path}": ${systemErrorMessage(cause)}`, {
      cause,
      hint: 'install the plugin there, or set --image-credential-provider-bin-dir to its directory',
    });
  }
}

/**
 * Parses the providers of one file.
 *
 * @throws ConfigError that lists each problem with its line.
 */
export function parseCredentialProviderConfig(
  content: string,
  file: string,
): readonly CredentialProviderEntry[] {
  const source = new SourceText(file, content);
  const [document, ...others] = parseYaml(content).filter(
    ({root, problems}) => root !== undefined || problems.length > 0,
  );
  if (document === undefined || others.length > 0)
    throw new ConfigError(`${JSON.stringify(file)} must contain one CredentialProviderConfig`);
  const {root, problems} = document;
  if (root === undefined)
    throw createConfigError(problems.map((problem) => source.createSyntaxIssue(problem)));
  const decoder = new Decoder();
  const config = decoder.decode(CONFIG, root, new FieldPath());
  const issues = [
    ...problems.map((problem) => source.createSyntaxIssue(problem)),
    ...decoder.problems.map(({offset, path, message}) =>
      source.createIssue(offset, path.toString(), message),
    ),
    ...[...validateConfig(config)].map((error) =>
      source.createIssue(findFieldOffset(root, error.path), error.path.toString(), describeFieldError(error)),
    ),
  ];
  if (issues.length > 0) throw createConfigError(issues);
  return config.providers;
}

function createConfigError(issues: readonly ManifestIssue[]): ConfigError {
  return new ConfigError(issues.map(renderIssue).join('\n'));
}

function* validateConfig({apiVersion, kind, providers}: CredentialProviderConfig): FieldErrors {
  const root = new FieldPath();
  if (kind !== 'CredentialProviderConfig')
    yield unsupportedValue(root.child('kind'), kind, ['CredentialProviderConfig']);
  if (!CONFIG_VERSIONS.includes(apiVersion))
    yield unsupportedValue(root.child('apiVersion'), apiVersion, CONFIG_VERSIONS);
  const list = root.child('providers');
  if (providers.length === 0) yield requiredValue(list, 'at least 1 item in plugins is required');
  for (const [index, provider] of providers.entries()) {
    if (providers.slice(0, index).some(({name}) => name === provider.name))
      yield duplicateValue(list.index(index).child('name'), provider.name);
    yield* validateProvider(provider, list.index(index));
  }
}

function* validateProvider(provider: CredentialProviderEntry, path: FieldPath): FieldErrors {
  const {name, apiVersion, matchImages, defaultCacheDuration: duration, tokenAttributes} = provider;
  yield* validateName(name, path.child('name'));
  if (apiVersion === '') yield requiredValue(path.child('apiVersion'));
  else if (!PROTOCOL_VERSIONS.includes(apiVersion))
    yield unsupportedValue(path.child('apiVersion'), apiVersion, PROTOCOL_VERSIONS);
  const images = path.child('matchImages');
  if (matchImages.length === 0) yield requiredValue(images, 'at least 1 item in matchImages is required');
  for (const [index, image] of matchImages.entries())
    if (!isRegistryPattern(image)) yield invalidValue(images.index(index), image, 'match image is invalid');
  const cache = path.child('defaultCacheDuration');
  const nanos = duration === undefined ? undefined : parseDuration(duration);
  if (duration === undefined) yield requiredValue(cache);
  else if (nanos === undefined) yield invalidValue(cache, duration, 'must be a duration such as 12h');
  else if (nanos < 0n) yield invalidValue(cache, duration, 'must be greater than or equal to 0');
  if (tokenAttributes !== undefined)
    yield forbidden(path.child('tokenAttributes'), 'service account tokens require an API server');
}

function* validateName(name: string, path: FieldPath): FieldErrors {
  if (name === '') yield requiredValue(path);
  if (name.includes('/')) yield invalidValue(path, name, "provider name cannot contain '/'");
  if (name.includes(' ')) yield invalidValue(path, name, 'provider name cannot contain spaces');
  if (name === '.' || name === '..') yield invalidValue(path, name, `provider name cannot be '${name}'`);
}
