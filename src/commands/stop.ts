import * as Flags from '@oclif/core/flags';
import {containerArgs} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {CHOICE_FLAGS, choiceOf, chooseContainers, type Choice} from '../cli/choose-containers.js';
import {integerFlag} from '../cli/flags.js';
import {ConflictError} from '../cli/usage-errors.js';
import type {Connection, ContainerId} from '../cri/index.js';
import {listContainers} from '../operations/containers.js';
import type {Target} from '../operations/resolve.js';
import {stopContainer} from '../operations/stop.js';
import {withContext} from '../operations/with-context.js';

export default class Stop extends BaseCommand {
  static override summary = 'Stop running containers';
  static override description =
    'Containers are killed at once unless they are given time with --timeout, as in crictl. They are chosen by ' +
    'name, by filters, or both: then a name is looked up among those that the filters let through.';
  static override usage = 'stop [CONTAINER...] [OPTIONS]';
  static override examples = [
    '<%= config.bin %> stop -t 30 web/nginx',
    '<%= config.bin %> stop --pod web',
    '<%= config.bin %> stop -t 10 --label app=web',
    '<%= config.bin %> stop --all',
  ];
  static override args = containerArgs;
  static override flags = {
    ...CHOICE_FLAGS,
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
    const choice = choiceOf(args.container, flags, {states: 'running'});
    if (flags.all && choice.refs.length > 0)
      throw new ConflictError('cannot specify CONTAINER-ID(s) when using --all');
    if (!flags.all && choice.refs.length === 0 && choice.query === undefined)
      throw new ConflictError('you must specify at least one CONTAINER-ID or use --all');
    const services = await this.cri();
    const targets = await this.#targets(services, choice, flags.all);
    if (targets.length === 0) this.print('No running containers found.');
    await this.forEachTarget(targets, async (id, shown) => {
      await stopContainer(services.runtime, id, {shown, gracePeriodSeconds: flags.timeout, signal});
      this.print(shown);
    });
  }

  async #targets(
    services: Connection,
    choice: Choice,
    all: boolean,
  ): Promise<readonly Target<ContainerId>[]> {
    const {signal, compat: literal} = this;
    if (all && choice.query === undefined) {
      const running = listContainers(services, {state: 'CONTAINER_RUNNING'}, signal);
      const doing = this.compat ? 'listing containers: call list containers RPC' : 'listing containers';
      return (await withContext(doing, running)).map(({id}) => ({kind: 'found', ref: id, id}));
    }
    // Stopping what does not exist succeeds, so a mistyped id has to be found out before.
    return await chooseContainers(services, choice, {signal, verify: true, literal});
  }
}
