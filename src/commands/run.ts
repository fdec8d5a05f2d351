import * as Flags from '@oclif/core/flags';
import {CONFIG_ARGS, ContainerCommand} from '../cli/container-command.js';
import {PULL_FLAGS, wantsPull, WHETHER_TO_PULL} from '../cli/pull-flags.js';
import {runContainer} from '../operations/run-container.js';
import {withContext} from '../operations/with-context.js';

export default class Run extends ContainerCommand {
  static override summary = 'Run a container in a pod of its own';
  static override description = 'When anything fails, the pod is removed again.';
  static override usage = 'run container-config.[json|yaml] pod-config.[json|yaml] [OPTIONS]';
  static override args = CONFIG_ARGS;
  static override flags = {
    ...PULL_FLAGS,
    ...WHETHER_TO_PULL,
    runtime: Flags.string({
      char: 'r',
      default: '',
      helpValue: 'HANDLER',
      description: "Runtime handler to run the pod with. [default: the runtime's]",
    }),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Run);
    const plan = await this.plan(args, flags, wantsPull(flags, !this.settings.disablePullOnRun));
    const services = await this.cri(flags['cancel-timeout']);
    const running = runContainer(services, {
      ...plan,
      runtimeHandler: flags.runtime,
      onLeftover: (message) => void this.warn(message),
      signal: this.signal,
    });
    this.print(await withContext('running container', running));
  }
}
