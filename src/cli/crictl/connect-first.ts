import {withContext} from '../../operations/with-context.js';
import type {ConnectingServices, ParsedLine} from '../dialect/dialect.js';
import {crictlCommand} from './crictl-commands.js';

/**
 * Connects to the runtime before the command checks anything beyond its flags and the number of its arguments, if
 * crictl's does so. Rejects with KcriError with crictl's message.
 */
export async function connectFirst(
  {name, settings, connections}: ConnectingServices,
  {flags, words}: ParsedLine,
): Promise<void> {
  const {connectsFirst, connecting, servicesFor} = crictlCommand(name);
  if (connectsFirst?.(words) !== true) return;
  if (servicesFor !== undefined) connections.require(await servicesFor(flags, await settings.read()));
  const made = connections.default(flags['cancel-timeout'] as number | undefined);
  await (connecting === undefined ? made : withContext(connecting, made));
}
