import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {containerArgs} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {integerFlag} from '../cli/flags.js';
import {listContainers} from '../operations/containers.js';
import {resolveContainers} from '../operations/resolve.js';
import {stopContainer} from '../operations/stop.js';

export default class Stop extends BaseCommand {
  static override summary = 'Stop running containers';
  static override usage = 'stop CONTAINER... [OPTIONS]';
  static override args = containerArgs;
  static override flags = {
    timeout: integerFlag({
      char: 't',
      default: 0,
      helpValue: 'SECONDS',
      description: 'Seconds that a container has to end before it is killed. [default: 0]',
    }),
    all: Flags.boolean({char: 'a', description: 'Stop all running containers.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Stop);
    const {signal} = this;
    const given = args.container ?? [];
    if (flags.all && given.length > 0)
      throw new UsageError('cannot specify CONTAINER-ID(s) when using --all');
    if (!flags.all && given.length === 0)
      throw new UsageError('you must specify at least one CONTAINER-ID or use --all');
    const refs = flags.all ? await this.#running() : given;
    if (refs.length === 0) {
      this.print('No running containers found.');
      return;
    }
    const {runtime} = await this.cri();
    // Stopping what does not exist succeeds, so a mistyped id has to be found out before.
    const targets = await resolveContainers(runtime, refs, {signal, verify: !flags.all});
    await this.forEachTarget(targets, async (id, shown) => {
      await stopContainer(runtime, id, {shown, gracePeriodSeconds: flags.timeout, signal});
      this.print(shown);
    });
  }

  async #running(): Promise<readonly string[]> {
    const running = await listContainers(await this.cri(), {state: 'CONTAINER_RUNNING'}, this.signal);
    return running.map(({id}) => id);
  }
}
