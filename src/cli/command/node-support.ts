import {ConfigError, UsageError} from '../../base/errors.js';
import {archiveFile} from '../../cri/endpoint.js';
import type {Dialect} from '../dialect/dialect.js';
import type {CommandSettings} from '../settings/command-settings.js';

/**
 * Nodes that a command works on: only this machine, since it reads or changes its files, cgroups or processes; one node,
 * which may be remote; several nodes; or none.
 */
export type NodeSupport = 'local' | 'one' | 'several' | 'none';

/** Part of CommandServices that the check needs. */
interface CheckedCommand {
  readonly dialect: Dialect;
  readonly name: string;
  readonly settings: CommandSettings;
}

/** Rejects with UsageError or ConfigError if the endpoints of the settings are on nodes that the command does not support. */
export async function checkNodes(
  {dialect, name, settings}: CheckedCommand,
  nodes: NodeSupport,
): Promise<void> {
  const [first = '', second] = settings.runtimeEndpoints;
  if (nodes !== 'several' && second !== undefined)
    dialect.checkUsage(() => {
      throw archiveFile(first) === undefined
        ? new UsageError(`"${name}" takes only one --runtime-endpoint`, {
            hint: 'get pods, describe, ps, pods, images, stats, statsp, top, ui, why and doctor take several',
          })
        : new UsageError(`"${name}" takes only one --from`, {
            hint: 'get pods, get events, describe, ps, pods, stats, statsp, why and doctor take several',
          });
    });
  if (nodes !== 'local') return;
  const remote = await remoteEndpoint(settings);
  if (remote !== undefined)
    dialect.checkUsage(() => {
      throw new ConfigError(`"${name}" works only on this machine, not on ${remote}`, {
        hint: `run "kcri ${name}" on that node, or set --runtime-endpoint to a socket of this machine`,
      });
    });
}

async function remoteEndpoint(settings: CommandSettings): Promise<string | undefined> {
  try {
    return await settings.remoteEndpoint();
  } catch (error) {
    // A command that needs the config file reports that it is invalid.
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
