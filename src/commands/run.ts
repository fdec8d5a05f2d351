import {BaseCommand} from '../cli/command/base-command.js';
import {CONFIG_ARGS} from '../cli/flags/config-file-args.js';
import {PULL_FLAGS, PULL_ON_CREATE_FLAGS, RUNTIME_FLAG, shouldPull} from '../cli/flags/pull-flags.js';
import {createCriConfigReader} from '../cli/input/cri-config-reader.js';
import {pullOptions} from '../cli/pull/pull-options.js';
import {runContainer} from '../operations/containers/run-container.js';
import {withContext} from '../operations/with-context.js';

export default class Run extends BaseCommand {
  static override summary = 'Run a container in a new pod';
  static override description = 'If any step fails, the pod is removed.';
  static override usage = 'run CONTAINER-CONFIG POD-CONFIG [FLAGS]';
  static override examples = [
    '<%= config.bin %> run container.yaml pod.yaml',
    '<%= config.bin %> run --no-pull container.json pod.json',
    '<%= config.bin %> run --runtime=kata --cancel-timeout=1m container.json pod.json',
  ];
  static override args = CONFIG_ARGS;
  static override flags = {...PULL_FLAGS, ...PULL_ON_CREATE_FLAGS, runtime: RUNTIME_FLAG};

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Run);
    const {services} = this;
    const pulls = shouldPull(flags, !(await this.settings.read()).disablePullOnRun);
    const configs = await createCriConfigReader(services, [args['container-config'], args['pod-config']]);
    const sandboxConfig = await configs.withErrorContext('running container: load podSandboxConfig', () =>
      configs.readPodSandboxConfig(args['pod-config']),
    );
    const plan = await configs.withErrorContext('running container: creating container failed', async () => {
      const config = await configs.readContainerConfig(args['container-config']);
      return {config, pull: pulls ? await pullOptions(services, flags) : undefined};
    });
    const connection = await this.cri(flags['cancel-timeout']);
    const running = runContainer(connection, {
      ...plan,
      sandboxConfig,
      runtimeHandler: flags.runtime,
      beforeCreate: configs.readsTwice
        ? async () => await configs.readPodSandboxConfig(args['pod-config'])
        : undefined,
      onLeftover: this.report.warn,
      signal: this.signal,
    });
    this.out.print(await withContext('running container', running));
  }
}
