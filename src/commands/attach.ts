import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {EXIT} from '../cli/exit-codes.js';
import {SESSION_FLAGS, StreamingCommand} from '../cli/streaming-command.js';
import {ArgumentsError} from '../cli/usage-errors.js';
import type {ContainerId} from '../cri/index.js';
import {exitCodeOfContainer} from '../operations/container-exit.js';
import {ExecFailedError} from '../operations/exec-failure.js';
import {openAttach} from '../operations/exec-session.js';
import {resolveContainer} from '../operations/resolve.js';
import {withContext} from '../operations/with-context.js';

export default class Attach extends StreamingCommand {
  static override summary = "Connect to a container's first process";
  static override description =
    'Shows what the process writes from now on. When the container ends, its exit code is that of attach. Ctrl-C ' +
    'without -t, and the detach keys with it, end attach and not the container.\n\n' +
    'Input and a terminal are only there when the container was made with them.';
  static override usage = 'attach [OPTIONS] CONTAINER';
  static override examples = [
    '<%= config.bin %> attach web',
    '<%= config.bin %> attach -it shop/shell',
    "<%= config.bin %> attach -it --detach-keys 'ctrl-x,x' shell",
  ];
  static override strict = false;
  static override args = {
    container: Args.string({ignoreStdin: true, description: 'Id, beginning of an id, name, or POD/NAME.'}),
  };
  static override flags = {
    stdin: Flags.boolean({char: 'i', description: 'Pass standard input on to the process.'}),
    tty: Flags.boolean({
      char: 't',
      description: "The process has a terminal: pass on keys and this one's size.",
    }),
    ...SESSION_FLAGS,
  };

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Attach);
    const [ref, ...rest] = argv as string[];
    if (ref === undefined || ref === '') throw new UsageError('ID cannot be empty');
    if (rest.length > 0) throw new ArgumentsError('attach takes one container');
    const {runtime} = await this.cri();
    const id = await resolveContainer(runtime, ref, {signal: this.signal, literal: this.compat});
    const wanted = this.attainable({stdin: flags.stdin, tty: flags.tty});
    const met = this.meet({
      shown: ref,
      open: (streams, options) => openAttach(runtime, id, streams, options),
      wanted,
      options: this.openOptions(flags, wanted),
      detachKeys: this.detachKeys(flags),
    });
    const doing = this.compat ? 'attaching running container failed' : `attaching to the container "${ref}"`;
    const end = await withContext(doing, met);
    if (end.kind === 'failed') throw new ExecFailedError(end.message);
    this.exitWith(end.kind === 'left' ? end.exitCode : await this.#exitCode(id));
  }

  /** The session's own account is always one of success. */
  async #exitCode(id: ContainerId): Promise<number> {
    if (this.compat) return EXIT.ok;
    const {runtime} = await this.cri();
    return await exitCodeOfContainer(runtime, id, {clock: this.context.clock, signal: this.signal});
  }
}
