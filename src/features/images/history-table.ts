import {shorten} from '../../base/shorten.js';
import {humanAgo} from '../../format/duration.js';
import {humanSize} from '../../format/human-size.js';
import type {Column} from '../../format/table.js';
import {truncateId} from '../../format/truncate-id.js';
import type {HistoryStep} from '../../operations/images/image-history.js';

/** A row of `history`; only the newest step has the ID of the image, as with docker. */
export interface HistoryRow extends HistoryStep {
  readonly id: string;
}

/** Longest command and comment of the table. */
const MAX_COMMAND_LENGTH = 45;

/** Returns the columns of `history`. */
export function historyColumns({
  full,
  nowMs,
}: {
  /** True to show untruncated IDs and commands. */
  readonly full: boolean;
  readonly nowMs: number;
}): readonly Column<HistoryRow>[] {
  const cut = (text: string): string => (full ? text : shorten(text, MAX_COMMAND_LENGTH));
  return [
    {header: 'IMAGE', value: ({id}) => (id === '' ? '<missing>' : full ? id : truncateId(id))},
    {header: 'CREATED', value: ({created}) => age(created, nowMs)},
    {header: 'CREATED BY', value: ({createdBy}) => cut(createdBy.replaceAll(/\s+/g, ' '))},
    {header: 'SIZE', value: ({size}) => (size === undefined ? '-' : humanSize(size, 3))},
    {header: 'COMMENT', value: ({comment}) => cut(comment.replaceAll(/\s+/g, ' '))},
  ];
}

/** Returns the time since the step; reproducible builds set 1 January 1970 or the year 1. */
function age(created: string, nowMs: number): string {
  const createdMs = Date.parse(created);
  return createdMs > 0 ? humanAgo(BigInt(createdMs) * 1_000_000n, nowMs) : '-';
}
