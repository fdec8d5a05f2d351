import {SystemError} from '../../base/errors.js';
import {systemReason} from '../../base/system-reason.js';
import {runProgram} from '../../base/run-program.js';
import type {AuthConfig, Init} from '../../cri/index.js';
import {helperServer} from './registry-of.js';

/** Where and for how long a helper runs. */
export interface HelperOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** A helper that waits for somebody who isn't there must not keep a pull waiting for ever. */
const TIMEOUT_MS = 30_000;

/**
 * What `docker-credential-NAME get` knows of a registry; undefined when it knows nothing. The registry goes to its
 * standard input and the secret comes from its standard output, so that no process list shows either. Rejects with
 * SystemError, which repeats nothing that the helper said on standard output.
 */
export async function askHelper(
  name: string,
  host: string,
  {env, signal}: HelperOptions,
): Promise<Init<AuthConfig> | undefined> {
  const program = `docker-credential-${name}`;
  if (name.includes('/'))
    throw new SystemError(`${JSON.stringify(name)} is not the name of a credential helper`);
  try {
    const {exitCode, output} = await runProgram(program, {
      args: ['get'],
      env,
      input: helperServer(host),
      timeoutMs: TIMEOUT_MS,
      signal,
    });
    if (exitCode === 0) return authOfAnswer(output, program);
    if (/credentials not found/i.test(output)) return undefined;
    throw new SystemError(
      `the credential helper ${program} failed for "${host}" (exit code ${exitCode ?? 'none'})`,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SystemError) throw error;
    throw new SystemError(`running the credential helper ${program}: ${systemReason(error)}`, {cause: error});
  }
}

function authOfAnswer(output: string, program: string): Init<AuthConfig> | undefined {
  const {Username: username, Secret: secret} = answer(output, program);
  if (typeof username !== 'string' || typeof secret !== 'string' || secret === '') return undefined;
  return username === '<token>' ? {identityToken: secret} : {username, password: secret};
}

function answer(output: string, program: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(output) as Readonly<Record<string, unknown>>;
  } catch {
    throw new SystemError(`the credential helper ${program} did not answer with JSON`);
  }
}
