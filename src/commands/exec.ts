import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {timeLimit, type TimeLimit} from '../base/time-limit.js';
import {choiceOf, chooseContainers, type Choice} from '../cli/choose-containers.js';
import {EXIT} from '../cli/exit-codes.js';
import {CONTAINER_FILTERS, isFiltered, type ContainerFilterValues} from '../cli/filter-flags.js';
import {integerFlag} from '../cli/flags.js';
import {SESSION_FLAGS, StreamingCommand, type SessionFlagValues} from '../cli/streaming-command.js';
import {ArgumentsError} from '../cli/usage-errors.js';
import type {ContainerId} from '../cri/index.js';
import {truncateId} from '../format/id.js';
import {visibleInLine} from '../format/visible.js';
import {CommandExitError, ExecFailedError, ExecTimeoutError} from '../operations/exec-failure.js';
import {openExec} from '../operations/exec-session.js';
import {execSync} from '../operations/exec-sync.js';
import {NothingChosenError, type Target} from '../operations/resolve.js';
import {parseLabels} from '../operations/filters.js';
import {withContext} from '../operations/with-context.js';
import {wrapCommand} from '../operations/wrap-command.js';

/** How many containers a command runs in at a time with --parallel. */
const AT_ONCE = 64;

export default class Exec extends StreamingCommand {
  static override summary = 'Run a command in a container';
  static override description =
    "The exit code is the command's: 128 + n for signal n, 127 and 126 for a command that is not there or can't be " +
    'executed. Options end at the container (or at the command, where filters choose the containers); a -- before ' +
    'the command is left out.\n\n' +
    'With filters the command runs in every container that they let through, one after the other.\n\n' +
    'Whether the command goes on when kcri leaves it (Ctrl-C without -t, --timeout, the detach keys) is for the ' +
    'runtime to say: containerd 1.6 lets it, containerd 2.1 ends it.\n\n' +
    "CRI knows no user, environment or directory of a command's own. --user, --env and --workdir are had by running " +
    "the command through the container's own programs: env, sh, and one of chroot, setuidgid, su-exec, gosu and su.";
  static override usage = 'exec [OPTIONS] [CONTAINER] COMMAND [ARG...]';
  static override examples = [
    '<%= config.bin %> exec -it web sh',
    '<%= config.bin %> exec web ls -la /etc',
    'tar c . | <%= config.bin %> exec -i shop/web tar x -C /srv',
    '<%= config.bin %> exec --env LANG=C --workdir /srv --user nobody web ls',
    '<%= config.bin %> exec -x --label app=web hostname',
  ];
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
    interactive: Flags.boolean({char: 'i', description: 'Pass standard input on to the command.'}),
    tty: Flags.boolean({char: 't', description: 'Give the command a terminal.'}),
    sync: Flags.boolean({
      char: 's',
      description: 'Run the command with ExecSync: no input, and its output when it has ended, up to 16 MiB.',
    }),
    timeout: integerFlag({
      default: 0,
      helpValue: 'SECONDS',
      description:
        'Wait no longer than so many seconds; with --sync the runtime ends the command. [default: for ever]',
    }),
    user: Flags.string({
      helpValue: 'USER[:GROUP]',
      description: 'Run the command as a user, by name or number.',
    }),
    env: Flags.string({
      multiple: true,
      helpValue: 'NAME=VALUE',
      description: 'Set a variable of the command. May be repeated.',
    }),
    workdir: Flags.string({helpValue: 'DIR', description: 'Run the command in a directory.'}),
    quiet: Flags.boolean({char: 'q', description: 'Do not say which container an output is from.'}),
    'ignore-errors': Flags.boolean({char: 'e', description: 'Exit with 0 whatever happens.'}),
    parallel: Flags.boolean({
      char: 'x',
      description: 'Run in all chosen containers at once, with the container in front of each line.',
    }),
    ...SESSION_FLAGS,
  };

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Exec);
    const plan = this.#plan(argv as string[], flags);
    if (this.compat && flags['ignore-errors'] && !flags.quiet)
      this.warn(
        'The `--ignore-errors` option has been set all errors returned by the command will be ignored.',
      );
    const targets = await this.#targets(plan);
    if (targets.length > 1 && (flags.interactive || flags.tty) && !this.compat)
      throw new UsageError(`-i and -t need one container, and ${targets.length} were chosen`);
    await this.#runIn(targets, plan);
    if (flags['ignore-errors']) this.forgiveErrors();
  }

  /** What is to be done, checked before anything is asked. Throws UsageError. */
  #plan(words: readonly string[], flags: ExecFlags): Plan {
    const filtered = isFiltered(flags);
    const refs = filtered ? [] : words.slice(0, 1);
    const rest = words.slice(refs.length);
    const command = !filtered && !this.compat && rest[0] === '--' ? rest.slice(1) : rest;
    if (command.length === 0)
      throw new ArgumentsError('a container and a command are needed, or a filter and a command');
    if (!this.compat) checkFlags(flags);
    const {env = [], workdir, user} = flags;
    return {
      refs,
      command,
      wrapped: wrapCommand(command, {env, workdir, user}),
      flags,
    };
  }

  async #targets({refs, flags}: Plan): Promise<readonly Target<ContainerId>[]> {
    const targets =
      this.compat && refs.length === 0
        ? await this.#crictlTargets(flags)
        : await this.#chosen(choiceOf(refs, flags, {states: 'running'}));
    if (targets.length > 0) return targets;
    throw new NothingChosenError('No containers found per filter flags', {
      hint: '"kcri ps -a" lists what there is',
    });
  }

  async #chosen(choice: Choice): Promise<readonly Target<ContainerId>[]> {
    const {signal, compat: literal} = this;
    try {
      return await chooseContainers(await this.cri(), choice, {signal, literal});
    } catch (error) {
      if (error instanceof NothingChosenError) return [];
      throw error;
    }
  }

  async #crictlTargets(flags: ExecFlags): Promise<readonly Target<ContainerId>[]> {
    parseLabels(flags.label);
    const services = await this.cri();
    const {crictlContainers, saying} = await import('../cli/compat/lists.js');
    const containers = await saying('listing containers', () =>
      crictlContainers(services, flags, this.signal),
    );
    return containers.map(({id}) => ({kind: 'found', ref: id, id}));
  }

  async #runIn(targets: readonly Target<ContainerId>[], plan: Plan): Promise<void> {
    const label = labelOf(plan, {several: targets.length > 1, compat: this.compat});
    if (this.compat && label === 'header') for (const {ref} of inOrderOfGo(targets)) this.print(`${ref}:`);
    const runOne = async (id: ContainerId, shown: string): Promise<void> => {
      if (!this.compat && label === 'header') this.print(`${id}:`);
      const running = plan.flags.sync ? this.#sync(id, plan) : this.#stream(id, shown, {...plan, label});
      const exitCode = await withContext(this.#doing(id, shown, plan), running);
      if (targets.length > 1 && exitCode !== EXIT.ok)
        this.note(`kcri: the command ended with exit code ${exitCode} in the container "${shown}"`);
      this.exitWith(exitCode);
    };
    if (this.compat) await this.#atOnce(targets, runOne, plan.flags);
    else await this.forEachTarget(targets, runOne, plan.flags.parallel ? AT_ONCE : 1);
  }

  /** As crictl: always all together, with the errors in order at the end, or none if they are to be ignored. */
  async #atOnce(
    targets: readonly Target<ContainerId>[],
    act: (id: ContainerId, shown: string) => Promise<void>,
    flags: ExecFlags,
  ): Promise<void> {
    const found = targets.filter((target) => target.kind === 'found');
    const ends = await Promise.allSettled(found.map(async ({id, ref}) => act(id, ref)));
    if (flags['ignore-errors']) return;
    for (const end of ends) if (end.status === 'rejected') this.fail(end.reason);
  }

  #doing(id: ContainerId, shown: string, {command, flags}: Plan): string {
    return this.compat
      ? `execing command in container ${id}${flags.sync ? ' synchronously' : ''}`
      : `running "${command[0] ?? ''}" in the container "${shown}"`;
  }

  async #sync(id: ContainerId, {command, wrapped, flags}: Plan): Promise<number> {
    const {runtime} = await this.cri();
    const {signal} = this;
    const answer = await execSync(runtime, id, {command: wrapped, timeoutSeconds: flags.timeout, signal});
    const {stdout, stderr, exitCode} = answer;
    if (!this.compat) {
      this.stdout.write(stdout);
      this.stderr.write(stderr);
      return exitCode;
    }
    if (exitCode !== EXIT.ok) {
      const said = Buffer.from(stderr).toString();
      throw new CommandExitError(exitCode, `command '${command.join(' ')}' exited with ${exitCode}: ${said}`);
    }
    for (const text of [stdout, '\n', stderr, '\n']) this.stdout.write(text);
    return exitCode;
  }

  async #stream(id: ContainerId, shown: string, plan: Plan & {readonly label: Label}): Promise<number> {
    const {wrapped: command, flags, label} = plan;
    const wanted = this.attainable({stdin: flags.interactive, tty: flags.tty});
    using limit = this.#limit(plan);
    const signal = AbortSignal.any([this.signal, limit.signal]);
    const {runtime} = await this.cri();
    const end = await this.meet({
      shown,
      open: (streams, options) => openExec(runtime, id, {...streams, command}, options),
      wanted,
      options: {...this.openOptions(flags, wanted), signal},
      detachKeys: this.detachKeys(flags),
      prefix: label === 'prefix' ? `[${visibleInLine(truncateId(id))}] ` : undefined,
    });
    if (end.kind === 'failed') throw new ExecFailedError(end.message);
    if (this.compat && end.kind === 'exited' && end.exitCode !== EXIT.ok)
      throw new CommandExitError(end.exitCode);
    return end.exitCode;
  }

  /** crictl takes no notice of the limit where it doesn't use ExecSync. */
  #limit({command, flags}: Plan): TimeLimit {
    const ms = this.compat || flags.timeout === 0 ? undefined : flags.timeout * 1000;
    return timeLimit(
      this.context.clock,
      ms,
      () => new ExecTimeoutError(command, flags.timeout, {hint: 'the command may go on in the container'}),
    );
  }
}

