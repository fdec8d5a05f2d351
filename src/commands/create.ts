import * as Args from '@oclif/core/args';
import {CONFIG_ARGS, ContainerCommand} from '../cli/container-command.js';
import {PULL_FLAGS, wantsPull, WHETHER_TO_PULL} from '../cli/pull-flags.js';
import {resolveSandbox} from '../operations/resolve.js';
import {createContainer} from '../operations/run-container.js';

export default class Create extends ContainerCommand {
  static override summary = 'Create a container in a pod';
  static override usage = 'create POD container-config.[json|yaml] pod-config.[json|yaml] [OPTIONS]';
  static override args = {
    pod: Args.string({required: true, ignoreStdin: true, description: 'Id, beginning of an id, or name.'}),
    ...CONFIG_ARGS,
  };
  static override flags = {...PULL_FLAGS, ...WHETHER_TO_PULL};

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Create);
    const plan = await this.plan(args, flags, wantsPull(flags, this.settings.pullImageOnCreate));
    const services = await this.cri(flags['cancel-timeout']);
    const podSandboxId = await resolveSandbox(services.runtime, args.pod, {signal: this.signal});
    this.print(await createContainer(services, podSandboxId, plan, this.signal));
  }
}
