import type {ManifestIssue} from '../../api/manifest-issue.js';
import type {ApiObject} from '../../api/v1-objects.js';
import type {DesiredPod, PodSourceName} from '../container/pod-update.js';

/** All that a source has at one moment. */
export interface SourceSet {
  readonly pods: readonly DesiredPod[];
  /** What its pods may refer to; none from an API server, which is asked for them. */
  readonly objects: readonly ApiObject[];
}

/** Something that a source tells of, for the log; a problem comes once, and again only when it has changed. */
export interface SourceReport {
  readonly source: PodSourceName;
  readonly level: 'error' | 'warning' | 'info';
  /** The log's verbosity from which on it is told: 0 for always (klog's V). */
  readonly verbosity: number;
  /** What the kubelet's log says, without a fact in it: `Could not process manifest file`. */
  readonly message: string;
  /** What is wrong, in the kubelet's words as far as it knows of it; it goes with the key `err`. */
  readonly error: string | undefined;
  /** More facts, by the kubelet's keys and in its order, such as `path`. */
  readonly fields: Readonly<Record<string, string>>;
  /** Where it is wrong, with file, line and column; none for what isn't about a manifest's content. */
  readonly issues: readonly ManifestIssue[];
}

/** Takes what sources have and tell; must not throw. */
export interface SourceSink {
  /** Replaces all that this source had; only called when it is something else, or for the first time. */
  set(set: SourceSet): void;
  report(report: SourceReport): void;
}

/** Where desired pods come from. */
export interface PodSource {
  readonly name: PodSourceName;
  /** Reads and follows the source until the signal aborts; rejects only for a fault in kcri. */
  run(sink: SourceSink, signal: AbortSignal): Promise<void>;
  /** Has it looked at again at once, whenever that would have been. */
  reread(): void;
}

type ReportFields = Partial<Omit<SourceReport, 'source' | 'message'>>;

/** A report of an error, unless it says otherwise. */
export function sourceReport(source: PodSourceName, message: string, rest: ReportFields = {}): SourceReport {
  return {source, level: 'error', verbosity: 0, message, error: undefined, fields: {}, issues: [], ...rest};
}
