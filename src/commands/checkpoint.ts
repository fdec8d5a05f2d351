import {existsSync, statSync} from 'node:fs';
import {join, resolve} from 'node:path';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {atLeastOne, containerArgs} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {resolveContainers} from '../operations/resolve.js';
import {withContext} from '../operations/with-context.js';

export default class Checkpoint extends BaseCommand {
  static override summary = 'Write the state of running containers to archives';
  static override description =
    'The runtime writes the file, on its own machine and with CRIU. Several containers need a directory, where ' +
    "each gets a file of its id's name.";
  static override usage = 'checkpoint CONTAINER... --export PATH';
  static override examples = [
    '<%= config.bin %> checkpoint --export /tmp/main.tar team/web/main',
    '<%= config.bin %> checkpoint --export /var/lib/checkpoints/ main sidecar',
  ];
  static override args = containerArgs;
  static override flags = {
    export: Flags.string({
      char: 'e',
      helpValue: 'PATH',
      description: 'The archive to write, or a directory for one of each container.',
    }),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Checkpoint);
    const refs = atLeastOne(args.container);
    const path = flags.export ?? '';
    if (path === '')
      throw new UsageError(
        'cannot checkpoint a container without specifying the checkpoint destination. Use --export=/path/to/checkpoint.tar',
      );
    const {compat, signal} = this;
    const locationOf = compat ? () => path : archives(path, refs.length);
    const {runtime, images} = await this.cri();
    const targets = await resolveContainers(runtime, refs, {signal, images, literal: compat});
    await this.forEachTarget(targets, async (containerId, ref) => {
      const request = {containerId, location: locationOf(containerId)};
      await withContext(
        `checkpointing the container "${ref}" failed`,
        runtime.checkpointContainer(request, {signal}),
      );
      this.print(ref);
    });
  }
}

/**
 * Where each container's archive goes. The runtime runs in a directory of its own, so the path is made absolute.
 * Throws UsageError for several containers and one file, which only the last would be left in.
 */
function archives(path: string, count: number): (containerId: string) => string {
  const absolute = resolve(path);
  if (path.endsWith('/') || (existsSync(absolute) && statSync(absolute).isDirectory()))
    return (containerId) => join(absolute, `${containerId}.tar`);
  if (count > 1)
    throw new UsageError(`"${path}" can't hold the checkpoints of ${count} containers`, {
      hint: `name a directory: --export ${path}/`,
    });
  return () => absolute;
}
