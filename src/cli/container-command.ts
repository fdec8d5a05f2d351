import * as Args from '@oclif/core/args';
import {authOf, type Credentials, type ImageAuth} from '../operations/pull.js';
import type {ContainerPlan, PullListener} from '../operations/run-container.js';
import {askPassword} from './ask-password.js';
import {BaseCommand} from './base-command.js';
import {configReader, type ConfigReader} from './config-reader.js';
import {credentials, pullTimeoutMs, type AuthFileFlags} from './pull-flags.js';

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

type PullFlags = Credentials & AuthFileFlags & {readonly 'pull-timeout'?: number | undefined};

/** What `create`, `run` and `pull` share. */
export abstract class ContainerCommand extends BaseCommand {
  /** Reads the config files that the command line names, and warns of what is odd in them. */
  protected async configs(): Promise<ConfigReader> {
    const {compat, signal} = this;
    return await configReader({compat, signal, warn: (text) => void this.warn(text)});
  }

  /** How images are pulled, if they are. Throws UsageError. */
  protected async pullPlan(flags: PullFlags, pulls: boolean): Promise<ContainerPlan['pull']> {
    if (!pulls) return undefined;
    const {context} = this;
    return {
      authFor: await this.#authFor(flags),
      timeoutMs: pullTimeoutMs(flags, context),
      onPull: this.compat ? this.#announce() : undefined,
    };
  }

  /** What was given counts for every image; else what is kept for each, which crictl knows nothing of. */
  async #authFor(flags: PullFlags): Promise<ImageAuth> {
    const {context, signal} = this;
    const given = await authOf(credentials(flags, context.env), async () => await askPassword(context));
    if (given !== undefined || this.compat || flags['no-auth-file']) return () => Promise.resolve(given);
    return async (image) => {
      const {storedAuth} = await import('../operations/registry-auth/stored-auth.js');
      const file = flags['auth-file'];
      return await storedAuth(image, {
        file,
        env: context.env,
        signal,
        onWarning: (text) => void this.warn(text),
      });
    };
  }

  /** crictl names the container's own image for those that it mounts, too. */
  #announce(): PullListener['onPull'] {
    let main = '';
    return (image, mountedAt) => {
      if (mountedAt === undefined) main = image;
      this.note(
        mountedAt === undefined
          ? `Pulling container image: ${main}`
          : `Pulling image ${main} to be mounted to container path: ${mountedAt}`,
      );
    };
  }
}
