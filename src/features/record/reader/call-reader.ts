import type {MethodSummary} from '../../../recording/lines/call-summary.js';
import type {TapOptions} from '../../../recording/tap/connection-tap.js';
import type {ReadQueue, RelayTap} from '../../../recording/tap/relay-tap.js';

/** Reads the calls of what is relayed, counts them and makes their lines. */
export interface CallReader {
  /** Queue of the relay. */
  readonly queue: ReadQueue;
  /** Returns the tap of a new connection. */
  open(connection: number, urlOf: TapOptions['urlOf']): RelayTap;
  /** Returns the counts of all that was relayed. */
  summarize(): Promise<readonly MethodSummary[]>;
  /** Makes the lines of all that was relayed, also of calls that have not ended. Rejects with SystemError. */
  end(): Promise<void>;
}