/** crictl says from which container an output is even when there is only one, as long as filters chose it. */
function labelOf(
  {refs, flags}: Plan,
  {several, compat}: {readonly several: boolean; readonly compat: boolean},
): Label {
  if (flags.quiet || (compat ? refs.length > 0 || flags.parallel : !several)) return 'none';
  return flags.parallel ? 'prefix' : 'header';
}

/** In which goroutines that were started one after the other get their turn: the last one first. */
function inOrderOfGo<T>(items: readonly T[]): readonly T[] {
  return [...items.slice(-1), ...items.slice(0, -1)];
}

/** Throws UsageError. */
function checkFlags({timeout, sync, interactive, tty, env = []}: ExecFlags): void {
  if (timeout < 0) throw new UsageError('--timeout must not be negative');
  if (sync && (interactive || tty))
    throw new UsageError('--sync has neither input nor terminal', {hint: 'leave out -s, or -i and -t'});
  const wrong = env.find((variable) => !/^[^=]+=/.test(variable));
  if (wrong !== undefined) throw new UsageError(`--env takes NAME=VALUE, not "${wrong}"`);
}

interface ExecFlags extends SessionFlagValues, ContainerFilterValues {
  readonly interactive: boolean;
  readonly tty: boolean;
  readonly sync: boolean;
  readonly timeout: number;
  readonly user?: string | undefined;
  readonly env?: readonly string[] | undefined;
  readonly workdir?: string | undefined;
  readonly quiet: boolean;
  readonly 'ignore-errors': boolean;
  readonly parallel: boolean;
}

/** How it is said which container an output is from. */
type Label = 'none' | 'header' | 'prefix';

interface Plan {
  /** The container that was named; empty where filters choose. */
  readonly refs: readonly string[];
  /** The command as it was given, and as it is run. */
  readonly command: readonly string[];
  readonly wrapped: readonly string[];
  readonly flags: ExecFlags;
}
