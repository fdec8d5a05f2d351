import {CONFIG_ARGS, ContainerCommand} from '../cli/container-command.js';
import {PULL_FLAGS, RUNTIME_FLAG, wantsPull, WHETHER_TO_PULL} from '../cli/pull-flags.js';
import {runContainer} from '../operations/run-container.js';
import {withContext} from '../operations/with-context.js';

export default class Run extends ContainerCommand {
  static override summary = 'Run a container in a pod of its own';
  static override description = 'When anything fails, the pod is removed again.';
  static override usage = 'run container-config.[json|yaml] pod-config.[json|yaml] [OPTIONS]';
  static override examples = [
    '<%= config.bin %> run container.yaml pod.yaml',
    '<%= config.bin %> run --no-pull container.json pod.json',
    '<%= config.bin %> run --runtime kata --cancel-timeout 1m container.json pod.json',
  ];
  static override args = CONFIG_ARGS;
  static override flags = {...PULL_FLAGS, ...WHETHER_TO_PULL, runtime: RUNTIME_FLAG};

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Run);
    const pulls = wantsPull(flags, !(await this.settings()).disablePullOnRun);
    const configs = await this.configs();
    const sandboxConfig = await configs.saying('running container: load podSandboxConfig', () =>
      configs.sandbox(args['pod-config']),
    );
    const plan = await configs.saying('running container: creating container failed', async () => {
      const config = await configs.container(args['container-config']);
      // crictl reads it once more here, and warns of it once more.
      if (this.compat) await configs.sandbox(args['pod-config']);
      return {config, pull: await this.pullPlan(flags, pulls)};
    });
    const services = await this.cri(flags['cancel-timeout']);
    const running = runContainer(services, {
      ...plan,
      sandboxConfig,
      runtimeHandler: flags.runtime,
      onLeftover: (message) => void this.warn(message),
      signal: this.signal,
    });
    this.print(await withContext('running container', running));
  }
}
