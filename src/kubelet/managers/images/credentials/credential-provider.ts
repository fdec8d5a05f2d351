import {join} from 'node:path';
import type {Clock} from '../../../../base/clock.js';
import {ConfigError, messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {systemErrorMessage} from '../../../../base/system-error-message.js';
import {runProgram, type ProgramResult} from '../../../../base/host/run-program.js';
import {parseDuration} from '../../../../format/duration.js';
import type {DockerConfig, RegistryLogin} from './docker-config.js';
import type {CredentialProviderEntry} from './credential-provider-config.js';
import {matchesRepository} from './registry-match.js';
import {requireObject, parseSecretJson, type JsonFields} from './parse-json-object.js';

/** Credentials of a provider for an image, empty if its patterns do not match, or a problem of the plugin. */
export type ProvidedConfig = {readonly config: DockerConfig} | {readonly problem: string};

/** Environment of credential provider plugins. */
export interface ProviderEnvironment {
  readonly binDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** Timeout of one plugin call, like the kubelet's. */
const TIMEOUT_MS = 60_000;

const EMPTY_CONFIG: DockerConfig = new Map();

/** Parsed CredentialProviderResponse. */
interface ProviderResponse {
  readonly cacheKeyType: 'Image' | 'Registry' | 'Global';
  /** Cache duration in milliseconds; undefined for the provider's default. */
  readonly cacheMs: number | undefined;
  readonly config: DockerConfig;
}

/** Runs a credential provider plugin and caches its responses (credentialprovider/plugin/plugin.go). */
export class CredentialProvider {
  readonly #entry: CredentialProviderEntry;
  readonly #environment: ProviderEnvironment;
  /** Cached configs by image, registry or `global`, depending on the response. */
  readonly #cache = new Map<string, {readonly config: DockerConfig; readonly until: number}>();

  constructor(entry: CredentialProviderEntry, environment: ProviderEnvironment) {
    this.#entry = entry;
    this.#environment = environment;
  }

  /** Returns the credentials for a repository. Rejects only with the signal's reason. */
  async provide(repository: string, signal: AbortSignal): Promise<ProvidedConfig> {
    const {matchImages, name} = this.#entry;
    if (!matchImages.some((pattern) => matchesRepository(pattern, repository))) return {config: EMPTY_CONFIG};
    const cached = this.#findCached(repository);
    if (cached !== undefined) return {config: cached};
    try {
      const response = parseResponse(await this.#runPlugin(repository, signal), this.#entry.apiVersion);
      this.#store(repository, response);
      return {config: response.config};
    } catch (error) {
      signal.throwIfAborted();
      rethrowUnexpected(error);
      return {problem: `credential provider ${JSON.stringify(name)} failed: ${messageOf(error)}`};
    }
  }

  /** Runs the plugin and returns its standard output. Error messages contain nothing of its output. */
  async #runPlugin(image: string, signal: AbortSignal): Promise<string> {
    const {name, apiVersion, args = [], env = []} = this.#entry;
    const {binDir, env: inherited} = this.#environment;
    const {exitCode, output} = await runProgram(join(binDir, name), {
      args,
      env: {...inherited, ...Object.fromEntries(env.map((variable) => [variable.name, variable.value]))},
      input: JSON.stringify({kind: 'CredentialProviderRequest', apiVersion, image}),
      timeoutMs: TIMEOUT_MS,
      signal,
    }).catch((error: unknown): ProgramResult => {
      rethrowUnexpected(error);
      throw new SystemError(isTimeout(error) ? 'it timed out after 1 minute' : systemErrorMessage(error), {
        cause: error,
      });
    });
    if (exitCode === 0) return output;
    throw new SystemError(
      exitCode === null ? 'it was killed by a signal' : `it exited with code ${exitCode}`,
    );
  }

  #findCached(repository: string): DockerConfig | undefined {
    const now = this.#environment.clock.monotonic();
    for (const [key, {until}] of this.#cache) if (now > until) this.#cache.delete(key);
    const keys = (['Image', 'Registry', 'Global'] as const).map((type) => cacheKey(type, repository));
    return keys.map((key) => this.#cache.get(key)?.config).find((config) => config !== undefined);
  }

  #store(repository: string, {cacheKeyType, cacheMs = this.#defaultCacheMs, config}: ProviderResponse): void {
    if (cacheMs <= 0) return;
    const until = this.#environment.clock.monotonic() + cacheMs;
    this.#cache.set(cacheKey(cacheKeyType, repository), {config, until});
  }

  get #defaultCacheMs(): number {
    return milliseconds(this.#entry.defaultCacheDuration ?? '0');
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function cacheKey(type: ProviderResponse['cacheKeyType'], repository: string): string {
  if (type === 'Global') return 'global';
  return type === 'Image' ? repository : (repository.split('/', 1)[0] ?? '');
}

function milliseconds(duration: string): number {
  const nanos = parseDuration(duration);
  if (nanos === undefined) throw new ConfigError(`"cacheDuration" is not a duration`);
  return Number(nanos / 1000n) / 1000;
}

const INVALID_RESPONSE = 'its response is invalid';

/** Parses a CredentialProviderResponse. Throws ConfigError, whose message contains nothing of it. */
function parseResponse(output: string, apiVersion: string): ProviderResponse {
  const response = requireObject(parseSecretJson(output, 'its response is not JSON'), INVALID_RESPONSE);
  if (response['kind'] !== 'CredentialProviderResponse')
    throw new ConfigError('its response is not a CredentialProviderResponse');
  if (response['apiVersion'] !== apiVersion)
    throw new ConfigError(`the apiVersion of its response is not ${apiVersion}`);
  const {cacheKeyType, cacheDuration, auth} = response;
  if (cacheKeyType !== 'Image' && cacheKeyType !== 'Registry' && cacheKeyType !== 'Global')
    throw new ConfigError('credential provider plugin did not return a valid cacheKeyType');
  const entries = Object.entries(requireObject(auth ?? {}, INVALID_RESPONSE));
  return {
    cacheKeyType,
    cacheMs: typeof cacheDuration === 'string' ? milliseconds(cacheDuration) : undefined,
    config: new Map(
      entries.map(([location, login]) => [location, loginOf(requireObject(login, INVALID_RESPONSE))]),
    ),
  };
}

function loginOf({username, password}: JsonFields): RegistryLogin {
  if (typeof username !== 'string' || typeof password !== 'string')
    throw new ConfigError('its response has credentials without username or password');
  return {username, password, email: ''};
}
