import {anySignal} from '../../base/async/any-signal.js';
import type {PodSourceName} from '../contract/pod-update.js';
import type {PodSource, SourceReport, SourceSet} from './pod-source.js';

/** First delivery of a source. */
export interface SourceRead {
  readonly name: PodSourceName;
  /** Undefined if the source cannot be read. */
  readonly set: SourceSet | undefined;
  readonly problems: readonly SourceReport[];
}

/** Runs a source until its first report of problems, which ends a read. Rejects with the signal's reason. */
export async function readSourceOnce(source: PodSource, signal: AbortSignal): Promise<SourceRead> {
  const end = new AbortController();
  using either = anySignal(signal, end.signal);
  let set: SourceSet | undefined;
  let problems: readonly SourceReport[] = [];
  await source.run(
    {
      set: (found) => (set = found),
      report: () => undefined,
      problems: (reports) => {
        problems = reports;
        end.abort();
      },
    },
    either.signal,
  );
  signal.throwIfAborted();
  return {name: source.name, set, problems};
}
