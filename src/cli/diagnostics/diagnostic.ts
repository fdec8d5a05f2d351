import type {CallObserver} from '../../cri/index.js';

/** Measurement of one run of a command. */
export interface Diagnostic {
  /** Observer of the calls to the runtime. */
  readonly observer?: CallObserver;
  /** Ends the measurement and writes its result, even if the command failed. Never rejects. */
  finish(failure: unknown): Promise<void>;
}

/** Properties of the measured command, and functions that report to its user. */
export interface DiagnosedCommand {
  /** Name of the command, such as `runtime up`. */
  readonly name: string;
  /** Program name in traces. */
  readonly program: string;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
  readonly inform: (text: string) => void;
  readonly warn: (text: string) => void;
}
