import type {SourceReport} from '../../sources/pod-source.js';

/** Problem of a manifest or of its source. */
export interface ManifestProblem {
  /** `error` if the Pod of the manifest does not run, `warning` if a part of the manifest is ignored. */
  readonly level: 'error' | 'warning';
  /** Place as `file:line:column`, or the path or URL of the source. */
  readonly place: string;
  readonly message: string;
}

/** Returns the problems in a report of a source, one per place; none for information. */
export function createManifestProblems({
  level,
  message,
  error = message,
  fields,
  issues,
}: SourceReport): readonly ManifestProblem[] {
  if (level === 'info') return [];
  if (issues.length === 0)
    return [{level, place: fields['path'] ?? fields['url'] ?? 'manifests', message: error}];
  return issues.map(({file, line, column, message: text}) => ({
    level,
    place: `${file}:${line}:${column}`,
    message: text,
  }));
}

/** Formats a problem as `file:line:column: message`. */
export function formatManifestProblem({place, message}: ManifestProblem): string {
  return `${place}: ${message}`;
}
