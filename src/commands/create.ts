import * as Args from '@oclif/core/args';
import {BaseCommand} from '../cli/command/base-command.js';
import {CONFIG_ARGS} from '../features/cri-configs/config-file-args.js';
import {shouldPull} from '../cli/settings/should-pull.js';
import {PULL_FLAGS, PULL_ON_CREATE_FLAGS} from '../features/pull/pull-flags.js';
import {createCriConfigReader} from '../features/cri-configs/cri-config-reader.js';
import {pullOptions} from '../features/pull/pull-options.js';
import {createContainer, type CreateContainerOptions} from '../operations/containers/run-container.js';
import {resolveSandbox} from '../operations/resolve/resolve-names.js';
import {withContext} from '../operations/with-context.js';

export default class Create extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Create a container in a pod';
  static override description = 'The container does not run until you start it with "kcri start".';
  static override usage = 'create POD CONTAINER-CONFIG POD-CONFIG [FLAGS]';
  static override examples = [
    '<%= config.bin %> create web container.yaml pod.yaml',
    '<%= config.bin %> create --with-pull 3f5bd254d8719 container.json pod.json',
  ];
  static override args = {
    pod: Args.string({required: true, ignoreStdin: true, description: 'ID, ID prefix or name of the pod.'}),
    ...CONFIG_ARGS,
  };
  static override flags = {...PULL_FLAGS, ...PULL_ON_CREATE_FLAGS};

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Create);
    const {services} = this;
    const pulls = shouldPull(flags, (await this.settings.read()).pullImageOnCreate);
    const configs = await createCriConfigReader(services, [args['container-config'], args['pod-config']]);
    const plan = await configs.withErrorContext(
      'creating container',
      async (): Promise<CreateContainerOptions> => ({
        config: await configs.readContainerConfig(args['container-config']),
        sandboxConfig: await configs.readPodSandboxConfig(args['pod-config']),
        pull: pulls ? await pullOptions(services, flags) : undefined,
      }),
    );
    const connection = await this.cri(flags['cancel-timeout']);
    const podSandboxId = await resolveSandbox(connection.runtime, args.pod, services.resolving({}));
    const creating = createContainer(connection, podSandboxId, plan, this.signal);
    this.out.print(await withContext('creating container', creating));
  }
}
