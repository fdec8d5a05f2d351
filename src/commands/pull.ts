import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {ContainerCommand} from '../cli/container-command.js';
import {showingElapsed} from '../cli/elapsed.js';
import {listFlag} from '../cli/flags.js';
import {PULL_FLAGS} from '../cli/pull-flags.js';
import {parseLabels} from '../operations/filters.js';
import {pullImage} from '../operations/pull.js';
import {withContext} from '../operations/with-context.js';

export default class Pull extends ContainerCommand {
  static override summary = 'Pull an image from a registry';
  static override description =
    'Prints what the runtime calls the image. The password for --username is asked for, or read from a pipe.';
  static override usage = 'pull NAME[:TAG|@DIGEST] [OPTIONS]';
  static override examples = [
    '<%= config.bin %> pull docker.io/library/busybox:1.36',
    '<%= config.bin %> pull -u alice registry.example/app:2',
    '<%= config.bin %> pull --pull-timeout 5m registry.example/app@sha256:0123…',
  ];
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
    const {name = ''} = args;
    if (name === '') throw new UsageError('image name cannot be empty');
    const plan = await this.pullPlan(flags, true);
    const sandboxConfig = await this.#sandboxConfig(flags['pod-config']);
    const options = {...plan, annotations: parseLabels(flags.annotation), sandboxConfig, signal: this.signal};
    const {images} = await this.cri();
    const pulled = withContext('pulling image', pullImage(images, name, options));
    const imageRef = this.compat ? await pulled : await this.#showing(`pulling ${name}`, pulled);
    this.show(`Image is up to date for ${imageRef}\n`);
  }

  async #showing<T>(doing: string, work: Promise<T>): Promise<T> {
    return await showingElapsed(work, {doing, output: this.stderr, clock: this.context.clock});
  }

  async #sandboxConfig(path: string | undefined) {
    if (path === undefined) return undefined;
    const configs = await this.configs();
    return await configs.saying('load podSandboxConfig', () => configs.sandbox(path));
  }
}
