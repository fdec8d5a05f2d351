import {escapeToLine} from '../../format/escape-controls.js';
import type {ReportContext} from '../../cli/command/contexts.js';
import type {ArchiveManifest} from './archive-file.js';

/** Says which node and time are shown, and what the snapshot lacks. */
export function reportSnapshot(
  {report}: ReportContext,
  path: string,
  {node, takenAt, leftOut}: ArchiveManifest,
): void {
  const lacks = leftOut.length === 0 ? '' : `; it lacks ${leftOut.join(', ')}`;
  report.info(escapeToLine(`${path}: node ${node} as of ${takenAt}${lacks}`));
}
