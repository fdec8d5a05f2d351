import {SystemError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {runProgram} from '../../base/host/run-program.js';
import type {AuthConfig, Init} from '../../cri/index.js';
import {helperServer} from './image-repository.js';

/** Options of runCredentialHelper. */
export interface CredentialHelperOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Timeout in milliseconds: a helper that waits for input must not block a pull forever. */
const TIMEOUT_MS = 30_000;

/**
 * Returns the credentials of a registry from `docker-credential-NAME get`, undefined for none. The registry is passed
 * on standard input and the secret read from standard output, so that no process list shows them. Rejects with
 * SystemError, whose message contains nothing of the output.
 */
export async function runCredentialHelper(
  name: string,
  host: string,
  {env, signal}: CredentialHelperOptions,
): Promise<Init<AuthConfig> | undefined> {
  const program = `docker-credential-${name}`;
  if (name.includes('/'))
    throw new SystemError(`${JSON.stringify(name)} is not a valid name of a credential helper`);
  try {
    const {exitCode, output} = await runProgram(program, {
      args: ['get'],
      env,
      input: helperServer(host),
      timeoutMs: TIMEOUT_MS,
      signal,
    });
    if (exitCode === 0) return parseAuth(output, program);
    if (/credentials not found/i.test(output)) return undefined;
    throw new SystemError(
      `the credential helper ${program} failed for "${host}" (exit code ${exitCode ?? 'none'})`,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SystemError) throw error;
    throw new SystemError(`cannot run credential helper ${program}: ${systemErrorMessage(error)}`, {
      cause: error,
    });
  }
}

function parseAuth(output: string, program: string): Init<AuthConfig> | undefined {
  const {Username: username, Secret: secret} = parseOutput(output, program);
  if (typeof username !== 'string' || typeof secret !== 'string' || secret === '') return undefined;
  return username === '<token>' ? {identityToken: secret} : {username, password: secret};
}

function parseOutput(output: string, program: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(output) as Readonly<Record<string, unknown>>;
  } catch {
    throw new SystemError(`the output of credential helper ${program} is not JSON`);
  }
}
