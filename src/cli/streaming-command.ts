import * as Flags from '@oclif/core/flags';
import {KcriError} from '../base/errors.js';
import type {OpenOptions} from '../operations/exec-session.js';
import {StreamingError} from '../streaming/errors.js';
import type {RemoteResult, RemoteSession, SessionRequest} from '../streaming/session.js';
import {BaseCommand} from './base-command.js';
import {EXIT} from './exit-codes.js';
import {STREAMING_FLAGS, tlsOptions, transportOf, type StreamingFlagValues} from './streaming-flags.js';
import type {SessionEnd} from './terminal/conduct.js';
import {DETACH_KEYS, parseDetachKeys} from './terminal/detach-keys.js';
import {isTerminal} from './terminal/input.js';
import {PrefixedLines} from './terminal/prefixed-lines.js';

/** As a program that SIGPIPE ends: nobody knows how the command went on. */
const EXIT_UNREAD = 141;

/** What `exec` and `attach` have in common. */
export const SESSION_FLAGS = {
  ...STREAMING_FLAGS,
  'detach-keys': Flags.string({
    helpValue: 'KEYS',
    description: `Keys that leave a terminal session while the command goes on, such as ctrl-x,x; none if empty. [default: ${DETACH_KEYS}]`,
  }),
};

/** The values of these flags. */
export type SessionFlagValues = StreamingFlagValues & {readonly 'detach-keys'?: string | undefined};

/** What a session is to be like. */
export interface Wanted {
  readonly stdin: boolean;
  readonly tty: boolean;
}

/** A session to be opened, and how the user meets it. */
export interface Meeting {
  /** What the user called the container. */
  readonly shown: string;
  readonly open: (streams: SessionRequest, options: OpenOptions) => Promise<RemoteSession>;
  readonly wanted: Wanted;
  /** Their signal ends the session too. */
  readonly options: OpenOptions;
  readonly detachKeys: readonly number[];
  /** Written in front of each line of output, so that several sessions may share this process's streams. */
  readonly prefix?: string | undefined;
}

/** How a session went: to its end, or it was left before that. */
export type Met = RemoteResult | {readonly kind: 'left'; readonly exitCode: number};

/** What the commands that connect this terminal to a process in a container are built on. */
export abstract class StreamingCommand extends BaseCommand {
  /** The keys that leave a session. Throws UsageError. */
  protected detachKeys(flags: SessionFlagValues): readonly number[] {
    return parseDetachKeys((this.compat ? undefined : flags['detach-keys']) ?? DETACH_KEYS);
  }

  /**
   * What can be had of what is wanted: without a terminal of our own, the process gets none either. crictl refuses
   * that, but only when the runtime has agreed (`openOptions`).
   */
  protected attainable(wanted: Wanted): Wanted {
    if (this.compat || !wanted.tty || !wanted.stdin || isTerminal(this.context.stdin)) return wanted;
    this.warn('standard input is not a terminal, so the command gets none (-t is left out)');
    return {...wanted, tty: false};
  }

  /** How to open a session. Throws UsageError. */
  protected openOptions(flags: StreamingFlagValues, wanted: Wanted): OpenOptions {
    const {clock, env} = this.context;
    const options = {signal: this.signal, clock, env, tls: tlsOptions(flags, this)};
    if (!this.compat) return {...options, transport: transportOf(flags, this)};
    const agreed = (): void => {
      this.#crictlTransport(flags);
      if (wanted.tty && !wanted.stdin)
        throw new StreamingError('tty=true must be specified with interactive=true');
      if (wanted.tty && !isTerminal(this.context.stdin)) throw new StreamingError('input is not a terminal');
    };
    return {...options, transport: flags.transport === 'websocket' ? 'websocket' : 'spdy', agreed};
  }

  #crictlTransport(flags: StreamingFlagValues): void {
    try {
      transportOf(flags, this);
    } catch (error) {
      if (error instanceof KcriError) throw new StreamingError(`get executor: ${error.message}`);
      throw error;
    }
  }

  /** Opens a session and connects it to this process's streams until it ends. */
  protected async meet({shown, open, wanted, options, detachKeys, prefix}: Meeting): Promise<Met> {
    const {conduct} = await import('./terminal/conduct.js');
    const session = await open({...wanted, stdout: true, stderr: !wanted.tty}, options);
    if (wanted.stdin && !wanted.tty && !session.halfClosesStdin)
      this.note(
        "kcri: this runtime can't be told where the input ends; a command that reads all of it never ends",
      );
    const outputs = [this.stdout.stream, this.stderr.stream];
    const lines = outputs.map((target) =>
      prefix === undefined ? target : new PrefixedLines(prefix, target),
    );
    const unread = this.stdout.closed;
    const {signal} = options;
    const end = await conduct(session, this.context, {...wanted, detachKeys, outputs: lines, unread, signal});
    for (const each of lines) if (each instanceof PrefixedLines) each.finish();
    return this.#met(end, shown);
  }

  /** How the session went, seen from here. */
  #met(end: SessionEnd, shown: string): Met {
    if (end.kind === 'unread') return {kind: 'left', exitCode: EXIT_UNREAD};
    if (end.kind !== 'detached') return end;
    if (!this.compat) this.note(`\nkcri: detached from "${shown}"`);
    return {kind: 'left', exitCode: EXIT.ok};
  }
}
