import {UsageError} from '../../base/errors.js';
import type {LogTime} from '../../operations/logs/log-selection.js';
import {parseStreams, type LogsStrategy} from './log-strategy.js';
import {ArgumentsError} from '../../cli/parsing/usage-errors.js';

/** Logs as in crictl: of one container, without restarts. */
export const CRICTL_LOGS: LogsStrategy = {
  checkRefs: (refs) => {
    if (refs.length > 1) throw new ArgumentsError('one container at a time');
  },
  parseSelection: async (flags, nowMs) => {
    const since = await parseSince(flags.since ?? '', nowMs);
    const streams = parseStreams(flags.stream);
    if (flags.tail !== undefined && flags.stream !== undefined)
      throw new UsageError('--tail and --stream are mutually exclusive');
    return {streams, since};
  },
  parsesFirst: false,
  followsPrevious: true,
  withStatusContext: async (reading) => await reading,
  follow: async ({context: {clock}, signal}, runtime, containers) => {
    const {isRunning} = await import('../../operations/logs/follow/container-state.js');
    return containers.map(({status: {id}}) => ({
      clock,
      progress: async () => ({kind: (await isRunning(runtime, id, signal)) ? 'running' : 'ended'}),
    }));
  },
  readStrategy: async () =>
    (await import('../../operations/logs/crictl-log-strategy.js')).CRICTL_LOG_STRATEGY,
  // crictl mentions such lines in its debug log only.
  reportUnknownLines: () => undefined,
};

async function parseSince(text: string, nowMs: number): Promise<LogTime | undefined> {
  if (text === '') return undefined;
  const {parseSinceAsCrictl} = await import('../../operations/logs/parse-since.js');
  return parseSinceAsCrictl(text, nowMs);
}
