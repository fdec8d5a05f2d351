import {existsSync, statSync} from 'node:fs';
import * as Args from '@oclif/core/args';
import {BaseCommand} from '../cli/command/base-command.js';
import {EXIT} from '../cli/process/exit-codes.js';
import {ArgumentsError} from '../cli/parsing/usage-errors.js';
import {CONFIG_ARGS} from '../features/cri-configs/config-file-args.js';
import {CONFIG_RUN_FLAGS, IMAGE_RUN_FLAGS} from '../features/run/run-flags.js';
import type {ConfigRunFlags} from '../features/run/run-config-files.js';
import {exitCodeOf} from '../cli/output/render-error.js';
import {
  checkFormFlags,
  chooseRunForm,
  endsRunFlags,
  isConfig,
  splitRunLine,
  type RunForm,
} from '../features/run/run-form.js';

declare module '../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly run: {
      /** True if an image can be run without config files. */
      readonly acceptsImages: boolean;
    };
  }
}

/** Flags of the form with config files that the other form replaces. */
const CONFIG_ONLY = ['no-pull', 'with-pull'];

/** Flags of the form with an image; -u is that of --username with config files. */
const IMAGE_ONLY = Object.keys(IMAGE_RUN_FLAGS).filter((name) => name !== 'user');

export default class Run extends BaseCommand {
  static override nodes = 'local' as const;
  static override summary = 'Run a container in a new pod';
  static override description =
    'Runs an image as "docker run" does, or the container of two config files as crictl does. The first ' +
    'argument is a config file if such a file exists, or if it is "-", begins with "." or "/", or ends ' +
    'in .json or .yaml; otherwise, or before "--", it is an image. The flags of kcri precede the command, ' +
    'and "--" must precede a command that begins with "-".\n\nWith an image, the output is shown ' +
    'until the container exits, and kcri exits with its exit code: 128 + n if signal n killed it, 127 if ' +
    'the command does not exist, 126 if it is not executable, 125 for other errors of kcri. Ctrl-C stops the container, and with -it ' +
    'the detach keys leave it running. Afterwards the pod is stopped, or with --rm removed with its log; ' +
    'if anything fails before, nothing is left.\n\nThe pod has one container, both with the same name, in ' +
    'namespace default. kcri does not restart it: use "kcri sync" for a Pod that is. The kubelet of kcri ' +
    'leaves the pod alone; another kubelet that uses the runtime stops all pods that it does not know, ' +
    'whatever their labels. The host path of --volume must exist.';
  static override usage = 'run [FLAGS] IMAGE [COMMAND [ARG...]] | CONTAINER-CONFIG POD-CONFIG';
  static override examples = [
    '<%= config.bin %> run -it --rm busybox sh',
    '<%= config.bin %> run -d --name=web -p 8080:80 -v ./site:/usr/share/nginx/html:ro nginx',
    '<%= config.bin %> run container.yaml pod.yaml',
  ];
  static override args = {
    image: Args.string({
      ignoreStdin: true,
      description: 'Image, or the ContainerConfig file as JSON or YAML; - reads it from standard input.',
    }),
    command: Args.string({
      ignoreStdin: true,
      multiple: true,
      description: 'Command and its arguments, or the PodSandboxConfig file.',
    }),
  };
  static override flags = {...CONFIG_RUN_FLAGS, ...IMAGE_RUN_FLAGS};

  static override flagsEndAfter = (positionals: readonly string[]): boolean =>
    endsRunFlags(positionals, isFile);

  async run(): Promise<void> {
    const {acceptsImages} = await this.dialect.strategy('run', {acceptsImages: true});
    if (acceptsImages) {
      let isImage = !this.argv.some((word) => isConfig(word, isFile));
      try {
        await this.#runEither((kind) => {
          isImage = kind === 'image';
        });
      } catch (error) {
        const isNotRun = exitCodeOf(error) === EXIT.failed && !(error instanceof ArgumentsError);
        if (isImage && isNotRun) this.report.setExitCode(EXIT.notRun);
        throw error;
      }
    } else {
      const {args, flags} = await this.parse({args: CONFIG_ARGS, flags: Run.flags});
      await this.#runFiles(args['container-config'], args['pod-config'], flags);
    }
  }

  /** Runs either form, and calls `onForm` as soon as it is known. */
  async #runEither(onForm: (kind: RunForm['kind']) => void): Promise<void> {
    const {argv, flags} = await this.parse(Run);
    const form = chooseRunForm(splitRunLine(this.argv, argv as string[]), isFile);
    onForm(form.kind);
    checkFormFlags(form.kind, flags, form.kind === 'files' ? IMAGE_ONLY : CONFIG_ONLY);
    if (form.kind === 'files') {
      const username = flags.username ?? flags.user;
      await this.#runFiles(form.container, form.pod, {...flags, username});
      return;
    }
    const {runImage} = await import('../features/run/run-image.js');
    await runImage(this.services, form, flags);
  }

  async #runFiles(container: string, pod: string, flags: ConfigRunFlags): Promise<void> {
    const {runConfigFiles} = await import('../features/run/run-config-files.js');
    this.out.print((await runConfigFiles(this.services, {container, pod}, flags)).containerId);
  }
}

function isFile(path: string): boolean {
  return existsSync(path) && !statSync(path).isDirectory();
}
