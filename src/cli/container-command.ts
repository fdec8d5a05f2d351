import * as Args from '@oclif/core/args';
import {parseContainerConfig, parseSandboxConfig, readConfigText} from '../operations/config-files.js';
import {authOf, type Credentials} from '../operations/pull.js';
import type {ContainerPlan} from '../operations/run-container.js';
import {askPassword} from './ask-password.js';
import {BaseCommand} from './base-command.js';
import {credentials, pullTimeoutMs} from './pull-flags.js';

/** The two config files that `create` and `run` take. */
export const CONFIG_ARGS = {
  'container-config': Args.string({
    required: true,
    ignoreStdin: true,
    description: "File with the CRI's ContainerConfig, JSON or YAML.",
  }),
  'pod-config': Args.string({
    required: true,
    ignoreStdin: true,
    description: "File with the CRI's PodSandboxConfig, JSON or YAML.",
  }),
};

interface ConfigPaths {
  readonly 'container-config': string;
  readonly 'pod-config': string;
}

type PullFlags = Credentials & {readonly 'pull-timeout'?: number | undefined};

/** What `create` and `run` share. */
export abstract class ContainerCommand extends BaseCommand {
  /** Reads both files, before anything is changed. Throws ConfigError and UsageError. */
  protected async plan(paths: ConfigPaths, flags: PullFlags, pulls: boolean): Promise<ContainerPlan> {
    const onWarning = (warning: string): void => void this.warn(warning);
    const read = async (path: string) => await readConfigText(path, this.signal);
    return {
      config: await parseContainerConfig(await read(paths['container-config']), onWarning),
      sandboxConfig: await parseSandboxConfig(await read(paths['pod-config']), onWarning),
      pull: pulls ? await this.#pull(flags) : undefined,
    };
  }

  async #pull(flags: PullFlags): Promise<ContainerPlan['pull']> {
    const {context} = this;
    return {
      auth: await authOf(credentials(flags, context.env), async () => await askPassword(context)),
      timeoutMs: pullTimeoutMs(flags, context.env),
    };
  }
}
