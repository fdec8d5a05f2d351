import {existsSync, statSync} from 'node:fs';
import {join, resolve} from 'node:path';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {forEachTarget} from '../cli/command/for-each-target.js';
import type {CommandStrategies} from '../cli/dialect/command-strategies.js';
import {containerArgs, requireArguments} from '../cli/flags/positional-arguments.js';
import {resolveContainers} from '../operations/resolve/resolve-names.js';
import {withContext} from '../operations/with-context.js';

export default class Checkpoint extends BaseCommand {
  static override summary = 'Checkpoint running containers';
  static override description =
    'The runtime writes the archive on its own machine, using CRIU. To checkpoint several containers, ' +
    'specify a directory; each archive is then named after its container ID.';
  static override usage = 'checkpoint CONTAINER... --export=PATH [FLAGS]';
  static override examples = [
    '<%= config.bin %> checkpoint --export=/tmp/main.tar team/web/main',
    '<%= config.bin %> checkpoint --export=/var/lib/checkpoints/ main sidecar',
  ];
  static override args = containerArgs;
  static override flags = {
    export: Flags.string({
      char: 'e',
      helpValue: 'PATH',
      description: 'Path of the archive, or a directory for one archive per container.',
    }),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Checkpoint);
    const refs = requireArguments(args.container, 'container');
    const path = flags.export ?? '';
    if (path === '')
      throw new UsageError(
        'cannot checkpoint a container without specifying the checkpoint destination. Use --export=/path/to/checkpoint.tar',
      );
    const {services, signal} = this;
    const {archives, timeoutSeconds} = await this.dialect.strategy('checkpoint', KCRI_CHECKPOINT);
    const locationOf = archives(path, refs.length);
    const timeout = timeoutSeconds(await this.settings.read());
    const {runtime, images} = await this.cri();
    const targets = await resolveContainers(runtime, refs, services.resolving({images}));
    await forEachTarget(services, targets, async (containerId, ref) => {
      const request = {containerId, location: locationOf(containerId), timeout};
      await withContext(
        `checkpointing the container "${ref}" failed`,
        runtime.checkpointContainer(request, {signal}),
      );
      this.out.print(ref);
    });
  }
}

const KCRI_CHECKPOINT: CommandStrategies['checkpoint'] = {
  archives: archiveLocations,
  timeoutSeconds: () => 0n,
};

/** Makes paths absolute, since the runtime has another working directory. */
function archiveLocations(path: string, count: number): (containerId: string) => string {
  const absolute = resolve(path);
  if (path.endsWith('/') || (existsSync(absolute) && statSync(absolute).isDirectory()))
    return (containerId) => join(absolute, `${containerId}.tar`);
  if (count > 1)
    throw new UsageError(`cannot write the checkpoints of ${count} containers to the file "${path}"`, {
      hint: `use a directory: --export ${path}/`,
    });
  return () => absolute;
}
