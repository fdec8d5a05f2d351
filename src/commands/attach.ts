import * as Args from '@oclif/core/args';
import {missingArgument} from '../cli/flags/positional-arguments.js';
import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import type {CommandStrategies} from '../cli/dialect/command-strategies.js';
import {SESSION_FLAGS} from '../features/sessions/session-flags.js';
import {
  parseContainerSelection,
  POD_CONTAINER_FLAG,
  choosePodContainers,
} from '../features/containers/select-containers.js';
import {runCommandSession} from '../features/sessions/command-session.js';
import {ArgumentsError} from '../cli/parsing/usage-errors.js';
import {waitForExitCode} from '../operations/containers/wait-for-exit.js';
import {ExecFailedError} from '../operations/exec/exec-errors.js';
import {startAttachSession} from '../operations/exec/start-attach-session.js';
import {actOnTarget} from '../operations/resolve/target.js';
import {withContext} from '../operations/with-context.js';

export default class Attach extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Attach to a running container';
  static override description =
    "Streams the output of the container's main process. When the container exits, attach exits with " +
    'its exit code. Press Ctrl-C (without -t) or the detach keys (with -t) to detach; the container ' +
    'keeps running.\n\nInput and a terminal are available only if the container was created with them.';
  static override usage = 'attach [FLAGS] CONTAINER';
  static override examples = [
    '<%= config.bin %> attach web',
    '<%= config.bin %> attach -it shop/shell',
    "<%= config.bin %> attach -it --detach-keys='ctrl-x,x' shell",
  ];
  static override strict = false;
  static override args = {
    container: Args.string({
      ignoreStdin: true,
      description: 'ID, ID prefix, name, or POD/NAME of the container; or a pod.',
    }),
  };
  static override flags = {
    ...POD_CONTAINER_FLAG,
    stdin: Flags.boolean({char: 'i', description: 'Pass standard input to the container.'}),
    tty: Flags.boolean({
      char: 't',
      description: 'Standard input is a terminal: pass key strokes and resize events to the container.',
    }),
    ...SESSION_FLAGS,
  };

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Attach);
    const {services} = this;
    const [ref, ...rest] = argv as string[];
    if (ref === undefined || ref === '') throw missingArgument('container or a pod');
    if (rest.length > 0) throw new ArgumentsError('attach requires exactly one container');
    const strategy = await this.dialect.strategy('attach', ATTACH);
    const selection = await parseContainerSelection([ref], flags, {states: 'running'});
    const connection = await this.cri();
    const {runtime} = connection;
    const [target] = await choosePodContainers(services, connection, selection, flags);
    const {id, end} = await actOnTarget(target, async (containerId, containerName) => {
      const session = runCommandSession(services, {
        containerName,
        open: (streams, options) => startAttachSession(runtime, containerId, streams, options),
        flags,
        streams: {stdin: flags.stdin, tty: flags.tty},
      });
      return {id: containerId, end: await withContext(strategy.context(containerName), session)};
    });
    if (end.kind === 'failed') throw new ExecFailedError(end.message);
    this.report.setExitCode(
      end.kind === 'left' ? end.exitCode : await strategy.exitCode(services, runtime, id),
    );
  }
}

const ATTACH: CommandStrategies['attach'] = {
  context: (ref) => `attaching to container "${ref}"`,
  exitCode: async ({context: {clock}, signal}, runtime, id) =>
    await waitForExitCode(runtime, id, {clock, signal}),
};
