import type {Clock} from '../../../base/clock.js';
import {isExpectedError, messageOf, SystemError} from '../../../base/errors.js';
import {connectPluginRegistration, type PluginClient} from '../../../plugin-api/connect-plugin.js';
import {dial} from '../../../plugin-api/dial.js';
import type {Registration} from '../../../plugin-api/gen/plugin-registration/services.js';
import type {PluginInfo} from '../../../plugin-api/gen/plugin-registration/types.js';
import type {PluginHandler, RegisteredPlugin} from '../../contract/resources/plugin-handler.js';

const INFO_TIMEOUT_MS = 1000;
const NOTIFY_TIMEOUT_MS = 5000;
const PREFIX = 'RegisterPlugin error --';

/** What a registration works with. */
export interface RegistrationServices {
  readonly handlers: readonly PluginHandler[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A registered plugin and its handler. */
export interface HandledPlugin {
  readonly plugin: RegisteredPlugin;
  readonly handler: PluginHandler;
}

/**
 * Registers the plugin at a socket with the handler of its type, and tells it the result (GenerateRegisterPluginFunc). Rejects with
 * the error that the plugin was told, or why it could not be.
 */
export async function registerPlugin(path: string, services: RegistrationServices): Promise<HandledPlugin> {
  const client = connectPluginRegistration(path);
  try {
    return await register(client, path, await readInfo(client, path, services), services);
  } finally {
    client.close();
  }
}

async function register(
  client: PluginClient<Registration>,
  path: string,
  {type, name, endpoint, supportedVersions: versions}: PluginInfo,
  {handlers, signal}: RegistrationServices,
): Promise<HandledPlugin> {
  const handler = handlers.find((each) => each.type === type);
  if (handler === undefined)
    return await refuse(client, `no handler registered for plugin type: ${type} at socket ${path}`, signal);
  const plugin = {name, endpoint: endpoint === '' ? path : endpoint, versions};
  const problem = handler.validate(plugin);
  if (problem !== undefined)
    return await refuse(client, `plugin validation failed with err: ${problem}`, signal);
  try {
    await handler.register(plugin, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isExpectedError(error)) throw error;
    return await refuse(client, `plugin registration failed with err: ${messageOf(error)}`, signal);
  }
  try {
    await notify(client, '', signal);
  } catch (error) {
    handler.deregister(plugin);
    throw new SystemError(
      `${PREFIX} failed to send registration status at socket ${path}, err: ${messageOf(error)}`,
      {cause: error},
    );
  }
  return {plugin, handler};
}

async function readInfo(
  client: PluginClient<Registration>,
  path: string,
  {clock, signal}: RegistrationServices,
): Promise<PluginInfo> {
  const tooLate = (cause: Error): Error =>
    new SystemError(
      `${PREFIX} dial failed at socket ${path}, err: failed to dial socket ${path}, err: context deadline exceeded`,
      {cause},
    );
  try {
    const ask = () => client.getInfo({}, {signal, timeoutMs: INFO_TIMEOUT_MS});
    return await dial(ask, clock, signal, tooLate);
  } catch (cause) {
    if (cause instanceof SystemError || !isExpectedError(cause)) throw cause;
    throw new SystemError(
      `${PREFIX} failed to get plugin info using RPC GetInfo at socket ${path}, err: ${messageOf(cause)}`,
      {cause},
    );
  }
}

/** Tells the plugin why it was not registered, and rejects with that. */
async function refuse(
  client: PluginClient<Registration>,
  problem: string,
  signal: AbortSignal,
): Promise<never> {
  const error = `${PREFIX} ${problem}`;
  await notify(client, error, signal);
  throw new SystemError(error);
}

async function notify(client: PluginClient<Registration>, error: string, signal: AbortSignal): Promise<void> {
  const status = {pluginRegistered: error === '', error};
  await client.notifyRegistrationStatus(status, {signal, timeoutMs: NOTIFY_TIMEOUT_MS});
}
