import type {Reporter} from './reporter.js';

/** Level of a logged message. */
export type MessageLevel = 'info' | 'warning' | 'error';

/** Returns the messages of a reporter that logs each with its level. */
export function leveledMessages(
  log: (level: MessageLevel, text: string) => void,
): Pick<Reporter, 'info' | 'warn' | 'error'> {
  return {
    info: (text) => {
      log('info', text);
    },
    warn: (text) => {
      log('warning', text);
    },
    error: (text) => {
      log('error', text);
    },
  };
}
