import type {CommandOutput} from '../output/command-output.js';
import type {CommandReporter} from '../output/command-reporter.js';
import type {CommandSettings} from '../settings/command-settings.js';
import type {CliContext} from '../process/context.js';
import {RemoteRuntime} from './remote-runtime.js';

/** Longest time to connect to a node, in ms. */
const CONNECT_TIMEOUT_MS = 15_000;

/** Part of CommandServices that a connection through ssh needs. */
interface RemoteServices {
  readonly context: CliContext;
  readonly out: CommandOutput;
  readonly report: CommandReporter;
  readonly settings: CommandSettings;
  readonly signal: AbortSignal;
  readonly mayAsk: boolean;
}

/** Connects to the runtime of a remote node, with the settings of a command. Rejects as RemoteRuntime.open does. */
export async function openRemoteRuntime(
  {context, mayAsk, out, report, settings, signal}: RemoteServices,
  {endpoint, imageEndpoint}: {readonly endpoint: string; readonly imageEndpoint: string | undefined},
): Promise<RemoteRuntime> {
  const {timeoutMs} = await settings.read();
  return await RemoteRuntime.open(endpoint, {
    imageEndpoint,
    wellKnownEndpoints: context.wellKnownEndpoints,
    env: context.env,
    clock: context.clock,
    signal,
    // ssh asks on the terminal, whatever standard input and output are.
    interactive: mayAsk && out.stderr.isTerminal,
    connectTimeoutMs: Math.min(timeoutMs, CONNECT_TIMEOUT_MS),
    onRequest: report.info,
  });
}
