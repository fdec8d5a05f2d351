import {UsageError} from '../base/errors.js';
import {visibleControls} from '../format/visible.js';
import {exitCodeOf, renderError} from './render-error.js';

/**
 * How people are told what happens. A command says a thing once, and the voice decides how it looks: kcri's own,
 * or crictl's (compat/voice.ts).
 */
export interface Voice {
  /** Something good to know. */
  note(text: string): void;
  /** Something that is likely not wanted. */
  warn(text: string): void;
  /** An error that does not change how the command ends. */
  complain(text: string): void;
  /** An error that the command ends with, at once or after the rest is done. Gives the exit code for it. */
  fail(error: unknown): number;
  /** The command is over: what was held back is said now. */
  end(): void;
}

/** What a voice needs to know. */
export interface VoiceOptions {
  readonly write: (text: string) => void;
  /** Whether causes and stacks are wanted. */
  readonly debug: () => boolean;
  /** What follows a usage error, such as how the command is used. */
  readonly usage: () => string;
}

/**
 * kcri's own voice: one line for an error and one for what to do about it, at once. What a runtime puts into a text
 * does not steer the terminal.
 */
export function ownVoice({write: writeRaw, debug, usage}: VoiceOptions): Voice {
  const write = (text: string): void => {
    writeRaw(visibleControls(text));
  };
  return {
    note: (text) => {
      write(`${text}\n`);
    },
    warn: (text) => {
      write(`kcri: warning: ${text}\n`);
    },
    complain: (text) => {
      write(`kcri: ${text}\n`);
    },
    fail: (error) => {
      write(`${renderError(error, debug())}\n`);
      if (error instanceof UsageError) write(`${usage()}\n`);
      return exitCodeOf(error);
    },
    end: () => undefined,
  };
}
