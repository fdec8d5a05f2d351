import {join} from 'node:path';
import type {Clock} from '../../../base/clock.js';
import {ConfigError, messageOf, SystemError} from '../../../base/errors.js';
import {systemReason} from '../../../base/system-reason.js';
import {runProgram, type ProgramEnd} from '../../../base/run-program.js';
import {parseDuration} from '../../../format/duration.js';
import type {DockerConfig, RegistryLogin} from './docker-config.js';
import type {CredentialProviderEntry} from './provider-config.js';
import {coversRepository} from './registry-match.js';

/** What a provider knows of an image, nothing for one that isn't its own; or why that can't be said. */
export type ProvidedConfig = {readonly config: DockerConfig} | {readonly problem: string};

/** Where providers are and what they run with. */
export interface ProviderEnvironment {
  readonly binDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** The kubelet's limit for one question. */
const TIMEOUT_MS = 60_000;

const NOTHING: DockerConfig = new Map();

/** An answer as it is understood. */
interface ProviderResponse {
  readonly cacheKeyType: 'Image' | 'Registry' | 'Global';
  /** Undefined for the provider's default. */
  readonly cacheMs: number | undefined;
  readonly config: DockerConfig;
}

/** A program that is asked for credentials and whose answers are kept (credentialprovider/plugin/plugin.go). */
export class CredentialProvider {
  readonly #entry: CredentialProviderEntry;
  readonly #environment: ProviderEnvironment;
  /** By image, registry or `global`, as each answer has said. */
  readonly #cache = new Map<string, {readonly config: DockerConfig; readonly until: number}>();

  constructor(entry: CredentialProviderEntry, environment: ProviderEnvironment) {
    this.#entry = entry;
    this.#environment = environment;
  }

  /** Asks for an image's repository. Rejects with the signal's reason only. */
  async provide(repository: string, signal: AbortSignal): Promise<ProvidedConfig> {
    const {matchImages, name} = this.#entry;
    if (!matchImages.some((pattern) => coversRepository(pattern, repository))) return {config: NOTHING};
    const kept = this.#kept(repository);
    if (kept !== undefined) return {config: kept};
    try {
      const response = readResponse(await this.#ask(repository, signal), this.#entry.apiVersion);
      this.#keep(repository, response);
      return {config: response.config};
    } catch (error) {
      signal.throwIfAborted();
      return {problem: `the credential provider ${JSON.stringify(name)} was no help: ${messageOf(error)}`};
    }
  }

  /** What it writes to standard output; no message repeats any of that, nor what it writes to standard error. */
  async #ask(image: string, signal: AbortSignal): Promise<string> {
    const {name, apiVersion, args = [], env = []} = this.#entry;
    const {binDir, env: own} = this.#environment;
    const {exitCode, output} = await runProgram(join(binDir, name), {
      args,
      env: {...own, ...Object.fromEntries(env.map((variable) => [variable.name, variable.value]))},
      input: JSON.stringify({kind: 'CredentialProviderRequest', apiVersion, image}),
      timeoutMs: TIMEOUT_MS,
      signal,
    }).catch((error: unknown): ProgramEnd => {
      throw new SystemError(isTimeout(error) ? 'it took more than a minute' : systemReason(error), {
        cause: error,
      });
    });
    if (exitCode === 0) return output;
    throw new SystemError(`it ended with ${exitCode === null ? 'a signal' : `exit code ${exitCode}`}`);
  }

  #kept(repository: string): DockerConfig | undefined {
    const now = this.#environment.clock.now();
    for (const [key, {until}] of this.#cache) if (now > until) this.#cache.delete(key);
    const keys = (['Image', 'Registry', 'Global'] as const).map((type) => cacheKey(type, repository));
    return keys.map((key) => this.#cache.get(key)?.config).find((config) => config !== undefined);
  }

  #keep(repository: string, {cacheKeyType, cacheMs = this.#defaultCacheMs, config}: ProviderResponse): void {
    if (cacheMs <= 0) return;
    const until = this.#environment.clock.now() + cacheMs;
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

/** Reads a CredentialProviderResponse. Throws ConfigError that repeats nothing of it. */
function readResponse(output: string, apiVersion: string): ProviderResponse {
  const answer = members(parseJson(output));
  if (answer['kind'] !== 'CredentialProviderResponse')
    throw new ConfigError('its answer is no CredentialProviderResponse');
  if (answer['apiVersion'] !== apiVersion)
    throw new ConfigError(`its answer is not in the version ${apiVersion} of the protocol`);
  const {cacheKeyType, cacheDuration, auth} = answer;
  if (cacheKeyType !== 'Image' && cacheKeyType !== 'Registry' && cacheKeyType !== 'Global')
    throw new ConfigError('credential provider plugin did not return a valid cacheKeyType');
  const entries = Object.entries(members(auth ?? {}));
  return {
    cacheKeyType,
    cacheMs: typeof cacheDuration === 'string' ? milliseconds(cacheDuration) : undefined,
    config: new Map(entries.map(([location, login]) => [location, loginOf(members(login))])),
  };
}

function loginOf({username, password}: Readonly<Record<string, unknown>>): RegistryLogin {
  if (typeof username !== 'string' || typeof password !== 'string')
    throw new ConfigError('its answer has a login without username and password');
  return {username, password, email: ''};
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new ConfigError('its answer is not what the protocol has');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigError('its answer is not JSON');
  }
}
