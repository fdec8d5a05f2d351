import {access, constants, readdir, readFile, stat} from 'node:fs/promises';
import {extname, join} from 'node:path';
import {Decoder} from '../../../api/decode.js';
import {
  describeFieldError,
  duplicateValue,
  forbidden,
  invalidValue,
  requiredValue,
  unsupportedValue,
  type FieldErrors,
} from '../../../api/field-error.js';
import {FieldPath} from '../../../api/field-path.js';
import {renderIssue, type ManifestIssue} from '../../../api/manifest-issue.js';
import {locate} from '../../../api/manifest-tree.js';
import {anything, list, object, objectSchema, required, secretText, text} from '../../../api/schema.js';
import {SourceText} from '../../../api/source-text.js';
import {parseYaml} from '../../../api/yaml-tree.js';
import {ConfigError} from '../../../base/errors.js';
import {systemReason} from '../../../base/system-reason.js';
import {parseDuration} from '../../../format/duration.js';
import {isRegistryPattern} from './registry-match.js';

interface ExecEnvVar {
  readonly name: string;
  readonly value: string;
}

/** A program that knows credentials for some images (kubelet.config.k8s.io/v1 CredentialProvider). */
export interface CredentialProviderEntry {
  /** The program's name in the bin directory. */
  readonly name: string;
  readonly matchImages: readonly string[];
  /** In Go's form, such as `12h`. */
  readonly defaultCacheDuration?: string;
  /** The version of the protocol that it speaks. */
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

/** The files of --image-credential-provider-config: the file itself, or those of a directory. */
const EXTENSIONS: ReadonlySet<string> = new Set(['.json', '.yaml', '.yml']);

/**
 * Reads which credential providers there are, as the kubelet does (credentialprovider/plugin/config.go): from a file, or
 * from all of a directory in the order of their names. Rejects with ConfigError, with the place of every fault, and when
 * a provider's program isn't in `binDir`.
 */
export async function readProviderConfig(
  configPath: string,
  binDir: string,
): Promise<readonly CredentialProviderEntry[]> {
  const files = await reading(configPath, () => configFiles(configPath));
  const providers: CredentialProviderEntry[] = [];
  for (const file of files) {
    const content = await reading(file, () => readFile(file, 'utf8'));
    providers.push(...parseProviderConfig(content, file));
  }
  const names = providers.map(({name}) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new ConfigError(`duplicate provider name ${JSON.stringify(twice)} found in configuration file(s)`);
  for (const name of names) await requireProgram(join(binDir, name));
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

async function reading<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(
      `reading credential providers from ${JSON.stringify(path)}: ${systemReason(error)}`,
      {
        cause: error,
        hint: 'name another file or directory with --image-credential-provider-config',
      },
    );
  }
}

async function requireProgram(path: string): Promise<void> {
  try {
    await access(path, constants.X_OK);
  } catch (cause) {
    throw new ConfigError(`plugin binary executable ${path} can't be run: ${systemReason(cause)}`, {
      cause,
      hint: 'put the program there, or name another directory with --image-credential-provider-bin-dir',
    });
  }
}

/**
 * The providers of one file.
 *
 * @throws ConfigError that shows each fault with its line.
 */
export function parseProviderConfig(content: string, file: string): readonly CredentialProviderEntry[] {
  const source = new SourceText(file, content);
  const [document, ...others] = parseYaml(content).filter(
    ({root, faults}) => root !== undefined || faults.length > 0,
  );
  if (document === undefined || others.length > 0)
    throw new ConfigError(`${JSON.stringify(file)} must hold one CredentialProviderConfig`);
  const {root, faults} = document;
  if (root === undefined)
    throw refusal(faults.map(({offset, message}) => source.issue(offset, '', `yaml: ${message}`)));
  const decoder = new Decoder();
  const config = decoder.decode(CONFIG, root, new FieldPath());
  const issues = [
    ...faults.map(({offset, message}) => source.issue(offset, '', `yaml: ${message}`)),
    ...decoder.problems.map(({offset, path, message}) => source.issue(offset, path.toString(), message)),
    ...[...faultsOf(config)].map((fault) =>
      source.issue(locate(root, fault.path), fault.path.toString(), describeFieldError(fault)),
    ),
  ];
  if (issues.length > 0) throw refusal(issues);
  return config.providers;
}

function refusal(issues: readonly ManifestIssue[]): ConfigError {
  return new ConfigError(issues.map(renderIssue).join('\n'));
}

function* faultsOf({apiVersion, kind, providers}: CredentialProviderConfig): FieldErrors {
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
    yield* faultsOfProvider(provider, list.index(index));
  }
}

function* faultsOfProvider(provider: CredentialProviderEntry, path: FieldPath): FieldErrors {
  const {name, apiVersion, matchImages, defaultCacheDuration: duration, tokenAttributes} = provider;
  yield* faultsOfName(name, path.child('name'));
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
    yield forbidden(
      path.child('tokenAttributes'),
      'service account tokens come from an API server, which kcri has none of',
    );
}

function* faultsOfName(name: string, path: FieldPath): FieldErrors {
  if (name === '') yield requiredValue(path);
  if (name.includes('/')) yield invalidValue(path, name, "provider name cannot contain '/'");
  if (name.includes(' ')) yield invalidValue(path, name, 'provider name cannot contain spaces');
  if (name === '.' || name === '..') yield invalidValue(path, name, `provider name cannot be '${name}'`);
}
