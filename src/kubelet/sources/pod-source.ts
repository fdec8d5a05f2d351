import type {ManifestIssue} from '../../api/decoding/manifest-issue.js';
import type {ApiObject} from '../../api/types/v1-objects.js';
import type {DesiredWorkload, DesiredPod, PodSourceName} from '../contract/pod-update.js';

/** All pods and objects of a source. */
export interface SourceSet {
  readonly pods: readonly DesiredPod[];
  /** Objects that its pods can refer to; empty for an API server. */
  readonly objects: readonly ApiObject[];
  /** Workloads whose pods the daemon maintains, beside `pods`; none by default. */
  readonly workloads?: readonly DesiredWorkload[];
  /** True if a manifest or its place cannot be read, so that further pods and workloads may exist. */
  readonly isIncomplete?: boolean;
}

/** Log entry of a source. Each problem is reported once, and again only after it has changed. */
export interface SourceReport {
  readonly source: PodSourceName;
  readonly level: 'error' | 'warning' | 'info';
  /** Verbosity from which on the entry is logged (klog's V); 0 means always. */
  readonly verbosity: number;
  /** Constant message, the kubelet's if it has one: `Could not process manifest file`. */
  readonly message: string;
  /** Value of the key `err`, the kubelet's text if it has one. */
  readonly error: string | undefined;
  /** Further key-value pairs, with the kubelet's keys in its order, such as `path`. */
  readonly fields: Readonly<Record<string, string>>;
  /** Problems with file, line and column; empty if the entry is not about the content of a manifest. */
  readonly issues: readonly ManifestIssue[];
}

/** Consumer of a source; must not throw. */
export interface SourceSink {
  /** Replaces the set of this source; called for the first set and for each changed one. */
  set(set: SourceSet): void;
  report(report: SourceReport): void;
  /** Replaces the current problems of this source, which were reported when they appeared. */
  problems?(reports: readonly SourceReport[]): void;
}

/** Source of desired pods. */
export interface PodSource {
  readonly name: PodSourceName;
  /** Reads and follows the source until the signal aborts. Rejects only for programming errors. */
  run(sink: SourceSink, signal: AbortSignal): Promise<void>;
  /** Reads the source again immediately. */
  reread(): void;
}

type ReportFields = Partial<Omit<SourceReport, 'source' | 'message'>>;

/** Creates a report; the default level is `error`. */
export function createSourceReport(
  source: PodSourceName,
  message: string,
  rest: ReportFields = {},
): SourceReport {
  return {source, level: 'error', verbosity: 0, message, error: undefined, fields: {}, issues: [], ...rest};
}
