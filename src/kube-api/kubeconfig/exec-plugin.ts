import {constants} from 'node:fs';
import {access, stat} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {createPrivateKey, X509Certificate} from 'node:crypto';
import {coalesce} from '../../base/async/coalesce.js';
import type {Clock} from '../../base/clock.js';
import {ConfigError, messageOf, rethrowUnexpected, SystemError} from '../../base/errors.js';
import {isObject} from '../../base/is-object.js';
import {runProgram} from '../../base/host/run-program.js';
import type {ExecConfig} from './exec-config.js';

/** Credentials that a plugin has returned. */
export interface PluginCredentials {
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Options of {@link ExecPlugin}. */
export interface ExecPluginOptions {
  readonly config: ExecConfig;
  /** The kubeconfig, for messages. */
  readonly file: string;
  /** Returns the description of the cluster for the plugin, if it wants one. */
  readonly cluster: () => object;
  /** Variables of this process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** Time limit of a plugin, in ms, and limit of its output, in bytes. */
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Minimum time between two runs, in ms: many requests can need credentials that the plugin does not have. */
const MIN_PERIOD_MS = 5000;

/**
 * Credentials of a program (client-go's exec.Authenticator). It runs when credentials are needed for the first time, have
 * expired, or were rejected.
 */
export class ExecPlugin {
  readonly #options: ExecPluginOptions;
  readonly #refresh: () => Promise<void>;
  #current: PluginCredentials | undefined;
  /** True if the API server has rejected the current credentials. */
  #isRejected = false;
  #expiresAt = Number.POSITIVE_INFINITY;
  #ranAt = Number.NEGATIVE_INFINITY;
  /** Error of the last run; undefined if it succeeded. */
  #failure: SystemError | undefined;

  constructor(options: ExecPluginOptions) {
    this.#options = options;
    this.#refresh = coalesce(async () => this.#runIfNeeded());
  }

  /** Rejects with ConfigError, which has the install hint, if the program does not exist or is not executable. */
  async check(): Promise<void> {
    const {config, file, env} = this.#options;
    const {command, field, installHint} = config;
    const paths = command.includes('/')
      ? [command]
      : (env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, command));
    for (const path of paths) if (await isExecutable(path)) return;
    throw new ConfigError(
      `invalid kubeconfig "${file}": ${field}.command: executable "${command}" not found`,
      {
        hint: installHint.trim() === '' ? 'install the program, or correct its path' : installHint.trim(),
      },
    );
  }

  /** Resolves with the credentials of the moment. Rejects with SystemError if the plugin fails. */
  async current(): Promise<PluginCredentials> {
    if (this.#needsRun()) await this.#refresh();
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#current === undefined) throw new Error('the credential plugin did not run');
    return this.#current;
  }

  /** Says that the API server has rejected these credentials. */
  reject(rejected: PluginCredentials): void {
    if (this.#current === rejected) this.#isRejected = true;
  }

  #needsRun(): boolean {
    const isOutdated = this.#isRejected || this.#options.clock.now() >= this.#expiresAt;
    return this.#current === undefined || this.#failure !== undefined || isOutdated;
  }

  /** Runs the plugin, unless another request has just done so. */
  async #runIfNeeded(): Promise<void> {
    const {config, clock} = this.#options;
    if (!this.#needsRun() || clock.monotonic() - this.#ranAt < MIN_PERIOD_MS) return;
    this.#ranAt = clock.monotonic();
    try {
      const {credentials, expiresAt} = parseExecCredential(await this.#run(), config.apiVersion);
      this.#current = credentials;
      this.#expiresAt = expiresAt;
      this.#isRejected = false;
      this.#failure = undefined;
    } catch (error) {
      rethrowUnexpected(error);
      const message = `credential plugin "${config.command}": ${messageOf(error)}`;
      this.#failure = new SystemError(message, {cause: error});
    }
  }

  async #run(): Promise<string> {
    const {config, cluster, env} = this.#options;
    const {command, args, apiVersion, provideClusterInfo} = config;
    const spec = {interactive: false, ...(provideClusterInfo && {cluster: cluster()})};
    const info = JSON.stringify({kind: 'ExecCredential', apiVersion, spec});
    const {exitCode, output, errorOutput} = await runProgram(command, {
      args,
      env: {...env, ...config.env, KUBERNETES_EXEC_INFO: info},
      input: '',
      timeoutMs: TIMEOUT_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      signal: new AbortController().signal,
    });
    if (exitCode === 0) return output;
    const says = errorOutput.trim() === '' ? '' : `: ${errorOutput.trim()}`;
    throw new SystemError(`failed with ${exitCode === null ? 'a signal' : `exit code ${exitCode}`}${says}`);
  }
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // missing or not accessible
  }
}

/** Returns the credentials in the output of a plugin. Throws SystemError, whose message has nothing of the output. */
export function parseExecCredential(
  output: string,
  apiVersion: string,
): {readonly credentials: PluginCredentials; readonly expiresAt: number} {
  const {apiVersion: own, kind, status} = parseObject(output);
  if (kind !== 'ExecCredential') throw new SystemError('the output is not an ExecCredential');
  if (own !== apiVersion)
    throw new SystemError(
      `exec plugin is configured to use API version ${apiVersion}, plugin returned version ${String(own)}`,
    );
  if (!isObject(status)) throw new SystemError("exec plugin didn't return a status field");
  const [token, cert, key] = ['token', 'clientCertificateData', 'clientKeyData'].map((name) => {
    const value = status[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  });
  if (token === undefined && cert === undefined && key === undefined)
    throw new SystemError("exec plugin didn't return a token or cert/key pair");
  if (token !== undefined && /[\r\n\0]/.test(token)) throw new SystemError('the token contains line breaks');
  if ((cert === undefined) !== (key === undefined))
    throw new SystemError('exec plugin returned only certificate or key, not both');
  if (cert !== undefined && key !== undefined) checkPair(cert, key);
  return {credentials: {token, cert, key}, expiresAt: expiryOf(status['expirationTimestamp'])};
}

function parseObject(output: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    throw new SystemError('the output is not JSON'); // the parser quotes what may be a secret
  }
  if (!isObject(value)) throw new SystemError('the output is not a JSON object');
  return value;
}

function checkPair(cert: string, key: string): void {
  let matches = false;
  try {
    matches = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    throw new SystemError('failed parsing client key/certificate');
  }
  if (!matches) throw new SystemError('the client key does not match the client certificate');
}

function expiryOf(timestamp: unknown): number {
  if (timestamp === undefined || timestamp === null) return Number.POSITIVE_INFINITY;
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  if (Number.isNaN(time)) throw new SystemError('expirationTimestamp is not a time');
  return time;
}
