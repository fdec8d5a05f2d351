import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {askPassword} from '../cli/ask-password.js';
import {BaseCommand} from '../cli/base-command.js';
import {listFlag} from '../cli/flags.js';
import {credentials, PULL_FLAGS, pullTimeoutMs} from '../cli/pull-flags.js';
import {parseLabels} from '../operations/filters.js';
import {authOf, pullImage} from '../operations/pull.js';

export default class Pull extends BaseCommand {
  static override summary = 'Pull an image from a registry';
  static override usage = 'pull NAME[:TAG|@DIGEST] [OPTIONS]';
  static override args = {name: Args.string({ignoreStdin: true, description: 'Image to pull.'})};
  static override flags = {
    ...PULL_FLAGS,
    'pod-config': Flags.string({
      helpValue: 'FILE',
      description: 'Config of the pod that the image is for, JSON or YAML.',
    }),
    annotation: listFlag({char: 'a', description: 'Annotation for the image, as KEY=VALUE.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Pull);
    const {context, signal} = this;
    if ((args.name ?? '') === '') throw new UsageError('image name cannot be empty');
    const auth = await authOf(credentials(flags, context.env), async () => await askPassword(context));
    const options = {
      auth,
      annotations: parseLabels(flags.annotation),
      sandboxConfig: await this.#sandboxConfig(flags['pod-config']),
      timeoutMs: pullTimeoutMs(flags, context.env),
      signal,
    };
    const {images} = await this.cri();
    this.print(`Image is up to date for ${await pullImage(images, args.name ?? '', options)}`);
  }

  async #sandboxConfig(path: string | undefined) {
    if (path === undefined) return undefined;
    const {parseSandboxConfig, readConfigText} = await import('../operations/config-files.js');
    return await parseSandboxConfig(
      await readConfigText(path, this.signal),
      (warning) => void this.warn(warning),
    );
  }
}
