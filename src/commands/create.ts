import * as Args from '@oclif/core/args';
import {CONFIG_ARGS, ContainerCommand} from '../cli/container-command.js';
import {PULL_FLAGS, wantsPull, WHETHER_TO_PULL} from '../cli/pull-flags.js';
import {resolveSandbox} from '../operations/resolve.js';
import {createContainer, type ContainerPlan} from '../operations/run-container.js';
import {withContext} from '../operations/with-context.js';

export default class Create extends ContainerCommand {
  static override summary = 'Create a container in a pod';
  static override description = 'The container does not run before "kcri start".';
  static override usage = 'create POD container-config.[json|yaml] pod-config.[json|yaml] [OPTIONS]';
  static override examples = [
    '<%= config.bin %> create web container.yaml pod.yaml',
    '<%= config.bin %> create --with-pull 3f5bd254d8719 container.json pod.json',
  ];
  static override args = {
    pod: Args.string({required: true, ignoreStdin: true, description: 'Id, beginning of an id, or name.'}),
    ...CONFIG_ARGS,
  };
  static override flags = {...PULL_FLAGS, ...WHETHER_TO_PULL};

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Create);
    const {signal, compat: literal} = this;
    const pulls = wantsPull(flags, (await this.settings()).pullImageOnCreate);
    const configs = await this.configs();
    const plan = await configs.saying('creating container', async (): Promise<ContainerPlan> => ({
      config: await configs.container(args['container-config']),
      sandboxConfig: await configs.sandbox(args['pod-config']),
      pull: await this.pullPlan(flags, pulls),
    }));
    const services = await this.cri(flags['cancel-timeout']);
    const podSandboxId = await resolveSandbox(services.runtime, args.pod, {signal, literal});
    const creating = createContainer(services, podSandboxId, plan, signal);
    this.print(await withContext('creating container', creating));
  }
}
