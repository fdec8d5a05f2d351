import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {kcriOnlyFlags, listFlag} from '../cli/flags/flag-types.js';
import {PULL_FLAGS} from '../features/pull/pull-flags.js';
import {ArgumentsError} from '../cli/parsing/usage-errors.js';
import {createCriConfigReader} from '../features/cri-configs/cri-config-reader.js';
import {KCRI_PULL, pullOptions} from '../features/pull/pull-options.js';
import type {PullTimes} from '../operations/images/pull-progress.js';
import {formatJson} from '../format/json.js';
import {parseLabels} from '../operations/filters/list-filters.js';
import {pullImage} from '../operations/images/pull-image.js';
import {withContext} from '../operations/with-context.js';

export default class Pull extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Pull an image from a registry';
  static override description =
    'Prints the image reference that the runtime returns. With --username, the password is read from ' +
    'the terminal or from a pipe.\n\nOn a terminal, shows the layers that containerd downloads, and then how ' +
    'long the pull took.';
  static override aliases = ['image pull'];
  static override usage = 'pull NAME[:TAG|@DIGEST] [FLAGS]';
  static override examples = [
    '<%= config.bin %> pull docker.io/library/busybox:1.36',
    '<%= config.bin %> pull -u alice registry.example/app:2',
    '<%= config.bin %> pull --pull-timeout=5m registry.example/app@sha256:0123…',
  ];
  static override strict = false;
  static override args = {name: Args.string({ignoreStdin: true, description: 'Name of the image.'})};
  static override flags = {
    ...PULL_FLAGS,
    'pod-config': Flags.string({
      helpValue: 'FILE',
      description: 'PodSandboxConfig of the pod that the image is pulled for, as JSON or YAML.',
    }),
    annotation: listFlag({
      char: 'a',
      helpValue: 'KEY=VALUE',
      description: 'Annotation of the image. Can be repeated.',
    }),
    ...kcriOnlyFlags({
      verbose: Flags.boolean({
        char: 'v',
        description: 'Print how long the download and unpacking took, as on a terminal.',
      }),
      output: Flags.string({
        char: 'o',
        helpValue: 'FORMAT',
        description: 'Output format: json, with the times in milliseconds.',
        options: ['json'],
      }),
    }),
  };

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Pull);
    const {services, signal} = this;
    const [name = '', ...rest] = argv as string[];
    if (name === '') throw new UsageError('image name cannot be empty');
    if (rest.length > 0) throw new ArgumentsError(`unexpected argument "${rest[0] ?? ''}"`);
    const {showProgress} = await this.dialect.strategy('pull', KCRI_PULL);
    const {authFor, timeoutMs} = await pullOptions(services, flags);
    const sandboxConfig = await this.#readPodConfig(flags['pod-config']);
    const annotations = parseLabels(flags.annotation);
    const {images} = await this.cri();
    const pulling = pullImage(images, name, {authFor, timeoutMs, annotations, sandboxConfig, signal});
    const {value: imageRef, times} = await showProgress(
      services,
      {activity: `pulling ${name}`, isMeasured: flags.verbose || flags.output !== undefined},
      withContext('pulling image', pulling),
    );
    if (flags.output !== undefined) {
      this.out.print(formatJson({image: name, imageRef, ...(times && timesJson(times))}));
      return;
    }
    this.out.printText(`Image is up to date for ${imageRef}\n`);
    if (times !== undefined) await this.#printTimes(times);
  }

  async #printTimes(times: PullTimes): Promise<void> {
    const {formatPullTimes} = await import('../features/pull/pull-progress.js');
    this.report.info(formatPullTimes(times));
  }

  async #readPodConfig(path: string | undefined) {
    if (path === undefined) return undefined;
    const configs = await createCriConfigReader(this.services, [path]);
    return await configs.withErrorContext('load podSandboxConfig', () => configs.readPodSandboxConfig(path));
  }
}

function timesJson({pulledMs, downloadMs, unpackMs, downloadedBytes}: PullTimes) {
  return {pulledMs, downloadMs: downloadMs ?? null, unpackMs: unpackMs ?? null, downloadedBytes};
}
