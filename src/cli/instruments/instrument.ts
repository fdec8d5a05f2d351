import type {CallObserver} from '../../cri/index.js';

/** What is measured about one run of a command. */
export interface Instrument {
  /** Looks on at the calls to the runtime. */
  readonly observer?: CallObserver;
  /** Ends the measurement and hands it over, whether the command failed or not. Never rejects. */
  finish(failure: unknown): Promise<void>;
}

/** What instruments know of the command and how they reach its user. */
export interface InstrumentedCommand {
  /** Its words, such as `runtime up`. */
  readonly name: string;
  /** The name of the program that traces show. */
  readonly program: string;
  /** Takes what must stay secret out of a text. */
  readonly mask: (text: string) => string;
  readonly inform: (text: string) => void;
  readonly warn: (text: string) => void;
}
