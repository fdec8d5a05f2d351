import {withContext} from '../../operations/with-context.js';
import type {ConnectingServices, ParsedLine} from '../dialect.js';
import {shouldPull, type PullDecisionFlags} from '../flags/pull-flags.js';
import {crictlCommand} from './crictl-commands.js';

/**
 * Connects to the runtime before the command checks anything beyond its flags and the number of its arguments, if
 * crictl's does so. Rejects with KcriError with crictl's message.
 */
export async function connectFirst(
  {name, settings, connections}: ConnectingServices,
  {flags, words}: ParsedLine,
): Promise<void> {
  const {connectsFirst, connecting, pulls} = crictlCommand(name);
  if (connectsFirst?.(words) !== true) return;
  const pullsFirst =
    pulls !== undefined && shouldPull(flags as unknown as PullDecisionFlags, pulls(await settings.read()));
  if (pullsFirst) connections.require(['images', 'runtime']);
  const made = connections.default(flags['cancel-timeout'] as number | undefined);
  await (connecting === undefined ? made : withContext(connecting, made));
}
