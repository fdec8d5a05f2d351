import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/base-command.js';
import {EXIT} from '../cli/exit-codes.js';
import {CONTAINER_FILTERS, containerQuery, type ContainerFilterValues} from '../cli/filter-flags.js';
import {integerFlag} from '../cli/flags.js';
import type {ContainerId, ExecSyncResponse} from '../cri/index.js';
import {listContainers} from '../operations/containers.js';
import {execSync} from '../operations/exec-sync.js';
import {NoSuchError, resolveContainers, type Target} from '../operations/resolve.js';
import {withContext} from '../operations/with-context.js';

/** As crictl: every container at the same time. */
const AT_ONCE = 64;

export default class Exec extends BaseCommand {
  static override summary = 'Run a command in a container';
  static override description =
    "The exit code is the command's. Without filters the first argument names the container; with filters the " +
    'command runs in every container that they let through.\n\n' +
    'The output is shown when the command has ended (ExecSync); a command that reads from the terminal is not ' +
    'possible yet.';
  static override usage = 'exec [OPTIONS] [CONTAINER] COMMAND [ARG...]';
  static override strict = false;
  static override flagsEndAtArgument = true;
  static override args = {
    container: Args.string({ignoreStdin: true, description: 'Id, beginning of an id, name, or POD/NAME.'}),
    command: Args.string({ignoreStdin: true, multiple: true, description: 'Command and its arguments.'}),
  };
  static override flags = {
    ...CONTAINER_FILTERS,
    state: Flags.string({
      helpValue: 'created|running|exited|unknown',
      description: 'Only containers in a state. [default: running]',
    }),
    sync: Flags.boolean({char: 's', description: 'Run the command with ExecSync.'}),
    timeout: integerFlag({
      default: 0,
      helpValue: 'SECONDS',
      description: 'End the command after so many seconds. [default: never]',
    }),
    quiet: Flags.boolean({char: 'q', description: 'Leave out the id above the output of each container.'}),
    'ignore-errors': Flags.boolean({char: 'e', description: 'Exit with 0 whatever happens.'}),
    parallel: Flags.boolean({char: 'x', description: 'Run in all containers at once, without ids.'}),
    tty: Flags.boolean({char: 't', hidden: true, description: 'Give the command a terminal.'}),
    interactive: Flags.boolean({char: 'i', hidden: true, description: 'Let the command read.'}),
  };

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Exec);
    if (flags.tty || flags.interactive)
      throw new UsageError('exec with -i or -t is not built into kcri yet', {
        hint: 'leave out -i and -t; the command then gets no input and no terminal',
      });
    if (flags.timeout < 0) throw new UsageError('--timeout must not be negative');
    const words = argv as string[];
    const filtered = isFiltered(flags);
    const [targets, command] = filtered ? [await this.#chosen(flags), words] : await this.#named(words);
    if (command.length === 0) throw new UsageError('no command to run');
    const header = filtered && !flags.quiet && !flags.parallel;
    await this.#runIn(targets, {command, timeoutSeconds: flags.timeout, header, parallel: flags.parallel});
    if (flags['ignore-errors']) this.forgiveErrors();
  }

  async #chosen(flags: ContainerFilterValues): Promise<readonly Target<ContainerId>[]> {
    const chosen = listContainers(await this.cri(), containerQuery(flags), this.signal);
    const containers = await withContext('listing containers', chosen);
    if (containers.length === 0)
      throw new NoSuchError('No containers found per filter flags', {
        hint: '"kcri ps -a" lists what there is',
      });
    return containers.map(({id}) => ({kind: 'found', ref: id, id}));
  }

  async #named([ref, ...words]: readonly string[]) {
    if (ref === undefined || words.length === 0)
      throw new UsageError('a container and a command are needed, or a filter and a command');
    const {runtime} = await this.cri();
    const targets = await resolveContainers(runtime, [ref], {signal: this.signal});
    return [targets, words[0] === '--' ? words.slice(1) : words] as const;
  }

  async #runIn(targets: readonly Target<ContainerId>[], options: RunOptions): Promise<void> {
    const {runtime} = await this.cri();
    const {signal} = this;
    const runOne = async (id: ContainerId, shown: string): Promise<void> => {
      const response = await execSync(runtime, id, {...options, shown, signal});
      if (options.header) this.print(`${id}:`);
      this.#show(response);
    };
    await this.forEachTarget(targets, runOne, options.parallel ? AT_ONCE : 1);
  }

  #show({stdout, stderr, exitCode}: ExecSyncResponse): void {
    this.stdout.write(stdout);
    this.stderr.write(stderr);
    if (exitCode === EXIT.ok) return;
    this.note(`kcri: command terminated with exit code ${exitCode}`);
    this.exitWith(exitCode);
  }
}

interface RunOptions {
  readonly command: readonly string[];
  readonly timeoutSeconds: number;
  readonly header: boolean;
  readonly parallel: boolean;
}

function isFiltered({name, pod, image, state, label, latest, last}: ContainerFilterValues): boolean {
  return latest === true || [name, pod, image, state, label, last].some((value) => value !== undefined);
}
