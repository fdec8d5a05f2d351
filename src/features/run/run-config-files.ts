import {runContainer, type RunningContainer} from '../../operations/containers/run-container.js';
import {withContext} from '../../operations/with-context.js';
import type {DialectContext, RuntimeContext} from '../../cli/command/contexts.js';
import {shouldPull} from '../../cli/settings/should-pull.js';
import {createCriConfigReader} from '../cri-configs/cri-config-reader.js';
import {pullOptions, type PullFlags} from '../pull/pull-options.js';

/** Values of the flags of `run` with config files. */
export interface ConfigRunFlags extends PullFlags {
  readonly 'no-pull': boolean;
  readonly 'with-pull': boolean;
  readonly 'cancel-timeout'?: number | undefined;
  readonly runtime: string;
}

/** Runs the container of a container config in the pod of a pod config, as crictl does. Rejects with KcriError. */
export async function runConfigFiles(
  services: RuntimeContext & DialectContext,
  {container, pod}: {readonly container: string; readonly pod: string},
  flags: ConfigRunFlags,
): Promise<RunningContainer> {
  const {connections, report, settings, signal} = services;
  const pulls = shouldPull(flags, !(await settings.read()).disablePullOnRun);
  const configs = await createCriConfigReader(services, [container, pod]);
  const sandboxConfig = await configs.withErrorContext('running container: load podSandboxConfig', () =>
    configs.readPodSandboxConfig(pod),
  );
  const plan = await configs.withErrorContext('running container: creating container failed', async () => {
    const config = await configs.readContainerConfig(container);
    return {config, pull: pulls ? await pullOptions(services, flags) : undefined};
  });
  const connection = await connections.default(flags['cancel-timeout']);
  const running = runContainer(connection, {
    ...plan,
    sandboxConfig,
    runtimeHandler: flags.runtime,
    beforeCreate: configs.readsTwice ? async () => await configs.readPodSandboxConfig(pod) : undefined,
    onLeftover: report.warn,
    signal,
  });
  return await withContext('running container', running);
}
